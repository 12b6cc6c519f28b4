#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What the macros' asm statements rely on: the machine code of BEGIN and END uses no vector
# register and calls nothing but the slow path, which keeps them; programs that are compiled in
# all ways get the same results with regions as without; and a debugger finds its way out of a
# pair.
. "$PM_TOP/scripts/suite.sh"

work=$PM_SUITE_DIR/work
mkdir -p "$work"

# code OBJDUMP BUILD: the instructions of the forms
code() {
	"$1" -dr --no-show-raw-insn "$2/src/fastpath/.libs/libperfmon_kept_la-kept.o"
}
forms() { # FILE: how many there are
	[ "$(grep -cE '^[0-9a-f]+ <(begin|end)_(plain_[0-6]|general|measured|strided)>:' "$1")" -ge 20 ]
}
no_vectors() { # FILE PATTERN
	! grep -E "$2" "$1"
}
# What a call or a jump out of a form goes to is the slow path, by its relocation.
calls() { # FILE
	grep -oE 'R_(X86_64_(PLT32|PC32)|AARCH64_(CALL26|JUMP26))[[:space:]]+[a-z_0-9]+' "$1" |
		awk '{ print $2 }' | sort -u >"$work/calls"
	grep -q pm_kept_end_stale "$work/calls"
	! grep -vE '^pm_(kept_|region_(kept|general|calls|is_surrounded|step_due)|thread_block)|^\.|^perfmon_region_calls' \
		"$work/calls"
}
pm_native libperfmon.la perfmon-static.pc
code objdump "$PM_NATIVE" >"$work/here.s"
case $(uname -m) in
x86_64) vectors='%([xyz]mm|mm|st|k)[0-9(]|%st\b' ;;
*) vectors='[[:space:],{](v|q|d|s|h|b|z|p)[0-9]+(\.|,|$)' ;;
esac
try "the forms are there" forms "$work/here.s" || true
try "they use no vector register" no_vectors "$work/here.s" "$vectors" || true
try "they call the slow path alone, which keeps registers" in_shell calls "$work/here.s" || true

if [ -e "$PM_BUILD/arm64/src/fastpath/.libs/libperfmon_kept_la-kept.o" ]; then
	code aarch64-linux-gnu-objdump "$PM_BUILD/arm64" >"$work/arm64.s"
	try "arm64: the forms are there" forms "$work/arm64.s" || true
	try "arm64: they use no vector register" no_vectors "$work/arm64.s" \
		'[[:space:],{](v|q|d|s|h|b|z|p)[0-9]+(\.|,|$)' || true
	try "arm64: they call the slow path alone" in_shell calls "$work/arm64.s" || true
else
	skip "arm64: machine code" "the arm64 build is made by the guest's suites, later"
fi

cat >"$work/way.cc" <<'EOT'
#include <alloca.h>
#include <cstdio>
#include <perfmon/region.h>
#include <stdexcept>
#include <string.h>

#ifdef NONE
#undef PERFMON_REGION_BEGIN
#undef PERFMON_REGION_END
#undef PERFMON_REGION_SCOPE
#define PERFMON_REGION_BEGIN(name)
#define PERFMON_REGION_END(name)
#define PERFMON_REGION_SCOPE(name)
#endif

static double values[64];

static inline double leaf(double a, double b)
{
	PERFMON_REGION_SCOPE("leaf");
	return a * b - a / (b + 2);
}

template <typename T> static T sum(const T *from, int n)
{
	T total = 0;
	PERFMON_REGION_BEGIN("sum");
	for (int i = 0; i < n; i++)
		total += from[i] * from[i];
	PERFMON_REGION_END("sum");
	return total;
}

/* Its variables are in the red zone. */
__attribute__((noinline)) static int red(int n)
{
	volatile int kept[12];
	int total = 0;

	for (int i = 0; i < 12; i++)
		kept[i] = n + i;
	PERFMON_REGION_BEGIN("red");
	for (int i = 0; i < 12; i++)
		kept[i] = kept[i] * 3;
	PERFMON_REGION_END("red");
	for (int i = 0; i < 12; i++)
		total += kept[i];
	return total;
}

__attribute__((noinline)) static int thrower(int n)
{
	PERFMON_REGION_SCOPE("thrower");
	if (n % 3 == 0)
		throw std::runtime_error("three");
	return n;
}

__attribute__((noinline)) static double moved(int n)
{
	char *text = static_cast<char *>(alloca(static_cast<size_t>(n) + 16));
	double a = n, b = 1.5, c = 2.5, d = 3.5, e = 4.5, f = 5.5;
	long double wide = n;

	memset(text, n, static_cast<size_t>(n) + 16);
	for (int i = 0; i < 4; i++) {
		PERFMON_REGION_BEGIN("moved");
		a = a * b + c;
		wide = wide * 1.25L + a;
		PERFMON_REGION_END("moved");
		c = c * d - e;
		e = e + f * text[i];
	}
	return a + c + e + static_cast<double>(wide);
}

int main()
{
	double total = 0;
	int caught = 0;

	for (int i = 0; i < 64; i++)
		values[i] = i * 0.25;
	for (int round = 0; round < 50; round++) {
		auto each = [&](int i) {
			PERFMON_REGION_SCOPE("lambda");
			return leaf(values[i], values[63 - i]) + red(i);
		};
		for (int i = 0; i < 64; i++)
			total += each(i) + moved(i);
		total += sum(values, 64);
		try {
			total += thrower(round);
		} catch (const std::exception &) {
			caught++;
		}
	}
	printf("%.17g %d\n", total, caught);
	return 0;
}
EOT

lib=$PM_NATIVE/.libs
shared=("-L$lib" -lperfmon "-Wl,-rpath,$lib")

# same COMPILER OPTION...: compiles it both ways with the libraries of "link" and compares the
# results
same() {
	"$@" -std=c++17 -Iinclude -DNONE "$work/way.cc" -o "$work/none" "${link[@]}"
	"$@" -std=c++17 -Iinclude "$work/way.cc" -o "$work/regions" "${link[@]}"
	"$work/none" >"$work/want"
	PERFMON_EVENTS=page-faults PERFMON_OUTPUT=none "$work/regions" >"$work/got"
	cmp "$work/want" "$work/got"
	PERFMON_STRIDE=3 PERFMON_OUTPUT=none "$work/regions" >"$work/got"
	cmp "$work/want" "$work/got"
	PERFMON_ARM=0 "$work/regions" >"$work/got"
	cmp "$work/want" "$work/got"
	PERFMON_EVENTS=none "$work/regions" 2>"$work/report" >"$work/got"
	cmp "$work/want" "$work/got"
	grep -q "red  *3200 " "$work/report"
}
link=("${shared[@]}")
for compiler in g++ clang++; do
	for options in -O0 -O1 -O2 -O3 "-O3 -march=native" "-O2 -fno-omit-frame-pointer" "-O2 -fno-plt" \
		"-O2 -no-pie -fno-pie" "-O2 -flto" "-Os" "-O2 -fstack-protector-all" \
		"-O2 -fno-asynchronous-unwind-tables" "-O1 -fsanitize=undefined" \
		"-O1 -fsanitize=address" "-O1 -fsanitize=thread"; do
		if [ "$compiler" = clang++ ] && [ "$options" = "-O2 -flto" ]; then
			continue # Debian's clang brings no plugin for the linker
		fi
		# shellcheck disable=SC2086 # several options
		try "$compiler $options" in_shell same "$compiler" $options || true
	done
done
if [ "$(uname -m)" = x86_64 ]; then
	for options in -mno-red-zone -mcmodel=large -fcf-protection=full -masm=intel; do
		try "g++ -O2 $options" in_shell same g++ -O2 $options || true
	done
	try "clang++ -O2 -masm=intel with ordinary calls" \
		in_shell same clang++ -O2 -masm=intel -DPERFMON_ORDINARY_CALLS || true
fi

# A program that is static altogether has its own copy of the library, and relocates itself. What
# libhwloc.a needs of libudev has no archive in Debian: only levels call it, and here nobody does.
read -ra link <<<"$(sed -n 's/^Libs: .*libperfmon\.a//p' "$PM_NATIVE/perfmon-static.pc")"
link=("$lib/libperfmon.a" "${link[@]}")
links() { # COMPILER OPTION...
	"$@" -std=c++17 -Iinclude "$work/way.cc" -o "$work/regions" "${link[@]}" 2>"$work/link"
}
for compiler in g++ clang++; do
	name="$compiler -O2 -static-pie"
	way=("$compiler" -O2 -static-pie)
	if [ ! -e "$lib/libperfmon.a" ]; then
		skip "$name" "the build has no static library"
		continue
	fi
	if ! links "${way[@]}" && grep -q 'udev_' "$work/link"; then
		way+=("-Wl,--unresolved-symbols=ignore-all")
	fi
	if links "${way[@]}"; then
		try "$name" in_shell same "${way[@]}" || true
	else
		skip "$name" "it does not link: $(grep -m 1 -oE 'cannot find.*|undefined.*|error:.*' "$work/link")"
	fi
done

# Each instruction of a warm pair has unwind information, also those of the macros in the program.
# The pair is of the function "red", whose variables are in the red zone.
cat >"$work/step" <<'EOT'
set pagination off
set confirm off
set debuginfod enabled off
set breakpoint pending on
break red
run
ignore 1 100
continue
delete
break begin_plain_0
break end_plain_0
define steps
	continue
	set $step = 0
	while $step < 50
		echo step\n
		backtrace
		stepi
		set $step = $step + 1
	end
end
steps
steps
kill
EOT
link=("${shared[@]}")
steps() { # COMPILER
	"$1" -std=c++17 -Iinclude -O2 -g "$work/way.cc" -o "$work/regions" "${link[@]}"
	PERFMON_EVENTS=none PERFMON_OUTPUT=none timeout 120 gdb -nx -batch -x "$work/step" \
		"$work/regions" >"$work/steps" 2>&1 || true
	# All steps reach main by "red", and they are steps of both.
	awk '
		/^step$/ { steps++; red = 0 }
		/^#[0-9]+ .*begin_plain_0/ { begins++ }
		/^#[0-9]+ .*end_plain_0/ { ends++ }
		/^#[0-9]+ .*[^a-z]red / { red = 1 }
		/^#[0-9]+ .*[^a-z]main \(/ && red { reached++; red = 0 }
		END {
			print steps + 0 " steps, " reached + 0 " reached main"
			exit !(steps == 100 && reached == 100 && begins > 10 && ends > 10)
		}' "$work/steps" || { cat "$work/steps" && return 1; }
}
for compiler in g++ clang++; do
	name="$compiler: gdb finds main from each instruction of a pair"
	if ! command -v gdb >/dev/null; then
		skip "$name" "gdb is missing"
	else
		try "$name" in_shell steps "$compiler" || true
	fi
done
