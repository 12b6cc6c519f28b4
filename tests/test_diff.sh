#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# perfmon diff, on every bed: counts that are known, changed by known amounts.
# Row: DC-02
# shellcheck disable=SC2317 # functions that "try" calls
# shellcheck disable=SC2086 # lists of files

perfmon=./perfmon
[ -x "$perfmon" ] || perfmon=perfmon
work=./tests/programs/diff_work
get=./tests/programs/json_get
# shellcheck source=tap.sh
. "${0%/*}/tap.sh"
unset NO_COLOR
export PERFMON_OUTPUT=none

# diff STATUS ARGUMENT...: ends so; leaves out and err.
diff() {
	want=$1
	shift
	"$perfmon" diff "$@" >"$here/out" 2>"$here/err" </dev/null
	status=$?
	[ "$status" -eq "$want" ] || {
		echo "# status $status, not $want"
		return 1
	}
}
says() { grep -qF -- "$1" "$here/out" "$here/err"; }
diff_says() { # STATUS TEXT ARGUMENT...
	text=$2
	expected=$1
	shift 2
	diff "$expected" "$@" && says "$text"
}
# runs NAME COUNT EVENTS ARGUMENT...: profiles NAME.1 to NAME.COUNT of diff_work.
runs() {
	into=$1
	last=$2
	events=$3
	shift 3
	run=0
	while [ $run -lt "$last" ]; do
		run=$((run + 1))
		rm -f "$here/$into.$run"
		PERFMON_EVENTS=$events PERFMON_PROFILE=$here/$into.$run "$work" "$@" || return 1
	done
}
# retried PROFILE: a read in it was taken anew. What that takes was counted, too, so that
# diff leaves a small change open.
retried() { "$perfmon" report -f json "$1" 2>/dev/null | grep -q '"retried"'; }
# exact_runs NAME COUNT EVENTS ARGUMENT...: as runs, but on a busy machine, which may switch
# the thread out in a read, each up to ten times, until it was not.
exact_runs() {
	name_exact=$1
	count_exact=$2
	shift 2
	run_exact=0
	anew=0
	while [ $run_exact -lt "$count_exact" ]; do
		run_exact=$((run_exact + 1))
		runs one_exact 1 "$@" || return 1
		left=9
		while [ $left -gt 0 ] && retried "$here/one_exact.1"; do
			left=$((left - 1))
			anew=$((anew + 1))
			runs one_exact 1 "$@" || return 1
		done
		mv "$here/one_exact.1" "$here/$name_exact.$run_exact"
	done
	[ $anew -eq 0 ] || echo "# $name_exact: $anew runs more, since reads were taken anew"
}
counted() { # EVENT: or says why not
	"$perfmon" stat -e "$1" true >"$here/out" 2>"$here/err"
	why=$(sed -n 's/^  note: //p' "$here/err" | head -n 1)
	! says "never opened"
}

# --- what is wrong with the words -----------------------------------------------------

runs one 1 none 100 5
one=$here/one.1
try "needs two" diff_says 2 "expects two profiles" "$one"
try "needs -- between several" diff_says 2 "with '--'" "$one" "$one" "$one"
try "needs something after --" diff_says 2 "no file after '--'" "$one" --
try "quotes an unknown option" diff_says 2 frob --frob "$one" "$one"
try "quotes an option after a file" diff_says 2 "'-a' after a file" "$one" -a
try "quotes a bad minimum effect" diff_says 2 "'much'" --min-effect much "$one" "$one"
try "quotes a minimum effect of all" diff_says 2 "'100%'" --min-effect 100% "$one" "$one"
try "quotes a bad alpha" diff_says 2 "'0'" --alpha 0 "$one" "$one"
try "quotes a bad format" diff_says 2 "'xml'" -f xml "$one" "$one"
try "quotes what is compared nowhere" diff_says 2 "'cycels'" --only time,cycels "$one" "$one"
try "says what --only expects" diff_says 2 "--only '': expects names" --only "" "$one" "$one"
try "quotes a file that is not there" diff_says 2 "no/such" "$one" "$here/no/such"
try "quotes what is no profile" diff_says 2 "$work" "$one" "$work"
mkdir "$here/empty"
try "quotes a directory without profiles" diff_says 2 "empty'" "$one" "$here/empty"
# --- programs without regions -----------------------------------------------------------

# whole NAME RUNS WORD...: leaves what perfmon stat counted of a command.
whole() {
	file=$here/$1.json
	runs=$2
	shift 2
	"$perfmon" stat -f json -o "$file" -r "$runs" -e page-faults,dummy "$@" >"$here/out" 2>"$here/err" </dev/null
}
compared() {
	whole few 6 ./tests/programs/stat_work faults 10 && whole many 6 ./tests/programs/stat_work faults 5000 || return 1
	diff_says 1 "A  6 runs of ./tests/programs/stat_work faults 10" --only page-faults "$here/few.json" "$here/many.json" &&
		grep -q "^(program)  page-faults[: ].* more$" "$here/out" && says "1 compared: 1 more" &&
		says "all runs of A came before those of B"
}
try "compares whole programs by what perfmon stat counted of them" compared
try "the other way round" diff_says 3 "1 less" --only page-faults "$here/many.json" "$here/few.json"
in_turns() {
	whole a1 3 ./tests/programs/stat_work faults 10 && whole b1 3 ./tests/programs/stat_work faults 10 &&
		whole a2 3 ./tests/programs/stat_work faults 10 && whole b2 3 ./tests/programs/stat_work faults 10 || return 1
	diff_says 0 "6 runs of" --only dummy "$here"/a[12].json -- "$here"/b[12].json && ! says "came before"
}
try "several files are more runs, of which each has its moment" in_turns
first_line() { head -n 1 "$here/few.json" | cut -c -300 >"$here/cut.json"; }
first_line
try "refuses JSON that ends too early" diff_says 2 "cut.json' is JSON, but not what perfmon stat" "$here/cut.json" "$here/few.json"
printf "%s\n" '{"format":1,"rows":[{"a":"\\u12"},[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]}' >"$here/other.json"
try "refuses other JSON" diff_says 2 "other.json' is JSON" "$here/few.json" "$here/other.json"
try "compares no region with a program" diff_says 2 "was counted by perfmon stat, '$one' in regions" "$one" "$here/few.json"
intervals() {
	"$perfmon" stat -f json -o "$here/ticks.json" -I 10 -e dummy sleep 0.1 &&
		"$perfmon" stat -f json -o "$here/ticks.json" --append -e dummy sleep 0.1 &&
		diff_says 0 "2 runs of sleep 0.1" --only dummy "$here/ticks.json" "$here/ticks.json"
}
try "passes over intervals, and takes what was appended" intervals

# A profile that is damaged so is not passed over, by diff as by report.
damaged() { # NAME TEXT: in the directory damaged
	text=$2
	diff_says 2 "$text" "$one" "$here/damaged" && says "damaged/$1" && [ ! -s "$here/out" ] || return 1
	"$perfmon" report "$here/damaged" >"$here/out" 2>"$here/err"
	[ $? -eq 1 ] && grep -qF "$text" "$here/err" && grep -qF "damaged/$1" "$here/err"
}
patched() { # OFFSET BYTES: a profile with these
	rm -rf "$here/damaged" && mkdir "$here/damaged" && cp "$one" "$here/damaged/good" && cp "$one" "$here/damaged/bad" &&
		printf '%b' "$2" | dd of="$here/damaged/bad" bs=1 seek="$1" conv=notrunc 2>/dev/null
}
cut_to() { # SIZE
	rm -rf "$here/damaged" && mkdir "$here/damaged" && cp "$one" "$here/damaged/good" &&
		head -c "$1" "$one" >"$here/damaged/bad"
}
newer() { patched 24 '\0376' && damaged bad "version 254"; }
try "tells of a profile of another version in a directory" newer
swapped() { patched 16 'FORPNMFP' && damaged bad "wrong byte order"; }
try "and of one of another byte order" swapped
header() { patched 8 '\07' && damaged bad "header is damaged"; }
try "and of a damaged header" header
# Within the header, the magic and its lead.
for size in 200 20 6; do
	short() { cut_to $size && damaged bad "less than the header"; }
	try "and of one that was cut to $size bytes" short
done
nothing() { # what other programs leave, too
	cut_to 0 && diff_says 0 "" "$one" "$here/damaged" && ! says "damaged/bad"
}
try "but not of an empty file" nothing
blank() { cut_to 0 && head -c 5000 /dev/zero >"$here/damaged/bad" && damaged bad "the profile is empty"; }
try "and of one that its program had not got to" blank
try "does not take a full disk for a result" sh -c "'$perfmon' diff '$one' '$one' >/dev/full 2>&1; [ \$? -eq 2 ]"
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
	notes_fit() {
		env TERM=dumb PAGER=cat SHELL=/bin/sh script -qec "stty cols 60
			'$perfmon' diff -m 'first_of_two = nosuch / time; second_of_two = nosuch / time' '$one' '$one'" \
			/dev/null </dev/null 2>"$here/err" | tr -d '\r' | sed -n '/^  note: /,$p' >"$here/out"
		says "  note: " && ! grep -q '.\{61\}' "$here/out"
	}
	try "breaks notes between words on a terminal" notes_fit
else
	skip "breaks notes between words on a terminal" "script(1) is not here, or no pseudo-terminal"
fi
try "helps" diff_says 0 "usage: perfmon diff" --help

# --- what single runs tell -------------------------------------------------------------

try "a profile is the same as itself" diff_says 0 "0 more, 0 less, 9 the same, 0 open" "$one" "$one"
runs slow 1 none 100000 5
try "times of single runs are left open" diff_says 4 "too few runs to decide" \
	"$one" "$here/slow.1"
try "whatever they are" diff_says 4 "0 more, 0 less" "$one" "$here/slow.1"
try "what looks changed is shown, and called open" diff_says 4 "open: too few runs" "$one" "$here/slow.1"
try "and that nothing was decided" diff_says 4 "undecided: what is open may have changed" "$one" "$here/slow.1"
try "on request it passes for the same" diff_says 0 "undecided" --undecided=same "$one" "$here/slow.1"
try "or for a failure" diff_says 1 "undecided" --undecided=fail "$one" "$here/slow.1"
decided() { diff_says "$1" "0 open" $2 "$one" "$one" && ! says "undecided"; }
try "which what is the same is not" decided 0 --undecided=fail
try "quotes what else undecided could be" diff_says 2 "'maybe' is not one of same, fail" --undecided=maybe "$one" "$one"

strided() {
	PERFMON_STRIDE=work=10 runs strided 1 none 100 100 &&
		diff 4 -A "$one" "$here/strided.1" &&
		grep -qE '^work +time .* \+-[0-9.?]+%?[* ]' "$here/out" && says "estimated from visits measured at random"
}
try "marks what is estimated, and says what the marks mean" strided
unmarked() { diff 0 -A "$one" "$one" && ! says "estimated"; }
try "and nothing else" unmarked
if "$get" "$here/err" x >"$here/out" 2>&1; [ $? -ne 77 ]; then
	marks() {
		diff 4 -f json --only time "$here/strided.1" "$one" && cp "$here/out" "$here/json" && row=0 &&
			while [ "$("$get" "$here/json" rows.$row.region)" != work ] && [ $row -lt 9 ]; do row=$((row + 1)); done &&
			# Its visits may be too short, too.
			{ [ "$("$get" "$here/json" rows.$row.a.marks.0)" = sampled ] ||
				[ "$("$get" "$here/json" rows.$row.a.marks.1)" = sampled ]; } &&
			[ "$("$get" "$here/json" rows.$row.b.error)" = 0 ] &&
			# null: all that were measured were alike.
			"$get" "$here/json" rows.$row.a.error | grep -qE '^(null$|[0-9.]*[1-9])'
	}
	try "in JSON, too" marks
fi

metrics() {
	diff 4 -m 'rate [1/s] = 1e9 * visits / time_ns; none_such = cycels / visits' "$one" "$here/slow.1" &&
		grep -qE '^ +rate +[0-9.]+ ?[kM]? ?1/s.* -[0-9.]+%$' "$here/out" && says "no metric none_such"
}
try "shows metrics of both sides and their difference" metrics
try "quotes a mistake in them" diff_says 2 "x = 3 +" -m 'x = 3 +' "$one" "$one"
if "$get" "$here/err" x >"$here/out" 2>&1; [ $? -ne 77 ]; then
	metrics_json() {
		diff 4 -f json -m 'none; double = 2 * visits' "$one" "$here/slow.1" || return 1
		row=0
		while [ "$("$get" "$here/out" metrics.$row.region)" != work ] && [ $row -lt 9 ]; do row=$((row + 1)); done
		[ "$("$get" "$here/out" metrics.$row.name)" = double ] &&
			[ "$("$get" "$here/out" metrics.$row.a.mean)" = 10 ] &&
			[ "$("$get" "$here/out" metrics.$row.difference)" = 0 ] &&
			[ "$("$get" "$here/out" metrics.$row.ratio)" = 1 ]
	}
	try "in JSON, too" metrics_json
fi

# --- counts that are known --------------------------------------------------------------

touched=mem:0x30000000/8:w:u
if counted "$touched" && breakpoints_fire; then
	for n in 1 2 3 4 5; do
		runs "a$n" 1 "$touched" 1000 5
		runs "b$n" 1 "$touched" 1300 5
		runs "c$n" 1 "$touched" 1000 5
	done
	a="$here/a1.1 $here/a2.1 $here/a3.1 $here/a4.1 $here/a5.1"
	b="$here/b1.1 $here/b2.1 $here/b3.1 $here/b4.1 $here/b5.1"
	c="$here/c1.1 $here/c2.1 $here/c3.1 $here/c4.1 $here/c5.1"
	try "finds a count that rose" diff_says 1 "+30.00%" --only "$touched" $a -- $b
	try "finds a count that fell" diff_says 3 "-23.08%" --only "$touched" $b -- $a
	try "finds equal counts the same" diff_says 0 "0 more, 0 less, 5 the same, 0 open" --only "$touched" $a -- $c
	try "finds a change below the minimum effect none" diff_says 0 "0 more, 0 less, 5 the same" --min-effect 40% --only "$touched" $a -- $b
	three="$here/b1.1 $here/b2.1 $here/b3.1"
	try "says how many runs are needed" diff_says 4 "needs 5 runs on each side" --only "$touched" $a -- $three
	mkdir "$here/A" "$here/B"
	cp $a "$here/A"
	cp $b "$here/B"
	cp "$work" "$here/B/program"
	try "takes directories, and what is no profile there is passed over" \
		diff_says 1 "+30.00%" --only "$touched" "$here/A" "$here/B"
	blocks() { diff 1 --only "$touched" $a -- $b && ! says "in turns" &&
		runs late 1 "$touched" 1300 5 && diff 4 --only "$touched" $a -- "$here/late.1" "$here/late.1" &&
		says "all runs of A came before those of B"; }
	try "says when the sides were not run in turns" blocks
	if "$get" "$here/err" x >"$here/out" 2>&1; [ $? -ne 77 ]; then
		json() {
			diff 1 -f json --only "$touched" $a -- $b || return 1
			# Rows go by their time, which breakpoints cost on some machines.
			row=0
			until [ "$("$get" "$here/out" rows.$row.region)" = touch ]; do
				row=$((row + 1))
				[ $row -lt 4 ] || return 1
			done
			[ "$("$get" "$here/out" rows.$row.what)" = "$touched" ] &&
				[ "$("$get" "$here/out" rows.$row.verdict)" = more ] &&
				[ "$("$get" "$here/out" rows.$row.a.mean)" = 100 ] &&
				[ "$("$get" "$here/out" rows.$row.b.runs)" = 5 ] &&
				[ "$("$get" "$here/out" rows.$row.ratio)" = 1.3 ] &&
				[ "$("$get" "$here/out" totals.0.verdict)" = more ] &&
				[ "$("$get" "$here/out" totals.0.b.mean)" = 650 ]
		}
		try "writes JSON" json
	else
		skip "writes JSON" "there is no jansson to read it with"
	fi
	events() { diff 4 $a -- "$one" && says "only A counted $touched"; }
	try "says which events one side lacks" events
else
	skip "counts that are known" "$why"
fi

# --- instructions -----------------------------------------------------------------------

if counted instructions:u; then
	exact_runs a 1 instructions:u 10000
	exact_runs b 1 instructions:u 10000
	exact_runs more 1 instructions:u 10300
	exact_runs less 1 instructions:u 9700
	try "equal programs are not found changed" diff_says 4 "0 more, 0 less" "$here/a.1" "$here/b.1"
	try "3 % more instructions are found in single runs" \
		diff_says 1 "exact" --only instructions:u "$here/a.1" "$here/more.1"
	where() { diff 1 --only instructions:u "$here/a.1" "$here/more.1" && grep -q '^work .*+[23]\.[0-9]*%.*more$' "$here/out" &&
		! grep -qE '^(same|all) .*(more|less)$' "$here/out"; }
	try "in their region, and in no other that did not change" where
	try "3 % less, too" diff_says 3 "less" --only instructions:u "$here/a.1" "$here/less.1"
	try "what is nested counts on request" diff_says 1 "+2." --inclusive --only instructions:u "$here/a.1" "$here/more.1"
	exact_runs a 3 instructions:u 10000
	exact_runs more 3 instructions:u 10300
	exact_runs b 3 instructions:u 10000
	try "and in repeated runs" diff_says 1 "exact" --only instructions:u "$here/a.1" "$here/a.2" "$here/a.3" -- \
		"$here/more.1" "$here/more.2" "$here/more.3"
	# Times may be open, or, on a machine that does nothing else, the same.
	equal() {
		diff_says 4 "0 more, 0 less" "$here/a.1" "$here/a.2" "$here/a.3" -- "$here/b.1" "$here/b.2" "$here/b.3" ||
			diff_says 0 "0 more, 0 less" "$here/a.1" "$here/a.2" "$here/a.3" -- "$here/b.1" "$here/b.2" "$here/b.3"
	}
	try "where equal programs stay equal" equal
	exact_runs threads 2 instructions:u 10000 20 3
	exact_runs more_threads 2 instructions:u 10300 20 3
	try "single runs of threads are left open" diff_says 4 "one run of several threads" --only instructions:u \
		"$here/threads.1" "$here/more_threads.1"
	try "repeated ones are not" diff_says 1 "more" --only instructions:u \
		"$here/threads.1" "$here/threads.2" -- "$here/more_threads.1" "$here/more_threads.2"
else
	skip "instructions" "$why"
fi

# --- exact profiles ---------------------------------------------------------------------

for n in 100000 100100 100500; do
	./tests/programs/profile_exact "$here/exact$n" $n || exit 1
done
./tests/programs/profile_exact "$here/counters" 100000 counters || exit 1
try "one exact run is the same as itself" diff_says 0 "11 the same, 0 open" "$here/exact100000" "$here/exact100000"
try "a change of 0.1 % is found if it is asked for" diff_says 1 "100100  +0.10%" --min-effect 0.05% \
	"$here/exact100000" "$here/exact100100"
try "and the other way round" diff_says 3 "less" --min-effect 0.05% "$here/exact100100" "$here/exact100000"
try "0.5 % is found by default" diff_says 1 "changes above 0.1 %" "$here/exact100000" "$here/exact100500"
no_times() { diff 0 -A "$here/exact100000" "$here/exact100000" && ! grep -qE '(^|  )time  ' "$here/out"; }
try "times are not compared" no_times
try "exact counts are not those of a machine" diff_says 2 "their counts are not compared" \
	"$here/exact100000" "$here/counters"
try "runs that do not agree are named" diff_says 0 "runs of A do not agree: step, exact::instructions" \
	--min-effect 1% "$here/exact100000" "$here/exact100100" -- "$here/exact100000"

# --- times ------------------------------------------------------------------------------

# Times of a busy machine: the fastest visit decides where the mean says nothing.
in_pairs() { # ORDER of the runs: a letter for each side
	run=0
	rm -rf "$here/times" && mkdir -p "$here/times/A" "$here/times/B"
	for side in $1; do
		run=$((run + 1))
		faster=
		[ "$side" = A ] || faster=faster
		PERFMON_PROFILE=$here/times/$side/$run ./tests/programs/diff_phases $faster || return 1
	done
}
both() { diff "$1" "$2" "$3" --only time "$here/times/A" "$here/times/B"; }
# Steps have no nested regions.
faster_steps() { [ "$(grep -cE '^step[0-9.]+ .* faster(, adjusted)?$' "$here/out")" -ge "$1" ]; }
found_in_times() {
	in_pairs "A B B A A B B A A B B A" && both 3 --alpha 1% && faster_steps 20 && ! says "strict turns" && ! says "slower"
}
try "finds regions by their times in runs ABBA" found_in_times
proof() { diff "$1" --not-slower 10% --only time "$2" "$3" && says "$4"; }
try "proves that what became faster is not slower" proof 0 "$here/times/A" "$here/times/B" "proven that typical visits are slower by at most 10 %"
try "but not the other way round" proof 1 "$here/times/B" "$here/times/A" "regions proven, not "
try "and nothing without regions that matter" proof 1 "$one" "$one" "no region has 5 % of the time and 10 visits"
try "quotes a bad limit of slowness" diff_says 2 "'fast'" --not-slower fast "$one" "$one"
if "$get" "$here/err" x >"$here/out" 2>&1; [ $? -ne 77 ]; then
	times_json() {
		both 3 -f json && [ "$("$get" "$here/out" order)" = mixed ] && row=0 || return 1
		until [ "$("$get" "$here/out" rows.$row.verdict)" = faster ]; do
			row=$((row + 1))
			[ $row -lt 35 ] || return 1
		done
		[ "$("$get" "$here/out" rows.$row.columns.1.of)" = fastest ] &&
			[ "$("$get" "$here/out" rows.$row.columns.4.of)" = fastest ] &&
			[ "$("$get" "$here/out" rows.$row.columns.4.adjusted)" = true ] &&
			[ "$("$get" "$here/out" rows.$row.visits)" = 10 ] &&
			"$get" "$here/out" rows.$row.typical_bounds.high | grep -qE '^0\.[0-9]+$' &&
			"$get" "$here/out" rows.$row.ratio_high | grep -qE '^0\.[0-9]+$'
	}
	try "writes them as JSON" times_json
fi
strict() { in_pairs "A B A B A B A B A B A B" && both 3 --alpha 1% && says "strict turns, ABAB"; }
try "says that strict turns mislead" strict
few_visits() {
	for turn in 1 2 3 4 5 6; do
		runs "turn_a$turn" 1 none 100000 5 && runs "turn_b$turn" 1 none 200000 5 || return 1
	done
	diff 4 -A --only time "$here"/turn_a?.1 -- "$here"/turn_b?.1 && grep -qE '^work +time .* open: few visits, strict turns$' "$here/out"
}
try "and leaves regions with few visits open there" few_visits

# --- filters ----------------------------------------------------------------------------

filters() {
	runs unfiltered 1 none 1000 7 && (
		export PERFMON_SKIP=work
		runs skipped 1 none 1000 7
	) && diff_says 4 "the sides had different filters: only B left out visits by PERFMON_ONLY or PERFMON_SKIP (7)" \
		"$here/unfiltered.1" "$here/skipped.1" &&
		diff_says 4 "only A left out visits by PERFMON_ONLY or PERFMON_SKIP (7)" "$here/skipped.1" "$here/unfiltered.1"
}
try "filters of one side alone are told" filters
alike() { diff 0 "$here/skipped.1" "$here/skipped.1" && ! says "different filters"; }
try "... not those of both" alike

# --- many regions -----------------------------------------------------------------------

# CPU time: on a busy machine single visits take a hundred times as long by the clock, and one
# region may stay open all the same. Under a sanitizer the shortest regions are 5 us, of which
# measuring takes the larger part: a busy machine leaves some of them open there.
phases=./tests/programs/diff_phases
slow() { PERFMON_EVENTS=task-clock PERFMON_PROFILE=$here/slow$1 $phases; }
fast() { PERFMON_EVENTS=task-clock PERFMON_PROFILE=$here/fast$1 $phases faster; }
phases() {
	for run in 1 3 5; do
		slow $run && fast $run && fast $((run + 1)) && slow $((run + 1)) || return 1
	done
	diff 3 --only task-clock "$here"/slow[1-6] -- "$here"/fast[1-6]
	cp "$here/out" "$here/phases"
	if grep -q -e __asan_init -e __tsan_init $phases "${phases%/*}/.libs/${phases##*/}" 2>/dev/null; then
		grep -qE "^3[0-6] compared: 0 more, (2[0-9]|3[0-6]) less, 0 the same, " "$here/out"
		return
	fi
	says "36 compared: 0 more, 36 less, 0 the same, 0 open" ||
		says "36 compared: 0 more, 35 less, 0 the same, 1 open" ||
		says "35 compared: 0 more, 35 less, 0 the same, 0 open; 1 not tested"
}
if counted task-clock; then
	try "six runs a side decide 35 regions that take 2 % to 30 % of their time" phases
	whole() { diff 3 --only task-clock "$here"/slow[1-6] -- "$here"/fast[1-6] &&
		sed -n 6p "$here/out" | grep -qE '^[(]total[)] +task-clock .* less$'; }
	try "the total first" whole
	# Neither way round is there an interval that reaches both.
	around() { ! grep -E ' -[0-9.]+% [.][.] ([+]|x)' "$here/out"; }
	try "and no change beside an interval that holds none" around
else
	skip "many regions" "$why"
fi

tap_end
