#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Programs of the system under perfmon run --hooks, which are stripped and know nothing of regions: each
# prints as usual, and has regions in its threads or ranks.
# Row: FO-06
# Row: HM-04
# Row: HM-07
. "$PM_TOP/scripts/suite.sh"

native_tree all
if [ ! -x "$build/perfmon" ]; then
	skip hooks_programs "the command was not built: ncurses is missing"
	exit 0
fi
installed_tree
perfmon=$prefix/bin/perfmon
export LD_LIBRARY_PATH=$prefix/lib
here=$PM_SUITE_DIR/here
rm -rf "$here"
mkdir -p "$here"
export OMP_NUM_THREADS=2 OPENBLAS_NUM_THREADS=2 LC_ALL=C

awk 'BEGIN {
	srand(1)
	for (i = 0; i < 40; i++) {
		printf ">s%d\n", i
		for (k = 0; k < 200; k++)
			printf "%s", substr("ACDEFGHIKLMNPQRSTVWY", 1 + int(rand() * 20), 1)
		print ""
	}
}' >"$here/sequences"
awk 'BEGIN {
	print "P3 400 400 255"
	for (i = 0; i < 160000; i++)
		print i % 256, (i * 7) % 256, (i * i) % 256
}' >"$here/picture.ppm"
awk 'BEGIN {
	print 72 "\nwater"
	for (i = 0; i < 24; i++) {
		x = i % 4 * 3
		y = int(i / 4) % 3 * 3
		z = int(i / 12) * 3
		print "O", x, y, z "\nH", x + 0.757, y + 0.586, z "\nH", x - 0.757, y + 0.586, z
	}
}' >"$here/water.xyz"
cat >"$here/blas.py" <<'END'
import numpy
a = numpy.arange(250000.0).reshape(500, 500) / 250000
for i in range(5):
    print(numpy.trace(a @ a.T))
END

# hooked NAME OUTPUT COMMAND...: OUTPUT is the file that the command writes, or "out".
hooked() {
	local output=$2 name=$1
	shift 2
	(cd "$here" && "$@" >out 2>err && mv "$output" "$name.without" && mv err "$name.err") || return
	(cd "$here" && "$perfmon" run --hooks=openmp,threads -e none -o "$name.csv" -f csv -- "$@" >out 2>err) || return
	cmp "$here/$output" "$here/$name.without" && cmp "$here/err" "$here/$name.err" &&
		grep -E '^all,.*\(parallel\)' "$here/$name.csv" >"$here/$name.rows" && head -n 20 "$here/$name.rows"
}
program() { # NAME PACKAGE PROGRAM OUTPUT COMMAND...
	if command -v "$3" >/dev/null; then
		try "$1: the same output, and regions" hooked "$1" "$4" "${@:5}"
	else
		skip "$1" "$2 is not installed"
	fi
}
program gm graphicsmagick gm picture.miff \
	gm convert picture.ppm -blur 0x3 -sharpen 0x2 -resize 300x300 +set date:modify +set date:create picture.miff
program clustalo clustalo clustalo aligned clustalo --threads=2 --force -i sequences -o aligned
program fasttree fasttree fasttreeMP out fasttreeMP -quiet sequences
# Fortran.
program xtb xtb xtb charges xtb water.xyz --gfn 2 --sp --norestart
if /usr/bin/python3 -c 'import numpy' 2>/dev/null && /usr/bin/python3 -c 'import numpy; numpy.ones((300, 300)) @ numpy.ones((300, 300))
print(open("/proc/self/maps").read())' | grep libgomp >/dev/null; then
	program numpy python3-numpy /usr/bin/python3 out /usr/bin/python3 blas.py
else
	skip numpy "python3-numpy with libopenblas0-openmp is not installed"
fi

# --- MPI, and LIKWID's markers --------------------------------------------------------------------

openmpi_anywhere
export OMP_NUM_THREADS=1
PATH=$PATH:/usr/sbin # likwid-bench looks for likwid-accessD

# timed NAME COMMAND...: to NAME.out, with its seconds to NAME.seconds.
timed() {
	local begin name=$1
	shift
	begin=$(date +%s%N)
	(cd "$here" && timeout 300 "$@") >"$here/$name.out" 2>"$here/$name.err" </dev/null || return
	echo "$name: $((($(date +%s%N) - begin) / 1000000)) ms"
}
# What a program prints, without what differs from run to run: numbers (all but those of lammps, whose
# physics is the same), blanks, and its own file.
steady() { # NAME
	case $1 in
	lmp*) sed -n '/^ *Step/,/^Loop/p' "$here/$1.out" | grep -v Loop ;;
	hpcc*) sed -E 's/[0-9.+e-]*[0-9][0-9.+e-]*/N/g; s/ +/ /g; /time/d' "$here/$1.file" ;;
	NP*) awk '{ print $1 }' "$here/$1.file" ;;
	*) sed -E 's/[0-9][0-9.e+-]*/N/g; s/[ \t]+/ /g' "$here/$1.out" | sort ;;
	esac
}
# A program that writes a file of its own has it in FILE, else FILE is "-".
beside() { # NAME HOOK FILE REGION COMMAND...
	local name=$1 hook=$2 file=$3 region=$4
	shift 4
	timed "$name.1" "$@" && { [ "$file" = - ] || mv "$here/$file" "$here/$name.1.file"; } &&
		timed "$name.2" "$perfmon" run "--hooks=$hook" -e none -o "$name.csv" -f csv -- "$@" &&
		{ [ "$file" = - ] || mv "$here/$file" "$here/$name.2.file"; } &&
		steady "$name.1" >"$here/$name.want" && [ -s "$here/$name.want" ] && steady "$name.2" | diff "$here/$name.want" - &&
		grep -E "^all,([^,]*,)*$region," "$here/$name.csv"
}
marked() { # PACKAGE PROGRAM HOOK FILE REGION COMMAND...
	if command -v "$2" >/dev/null && command -v "$6" >/dev/null; then
		try "$2: the same output, and regions" beside "$2" "${@:3}"
		sed -n "s/^$2\.1: /$2 without the hook: /p; s/^$2\.2: /$2 with it: /p" "$PM_SUITE_DIR/try.out" >&2
	else
		skip "$2" "$1 is not installed"
	fi
}
cat >"$here/in.melt" <<'END'
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 10 0 10 0 10
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
fix 1 all nve
thermo 50
run 250
END
{
	printf 'HPLinpack\ntests\nHPL.out\n8\n1\n300\n1\n40\n0\n1\n1\n2\n16.0\n1\n2\n1\n4\n1\n2\n1\n1\n1\n1\n1\n1\n2\n64\n0\n0\n1\n8\n'
	printf -- '-\n0\n1200\n0\n40\n'
} >"$here/hpccinf.txt"
marked lammps lmp mpi - MPI_Send mpirun.openmpi -n 2 lmp -in in.melt -log none
marked hpcc hpcc mpi hpccoutf.txt MPI_Allreduce mpirun.openmpi -n 2 hpcc
marked netpipe-openmpi NPopenmpi mpi np.out MPI_Recv mpirun.openmpi -n 2 NPopenmpi -u 1000 -n 2000 -p 0 -o np.out
marked netpipe-mpich2 NPmpich2 mpi np.out MPI_Recv mpirun.mpich -n 2 NPmpich2 -u 1000 -n 2000 -p 0 -o np.out
marked likwid likwid-bench likwid - bench likwid-bench -t sum -w S0:100kB:2 -i 10000
