#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# perfmon run --passes: events that do not fit the counters at once, each in a run of its own; and perfmon
# report --counts, which joins such runs by path.
# Row: QU-01, QU-05
# shellcheck disable=SC2317 # functions that "try" calls
# shellcheck disable=SC2016 # for the shells of commands

perfmon=./perfmon
[ -x "$perfmon" ] || perfmon=perfmon
work=./tests/programs/passes_work
# shellcheck source=tap.sh
. "${0%/*}/tap.sh"
unset NO_COLOR PERFMON_EVENTS PERFMON_PROFILE PERFMON_OUTPUT
word=mem:0x30000000

run() { # STATUS ARGUMENT...
	want=$1
	shift
	"$perfmon" "$@" >"$here/out" 2>"$here/err"
	status=$?
	[ "$status" -eq "$want" ] || {
		echo "# status $status, not $want"
		return 1
	}
}
says() { grep -qF -- "$1" "$here/err" "$here/out"; }
run_says() { # STATUS TEXT ARGUMENT...
	text=$2
	want=$1
	shift 2
	run "$want" "$@" && says "$text"
}
field() { # FILE NAME REGION: of a CSV report
	awk -F, -v name="$2" -v region="$3" '
		{ sub(/\r$/, "") }
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i; next }
		$7 == region { print $column; exit }' "$1"
}
left_nothing() { ! ls -d "${TMPDIR:-/tmp}"/.perfmon-passes-* "$here"/.perfmon-passes-* >"$here/out" 2>&1; }

# --- what is wrong with the words -----------------------------------------------------

try "needs events" run_says 2 "expects the events to count: -e EVENTS" run --passes "$work"
try "quotes an unknown event" run_says 2 "'cycels'" run --passes -e cycels "$work"
try "refuses event sets" run_says 2 "has event sets" run --passes -e 'page-faults;task-clock' "$work"
try "refuses --exact, which needs no passes" run_says 2 "--exact counts all its events in one run" \
	run --passes --exact -e loads "$work"
try "refuses a name of several profiles" run_says 2 "expects a path without %" \
	run --passes -e page-faults -P "$here/%p" "$work"
rank() { (
	export PMI_RANK=1 PMI_SIZE=4
	run_says 2 "put it behind perfmon" run --passes -e page-faults "$work"
); }
try "refuses one rank of several" rank
try "names a command that is not there" run_says 127 "cannot run 'no-such-command'" \
	run --passes -e page-faults no-such-command
try "says that a program has no regions" run_says 1 "no profile was written" run --passes -e page-faults true
try "ends as a program that fails, and says so" run_says 3 \
	"no report: pass 1 of 1 (page-faults) ended with exit status 3" run --passes -e page-faults sh -c 'exit 3'
killed() {
	run 143 run --passes -e page-faults sh -c 'kill -TERM $$' || [ "$status" -eq 143 ]
	says "ended by signal 15"
}
try "and as one that is killed" killed
try "counts what is named twice once" run_says 0 "'page-faults' is named twice" \
	run --passes -e page-faults,page-faults -o none "$work"

# --- counts of other runs, by hand ------------------------------------------------------

PERFMON_OUTPUT=none PERFMON_EVENTS=none PERFMON_PROFILE=$here/timed "$work" >"$here/out"
PERFMON_OUTPUT=none PERFMON_EVENTS=page-faults PERFMON_PROFILE=$here/counts "$work" >"$here/out"
mkdir "$here/empty"
joins() {
	run 0 report "$here/timed" --counts "$here/counts" -P "$here/joined" -f csv -o "$here/joined.csv" &&
		[ "$(field "$here/joined.csv" time_ns calc)" = "$(
			"$perfmon" report -f csv "$here/timed" >"$here/csv"
			field "$here/csv" time_ns calc
		)" ] &&
		[ "$(field "$here/joined.csv" page-faults calls)" = "$(
			"$perfmon" report -f csv "$here/counts" >"$here/csv"
			field "$here/csv" page-faults calls
		)" ]
}
try "report --counts sets counts of one run beside times of another" joins
kept() {
	"$perfmon" report -f csv "$here/joined" >"$here/csv" && cmp "$here/csv" "$here/joined.csv"
}
try "and keeps what it joined as a profile" kept
try "which tells which counts are of which run" run_says 0 "page-faults is of another run, $here/counts" \
	report "$here/joined"
try "which diff compares" run_says 0 "page-faults" diff "$here/joined" "$here/joined"
# A sanitizer adds page faults of its own.
try "which export writes" run_says 0 "touch " export -f folded -w page-faults "$here/joined"
try "which --html shows" run_says 0 "page-faults" report --html "$here/timed" --counts "$here/counts"
try "and which is not summed with others" run_says 1 "joined from several runs" report "$here/joined" "$here/timed"
try "needs a profile that is there" run_says 1 "/no/such" report "$here/timed" --counts /no/such
try "needs profiles in a directory" run_says 1 "no profile in this directory" report "$here/timed" --counts "$here/empty"
try "needs counts" run_says 1 "has no counts of events" report "$here/counts" --counts "$here/timed"
try "writes no profile of one run" run_says 2 "expects --counts, too" report "$here/timed" -P "$here/x"
try "has no counts in a table of runs" run_says 2 "--counts is not possible with it" \
	report "$here/timed" --by n --counts "$here/counts"

# --- passes on any machine: a CPU has four breakpoints at most --------------------------

many=$word/1:w:u,$word/2:w:u,$word/4:w:u,$word/8:w:u,$word/8:rw:u,$word/4:rw:u
if breakpoints_fire; then
	passes() {
		run 0 run --passes -e "$many" -P "$here/passes" -o "$here/text" "$work" &&
			"$perfmon" report -f csv "$here/passes" >"$here/csv" &&
			grep -q 'note: counted in [23] passes' "$here/text" &&
			for event in $(head -n 1 "$here/csv" | tr , '\n' | grep '^mem:[^.]*$'); do
				[ "$(field "$here/csv" "$event" touch)" = 4000 ] || return 1
			done && [ "$(head -n 1 "$here/csv" | tr , '\n' | grep -c '^mem:[^.]*$')" = 6 ]
	}
	try "passes count what does not fit at once" passes
	once() { [ "$(cat "$here/out")" = "done" ]; }
	try "and show the output of one run" once
	drifts() {
		rm -f "$here/state"
		run 0 run --passes -e "$many" -o "$here/text" "$work" "$here/state" &&
			grep -q "the runs were not alike: in pass 2, .* differs by more than .*'calc' +" "$here/text" &&
			grep -q "<>" "$here/text"
	}
	try "say where the runs were not alike" drifts
	later() {
		rm -f "$here/state"
		run 5 run --passes -e "$many" sh -c '
			[ -e "$1" ] && { echo trouble >&2; exit 5; }
			: >"$1"; exec "$0"' "$work" "$here/state" &&
			says "pass 2 of" && says trouble && says "exit status 5"
	}
	try "end with a later pass that fails, and show what it said" later
	reads() { # a file, as far as it was read before, in each pass
		echo "skipped
line" >"$here/input"
		rm -f "$here/state"
		(
			read -r _
			run 0 run --passes -e "$many" -o none sh -c '
				cat >>"$1"; exec "$0"' "$work" "$here/state"
		) <"$here/input" && [ "$(sort -u "$here/state")" = line ] && [ "$(wc -l <"$here/state")" -ge 2 ]
	}
	try "give each pass the same input" reads
	interrupted() {
		rm -f "$here/state"
		run 130 run --passes -e "$many" sh -c 'echo . >>"$0"; kill -INT $PPID; exec sleep 60' "$here/state" \
			>"$here/shell" 2>&1 || [ "$status" -eq 130 ]
		[ "$(wc -l <"$here/state")" -eq 1 ] && says "Interrupt came in pass 1"
	}
	try "end all when they are interrupted" interrupted
else
	skip "passes count what does not fit at once" "$why"
fi

# --- passes on real counters --------------------------------------------------------------

# Two events in three modes, under two names each.
twelve=
for event in instructions cycles; do
	for mode in u k uk; do twelve="$twelve,$event:$mode"; done
done
case $(uname -m) in
x86_64) raw="r00c0 r003c" ;;
*) raw="r8 r11" ;;
esac
for event in $raw; do
	for mode in u k uk; do twelve="$twelve,$event:$mode"; done
done
twelve=${twelve#,}
# What the kernel does in a region differs from run to run, by timers and what others left to it.
once() { # EVENT of user mode: as it is when it is counted alone, within 0.5 %
	"$perfmon" run -e "$1" -f csv -o "$here/alone" "$work" >"$here/out" || return 1
	column=$(head -n 1 "$here/alone" | tr , '\n' | sed -n '25p')
	awk -v a="$(field "$here/csv" "$column" calc)" -v b="$(field "$here/alone" "$column" calc)" -v e="$1" '
		BEGIN { printf "# %s: %s in passes, %s alone\n", e, a, b
			exit !(a > 0 && b > 0 && (a > b ? a - b : b - a) <= 0.005 * b) }'
}
# A run that the machine interrupts more often than others is run again.
alone() { once "$1" || once "$1" || once "$1"; }
"$perfmon" run -e instructions:u,instructions:k -f csv -o "$here/csv" "$work" >"$here/out" 2>"$here/err"
if grep -q ',counted,' "$here/csv" && ! grep -q 'never opened\|not counted' "$here/csv"; then
	counted() {
		run 0 run --passes -e "$twelve" -P "$here/passes" -o "$here/text" "$work" &&
			"$perfmon" report -f csv "$here/passes" >"$here/csv" &&
			grep -q 'note: counted in [0-9]* passes' "$here/text" &&
			! grep -q 'estimated\|never opened\|not counted' "$here/csv"
	}
	try "twelve events are counted without turns" counted
	for event in instructions:u cycles:u "${raw% *}:u" "${raw#* }:u"; do
		try "$event is as when it is alone" alone "$event"
	done
else
	skip "twelve events are counted without turns" "no counter counts the kernel and the user apart here"
fi
try "leaves no folder behind" left_nothing
tap_end
