#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What compilers make of regions: nothing where they are compiled out, errors of names known
# only at run time, one look at the armed pointer a call, and on arm64 the fence and the
# release store that neither x86 nor the emulator can miss.
. "$PM_TOP/scripts/suite.sh"

work=$PM_SUITE_DIR/work
mkdir -p "$work"
cat >"$work/use.c" <<EOT
#include <perfmon/region.h>
#include <perfmon/team.h>

int use(int n);
int use(int n)
{
	PERFMON_REGION_SCOPE("scope");
	PERFMON_REGION_BEGIN("a");
	n++;
	PERFMON_REGION_END("a");
	{
		struct perfmon_region object = PERFMON_REGION_INIT("object");
		char name[] = "name";

		perfmon_region_begin(&object);
		perfmon_region_begin_name(name);
		perfmon_region_end_name(name);
		perfmon_region_end(&object);
	}
	{
		struct perfmon_token here;

		if (perfmon_region_token(&here) || perfmon_region_adopt(&here))
			return -1;
		perfmon_region_leave();
		PERFMON_TEAM_SCOPE(&here);
		perfmon_region_end_innermost();
	}
	return n;
}
EOT
cp "$work/use.c" "$work/use.cc"
symbols() { # COMPILER FILE OPTION...
	local compiler=$1 file=$2
	shift 2
	"$compiler" -Wall -Wextra -Werror -Iinclude "$@" -c "$file" -o "$work/use.o"
	nm "$work/use.o" | { grep -c perfmon || true; }
}
for compiler in gcc clang g++ clang++; do
	file=$work/use.c
	case $compiler in
	*++) file=$work/use.cc ;;
	esac
	for level in -O0 -O2; do
		try "$compiler $level: compiled out, nothing is left" \
			test "$(symbols "$compiler" "$file" "$level" -DPERFMON_DISABLE)" = 0 || true
		try "$compiler $level: otherwise something is" \
			test "$(symbols "$compiler" "$file" "$level")" != 0 || true
	done
done

# Another thread may disarm between two loads of the pointer.
cat >"$work/once.c" <<EOT
#include <perfmon/region.h>

void once(void);
void once(void)
{
	PERFMON_REGION_SCOPE("scope");
}
EOT
loads() { # COMPILER POINTER
	"$1" -O0 -DPERFMON_ORDINARY_CALLS -Iinclude -c "$work/once.c" -o "$work/once.o"
	objdump -r "$work/once.o" | grep -c "$2"
}
for compiler in gcc clang; do
	for pointer in perfmon_region_begin_armed perfmon_region_end_armed; do
		try "$compiler: a scope loads $pointer once" \
			test "$(loads $compiler $pointer)" = 1 || true
	done
done

# Names that are constants compile, in every form of a function.
cat >"$work/names.c" <<EOT
#include <perfmon/region.h>

static const char array[] = "array";

void names(void);
void names(void)
{
	PERFMON_REGION_SCOPE("one"); PERFMON_REGION_SCOPE("two in a line");
	PERFMON_REGION_BEGIN(array);
	PERFMON_REGION_END(array);
	if (array[0])
		PERFMON_REGION_BEGIN(__func__);
	else
		PERFMON_REGION_END(__func__);
}
EOT
cat "$work/names.c" - >"$work/names.cc" <<EOT
constexpr const char *pointer = "pointer";
constexpr char characters[] = "characters";

template <class T> void function(T) { PERFMON_REGION_SCOPE(__PRETTY_FUNCTION__); }
template <const char *name> void named() { PERFMON_REGION_SCOPE(name); }
template <class T> struct type {
	static constexpr const char *name() { return "type"; }
	void method() { PERFMON_REGION_SCOPE(name()); PERFMON_REGION_SCOPE(__func__); }
};

inline void all()
{
	auto lambda = [] { PERFMON_REGION_SCOPE(pointer); PERFMON_REGION_SCOPE(__func__); };

	lambda();
	function(1);
	named<characters>();
	type<int>().method();
	PERFMON_REGION_BEGIN(__PRETTY_FUNCTION__);
	PERFMON_REGION_END(characters);
}

void use_all();
void use_all() { all(); }
EOT
warnings=(-Wall -Wextra -Wpedantic -Wshadow -Werror)
for standard in gnu99 c11; do
	for compiler in gcc clang; do
		try "$compiler -std=$standard: constant names compile" "$compiler" -std=$standard \
			"${warnings[@]}" -Iinclude -c "$work/names.c" -o "$work/use.o" || true
	done
done
for standard in c++11 c++14 c++17 c++20; do
	for compiler in g++ clang++; do
		try "$compiler -std=$standard: constant names compile" "$compiler" -std=$standard \
			"${warnings[@]}" -Wold-style-cast -Iinclude -c "$work/names.cc" \
			-o "$work/use.o" || true
	done
done
for macro in __CUDA_ARCH__ __HIP_DEVICE_COMPILE__; do
	try "$macro: nothing is left" test "$(symbols clang++ "$work/use.cc" -O0 -D$macro=1)" = 0 ||
		true
done

# Names known only at run time do not, and the error says what to call.
refused() { # MACRO DECLARATIONS NAME COMPILER OPTION...
	local macro=$1 declarations=$2 name=$3
	shift 3
	printf '#include <perfmon/region.h>\n%s { PERFMON_REGION_%s(%s); }\n' "$declarations" \
		"$macro" "$name" >"$work/refused"
	! "$@" -Iinclude -fsyntax-only "$work/refused" 2>"$work/refused.log" &&
		grep -q 'error: ' "$work/refused.log" &&
		grep -q perfmon_region_begin_name "$work/refused.log"
}
all_refused() { # KIND DECLARATIONS NAME COMPILER OPTION...
	local kind=$1 macro
	shift
	for macro in BEGIN END SCOPE; do
		try "${*:3}: $macro refuses $kind" in_shell refused "$macro" "$@" || true
	done
}
names_refused() { # COMPILER OPTION...
	all_refused "a parameter" 'void f(const char *p); void f(const char *p)' p "$@"
	all_refused "what a call returns" 'const char *g(void); void f(void); void f(void)' 'g()' "$@"
	all_refused "a local buffer" 'void f(char b[]); void f(char b[])' b "$@"
}
for standard in c++11 c++14 c++17 c++20; do
	for compiler in g++ clang++; do
		cxx=("$compiler" -x c++ -std="$standard")
		names_refused "${cxx[@]}"
		all_refused "a string's text" $'#include <string>\nvoid f(const std::string &s)' \
			's.c_str()' "${cxx[@]}"
		all_refused "a static buffer" 'static char b[9]; char *g() { return b; } void f()' b \
			"${cxx[@]}"
	done
done
for compiler in gcc clang; do
	names_refused "$compiler" -x c -std=c11
	all_refused "a static buffer" 'static char b[9]; char *g(void); char *g(void) { return b; } void f(void); void f(void)' \
		b "$compiler" -x c -std=c11
done

try "the arm64 library" "$PM_TOP/scripts/guest" --prepare || exit 0
library=$PM_BUILD/arm64/.libs/libperfmon.so
listing=$work/listing
aarch64-linux-gnu-objdump -d --no-show-raw-insn "$library" >"$listing"
# The writer's side of a node (fastpath/thread.h): sequence odd; dmb ishst; the fields;
# sequence even by stlr. In this order, in every form of END.
ordered() { # SYMBOL
	awk -v symbol="<$1>:" '
		$2 == symbol { inside = 1; next }
		inside && /^$/ { exit }
		inside && $2 == "dmb" && $3 == "ishst" { fence = NR }
		inside && $2 == "stlr" { if (fence) good = 1 }
		END { exit !good }' "$listing"
}
for form in plain_0 plain_1 plain_2 plain_3 plain_4 plain_5 plain_6 general; do
	try "end_$form: dmb ishst, then stlr" ordered "end_$form" || true
done
for slow in pm_region_end_stale pm_node_add_shared; do
	try "$slow: dmb ishst, then stlr" ordered "$slow" || true
done
try "begin_plain_2 needs neither" in_shell eval '! ordered begin_plain_2' || true
