#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Programs of the system with OpenMP under perfmon run --hooks, which are stripped and know nothing
# of regions: each prints as usual, and has regions in its threads.
# Row: FO-06
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
		grep -E '^all,.*\(parallel\)' "$here/$name.csv" | tee "$here/$name.rows" | head -n 20 && [ -s "$here/$name.rows" ]
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
