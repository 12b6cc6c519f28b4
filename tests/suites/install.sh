#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Installed, the library is found by pkg-config and used from C and C++, shared and
# static; nothing private is installed; uninstalling leaves nothing.
# Row: DC-03
. "$PM_TOP/scripts/suite.sh"

root=$PM_SUITE_DIR/root
prefix=$root/perfmon
work=$PM_SUITE_DIR/work
rm -rf "$root" "$work"
mkdir -p "$work"
# As a package is made: into a root that is not /.
native_tree all
must installs in_shell pm_make "$build" "$PM_SUITE_DIR/make.log" install DESTDIR="$root"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root

# Beside include/, what the inline read is made of: the CPU layer, but for its system
# calls, and the read itself.
{
	(cd include && find . -name '*.h')
	(cd src && find arch -name '*.h' ! -name syscall.h -printf './perfmon/%p\n')
	printf './perfmon/fastpath/read.h\n'
} | sort >"$work/headers.public"
(cd "$prefix/include" && find . -name '*.h') | sort >"$work/headers.installed"
try "the headers installed are the public ones" \
	diff "$work/headers.public" "$work/headers.installed"

soname=$(objdump -p "$prefix/lib/libperfmon.so" | awk '$1 == "SONAME" { print $2 }')
try "the soname is a file beside the library ($soname)" test -e "$prefix/lib/$soname"

# The shared library links what it says, the compiler's runtime, and nothing else.
needed=$(objdump -p "$prefix/lib/libperfmon.so" | awk '$1 == "NEEDED" { print $2 }')
for library in $needed; do
	case $library in
	libc.so.* | libm.so.* | libgcc_s.so.* | ld-linux* | libpthread* | liburcu* | libhwloc* | libpfm*)
		ok "needs $library" ;;
	*) not_ok "needs $library, which the design does not allow" ;;
	esac
done

cat >"$work/use.c" <<EOT
#include <perfmon/perfmon.h>

#include <stdio.h>

int main(void)
{
	int i;

	printf("version %d\n", perfmon_version_number());
	for (i = 0; i < 3; i++) {
#ifdef PERFMON_REGION_BEGIN
		PERFMON_REGION_BEGIN("used");
		PERFMON_REGION_END("used");
#endif
	}
	return perfmon_version_number() > 0 ? 0 : 1;
}
EOT
cp "$work/use.c" "$work/use.cc"
strict=(-Wall -Wextra -Wpedantic -Werror)
words() { # pkg-config's answer, as words
	read -r -a answer <<<"$(pkg-config "$@" perfmon)"
}
words --cflags --libs
try "C, shared" gcc -std=c11 "${strict[@]}" "$work/use.c" -o "$work/c-shared" "${answer[@]}"
try "C++11, shared" g++ -std=c++11 "${strict[@]}" "$work/use.cc" -o "$work/cc-shared" \
	"${answer[@]}"
# Ours alone is linked statically: Debian has not all others as archives.
words --static --cflags --libs
static=()
for word in "${answer[@]}"; do
	[ "$word" != -lperfmon ] || word=-l:libperfmon.a
	static+=("$word")
done
try "C, static" gcc -std=c11 "${strict[@]}" "$work/use.c" -o "$work/c-static" "${static[@]}"
try "C++11, static" g++ -std=c++11 "${strict[@]}" "$work/use.cc" -o "$work/cc-static" \
	"${static[@]}"
needed=$(objdump -p "$work/c-static" | awk '$1 == "NEEDED" { print $2 }') || true
case $needed in
*libperfmon*) not_ok "the static program needs libperfmon.so" ;;
esac

for program in c-shared cc-shared c-static cc-static; do
	try "$program runs" env LD_LIBRARY_PATH="$prefix/lib" "$work/$program"
	if grep -q PERFMON_REGION_BEGIN include/perfmon/*.h; then
		LD_LIBRARY_PATH=$prefix/lib "$work/$program" >"$work/$program.out" 2>&1 || true
		try "$program reports its region" grep -w used "$work/$program.out"
	fi
done

# The programs of the README and of doc/, as a reader would type them. The first is the README's.
awk -v work="$work" '
	/^```c$/ { file = work "/readme" ++n ".c"; next }
	/^```$/ { file = "" }
	file != "" { print >file }' README.md doc/*.md
words --cflags --libs
for program in "$work"/readme*.c; do
	name=$(basename "$program")
	try "README and doc: $name compiles" gcc -O2 "$program" -o "${program%.c}" "${answer[@]}"
done
try "README: the first program runs" \
	env LD_LIBRARY_PATH="$prefix/lib" PERFMON_OUTPUT="$work/readme.txt" "$work/readme1"
try "README: its report has its regions" grep -q '^  sweep  *200 ' "$work/readme.txt"

try uninstalls in_shell pm_make "$build" "$PM_SUITE_DIR/uninstall.log" uninstall \
	DESTDIR="$root"
left=$(find "$prefix" ! -type d)
try "nothing is left" test -z "$left"
