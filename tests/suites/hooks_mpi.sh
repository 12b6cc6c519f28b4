#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# perfmon run --hooks=mpi: the waits of MPI programs, in C and Fortran, with each MPI that is here.
. "$PM_TOP/scripts/suite.sh"

native_tree all
if [ ! -x "$build/perfmon" ]; then
	skip hooks_mpi "the command was not built: ncurses is missing"
	exit 0
fi
installed_tree
perfmon=$prefix/bin/perfmon
export LD_LIBRARY_PATH=$prefix/lib
openmpi_anywhere
here=$PM_SUITE_DIR/run
rm -rf "$here"
mkdir -p "$here"
# shellcheck disable=SC2054
library=("-I$PM_TOP/include" -L"$prefix/lib" -lperfmon)

# A row of the report: path and visits in all ranks.
row() { # FILE PATH VISITS
	grep -qE "^all,([^,]*,)*$2,[^,]*,$3,$3," "$here/$1" || {
		echo "no row $2 with $3 visits in $1:"
		grep '^all,' "$here/$1"
		return 1
	}
}

# said PATH BYTES: the report has these bytes there.
said() {
	awk -F, -v path="$1" -v want="$2" '
		{ sub(/\r$/, "") }
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == "bytes") column = i }
		$1 == "all" && $6 == path { got = $column }
		END { print got; exit got != want }' "$here/report"
}

# --- a program of C, and one of every call ----------------------------------------------------

cat >"$here/waits.c" <<'END'
#include <mpi.h>
#include <perfmon/region.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int rank, size, sum, part[4] = {0}, all[16];
	MPI_Request requests[2];
	MPI_Status statuses[2];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	PERFMON_REGION_BEGIN("solve");
	for (int i = 0; i < 5; i++) {
		MPI_Irecv(part, 4, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &requests[0]);
		MPI_Isend(&all[i], 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[1]);
		MPI_Waitall(2, requests, statuses);
	}
	PERFMON_REGION_END("solve");
	MPI_Pcontrol(0);
	for (int i = 0; i < 5; i++)
		MPI_Barrier(MPI_COMM_WORLD);
	MPI_Pcontrol(0);
	MPI_Pcontrol(1);
	MPI_Pcontrol(2);
	MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
	MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("%d %d\n", sum, all[1]);
	MPI_Finalize();
	return 0;
}
END

# The calls of the table with the numbers of their arguments, by the table and by an mpi.h.
table() { sed -n -E 's/^[[:space:]]*CALL\(([A-Z][a-z_]*), [a-z_]*, ([0-9]+), .*/MPI_\1 \2/p' "$PM_TOP/hooks/mpi/calls.h" | sort; }
header() { # MPI
	echo '#include <mpi.h>' | "mpicc.$1" -E -P -x c - | sed 's/__attribute__ *(([^;]*))//g' | tr '\n' ' ' | tr ';' '\n' |
		sed -n -E 's/^.*int +(MPI_[A-Za-z_]+) *\(([^)]*)\).*/\1 \2/p' | awk '{ print $1, gsub(",", ",") + 1 }' | sort -u
}
arguments() { # MPI
	table >"$here/table" && [ "$(wc -l <"$here/table")" -ge 50 ] && header "$1" >"$here/header" &&
		nothing comm -23 "$here/table" "$here/header"
}
# shellcheck disable=SC2016
lower() { nothing awk -F '[(,] *' '/CALL\([A-Z][a-z]/ && tolower($2) != $3' "$PM_TOP/hooks/mpi/calls.h"; }
try "the table has each name of Fortran beside that of C" lower

# --- Fortran: three lines -----------------------------------------------------------------------

fortran() { # USE INCLUDE
	cat <<END
program ranks
	$1
	use perfmon
	implicit none
	$2
	integer :: error, rank, i, total
	call MPI_Init(error)
	call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
	call perfmon_region_begin("solve")
	do i = 1, 10
		call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
	end do
	call MPI_Barrier(MPI_COMM_WORLD, error)
	call perfmon_region_end("solve")
	call MPI_Pcontrol(0)
	call MPI_Barrier(MPI_COMM_WORLD, error)
	call MPI_Pcontrol(1)
	call MPI_Bcast(total, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
	if (rank == 0) print *, "total", total
	call MPI_Finalize(error)
end program
END
}
fortran "" 'include "mpif.h"' >"$here/mpif.h.f90"
fortran "use mpi" "" >"$here/mpi.f90"
fortran "use mpi_f08" "" >"$here/mpi_f08.f90"

# hooked MPI RANKS PROGRAM: the same output and status as without, and one report.
hooked() {
	rm -f "$here"/report* &&
		status 0 "mpirun.$1" -n "$2" env PERFMON_OUTPUT=none "./$3" && mv "$here/out" "$here/without" &&
		status 0 "mpirun.$1" -n "$2" "$perfmon" run --hooks=mpi -e none -o report -f csv "./$3" &&
		cmp "$here/out" "$here/without" && says err "report of $2 ranks" && [ "$(ls "$here"/report*)" = "$here/report" ]
}
for mpi in openmpi mpich; do
	if ! command -v "mpicc.$mpi" >/dev/null || ! command -v "mpirun.$mpi" >/dev/null; then
		skip "$mpi" "mpicc.$mpi or mpirun.$mpi is missing"
		continue
	fi
	try "$mpi: the table has the calls as mpi.h has them" arguments "$mpi"
	must "$mpi: a program compiles" "mpicc.$mpi" -O1 "$here/waits.c" -o "$here/waits.$mpi" "${library[@]}"
	# Row: HM-04
	try "$mpi: ranks have one report" hooked "$mpi" 3 "waits.$mpi"
	try "$mpi: a wait is below the region around it" row report 'solve;MPI_Waitall' 15
	try "$mpi: a collective" row report MPI_Allgather 3
	try "$mpi: each rank's call" row report MPI_Reduce 3
	try "$mpi: what the ranks give" said MPI_Reduce 12
	try "$mpi: MPI_Pcontrol(0) and (1) switch off and on" nothing grep MPI_Barrier "$here/report"
	clean() { # PROGRAM
		rm -f "$here"/report* && status 0 "mpirun.$mpi" -n 2 "$perfmon" run --hooks=mpi -e none -o report "./$1" &&
			says report MPI_ && nothing grep lost: "$here/report"
	}
	try "$mpi: nothing is lost" clean "waits.$mpi"
	disarmed() {
		status 0 "mpirun.$mpi" -n 2 "$perfmon" run --hooks=mpi --disarmed -e none -o report -f csv "./waits.$mpi" &&
			row report MPI_Allgather 2 && nothing grep -E 'MPI_Waitall|solve' "$here/report"
	}
	try "$mpi: MPI_Pcontrol(1) switches on what began disarmed" disarmed
	around() {
		rm -f "$here"/report* &&
			status 0 "$perfmon" run --hooks=mpi -e none -o report -f csv "mpirun.$mpi" -n 2 "./waits.$mpi" && row report MPI_Reduce 2
	}
	try "$mpi: the launcher below perfmon" around
	linked() {
		"mpicc.$mpi" -O1 "$here/waits.c" -o "$here/linked" -Wl,--no-as-needed -lperfmon-mpi-regions "${library[@]}" &&
			rm -f "$here"/report* &&
			status 0 env PERFMON_EVENTS=none PERFMON_OUTPUT=report PERFMON_FORMAT=csv "mpirun.$mpi" -n 2 ./linked &&
			row report 'solve;MPI_Waitall' 10 && hooked "$mpi" 2 linked && row report 'solve;MPI_Waitall' 10
	}
	try "$mpi: a program may be linked with the hook, and is not hooked twice" in_shell linked
	if ! command -v "mpifort.$mpi" >/dev/null || ! command -v gfortran >/dev/null; then
		skip "$mpi: Fortran" "mpifort.$mpi or gfortran is missing"
		continue
	fi
	mkdir -p "$here/$mpi"
	for form in mpif.h mpi mpi_f08; do
		must "$mpi: Fortran by $form compiles" "mpifort.$mpi" -O1 -J"$here/$mpi" "$PM_TOP/lang/fortran/perfmon.f90" "$here/$form.f90" \
			-o "$here/$form.$mpi" "${library[@]}"
		try "$mpi: ranks of Fortran by $form have one report" hooked "$mpi" 4 "$form.$mpi"
		try "$mpi: $form: calls are below the region around them" row report 'solve;MPI_Allreduce' 40
		# Not the one behind MPI_Pcontrol(0).
		try "$mpi: $form: a barrier" row report 'solve;MPI_Barrier' 4
		try "$mpi: $form: what the ranks give" said 'solve;MPI_Allreduce' 160
		try "$mpi: $form: no call is in another" nothing grep -E 'MPI_[A-Za-z]*;MPI|^all,([^,]*,)*MPI_Barrier,MPI' "$here/report"
		try "$mpi: $form: behind MPI_Pcontrol(1)" row report MPI_Bcast 4
		try "$mpi: $form: nothing is lost" clean "$form.$mpi"
	done
done

# --- MPI that the program itself does not know -------------------------------------------------

cat >"$here/part.c" <<'END'
#include <mpi.h>
#include <stddef.h>
int part(void);
int part(void)
{
	int one = 1, sum = 0;
	MPI_Init(NULL, NULL);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Finalize();
	return sum;
}
END
cat >"$here/loads.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
	void *library = dlopen("./part.so", RTLD_NOW | RTLD_LOCAL);
	int (*part)(void) = (int (*)(void))dlsym(library, "part");

	printf("%d\n", part());
	return 0;
}
END
for mpi in openmpi mpich; do
	if ! command -v "mpicc.$mpi" >/dev/null || ! command -v "mpirun.$mpi" >/dev/null; then
		continue
	fi
	loads() {
		"mpicc.$mpi" -shared -fPIC "$here/part.c" -o "$here/part.so" && gcc "$here/loads.c" -o "$here/loads" &&
			hooked "$mpi" 2 loads && row report MPI_Allreduce 2
	}
	try "$mpi: MPI that a library of the program's own loads" in_shell loads
done
plain() {
	status 7 sh -c 'ls /usr; exit 7' && mv "$here/out" "$here/without" &&
		status 7 "$perfmon" run --hooks=mpi -- sh -c 'ls /usr; exit 7' && cmp "$here/out" "$here/without" && nothing cat "$here/err"
}
try "a command without MPI is as without the hook" plain
