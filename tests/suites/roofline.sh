#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# perfmon roofline: flops and bytes are those counted by hand, rates those of the program's own clock, the
# ceilings are of this machine, and what goes wrong in one of the two runs is said.
# Row: QU-01
# shellcheck disable=SC2317 # functions that "try" calls
. "$PM_TOP/scripts/suite.sh"

native_tree all
if [ ! -x "$build/perfmon" ]; then
	skip roofline "the command was not built: ncurses is missing"
	exit 0
fi
perfmon=$build/perfmon
here=$PM_SUITE_DIR/roofline
rm -rf "$here"
mkdir -p "$here/empty"
export TMPDIR=$here
unset PERFMON_STRIDE

compile_as() { # FILE FLAG...
	cc -O2 -Wno-unknown-pragmas "$@" -Wl,-z,now -I"$PM_TOP/include" -I"$PM_TOP/src" -I"$build/src" -L"$build/.libs" \
		-lperfmon -Wl,-rpath,"$build/.libs"
}
compile() { compile_as "$PM_TOP/tests/programs/roofline_kernels.c" "$@"; }
must "the kernels compile" compile -o "$here/kernels"

# roofline WANT ARGUMENT...: leaves out and err.
roofline() {
	local want=$1
	shift
	status "$want" "$perfmon" roofline "$@"
}
shows() { # WANT FILE TEXT ARGUMENT...
	local want=$1 file=$2 text=$3
	shift 3
	roofline "$want" "$@" && says "$file" "$text"
}
member() { # PATH NAME: of a point in out
	sed -n "s/.*\"path\":\\[\"$1\"\\].*\"$2\":\\([^,}]*\\).*/\\1/p" "$here/out"
}

# --- ceilings -------------------------------------------------------------------------------

kept=$here/ceilings.json
must "ceilings are measured, and kept in a file" shows 0 out "ceilings of this machine" --quick --ceilings "$kept"
widths() { # each that the CPU has, and no other
	local flags bits=64
	flags=$(grep -m 1 -E '^(flags|Features)' /proc/cpuinfo)
	case $(uname -m) in x86_64 | aarch64) bits="$bits 128" ;; esac
	case " $flags " in *" avx "*) bits="$bits 256" ;; esac
	case " $flags " in *" avx512f "*) bits="$bits 512" ;; esac
	echo "$bits" | tr ' ' '\n' >"$here/want"
	grep -o '"bits":[0-9]*' "$kept" | cut -d: -f2 | sort -nu | diff "$here/want" -
}
try "of each width that the CPU has" widths
levels() {
	local level
	sort -u /sys/devices/system/cpu/cpu0/cache/index*/level 2>/dev/null | while read -r level; do
		[ "$level" -gt 3 ] || grep -q "\"of\":\"L$level\"" "$kept" || echo "no L$level"
	done
	grep -q '"of":"memory","by":"triad"' "$kept" || echo "no memory"
}
try "of each level of the caches, and of memory" nothing levels
threads() {
	{ echo 1 && nproc; } | sort -nu >"$here/want"
	grep -o '"threads":[0-9]*' "$kept" | cut -d: -f2 | sort -nu | diff "$here/want" -
}
try "of one thread and of all" threads
again() {
	cp "$kept" "$here/before"
	roofline 0 --ceilings "$kept" && cmp "$kept" "$here/before"
}
try "what a file has is not measured again" again
other() {
	sed 's/"host":"[^"]*"/"host":"elsewhere"/' "$kept" >"$here/other.json"
	shows 1 err "the ceilings of another machine ('elsewhere'" --ceilings "$here/other.json"
}
try "the file of another machine is refused" other
for bad in '' '{}' '[]' '{"format":"perfmon ceilings 1"' \
	'{"format":"perfmon ceilings 1","ceilings":[{"of":"L9"}]}' \
	'{"format":"perfmon ceilings 1","ceilings":[{"of":"L1","by":"load","threads":0,"bits":64,"bytes_per_s":1}]}'; do
	printf '%s' "$bad" >"$here/bad.json"
	try "a file with '$bad' is refused" shows 1 err "is not a file of ceilings" --ceilings "$here/bad.json"
done
for lacks in of by; do
	sed "0,/\"$lacks\":\"[^\"]*\",/s///" "$kept" >"$here/bad.json"
	try "an entry without '$lacks' is quoted" shows 1 err ", by the entry {" --ceilings "$here/bad.json"
done
try "a file that cannot be written is said" shows 1 err "/no/such/file" --quick --ceilings /no/such/file
one_cpu() {
	taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" "$perfmon" roofline --quick -f json >"$here/out" &&
		grep -o '"threads":[0-9]*' "$here/out" | sort -u | diff <(echo '"threads":1') -
}
try "a user who may use one CPU gets the ceilings of one thread" one_cpu

busy() { # on a CPU that another program shares
	local cpu other got=0
	cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
	taskset -c "$cpu" sh -c 'while :; do :; done' &
	other=$!
	taskset -c "$cpu" "$perfmon" roofline --quick >"$here/out" || got=1
	kill "$other"
	[ "$got" -eq 0 ] && grep -q '^  busy ' "$here/out"
}
try "what others took while ceilings were measured is said" busy

# --- mistakes -------------------------------------------------------------------------------

try "an unknown option" roofline 2 --nonsense
try "an unknown format" shows 2 err "'svg' is not one of text, json, html" -f svg
try "--counts alone" shows 2 err "--timed is missing" --counts x
try "a command and profiles" shows 2 err "a command and profiles were given" --timed x true
try "no such command" shows 127 err "cannot run './nosuch'" --quantities ./nosuch
try "a program without regions" shows 1 err "no profile was written" --quantities true
# shellcheck disable=SC2016 # the shell of the command expands it
relative() {
	mkdir -p "$here/below"
	TMPDIR=below shows 1 err "no profile was written" --quantities sh -c 'echo "$PERFMON_PROFILE"' &&
		grep -q "^$here/below/perfmon-roofline-" "$here/out" && TMPDIR=none shows 1 err "cannot create '$here/none/" true
}
try "a TMPDIR that is relative is taken from here" relative
try "help" shows 0 out "usage: perfmon roofline" --help
without_valgrind() {
	both 1 err "install the package valgrind" env PATH="$here/empty" "$perfmon" roofline "$here/kernels"
}
try "without Valgrind a sentence says what to install" without_valgrind

# --- with counts ----------------------------------------------------------------------------

if ! command -v valgrind >/dev/null || ! ls "$build"/exact/valgrind/perfmon-*-linux >/dev/null 2>&1; then
	skip "counts by translation" "Valgrind is missing"
	exit 0
fi

# A visit has loads and stores besides: of what registers do not keep, such as addresses. The code of a
# team keeps fewer things in them, in each row of a grid.
by_hand() { # PROGRAM PART: each line that it printed against the points; PART of all bytes may be besides
	local name flops loads stores visits
	roofline 0 --ceilings "$kept" -f json -- "$1" || return 1
	grep -v '[{}]' "$here/out" >"$here/hand"
	while read -r name flops loads stores visits _; do
		awk -v name="$name" -v flops="$flops" -v loads="$loads" -v stores="$stores" -v visits="$visits" -v part="$2" \
			-v f="$(member "$name" flops)" -v l="$(member "$name" load_bytes)" \
			-v s="$(member "$name" store_bytes)" -v p="$(member "$name" problem)" 'BEGIN {
			if (p != "null" || f != flops || l < loads || l > loads * (1 + part) + 256 * visits ||
			    s < stores || s > stores * (1 + part) + 128 * visits)
				print name ": by hand " flops, loads, stores ", counted " f, l, s, p }'
	done <"$here/hand" >"$here/wrong"
	cat "$here/wrong" "$here/hand"
	[ "$(wc -l <"$here/hand")" -eq 4 ] && [ ! -s "$here/wrong" ]
}
rates() { # of the last run: between flops by hand, divided by the time around the region and in it
	local name least most
	while read -r name _ _ _ _ least most; do
		awk -v name="$name" -v least="$least" -v most="$most" -v r="$(member "$name" flops_per_s)" 'BEGIN {
			if (r < 0.995 * least || r > 1.005 * most) print name ": by hand " least " to " most ", shown " r }'
	done <"$here/hand"
}
# A ceiling is the lower one of the peak and of L1's bandwidth times the intensity.
bounds() {
	awk -v RS='[{}]' '
		function get(name) { return match($0, "\"" name "\":[^,]*") ? \
			substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) : "" }
		function number(name) { return get(name) + 0 }
		/"of":"L1"/ && number("bytes_per_s") > best["L1", number("threads")] { best["L1", number("threads")] = number("bytes_per_s") }
		/"of":"double/ && number("flops_per_s") > best["DP", number("threads")] { best["DP", number("threads")] = number("flops_per_s") }
		/"path"/ {
			t = number("ceiling_threads"); slope = best["L1", t] * number("flops_per_byte"); peak = best["DP", t]
			roof = slope < peak ? slope : peak; shown = number("ceiling_flops_per_s"); n++
			reached = 100 * number("flops_per_s") / roof; said = number("reached_percent")
			if (get("bound_by") != (slope < peak ? "\"L1\"" : "\"flops\"") || shown < 0.999 * roof || shown > 1.001 * roof ||
			    said < 0.999 * reached || said > 1.001 * reached)
				print "not bound by " roof ": " $0 }
		END { if (n != 4) print n " points" }' "$here/out"
}
try "flops and bytes of triad, dgemm, stencil and SpMV are those by hand" by_hand "$here/kernels" 0
try "and so are flops a second, of the time of the same run" nothing rates
try "and the lower of two ceilings bounds each" nothing bounds
if compile -fopenmp -o "$here/teams" 2>"$here/err"; then
	export OMP_NUM_THREADS=2
	try "flops and bytes of teams of OpenMP are those by hand" by_hand "$here/teams" 0.002
	try "and so are flops a second" nothing rates
	try "and the ceilings are those of two threads" nothing bounds
else
	skip "OpenMP" "the compiler has none"
fi

K="$here/kernels"
once() {
	roofline 0 --ceilings "$kept" -- "$K" 1 && [ "$(grep -c '^triad [0-9]' "$here/out")" -eq 1 ]
}
try "the program's output is shown once" once
chart() {
	grep -q '^perfmon roofline: ' "$here/out" && grep -Eq '^triad +[a-d] ' "$here/out" &&
		grep -Eq '^ +\|.*[a-d]|FLOP/s \|.*[a-d]' "$here/out" && grep -q 'ceilings of 1 thread: L1 ' "$here/out"
}
try "text has a table, a chart and the ceilings" chart
early() { # TEXT ARGUMENT...: a mistake is said before the command runs, which would be in vain
	local text=$1
	shift
	shows 1 err "$text" "$@" -- touch "$here/ran" && [ ! -e "$here/ran" ]
}
try "a file of other things is refused before the runs" early "is not a file of ceilings" --ceilings "$here/kernels"
try "so is a place for ceilings that is not there" early "/no/such/file" --ceilings /no/such/file
try "and one for the output" early "/no/such/file" -o /no/such/file
try "the exit status is the command's" shows 3 out "bound by" --ceilings "$kept" -- "$K" 1 three
differs() {
	roofline 0 --ceilings "$kept" -f json -- "$K" 1 more && [ "$(member triad problem)" = '"differs"' ] &&
		[ "$(member triad flops_per_s)" = null ]
}
origin() {
	roofline 0 --ceilings "$kept" -f json -- "$K" 1 && grep -q '"timed":null,"counts":null' "$here/out" &&
		grep -qF "\"ceilings_from\":\"$kept\"" "$here/out"
}
try "JSON says where ceilings are from" origin
try "a region that the second run visits otherwise is marked" differs
absent() {
	roofline 0 --ceilings "$kept" -f json -- "$K" 1 none && [ "$(member triad problem)" = '"absent"' ] &&
		[ "$(member dgemm problem)" = null ]
}
try "and one that it does not have" absent
lacking() {
	sed '/"of":"L1"/d' "$kept" >"$here/lacking.json" && roofline 0 --ceilings "$here/lacking.json" -- "$K" &&
		grep -qE '^triad .* L1 +[0-9.]+$' "$here/out" && ! grep -qE ' L1 +0\.0' "$here/out"
}
try "nothing is reached of a ceiling that is not known" lacking
try "a program that ends otherwise there is an error" shows 1 err "ended with status 3, the first one with status 0" \
	--ceilings "$kept" -- "$K" 1 fail
try "with what it said" grep -q 'not for translation' "$here/err"
try "and one that crashes there" shows 1 err "ended with signal 6" --ceilings "$kept" -- "$K" 1 crash
try "a signal is passed on" roofline 143 --ceilings "$kept" -- sh -c 'kill $$'
nothing_left() {
	find "$here" -name 'perfmon-roofline-*'
}
try "no folder is left" nothing nothing_left

# It reads all its input before its regions.
# shellcheck disable=SC2016 # for the program's shell
printf '#!/bin/sh\n[ "$(cat)" = text ] && exec %s 1\n' "$K" >"$here/reads"
chmod +x "$here/reads"
from_pipe() {
	local got=0
	echo text | "$perfmon" roofline --ceilings "$kept" -- "$here/reads" >"$here/out" 2>"$here/err" || got=$?
	[ "$got" -eq 1 ] && says err "let it read from a file"
}
try "input from a pipe cannot be read twice" from_pipe
from_file() {
	echo text >"$here/text"
	"$perfmon" roofline --ceilings "$kept" -- "$here/reads" <"$here/text" >"$here/out" &&
		grep -q '^triad  *[a-d]' "$here/out"
}
try "input from a file can" from_file

# Variables that would have one run measure other visits, or more.
cat >"$here/nest.c" <<'END'
#include <perfmon/perfmon.h>

static volatile double x[64];

int main(void)
{
	for (int i = 0; i < 3000; i++) {
		PERFMON_REGION_BEGIN("outer");
		PERFMON_REGION_BEGIN("inner");
		for (int j = 0; j < 64; j++)
			x[j] = x[j] * 0.5 + 1;
		PERFMON_REGION_END("inner");
		PERFMON_REGION_END("outer");
	}
	return 0;
}
END
must "nested regions compile" compile_as "$here/nest.c" -o "$here/nest"
counted() { # NAME=VALUE: what the runs count in this environment
	local path
	env "$1" "$perfmon" roofline --ceilings "$kept" -f json -- "$here/nest" >"$here/out" || return 1
	for path in outer 'outer","inner'; do
		echo "$path: $(member "$path" flops) flops, $(member "$path" load_bytes) and $(member "$path" store_bytes) bytes"
	done
}
hidden() {
	counted "$1" | diff "$here/nest.counts" -
}
must "they are counted" counted PERFMON_STRIDE=
counted PERFMON_STRIDE= >"$here/nest.counts"
try "by hand" grep -q '^outer: 384000 flops, 15360.. and 1536... bytes$' "$here/nest.counts"
for variable in PERFMON_STEPS=inner PERFMON_MIN_MEAN=20us PERFMON_STRIDE=3; do
	try "$variable of the environment changes no count" hidden "$variable"
done

profiles() {
	PERFMON_OUTPUT=none PERFMON_EVENTS=none "$perfmon" run -P "$here/timed" "$K" 2 &&
		PERFMON_OUTPUT=none "$perfmon" run --exact -e sp-flops,dp-flops,load-bytes,store-bytes \
			-P "$here/counts" "$K" 2
}
must "profiles are kept" profiles
both_runs() {
	roofline 0 --ceilings "$kept" -f json --timed "$here/timed" --counts "$here/counts" &&
		[ "$(member triad flops)" = 400000 ]
}
try "profiles of both runs are shown" both_runs
try "counts are no times" shows 1 err "has no times of the machine" --ceilings "$kept" --timed "$here/counts"
try "times are no counts" shows 1 err "no quantities 'flops' and 'bytes'" --ceilings "$kept" --timed "$here/timed"
page() {
	roofline 0 --ceilings "$kept" -o "$here/page.html" --html --timed "$here/timed" --counts "$here/counts" &&
		grep -q '"path":\["triad"\]' "$here/page.html" && ! grep -Eq '(src|href)=' "$here/page.html" &&
		[ "$(grep -c '@DATA@' "$here/page.html")" -eq 0 ]
}
try "a page needs nothing else" page

# Two regions that do the same, one in single precision, and one with next to no bytes for its flops.
cat >"$here/places.c" <<'END'
#include <perfmon/perfmon.h>

static double a[4096];
static float f[4096];
static volatile double sum;

static void __attribute__((noinline)) same(void)
{
	for (int n = 0; n < 2000; n++)
		for (int i = 0; i < 4096; i++)
			a[i] = a[i] * 0.5 + 1;
}

int main(void)
{
	double x = 1;

	same();
	PERFMON_REGION_BEGIN("first");
	same();
	PERFMON_REGION_END("first");
	PERFMON_REGION_BEGIN("second");
	same();
	PERFMON_REGION_END("second");
	PERFMON_REGION_BEGIN("single");
	for (int n = 0; n < 2000; n++)
		for (int i = 0; i < 4096; i++)
			f[i] = f[i] * 0.5f + 1;
	PERFMON_REGION_END("single");
	PERFMON_REGION_BEGIN("far");
	for (int i = 0; i < 10000000; i++)
		x = x * 0.5 + 1;
	PERFMON_REGION_END("far");
	sum = x;
	/* So many that the few which are interrupted do not make them long. */
	for (int n = 0; n < 1000000; n++) {
		PERFMON_REGION_BEGIN("short");
		a[n % 1000] += 1;
		PERFMON_REGION_END("short");
	}
	return 0;
}
END
must "a program with points at all places compiles" compile_as "$here/places.c" -o "$here/places"
places() { # each letter of the table is in the chart, or named below it; the axis has no run of digits
	local letter
	roofline 0 --ceilings "$kept" -- "$here/places" || return 1
	for letter in a b c d; do
		grep -Eq "^[^|]*\\|.*(^|[^a-z])$letter([^a-z]|\$)|^  also there: (.*, )?$letter where [a-d] is" "$here/out" ||
			echo "no $letter"
	done
	grep -q '^ *|.* double precision$\|FLOP/s |.* double precision$' "$here/out" || echo "no line of double precision"
	grep -q '^ *|.* single precision$\|FLOP/s |.* single precision$' "$here/out" || echo "no line of single precision"
	grep -Eq '[ ]1e5 ' "$here/out" || echo "no power of ten"
	grep -Eq '[0-9]{7}$' "$here/out" && echo "labels that touch"
	says out "short: measuring is over 10 % of its time" >&2 || echo "short is not marked"
}
try "points far outside, at one place, in single precision and of short visits" nothing places

# --- what the program says ------------------------------------------------------------------

cat >"$here/said.c" <<'END'
#include <perfmon/perfmon.h>

int main(void)
{
	PERFMON_REGION_BEGIN("says");
	for (volatile int i = 0; i < 3000000; i++)
		;
	PERFMON_REGION_ADD("bytes", "B", 3000);
	PERFMON_REGION_ADD("flops", "", 500);
	PERFMON_REGION_END("says");
	return 0;
}
END
must "a program that says its work compiles" compile_as "$here/said.c" -o "$here/said"
said() {
	roofline 0 --ceilings "$kept" -f json --quantities -- "$here/said" && [ "$(member says bytes)" = 3000 ] &&
		[ "$(member says flops)" = 500 ] && [ "$(member says bound_by)" = '"memory"' ]
}
try "runs once, and its bytes are set against memory" said
