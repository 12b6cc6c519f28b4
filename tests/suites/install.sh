#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Installed, the library is found by pkg-config, CMake and meson, and used from C and C++,
# shared and static; each function has its manual page; the examples build; nothing private is
# installed; uninstalling leaves nothing.
# Row: DC-03
. "$PM_TOP/scripts/suite.sh"

work=$PM_SUITE_DIR/work
rm -rf "$work"
mkdir -p "$work"
# As a package is made: into a root that is not /.
native_tree all
installed_tree
# What --with-mpi adds.
if command -v mpicc >/dev/null; then
	# It may be there for another MPI.
	rm -f "$build/src/mpi/"libperfmon-mpi.so*
	must "the MPI library builds" in_shell pm_make "$build" "$PM_SUITE_DIR/make.log" \
		src/mpi/libperfmon-mpi.so MPICC=mpicc
	cp -P "$build/src/mpi/"libperfmon-mpi.so* "$prefix/lib/"
	cp "$build/perfmon-mpi.pc" "$prefix/lib/pkgconfig/"
fi
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root

# Beside include/, what the inline read is made of: the CPU layer, but for its system
# calls, its calls that keep registers and what it says to the tool of exact/, and the read itself; and the module of Fortran.
{
	(cd include && find . -name '*.h' -o -name '*.hpp' -o -name '*.f90')
	(cd src && find arch -name '*.h' ! -name syscall.h ! -name 'exact*.h' ! -name keep.h -printf './perfmon/%p\n')
	printf './perfmon/fastpath/read.h\n'
	printf './perfmon/perfmon.f90\n'
} | sort >"$work/headers.public"
(cd "$prefix/include" && find . -type f) | sort >"$work/headers.installed"
try "the headers installed are the public ones" \
	diff "$work/headers.public" "$work/headers.installed"

if [ -x "$build/perfmon" ]; then
	for file in bash-completion/completions/perfmon zsh/site-functions/_perfmon; do
		try "completion is where shells look for it: $file" test -s "$prefix/share/$file"
	done
fi

soname=$(objdump -p "$prefix/lib/libperfmon.so" | awk '$1 == "SONAME" { print $2 }')
try "the soname is a file beside the library ($soname)" test -e "$prefix/lib/$soname"

# The shared library links what it says, and nothing else: what it loads is in a note.
needed=$(objdump -p "$prefix/lib/libperfmon.so" | awk '$1 == "NEEDED" { print $2 }')
for library in $needed; do
	case $library in
	libc.so.* | libm.so.* | ld-linux* | libpthread* | liburcu*)
		ok "needs $library" ;;
	*) not_ok "needs $library, which the design does not allow" ;;
	esac
done
loads() { # FILE LIBRARY: a note of the file says that it loads the library
	rm -f "$work/note"
	objcopy -O binary --only-section=.note.dlopen --set-section-flags .note.dlopen=alloc \
		"$1" "$work/note"
	tr '\0' '\n' <"$work/note" |
		grep -E "\"soname\":\[\"$2\.so\.[0-9]+\"\].*\"priority\":\"recommended\""
}
for library in libpfm libhwloc; do
	try "says that it loads $library" loads "$prefix/lib/libperfmon.so" "$library"
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
words() { # pkg-config's answer of a package, as words
	read -r -a answer <<<"$(pkg-config --cflags --libs "$1")"
}
strict=(-Wall -Wextra -Wpedantic -Werror)
words perfmon
try "C, shared" gcc -std=c11 "${strict[@]}" "$work/use.c" -o "$work/c-shared" "${answer[@]}"
try "C++11, shared" g++ -std=c++11 "${strict[@]}" "$work/use.cc" -o "$work/cc-shared" \
	"${answer[@]}"
words perfmon-static
try "C, static" gcc -std=c11 "${strict[@]}" "$work/use.c" -o "$work/c-static" "${answer[@]}"
try "C++11, static" g++ -std=c++11 "${strict[@]}" "$work/use.cc" -o "$work/cc-static" "${answer[@]}"
archive_only() { # PROGRAM: it has the archive in it
	ldd "$1" >"$work/ldd" && grep -q 'libc\.so' "$work/ldd" && ! grep libperfmon "$work/ldd"
}
for program in c-static cc-static; do
	try "$program needs no libperfmon.so" archive_only "$work/$program"
	# A program that is static altogether cannot load.
	for library in libpfm libhwloc; do
		try "$program is linked with $library" grep "$library" "$work/ldd"
	done
done

# A machine that has no development files of the libraries below.
only_ours() {
	PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig PKG_CONFIG_PATH='' pkg-config "$@" &&
		! grep -q '^Requires.private' "$prefix/lib/pkgconfig/perfmon.pc"
}
for package in perfmon perfmon-static; do
	try "$package.pc needs no other package" only_ours --cflags --libs --static "$package"
done

# What is shipped with regions in it.
quiet() {
	local flags
	flags=$(pkg-config --variable=quiet_cflags perfmon)
	[ -n "$flags" ] && words perfmon &&
		gcc -std=c11 "$flags" "${strict[@]}" "$work/use.c" -o "$work/quiet" "${answer[@]}" &&
		LD_LIBRARY_PATH=$prefix/lib "$work/quiet" >"$work/quiet.out" 2>&1 &&
		nothing grep -v '^version ' "$work/quiet.out"
}
try "a program with pkg-config's quiet_cflags reports nothing" in_shell quiet

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
words perfmon
for program in "$work"/readme*.c; do
	name=$(basename "$program")
	try "README and doc: $name compiles" gcc -O2 "$program" -o "${program%.c}" "${answer[@]}"
done
try "README: the first program runs" \
	env LD_LIBRARY_PATH="$prefix/lib" PERFMON_OUTPUT="$work/readme.txt" "$work/readme1"
try "README: its report has its regions" grep -q '^  sweep  *200 ' "$work/readme.txt"

# --- CMake and meson ---------------------------------------------------------------------

mkdir -p "$work/project"
cp "$work/use.c" "$work/project/"
cat >"$work/project/CMakeLists.txt" <<'EOT'
cmake_minimum_required(VERSION 3.10)
project(use C)
find_package(perfmon ${WANTED} REQUIRED COMPONENTS ${PARTS})
add_executable(shared use.c)
target_link_libraries(shared PRIVATE perfmon::perfmon)
add_executable(static use.c)
target_link_libraries(static PRIVATE perfmon::perfmon_static)
if(TARGET perfmon::mpi)
	find_package(MPI REQUIRED COMPONENTS C)
	add_executable(ranks ranks.c)
	target_link_libraries(ranks PRIVATE perfmon::mpi MPI::MPI_C)
endif()
EOT
cp examples/ranks.c "$work/project/"
# cmakes NAME OPTION...: configures and builds in a folder of that name.
cmakes() {
	local name=$1
	shift
	rm -rf "${work:?}/$name"
	cmake -S "$work/project" -B "$work/$name" -DCMAKE_PREFIX_PATH="$prefix" "$@" >"$work/$name.out" 2>&1 ||
		{ cat "$work/$name.out"; return 1; }
}
cmake_builds() { cmakes cmake "$@" && cmake --build "$work/cmake"; }
refused() { # TEXT OPTION...
	local text=$1
	shift
	if cmakes refused "$@"; then return 1; fi
	grep -F "$text" "$work/refused.out"
}
needs() { objdump -p "$1" | awk '$1 == "NEEDED" { print $2 }'; }
needs_exactly() { # PROGRAM NAME: of ours
	[ "$(needs "$1" | grep perfmon)" = "$2" ]
}
runs() { # PROGRAM: and reports its region
	LD_LIBRARY_PATH=${2-$prefix/lib} "$1" >"$work/out" 2>&1 && grep -w used "$work/out"
}
# one_report PROGRAM: two ranks, one report
one_report() {
	rm -f "$work/perfmon.txt"
	(cd "$work" && LD_LIBRARY_PATH=$prefix/lib PERFMON_EVENTS=none \
		timeout 60 mpirun -n 2 "$1" 10) && grep "2 ranks of 2" "$work/perfmon.txt" &&
		grep -E '^  sweep +20 ' "$work/perfmon.txt"
}
mpi=
openmpi_anywhere
! command -v mpicc >/dev/null || ! command -v mpirun >/dev/null || mpi=1
if ! command -v cmake >/dev/null; then
	skip "CMake finds the installation" "cmake is missing"
else
	try "CMake finds the installation and builds" in_shell cmake_builds
	# The build knows where the library is.
	try "CMake: the program runs" runs "$work/cmake/shared" ''
	try "CMake: it needs the shared library by its soname" needs_exactly "$work/cmake/shared" "$soname"
	try "CMake: the static program runs" runs "$work/cmake/static" ''
	try "CMake: it needs no libperfmon.so" archive_only "$work/cmake/static"
	[ -z "$mpi" ] || try "CMake: perfmon::mpi writes one report of all ranks" \
		one_report "$work/cmake/ranks"
	version=$(pkg-config --modversion perfmon)
	try "CMake: this version is found" cmakes asked -DWANTED="${version%.*}"
	try "CMake: a later version is not found" refused "version: $version" -DWANTED=99.1
	try "CMake: an earlier 0.x is another interface" refused "version: $version" -DWANTED=0.0.1
	try "CMake: a part that is not installed is named" refused "perfmon::gpu is not installed" -DPARTS=gpu
	cp -r "$prefix" "$work/moved"
	moved() {
		cmake -S "$work/project" -B "$work/elsewhere" -DCMAKE_PREFIX_PATH="$work/moved" &&
			cmake --build "$work/elsewhere" --target shared &&
			ldd "$work/elsewhere/shared" | grep "$work/moved/lib/$soname"
	}
	try "CMake: an installation can be moved" in_shell moved
fi

cat >"$work/project/meson.build" <<'EOT'
project('use', 'c')
executable('shared', 'use.c', dependencies: dependency('perfmon'))
executable('static', 'use.c', dependencies: dependency('perfmon-static'))
executable('archive', 'use.c', dependencies: dependency('perfmon', static: true))
executable('cmake', 'use.c', dependencies: dependency('perfmon', method: 'cmake', modules: ['perfmon::perfmon']))
EOT
if ! command -v meson >/dev/null || ! command -v ninja >/dev/null; then
	skip "meson finds the installation" "meson or ninja is missing"
else
	try "meson finds the installation" env CMAKE_PREFIX_PATH="$prefix" \
		meson setup "$work/meson" "$work/project"
	try "meson builds" ninja -C "$work/meson"
	try "meson: the program runs" runs "$work/meson/shared"
	try "meson: the static program runs" runs "$work/meson/static" ''
	try "meson: it needs no libperfmon.so" archive_only "$work/meson/static"
	try "meson: the program with static: true runs" runs "$work/meson/archive" ''
	try "meson: it needs no libperfmon.so, either" archive_only "$work/meson/archive"
	try "meson: found by CMake's files, it runs" runs "$work/meson/cmake"
fi

# --- manual pages, documents and examples ------------------------------------------------

man=$prefix/share/man
# page NAME SECTION: the page is there, and the text it leads to has the name under NAME.
page() {
	local file=$man/man$2/$1.$2 target
	[ -e "$file" ] || return 1
	target=$(sed -n 's/^\.so //p' "$file")
	awk -v name="$1" '
		/^\.SH/ { named = $2 == "NAME" }
		named { gsub(/\\-/, "-"); gsub(/,/, " "); for (i = 1; i <= NF; i++) if ($i == name) found = 1 }
		END { exit !found }' "${target:+$man/}${target:-$file}"
}
without_page() {
	local name
	sed -n 's/^\t\([a-z0-9_]*\);$/\1/p' src/libperfmon.map | grep . |
		while read -r name; do page "$name" 3 || echo "$name"; done
	sed -n 's/^\t{"\([a-z]*\)",.*/\1/p' src/cli/main.c | grep . |
		while read -r name; do page "perfmon-$name" 1 || echo "perfmon-$name"; done
}
try "every function and every subcommand has a manual page" nothing without_page
# What the headers of C++ declare for programs: classes, functions, members, macros; and the module's names.
cxx_names() {
	awk '
		/^namespace detail/ { inner = 1 }
		/^} \/\/ namespace detail/ || /^}$/ && inner == 2 { inner = 0 }
		inner && /^class [a-z]+;$/ { inner = 2 } # a declaration alone, without a comment behind it
		inner { next }
		/^#define PERFMON_[A-Z_]*[A-Z]\(/ { split($2, macro, "("); print macro[1] }
		/^class [a-zA-Z_ ]*/ { print "perfmon::" ($2 ~ /^PERFMON_/ ? $3 : $2) }
		/^      public:/ { public = 1 }
		/^      private:/ || /^};/ { public = 0 }
		# A member, or a function: the word before the first parenthesis.
		(public && /^\t[a-zA-Z]/ || /^(inline |counts |\[\[)/) && match($0, /[a-z_]+\(/) {
			name = substr($0, RSTART, RLENGTH - 1)
			if (name !~ /^(template|operator|decltype|static_assert)$/ && !/friend|= delete/)
				print (public ? "" : "perfmon::") name
		}' "$prefix"/include/perfmon/*.hpp | sort -u
}
fortran_names() {
	awk '
		/public ::/ { more = 1 }
		more { line = $0; sub(/.*public ::/, "", line); gsub(/[,&]|= *[0-9]+/, " ", line); print line; more = /&$/ }
		/^    procedure ::/ { print $3 }' "$prefix/include/perfmon/perfmon.f90" | tr ' ' '\n' | grep . | sort -u
}
not_in_page() { # PAGE NAMES...: names that the page does not have
	local name
	sed 's/\\-/-/g; s/\\f[A-Z]//g' "$man/man3/$1" >"$work/page.text"
	for name in "${@:2}"; do
		grep -qwF -- "$name" "$work/page.text" || echo "$name is not in $1"
	done
}
without_page_cxx() {
	mapfile -t names < <(cxx_names)
	[ "${#names[@]}" -gt 50 ] && not_in_page perfmon.hpp.3 "${names[@]}" &&
		for name in "${names[@]}"; do
			[[ $name != *::* ]] || page "$name" 3 || echo "$name has no page"
		done
}
without_page_fortran() {
	mapfile -t names < <(fortran_names)
	[ "${#names[@]}" -gt 40 ] && not_in_page perfmon.f90.3 "${names[@]}"
}
try "every name of the C++ interface is in its manual page" nothing without_page_cxx
try "every name of the Fortran module is in its manual page" nothing without_page_fortran
if ! command -v man >/dev/null; then
	skip "man(1) shows it" "man is missing"
else
	shown() {
		MANPATH=$man man "$@" 2>"$work/man.err" | grep -A 30 SYNOPSIS | grep "int perfmon_session_read" &&
			[ ! -s "$work/man.err" ]
	}
	try "man(1) shows it" shown 3 perfmon_session_read
	troubled() {
		local file
		for file in "$man"/man?/*; do
			grep -q '^\.so' "$file" || { MANROFFSEQ=t man --warnings -l "$file" >"$work/page"; } 2>&1
		done
	}
	try "no page has mistakes" nothing troubled
fi

documents=$prefix/share/doc/perfmon
unnamed() { # what README.md or a document names and is not installed
	grep -ohE '\b(doc|examples)/[a-z0-9_-]+\.(md|png|cc|c|f90|F90)\b' "$documents"/*.md "$documents"/doc/*.md |
		sort -u | while read -r file; do [ -e "$documents/$file" ] || echo "$file"; done
}
try "what the documents name is installed" nothing unnamed
cp -r "$documents/examples" "$work/"
try "the examples build" make -C "$work/examples"
try "the examples build with -Werror" make -C "$work/examples" -B CFLAGS="-O2 -Wall -Wextra -Werror"
try "an example runs" env LD_LIBRARY_PATH="$prefix/lib" "$work/examples/heat"
# std::async, and coroutines that go on in another thread.
of_cxx() { # EXAMPLE REGION VISITS
	make -C "$work/examples" -B "$1" CXXFLAGS="-O2 -Wall -Wextra -Werror" &&
		LD_LIBRARY_PATH=$prefix/lib PERFMON_EVENTS=none PERFMON_FORMAT=csv \
			PERFMON_OUTPUT=$work/$1.csv "$work/examples/$1" | grep right &&
		sed 's/"//g' "$work/$1.csv" | grep -E ",$2,[^;]*,$3,$3,"
}
try "the example of std::async builds and runs" of_cxx async "sum;partial sum" 4
if echo '#include <coroutine>' | c++ -std=c++20 -fsyntax-only -x c++ - 2>/dev/null; then
	try "the example of coroutines builds and runs" of_cxx coroutines "main;fetch" 16
else
	skip "the example of coroutines builds and runs" "the compiler has no C++20"
fi
if [ -n "$mpi" ]; then
	try "the MPI example builds" make -C "$work/examples" ranks
	of_ranks() {
		rm -rf "$work/run"
		mkdir "$work/run"
		(cd "$work" && LD_LIBRARY_PATH=$prefix/lib PERFMON_EVENTS=none PERFMON_PROFILE=run/ \
			timeout 60 mpirun -n 4 examples/ranks 10) &&
			LD_LIBRARY_PATH=$prefix/lib "$prefix/bin/perfmon" report "$work/run" >"$work/out" &&
			grep "4 ranks of 4" "$work/out" && grep -E '^  exchange +40 ' "$work/out"
	}
	try "the MPI example's ranks are reported" in_shell of_ranks
fi

rm -f "$prefix/lib/libperfmon-mpi.so"* "$prefix/lib/pkgconfig/perfmon-mpi.pc"
try uninstalls in_shell pm_make "$build" "$PM_SUITE_DIR/uninstall.log" uninstall \
	DESTDIR="$root"
left=$(find "$prefix" ! -type d)
try "nothing is left" test -z "$left"
