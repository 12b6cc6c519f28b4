#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Each public header alone, as C11 and C++11, strictly, with both compilers, also with
# the regions compiled out and for an unknown CPU; each internal header alone as the project's own dialect.
. "$PM_TOP/scripts/suite.sh"

native_tree config.h
# As they are installed: there what an installed header includes is, too.
rm -rf "$PM_SUITE_DIR/root"
must installs in_shell pm_make "$build" "$PM_SUITE_DIR/make.log" install-data \
	DESTDIR="$PM_SUITE_DIR/root"
include=$PM_SUITE_DIR/root/perfmon/include
strict=(-fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wundef -Wconversion -Wsign-conversion -Werror "-I$include")

alone() { # HEADER COMPILER OPTION...
	local header=$1
	shift
	# Twice, for the include guard.
	printf '#include <%s>\n#include <%s>\n' "$header" "$header" | "$@"
}
mentions() { # HEADER WORD: whether it has the word, or a header that it includes
	printf '#include <%s>\n' "$1" | gcc -M "-I$include" -x c - | tr -d '\\\n' |
		sed 's/^[^:]*://' | xargs grep -l -e "$2" | grep -q .
}
for file in "$include"/perfmon/*.h "$include"/perfmon/*/*.h; do
	header=${file#"$include"/}
	case $header in
	perfmon/arch/arch.h) ;;
	perfmon/arch/*) continue ;; # parts of arch.h
	esac
	# Where the text of no header in it mentions that, it is the same with it.
	variants=("")
	! mentions "$header" PERFMON_DISABLE || variants+=(-DPERFMON_DISABLE)
	! mentions "$header" PERFMON_ARCH_GENERIC || variants+=(-DPERFMON_ARCH_GENERIC)
	for variant in "${variants[@]}"; do
		for compiler in gcc clang; do
			try "$header C11 $compiler $variant" in_shell alone "$header" "$compiler" \
				"${strict[@]}" -std=c11 ${variant:+"$variant"} -x c -
		done
		for compiler in g++ clang++; do
			try "$header C++11 $compiler $variant" in_shell alone "$header" "$compiler" \
				"${strict[@]}" -Wold-style-cast -std=c++11 ${variant:+"$variant"} -x c++ -
		done
	done
done
# The headers of the C++ interface, from C++11 on, also without exceptions.
for file in "$include"/perfmon/*.hpp; do
	header=${file#"$include"/}
	for compiler in g++ clang++; do
		# Those between have nothing that one of these has not.
		for standard in c++11 ${PM_LONG:+c++14 c++17} c++20; do
			try "$header $standard $compiler" in_shell alone "$header" "$compiler" \
				"${strict[@]}" -Wold-style-cast "-std=$standard" -x c++ -
		done
		for variant in -DPERFMON_DISABLE -DPERFMON_QUIET "-fno-exceptions -fno-rtti"; do
			read -r -a words <<<"$variant"
			try "$header $compiler $variant" in_shell alone "$header" "$compiler" \
				"${strict[@]}" -Wold-style-cast -std=c++11 "${words[@]}" -x c++ -
		done
	done
done
mapfile -t internal < <(find src -mindepth 2 -name "*.h" | sort)
for file in "${internal[@]}"; do
	case $file in
	src/arch/arch.h) ;;
	src/arch/*) continue ;;
	# One of these is a part of blocks.c, by the CPU.
	src/cli/truth/blocks_*) continue ;;
	esac
	# An mpi.h of the tests' own: each MPI has another one.
	try "$file stands alone" in_shell alone "${file#src/}" gcc -fsyntax-only -std=gnu11 -Itests/fake_mpi \
		-D_GNU_SOURCE -Wall -Wextra -Werror -Iinclude -Isrc -I"$build" -x c -
done

# What a program compiles, and what it must not, with the word that its author reads.
compiles() { # COMPILER STANDARD CODE [HEADER]
	local language=c
	[[ $2 != *++* ]] || language=c++
	printf '#include <perfmon/%s>\n%s\n' "${4-perfmon.h}" "$3" |
		"$1" "${strict[@]}" "-std=$2" -x "$language" -
}
refused() { # WORD COMPILER STANDARD CODE
	! compiles "${@:2}" 2>"$PM_SUITE_DIR/refusal" && grep -q -e "$1" "$PM_SUITE_DIR/refusal"
}
refused_cxx() { refused "$@" perfmon.hpp; } # WORD COMPILER STANDARD CODE
reads() { # DECLARATION: code that reads into V
	printf '%s int f(void); int f(void) { %s }' "$1" \
		'return perfmon_session_read(0, PERFMON_VECTOR(v), 0);'
}
for dialect in "gcc c99" "gcc c11" "clang c11" "g++ c++11" "clang++ c++17"; do
	read -r compiler standard <<<"$dialect"
	try "$dialect: PERFMON_VECTOR() of an array" in_shell compiles "$compiler" "$standard" \
		"$(reads "static struct perfmon_value v[2];")"
	try "$dialect: PERFMON_VECTOR() of a pointer" in_shell refused \
		takes_an_array_not_a_pointer "$compiler" "$standard" \
		"$(reads "static struct perfmon_value *v;")"
done
# Names of regions in C++ are checked by the compiler.
run_time="named_region takes names known at run time"
for dialect in "g++ c++11" "g++ c++20" "clang++ c++11" "clang++ c++20"; do
	read -r compiler standard <<<"$dialect"
	try "$dialect: a region of a literal" in_shell compiles "$compiler" "$standard" \
		'static perfmon::region r("x"); void f(); void f() { perfmon::scope in(r); }' perfmon.hpp
	try "$dialect: no region of a pointer" in_shell refused_cxx "$run_time" "$compiler" "$standard" \
		'void f(const char *n); void f(const char *n) { perfmon::region r(n); }'
	try "$dialect: no region of a std::string" in_shell refused_cxx "$run_time" "$compiler" "$standard" \
		'void f(); void f() { std::string n("x"); perfmon::region r(n); }'
	try "$dialect: no region of a buffer" in_shell refused_cxx "$run_time" "$compiler" "$standard" \
		'void f(); void f() { char n[9] = "x"; perfmon::region r(n); }'
	try "$dialect: no region without a name" in_shell refused_cxx "name of a region is empty" \
		"$compiler" "$standard" 'static perfmon::region r("");'
	try "$dialect: no scope of a temporary" in_shell refused_cxx "delete" "$compiler" "$standard" \
		'void f(); void f() { perfmon::scope in(perfmon::named_region("x")); }'
	try "$dialect: no scope of a name of the run time" in_shell refused_cxx "constant expression" \
		"$compiler" "$standard" 'void f(const char *n); void f(const char *n) { PERFMON_SCOPE(n); }'
done
# What C++17 on lets a compiler say: a visit that would end at once, and a function that count()
# cannot call.
for dialect in "g++ c++17" "clang++ c++17"; do
	read -r compiler standard <<<"$dialect"
	for object in 'perfmon::scope{r}' 'perfmon::counting{s}' 'perfmon::adoption{t}'; do
		try "$dialect: no $object without a name" in_shell refused_cxx "nodiscard" "$compiler" "$standard" \
			"void f(perfmon::region &r, perfmon::session &s, perfmon::token t);
			void f(perfmon::region &r, perfmon::session &s, perfmon::token t) { (void)r, (void)s, (void)t; $object; }"
	done
	try "$dialect: count() of a function with an argument" in_shell refused_cxx "pass a lambda" \
		"$compiler" "$standard" 'int g(int); void f(); void f() { perfmon::count(g); }'
done
# libpfm4's header declares what the kernel's does.
after_libpfm4() { # COMPILER OPTION...
	printf '#include <perfmon/%s>\n' pfmlib_perf_event.h event.h pfmlib_perf_event.h | "$@" -
}
if echo '#include <perfmon/pfmlib_perf_event.h>' | gcc -fsyntax-only -x c - 2>/dev/null; then
	# Its own header calls what only _GNU_SOURCE declares.
	for compiler in "gcc -std=c11 -D_GNU_SOURCE -xc" "g++ -std=c++11 -xc++"; do
		read -r -a words <<<"$compiler"
		try "perfmon/event.h after libpfm4's header, ${words[0]}" in_shell after_libpfm4 \
			"${words[@]}" -fsyntax-only "-I$include"
	done
fi
