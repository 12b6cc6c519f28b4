#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# C++ and Fortran, as their programs use the installed library: pkg-config, a compiler, and the
# examples; wrong use gives an error of the language.
. "$PM_TOP/scripts/suite.sh"

native_tree all
installed_tree
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
export LD_LIBRARY_PATH=$prefix/lib
openmpi_anywhere
here=$PM_SUITE_DIR/run
rm -rf "$here"
mkdir -p "$here"
perfmon=$prefix/bin/perfmon
exact=
[ -x "$perfmon" ] && command -v valgrind >/dev/null && [ -d "$build/exact/valgrind" ] && exact=1
read -r -a flags <<<"$(pkg-config --cflags perfmon)"
read -r -a libs <<<"$(pkg-config --libs perfmon)"
strict=(-Wall -Wextra -Wpedantic -Werror)

# cell COLUMN PATH: of the CSV report in "csv".
cell() {
	awk -F, -v column="$1" -v row="$2" '
		{ sub(/\r$/, ""); gsub(/"/, "") }
		!fields { for (i = 1; i <= NF; i++) at[$i] = i; fields = NF; next }
		$at["path"] == row { print $at[column]; exit }' "$here/csv"
}
# visits NUMBER PATH
visits() {
	[ "$(cell visits "$2")" = "$1" ] || {
		echo "'$2' has '$(cell visits "$2")' visits, not $1"
		cat "$here/csv"
		return 1
	}
}
reported() { # PROGRAM: runs, with a CSV report of its visits
	rm -f "$here/csv"
	PERFMON_EVENTS=none PERFMON_FORMAT=csv PERFMON_OUTPUT=$here/csv status 0 "$@"
}
# exactly NAME EVENT LEAST MOST: what a program printed of an event
exactly() {
	awk -v event="exact::$2" -v least="$3" -v most="$4" '
		$1 == event && $3 == "(spread" && $4 == "0," { seen++; if ($2 < least || $2 > most) bad = 1 }
		END { exit bad || seen != 1 }' "$here/out" || {
		echo "$1: $2 is not between $3 and $4, without a spread"
		cat "$here/out"
		return 1
	}
}

# --- C++ -------------------------------------------------------------------------------
# Row: HM-01

cat >"$here/three.cc" <<'END'
#include <iostream>
#include <perfmon/perfmon.hpp>
static void nops() { __asm__ volatile(".rept 1000\n\tnop\n\t.endr"); }
int main() { std::cout << perfmon::count([] { nops(); }, {"instructions", "loads"}); }
END
for compiler in g++ clang++; do
	try "C++: three lines of program compile, $compiler" "$compiler" -std=c++11 -O2 "${strict[@]}" \
		"$here/three.cc" -o "$here/three.$compiler" "${flags[@]}" "${libs[@]}"
	natively() {
		status 0 "./three.$compiler" && says out "'perfmon run --exact -e loads'" &&
			says out 'instructions:u '
	}
	try "C++: the same names of events natively, $compiler" natively
	if [ -n "$exact" ]; then
		counted() {
			status 0 "$perfmon" run --exact -e instructions,loads "./three.$compiler" &&
				exactly "$compiler" instructions 1000 1000 && exactly "$compiler" loads 0 0
		}
		try "C++: 1000 nops are 1000 instructions and no load, $compiler" counted
	else
		skip "C++: 1000 nops are 1000 instructions and no load, $compiler" "Valgrind is missing"
	fi
done

# Files of one program that differ in what regions are compiled to.
cat >"$here/one.cc" <<'END'
#include <perfmon/perfmon.hpp>
perfmon::region shared("shared");
void other();
int main()
{
	perfmon::named_region named("named");
	for (int i = 0; i < 3; i++) {
		perfmon::scope in(shared);
		perfmon::scope below(named);
		other();
	}
}
END
cat >"$here/two.cc" <<'END'
#include <perfmon/perfmon.hpp>
extern perfmon::region shared;
void other();
void other()
{
	perfmon::named_region named("disabled");
	perfmon::scope in(shared);
	perfmon::scope below(named);
	PERFMON_SCOPE("off");
}
END
mixed() { # OPTIMISATION
	g++ -std=c++11 "$1" "${strict[@]}" -c "$here/one.cc" -o "$here/one.o" "${flags[@]}" &&
		g++ -std=c++11 "$1" -DPERFMON_DISABLE "${strict[@]}" -c "$here/two.cc" -o "$here/two.o" "${flags[@]}" &&
		g++ "$here/two.o" "$here/one.o" -o "$here/mixed" "${libs[@]}" &&
		reported ./mixed && visits 3 shared && visits 3 "shared;named" && ! grep -e disabled -e ';off' "$here/csv"
}
for level in -O0 -O2; do
	try "C++: regions are compiled out of one file alone, $level" mixed "$level"
done
cat >"$here/codes.cc" <<'END'
#include <cstdio>
#include <perfmon/perfmon.hpp>
int main(int argc, char **)
{
	std::error_code failed;
	perfmon::session wrong("page-fautls", failed);

	std::printf("%d %s\n", failed.value(), wrong.message().c_str());
	if (argc > 1)
		perfmon::session("page-fautls");
}
END
without_exceptions() {
	g++ -std=c++11 -fno-exceptions -fno-rtti "${strict[@]}" "$here/codes.cc" -o "$here/codes" "${flags[@]}" "${libs[@]}" &&
		both 0 out "22 unknown event 'page-fautls'" ./codes && status 134 ./codes throw &&
		says err "perfmon: unknown event 'page-fautls'"
}
try "C++: a program without exceptions has codes, and else ends with the sentence" without_exceptions

cp -r "$prefix/share/doc/perfmon/examples" "$here/"
sorting() {
	make -C "$here/examples" sorting CXXFLAGS="-O2 -std=c++11 ${strict[*]}" && reported examples/sorting &&
		visits 1 "sort all;shuffled;sort" && visits 1 "sort all;reversed;prepare" && says out 'copy and std::sort'
}
try "C++: the example's threads are below the region that started them" sorting
if [ -n "$exact" ]; then
	sorting_exactly() {
		status 0 "$perfmon" run --exact -e instructions,cond-branches examples/sorting &&
			[ "$(grep -c '^exact::instructions [0-9]* (spread' "$here/out")" -eq 3 ]
	}
	try "C++: the example counts each sort exactly" sorting_exactly
fi
# The framework takes most of a minute to compile.
if [ -z "$PM_LONG" ]; then
	:
elif echo '#include <catch2/catch.hpp>' | g++ -E -x c++ - >/dev/null 2>&1; then
	# Most of it is the framework.
	catch2() {
		pm_cached g++ -O0 -c "$here/examples/catch2.cc" -o "$here/catch2.o" "${flags[@]}" &&
			g++ "$here/catch2.o" -o "$here/catch2" "${libs[@]}" &&
			both 0 out "All tests passed" ./catch2
	}
	try "C++: limits as assertions of Catch2" catch2
	# Without optimisation a lookup takes more than its limit.
	exceeded() {
		status 1 "$perfmon" run --exact ./catch2 && says out "exact::instructions " &&
			says out "FAILED:" && says out "a lookup in 4096 sorted numbers"
	}
	[ -z "$exact" ] || try "C++: a call that exceeds its limit fails, and shows its count" exceeded
else
	skip "C++: limits as assertions of Catch2" "Catch2 is not installed"
fi
if echo '#include <nanobench.h>' | g++ -E -x c++ - >/dev/null 2>&1; then
	nanobench() {
		make -C "$here/examples" nanobench && EVENTS=page-faults status 0 examples/nanobench &&
			says out 'page-faults '
	}
	try "C++: counts beside the times of nanobench" nanobench
else
	skip "C++: counts beside the times of nanobench" "nanobench.h is not installed"
fi

# --- Fortran ---------------------------------------------------------------------------
# Row: HM-02

if ! command -v gfortran >/dev/null; then
	skip "Fortran" "gfortran is missing"
	exit 0
fi
module=$prefix/include/perfmon/perfmon.f90
named() {
	[ "$(realpath -m "$root$(PKG_CONFIG_SYSROOT_DIR='' pkg-config --variable=fortran perfmon)")" = "$(realpath "$module")" ]
}
try "Fortran: pkg-config names the module's source" named
# In a folder of its own, for the module file.
fortran() { # COMMAND...
	(cd "$here" && "$@")
}
language=(-Wall -Wextra -Wimplicit-interface -Werror)
for standard in f2008 f2018; do
	try "Fortran: the module is $standard" fortran gfortran "-std=$standard" -pedantic "${language[@]}" \
		-c "$module" -o module.o
done
for openmp in "" -fopenmp; do
	name="Fortran${openmp:+ with OpenMP}"
	try "$name: the tests compile" fortran gfortran -std=f2008 -fcheck=all "${language[@]}" ${openmp:+"$openmp"} \
		"$module" "$PM_TOP/tests/programs/languages.f90" -o languages "${libs[@]}"
	status 0 ./languages >&2 || not_ok "$name: the tests run"
	sed -n "s/^\(ok\|not ok\) - /&$name: /p" "$here/out"
	try "$name: all of the tests ran" test "$(grep -c '^ok' "$here/out")" = "$(sed -n 's/^1\.\.//p' "$here/out")"
done
stops() { # MISTAKE SENTENCE
	status 1 ./languages "$1" && says err "perfmon: $2" && says err "ERROR STOP"
}
try "Fortran: an unknown event stops with a sentence" stops event "unknown event 'page-fautls'"
try "Fortran: a closed session stops with a sentence" stops closed "the session is not created, or closed"
try "Fortran: a copy of a closed session, too" stops copy "the session is not created, or closed"
try "Fortran: a value that was not counted stops with a sentence" stops count \
	"event 'page-faults' was not counted: the session was not started"
try "Fortran: a value that was not read, too" stops unread "the value was not read from a session"
# What the compiler refuses.
refuses() { # WORD STATEMENT
	printf '%s\n' 'subroutine wrong(session, tid)' 'use perfmon' 'type(perfmon_session) :: session' \
		'integer(8) :: tid' "$2" 'end subroutine' >"$here/wrong.f90"
	if (cd "$here" && gfortran -c wrong.f90) 2>"$here/refusal"; then return 1; fi
	grep -F "$1" "$here/refusal"
}
try "Fortran: the compiler refuses a name that is a number" refuses "passed INTEGER(4) to CHARACTER" \
	'call perfmon_region_begin(5)'
try "Fortran: the compiler refuses a number of another kind" refuses "passed INTEGER(8) to INTEGER(4)" \
	'call session%attach_thread(tid)'
try "Fortran: the compiler refuses what is inside of a session" refuses "PRIVATE" 'session%serial = 5'
# What the report says of regions.
cat >"$here/lost.f90" <<'END'
program lost
  use perfmon
  call perfmon_region_begin('solve')
  call perfmon_region_end('slove')
  call perfmon_region_end('solve')
  call perfmon_region_end('solve')
  call perfmon_region_begin('   ')
  call perfmon_region_end('')
  call perfmon_region_begin('open')
end program
END
lost() {
	fortran gfortran "$module" lost.f90 -o lost "${libs[@]}" && rm -f "$here/lost.txt" &&
		PERFMON_EVENTS=none PERFMON_OUTPUT=lost.txt status 0 ./lost &&
		says lost.txt "'slove' (did you mean 'solve'?), inside solve" &&
		says lost.txt "'solve', outside of all regions" &&
		says lost.txt "lost: 1 visit without an END: 'open'" && grep -E '^"" +1 ' "$here/lost.txt"
}
try "Fortran: the report has what does not match, and the empty name" lost
perf_reads() { # what the tests have left
	perf script -i "$here/samples.data" >"$here/samples" 2>&1 && [ "$(grep -c page-faults "$here/samples")" -gt 10 ]
}
if command -v perf >/dev/null; then
	try "Fortran: perf reads the samples" perf_reads
else
	skip "Fortran: perf reads the samples" "perf is missing"
fi

plate() {
	make -C "$here/examples" plate && OMP_NUM_THREADS=2 reported examples/plate &&
		says out 'this thread: ' && says out 'page-faults' &&
		visits 1 solve && visits 400 "solve;sweep" && visits 1 "set up"
}
try "Fortran: the threads of the OpenMP example are below its region" plate
if ! command -v cmake >/dev/null; then
	skip "Fortran: CMake compiles the module" "cmake is missing"
else
	by_cmake() {
		mkdir -p "$here/project" && cp "$here/examples/plate.f90" "$here/project/" &&
			printf '%s\n' 'cmake_minimum_required(VERSION 3.10)' 'project(plate Fortran)' \
				'find_package(perfmon REQUIRED)' \
				"add_executable(plate plate.f90 \${perfmon_FORTRAN})" \
				'target_link_libraries(plate PRIVATE perfmon::perfmon)' >"$here/project/CMakeLists.txt" &&
			cmake -S "$here/project" -B "$here/cmake" -DCMAKE_PREFIX_PATH="$prefix" &&
			cmake --build "$here/cmake" && reported cmake/plate && visits 1 solve
	}
	try "Fortran: CMake compiles the module" by_cmake
fi

# MPI in its three forms, of each implementation.
ranks() { # MPI DEFINITION
	rm -rf "$here/run" && mkdir "$here/run" &&
		fortran "mpif90.$1" -O2 ${2:+"$2"} "$module" "$here/examples/strips.F90" -o "strips.$1" "${libs[@]}" &&
		PERFMON_EVENTS=none PERFMON_OUTPUT=none PERFMON_PROFILE=run/ status 0 "mpirun.$1" -n 2 "./strips.$1" &&
		says out "heat   9.595060E+04" && (cd "$here" && "$perfmon" report run >out) &&
		says out "2 ranks of 2" && grep -E '^  exchange +200 ' "$here/out" && grep -E '^  sweep +200 ' "$here/out"
}
for mpi in openmpi mpich; do
	if ! command -v "mpif90.$mpi" >/dev/null || ! command -v "mpirun.$mpi" >/dev/null || [ ! -x "$perfmon" ]; then
		skip "Fortran: MPI of $mpi" "mpif90.$mpi, mpirun.$mpi or the command is missing"
		continue
	fi
	for form in mpi_f08 mpi mpif.h; do
		case $form in
		mpi_f08) definition= ;;
		mpi) definition=-DWITH_MPI ;;
		mpif.h) definition=-DWITH_MPIF_H ;;
		esac
		try "Fortran: ranks of $mpi by $form" ranks "$mpi" "$definition"
	done
done
