#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Programs of the system under perfmon stat --exact: each ends and prints as usual, and two runs
# agree to the instruction, or the report says by how much they do not.
. "$PM_TOP/scripts/suite.sh"

exact_tree exact_programs

here=$PM_SUITE_DIR/here
rm -rf "$here"
mkdir -p "$here"
# What programs are known to take from their surroundings.
export LC_ALL=C TZ=UTC0 HOME=$here GIT_CONFIG_NOSYSTEM=1 PERL_HASH_SEED=0 PYTHONHASHSEED=0
export PYTHONDONTWRITEBYTECODE=1
openmpi_anywhere
cd "$here"
seq 1 3000 >numbers
head -c 200000 "$PM_TOP/COPYING" >text
awk 'BEGIN { for (i = 0; i < 9000; i++) print "line", i, i * i % 977 }' >table
cat >hello.c <<'END'
#include <stddef.h>
int main(void) { return (int)sizeof(size_t) - 8; }
END
cat >hello.cc <<'END'
template <int n> struct sum { static const int value = n + sum<n - 1>::value; };
template <> struct sum<0> { static const int value = 0; };
int main() { return sum<100>::value - 5050; }
END
printf 'all: sorted\nsorted: numbers\n\t@sort -r numbers | head -n 3\n' >Makefile
# shellcheck disable=SC2016 # for cmake and ninja
{
	printf 'foreach(i RANGE 100)\n  math(EXPR s "${s} + ${i}")\nendforeach()\nmessage("${s}")\n' >sum.cmake
	printf 'rule c\n  command = sort $in\nbuild one: c numbers\nbuild two: c table\n' >build.ninja
}
cat >threads.py <<'END'
import threading
def add(n):
    results[n] = sum(i * n for i in range(2000))
results = [0] * 3
threads = [threading.Thread(target=add, args=(n,)) for n in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(results)
END
cat >ranks.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	int rank, sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		printf("%d\n", sum);
	MPI_Finalize();
	return 0;
}
END

# same_output COMMAND...: two counted runs do what two others do.
same_output() {
	local status=0 counted=0
	"$@" >native 2>native.err </dev/null || status=$?
	cat native native >want
	"$perfmon" stat -x -r 2 -o counts "$@" >got 2>got.err </dev/null || counted=$?
	[ "$counted" -eq "$status" ] || {
		echo "status $counted, not $status"
		cat got.err counts
		return 1
	}
	cmp want got
}
agrees() {
	cat counts
	grep -q 'the runs agree in every count' counts
}
says_which() {
	cat counts
	grep -qE "the runs agree in every count|the runs differ, 'exact::instructions' by [0-9]+" counts
}
number=0
# counted HOW NAME COMMAND...: HOW is "agrees", or "says_which" where a run may do other work.
counted() {
	local how=$1 name=$2
	shift 2
	number=$((number + 1))
	if ! command -v "$1" >/dev/null; then
		skip "$name" "$1 is missing"
		return 0
	fi
	tried=
	try "$name ends and prints as usual" same_output "$@"
	[ -z "$tried" ] || return 0
	if [ "$how" = agrees ]; then
		try "two runs of $name agree to the instruction" agrees
	else
		try "of $name the report says whether two runs agree" says_which
		# Why they may not, for the log.
		grep 'note: the runs' counts >&2 || true
	fi
}

# shellcheck disable=SC2016 # for the shells that are counted
{
	counted agrees sh sh -c 'i=0; while [ $i -lt 100 ]; do i=$((i + 1)); done; echo $i'
	counted agrees bash bash -c 'for i in {1..100}; do sum=$((sum + i)); done; echo $sum; exit 3'
	counted says_which "a pipeline" sh -c 'cat numbers | tr 1 2 | tail -n 3'
	counted agrees awk awk '{ n += $3 } END { print n }' table
	counted agrees perl perl -e 'my %h = map { $_ => 1 } 1 .. 100; print join(",", keys %h), "\n"'
}
counted agrees sed sed -n 's/a/b/p' text
counted agrees grep grep -c -E '[a-z]+ing' text
counted agrees find find "$PM_TOP/src/arch" -name '*.h' -newer /nosuch
counted agrees diff diff numbers table
counted agrees sort sort -n -k 3 table
counted agrees "sort with two threads" sort --parallel=2 -S 50M -r table
counted agrees tar tar -c -f - --mtime=@0 numbers text
counted agrees gzip gzip -n -c text
counted agrees bzip2 bzip2 -c numbers
counted agrees xz xz -c -1 numbers
counted says_which "xz with two threads" xz -T2 -c -1 --block-size=65536 table
counted agrees openssl openssl dgst -sha256 text
counted agrees "git hash-object" git hash-object text
counted agrees "git diff" git --no-pager diff --no-index numbers table
counted says_which make make -B
counted agrees cmake cmake -P sum.cmake
counted says_which ninja ninja -n -v
counted agrees "the C compiler" cc -fsyntax-only hello.c
counted agrees "the C++ compiler" c++ -fsyntax-only hello.cc
counted agrees "the assembler" as -o hello.o /dev/null
counted says_which python3 /usr/bin/python3 -S -c 'print(sum(range(1000)))'
counted says_which "python3 with threads" /usr/bin/python3 -S threads.py
if command -v mpicc >/dev/null && command -v mpirun >/dev/null; then
	must "an MPI program compiles" mpicc -O1 -o ranks ranks.c
	counted says_which "an MPI program" mpirun -n 2 ./ranks
else
	skip "an MPI program" "mpicc or mpirun is missing"
fi
[ "$number" -ge 20 ] || not_ok "only $number programs"
