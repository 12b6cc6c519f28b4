#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The examples that stand in other people's harnesses and thread pools: what they print is
# what is known beforehand.
# Row: DC-08
# shellcheck disable=SC2317 # functions that "try" calls

examples=./examples
# shellcheck source=tap.sh
. "${0%/*}/tap.sh"

# has SYMBOL: the examples are built with the sanitizer that has it
has() { grep -q "$1" "$examples/heat" "$examples/.libs/heat" 2>/dev/null; }
more_faults="the sanitizer adds page faults of its own"

# cell FILE COLUMN NAME: of the CSV row whose path or first column is NAME; commas stand
# between fields only.
cell() {
	awk -F, -v column="$2" -v row="$3" '
		{ sub(/\r$/, ""); gsub(/"/, "") }
		!fields { for (i = 1; i <= NF; i++) at[$i] = i; fields = NF; name = "path" in at ? at["path"] : 1; next }
		$name == row { if (column in at) print $(at[column]); exit }' "$1"
}
is() { # WANT GOT
	[ "$1" = "$2" ] || {
		echo "# '$2', not '$1'"
		return 1
	}
}
# about LEAST MOST NUMBER: it may have a fraction
about() {
	awk -v least="$1" -v most="$2" -v n="$3" 'BEGIN { exit !(n != "" && n >= least && n <= most) }' ||
		{
			echo "# '$3' is not between $1 and $2"
			return 1
		}
}

# --- a hand-written harness with the inline reads ------------------------------------------

harness() { "$examples/harness" "$@" >"$here/out" 2>"$here/err"; }
least() { awk -v kernel="$1" -v event="$2" '$1 == kernel && $2 == event { print $3 }' "$here/out"; }
harness_runs() { harness instructions:u,page-faults:u 200 && [ -n "$(least empty page-faults:u)" ]; }
try "harness: reads events around kernels" harness_runs
harness_faults() {
	is 0 "$(least empty page-faults:u)" && is 64 "$(least touch page-faults:u)" &&
		is 0 "$(least nops page-faults:u)"
}
if has __asan_init || has __tsan_init; then
	skip "harness: 64 pages are 64 faults, nops none" "$more_faults"
else
	try "harness: 64 pages are 64 faults, nops none" harness_faults
fi
if [ -n "$(least nops instructions:u)" ]; then
	try "harness: 1000 nops are 1000 instructions" is 1000 "$(least nops instructions:u)"
else
	try "harness: says what it leaves out" grep -q "left out: .*instructions:u" "$here/err"
fi
quotes() { ! harness cycels && grep -q "'cycels'" "$here/err"; }
try "harness: quotes an unknown event" quotes

# --- Google Benchmark ----------------------------------------------------------------------

googlebench() {
	EVENTS=instructions:u,page-faults:u "$examples/googlebench" --benchmark_min_time=0.002 \
		--benchmark_format=csv >"$here/out" 2>"$here/err"
	# From the table's head on.
	sed -n '/^name,/,$p' "$here/out" >"$here/csv"
}
# A first iteration may fault in what the harness itself needs.
gb_faults() {
	googlebench && about 16 17 "$(cell "$here/csv" page-faults:u touch/16)" &&
		about 64 65 "$(cell "$here/csv" page-faults:u touch/64)" &&
		about 0 0.1 "$(cell "$here/csv" page-faults:u "nops<1000>/iterations:10000")"
}
gb_nops() {
	few=$(cell "$here/csv" instructions:u "nops<0>/iterations:10000")
	many=$(cell "$here/csv" instructions:u "nops<1000>/iterations:10000")
	# An interrupt of the emulated machine may add some to a run of the loop around them.
	about 999.9 1010 "$(awk -v a="$few" -v b="$many" 'BEGIN { print b - a }')"
}
if [ ! -e "$examples/googlebench" ]; then
	skip "googlebench" "Google Benchmark is not installed"
else
	if has __tsan_init; then
		googlebench
		skip "googlebench: page faults per iteration are the pages" "$more_faults"
	else
		try "googlebench: page faults per iteration are the pages" gb_faults
	fi
	if [ -n "$(cell "$here/csv" instructions:u sum/1024)" ]; then
		try "googlebench: 1000 nops more are 1000 instructions more" gb_nops
	else
		try "googlebench: says what it leaves out" \
			grep -q "left out: .*instructions:u" "$here/err"
	fi
fi

# --- a pool of threads, and an event loop ---------------------------------------------------

# program NAME ARGUMENTS...: its report as CSV
program() {
	PERFMON_EVENTS=none PERFMON_FORMAT=csv PERFMON_OUTPUT=$here/csv "$examples/$1" \
		"$2" "$3" >"$here/out" 2>"$here/err"
}
pool() {
	program pool 10 3 && is "pool: 10 jobs, 3 workers: right" "$(cat "$here/out")" &&
		is "" "$(cell "$here/csv" visits sort)" &&
		is 5 "$(cell "$here/csv" visits "load;sort")" &&
		is 5 "$(cell "$here/csv" visits "query;sort")"
}
try "pool: jobs stand below the region that submitted them" pool
loop() {
	program loop 20 50 && is "loop: 20 requests, 50 lines: right" "$(cat "$here/out")" &&
		is 20 "$(cell "$here/csv" visits "loop;request")" &&
		is 1000 "$(cell "$here/csv" visits "loop;request;parse")"
}
# Row: FO-04
try "loop: a request is one visit, however often it waits" loop

# --- OpenMP, whose threads are there before the first region ---------------------------------

# openmp EVENTS: 64 pages by 3 threads in 10 steps; its report as CSV.
openmp() {
	rm -f "$here/csv"
	OMP_NUM_THREADS=3 PERFMON_EVENTS=$1 PERFMON_FORMAT=csv PERFMON_OUTPUT=$here/csv \
		"$examples/openmp" 64 10 >"$here/out" 2>"$here/err" &&
		is "openmp: 64 pages, 10 steps, 3 threads: right" "$(cat "$here/out")"
}
omp_visits() {
	openmp page-faults:u && is 3 "$(cell "$here/csv" visits "first touch")" &&
		is 3 "$(cell "$here/csv" threads "first touch")" &&
		is "" "$(cell "$here/csv" visits smooth)" &&
		is 30 "$(cell "$here/csv" visits "solve;smooth")" &&
		is 3 "$(cell "$here/csv" threads "solve;smooth")" &&
		is 1 "$(cell "$here/csv" visits solve)" &&
		is 3 "$(cell "$here/csv" threads solve)"
}
# A page of a program's code that the kernel had put away may fault, too: in one of three runs
# there is none.
omp_faults() {
	for run in 1 2 3; do
		[ "$(cell "$here/csv" page-faults:u "first touch")" -gt 128 ] || break
		[ "$run" = 3 ] || openmp page-faults:u || return
	done
	is 128 "$(cell "$here/csv" page-faults:u "first touch")"
}
omp_nothing() { is "" "$(cell "$here/csv" instructions:u "first touch")"; }
omp_instructions() {
	is "counted" "$(cell "$here/csv" instructions:u.status "solve;smooth")" &&
		# 64 pages of 512 elements in 10 steps.
		about 4 60 "$(awk -v n="$(cell "$here/csv" instructions:u "solve;smooth")" \
			'BEGIN { print n / (64 * 512 * 10) }')"
}
if [ ! -e "$examples/openmp" ]; then
	skip "openmp" "the compiler has no OpenMP"
elif has __tsan_init; then
	skip "openmp" "the thread sanitizer does not see the barriers of OpenMP's library"
else
	try "openmp: each thread of the pool is counted, from its first region on" omp_visits
	if has __asan_init; then
		skip "openmp: 128 pages are 128 faults" "$more_faults"
	else
		try "openmp: 128 pages are 128 faults" omp_faults
	fi
	openmp instructions:u
	if [ "$(cell "$here/csv" instructions:u.status "solve;smooth")" = "never opened" ]; then
		try "openmp: what was not opened has no count" omp_nothing
	else
		try "openmp: instructions of each element" omp_instructions
	fi
fi

# --- reading a profile by the library ---------------------------------------------------------

profile_reads() {
	PERFMON_EVENTS=page-faults:u PERFMON_OUTPUT=none PERFMON_PROFILE=$here/profile \
		"$examples/heat" >"$here/out" &&
		"$examples/profile" "$here/profile" >"$here/out" &&
		grep -q '^  solve: 1 visits, .* page-faults:u [0-9]' "$here/out" &&
		grep -q '^    sweep: 200 visits, ' "$here/out"
}
try "profile: shows the paths of a profile" profile_reads
profile_refuses() { ! "$examples/profile" "$examples/heat" 2>"$here/err" && [ -s "$here/err" ]; }
try "profile: says what is no profile" profile_refuses

tap_end
