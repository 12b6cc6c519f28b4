#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# What perfmon export writes for other readers, read by them: pprof, callgrind_annotate, and by the
# rules of Hatchet.
# Row: HM-09
# shellcheck disable=SC2317 # functions that "try" calls

perfmon=./perfmon
[ -x "$perfmon" ] || perfmon=perfmon
odd=./tests/programs/odd_names
work=./tests/programs/diff_work
check=${srcdir:-.}/tests/export_check.py
# shellcheck source=tap.sh
. "${0%/*}/tap.sh"
export PERFMON_OUTPUT=none PERFMON_THREADS=keep

PERFMON_EVENTS=page-faults PERFMON_PROFILE=$here/odd "$odd" 100
PERFMON_EVENTS=none PERFMON_PROFILE=$here/work "$work" 1000 7 3
PERFMON_EVENTS=none PERFMON_PROFILE=$here/again "$work" 1000 7 3
for rank in 3 7; do
	OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=8 PERFMON_EVENTS=none PERFMON_PROFILE=$here/rank "$work" 1000 7 3
done
./tests/programs/profile_exact "$here/exact" 1000
./tests/programs/profile_exact "$here/refused" 1000 refused
./tests/programs/profile_marks "$here"
# Steps and overlapping visits; and counts of another run, which has a path that the first has not.
PERFMON_EVENTS=none PERFMON_STEPS=step PERFMON_PROFILE=$here/steps ./tests/programs/export_work timed
PERFMON_EVENTS=page-faults PERFMON_PROFILE=$here/counts ./tests/programs/export_work counted
"$perfmon" report "$here/steps" --counts "$here/counts" -P "$here/joined" -o /dev/null 2>"$here/joining"

to() { # FORMAT ARGUMENT...: leaves it in the file "out"
	"$perfmon" export -f "$@" >"$here/out" 2>"$here/err"
}
refuses() { # STATUS TEXT ARGUMENT...
	want=$1
	text=$2
	shift 2
	"$perfmon" export "$@" >"$here/out" 2>"$here/err"
	[ $? -eq "$want" ] && grep -qF -- "$text" "$here/err" && [ ! -s "$here/out" ]
}
try "all values have no weight" refuses 2 "--weight is for --format folded" -f pprof -w time "$here/work"
try "threads have no place in json-split" refuses 2 "--per-thread is for" -f json-split -T "$here/work"
try "nor have metrics" refuses 2 "--metrics is for" -f callgrind -m "x = visits" "$here/work"
for format in callgrind json-split pprof; do
	try "$format: profiles of other events are not joined" \
		refuses 1 "its events are not those of '$here/work'" -f $format "$here/work" "$here/odd"
done

# What a format does not have is said.
tells() { # COUNT TEXT FORMAT ARGUMENT...
	want=$1
	text=$2
	shift 2
	to "$@" && [ "$(grep -cF -- "$text" "$here/err")" -eq "$want" ]
}
for format in callgrind chrome folded json-split pprof; do
	try "$format: steps are left out" tells 1 "'$here/steps': the steps of 1 path are left out" $format "$here/steps"
	try "$format: of a profile without steps nothing is" tells 0 "left out" $format "$here/work"
done
for format in callgrind folded pprof; do
	try "$format: overlapping visits are left out" \
		tells 1 "'$here/steps': the times and counts of 1 path of overlapping visits are left out" $format "$here/steps"
done
for format in chrome "folded -T" "pprof -T"; do
	# shellcheck disable=SC2086 # words
	try "$format: threads have no counts of other runs" tells 1 "the counts of other runs are left out" $format "$here/joined"
done
unkept() { grep -qF "'$here/joined' does not have the steps of 1 path: the profile of the first run has them" "$here/joining"; }
try "nor has a joined profile that is kept" unkept
try "json-split: all but steps is there" tells 1 "left out" json-split "$here/steps"

# Exclusive times of paths, as folded stacks have them.
folded() { # PROFILE: leaves "want", lines "PATH NANOSECONDS" in order
	"$perfmon" export -f folded "$1" 2>/dev/null | sort >"$here/want"
}
same() { sort "$here/got" | diff "$here/want" - >"$here/diff"; }

# --- pprof and json-split, by a reader that is strict -----------------------------------

if python3 -c 'import gzip, json' 2>/dev/null; then
	is_read() { # KIND FORMAT ARGUMENT...: leaves "read"
		kind=$1
		shift
		to "$@" && python3 "$check" "$kind" "$here/out" >"$here/read" 2>"$here/python"
	}
	line() { grep -qxF -- "$1" "$here/read"; }
	exact_pprof() {
		is_read pprof pprof "$here/exact" && line "run;step|2000|200|2" && line "run|200|20|1" &&
			line "types|exact::instructions/count|exact::loads/count|visits/count" &&
			line "default|exact::instructions" && grep -q '^comment|counted exactly' "$here/read"
	}
	try "pprof: stacks and all values of an exact profile" exact_pprof
	refused_pprof() { is_read pprof pprof "$here/refused" && line "types|visits/count" && line "default|visits"; }
	try "pprof: visits alone where every exact event was refused" refused_pprof
	times_pprof() {
		is_read pprof pprof "$here/work" && folded "$here/work" &&
			sed -n 's/^\(all[^|]*\)|\([0-9]*\)|.*/\1 \2/p' "$here/read" >"$here/got" && same
	}
	try "pprof: times are those of folded stacks" times_pprof
	names_pprof() {
		is_read pprof pprof "$here/odd" && grep -q '^plain;bad\\xff utf|' "$here/read" &&
			grep -q '^plain;line\\x0abreak\\x09tab\\n|' "$here/read" && [ "$(grep -c '^plain;wide [0-9]*|' "$here/read")" -eq 100 ]
	}
	try "pprof: names are plain text" names_pprof
	marks_pprof() {
		is_read pprof pprof "$here/0" && grep -q '^none|.*|not counted=instructions:u' "$here/read" &&
			grep -q '^some|.*|mark=time: sampled' "$here/read" && ! grep -q '^outer;inner|.*mark=' "$here/read"
	}
	try "pprof: labels say what was not counted, and the marks" marks_pprof
	threads_pprof() {
		is_read pprof pprof -T "$here/work" && [ "$(grep -o 'thread=.*' "$here/read" | sort -u | wc -l)" -eq 3 ] &&
			[ "$(grep -c '^all;same|' "$here/read")" -eq 3 ]
	}
	try "pprof: a label says the thread" threads_pprof
	processes_pprof() {
		is_read pprof pprof "$here/work" "$here/again" &&
			[ "$(grep -o 'process=[^|]*, pid [0-9]* on ' "$here/read" | sort -u | wc -l)" -eq 2 ]
	}
	try "pprof: and the process, where there are several" processes_pprof

	exact_split() {
		is_read split json-split "$here/exact" && line "run|1|200|2300|20|230" && line "run;step|2|2000|2000|200|200" &&
			line "exclusive|visits|exact::instructions|exact::loads" &&
			line "inclusive|exact::instructions (inc)|exact::loads (inc)" && grep -q '^metadata|.*|counted|' "$here/read"
	}
	try "json-split: paths and all values of an exact profile" exact_split
	times_split() {
		is_read split json-split "$here/work" && folded "$here/work" &&
			awk -F'|' '/^all/ { printf "%s %.0f\n", $1, $3 * 1e9 }' "$here/read" >"$here/got" && same
	}
	try "json-split: times are those of folded stacks, in seconds" times_split
	missing_split() {
		is_read split json-split "$here/0" && grep -q '^none|0|40|0|0|NaN|NaN|NaN|NaN$' "$here/read" &&
			grep -q '^metadata|.*marks of some values' "$here/read"
	}
	try "json-split: what was not counted is no number" missing_split
	ranks_split() {
		is_read split json-split "$here/rank.7" "$here/rank.3" && [ "$(grep -c '^all;same|' "$here/read")" -eq 2 ] &&
			grep -q '^all;same|3|21|' "$here/read" && grep -q '^all;same|7|21|' "$here/read"
	}
	try "json-split: a row for each rank" ranks_split
	places_split() {
		is_read split json-split "$here/work" "$here/again" && [ "$(grep -c '^all;same|[01]|21|' "$here/read")" -eq 2 ]
	}
	try "json-split: or for each profile" places_split
	joined_pprof() {
		is_read pprof pprof "$here/joined" && line "types|time/nanoseconds|page-faults/count|visits/count" &&
			grep -q '^solve;counted|0|[0-9]*|0|.*not counted=time' "$here/read" &&
			grep -q '^solve;counted|.*not counted=visits' "$here/read" && grep -q '^solve;timed|[1-9].*|not counted=page-faults' "$here/read" &&
			grep -q '^comment|page-faults is of another run, ' "$here/read" && grep -q '^solve;section (overlapping)|0|0|1' "$here/read"
	}
	try "pprof: counts of another run are labelled" joined_pprof
	joined_split() {
		is_read split json-split "$here/joined" && grep -q '^solve;counted|NaN|NaN|NaN|[0-9]' "$here/read" &&
			grep -q '^solve;timed|1|[0-9.e-]*|[0-9.e-]*|NaN|NaN$' "$here/read" &&
			grep -q '"notes":.*page-faults is of another run, ' "$here/out" &&
			awk -F'|' '/^solve;section/ { exit !($3 == 0 && $4 > 0) }' "$here/read"
	}
	try "json-split: what another run has alone has no visits and times" joined_split
else
	skip "pprof and json-split" "there is no python3 to read them with"
fi

# --- pprof itself -----------------------------------------------------------------------

if HOME=$here go tool pprof -h 2>&1 | grep -q 'usage'; then
	pprof() { # ARGUMENT...: leaves "read"
		HOME=$here PPROF_TMPDIR=$here go tool pprof "$@" "$here/out" >"$here/read" 2>"$here/go"
	}
	top() { to pprof "$here/exact" && pprof -top && grep -qE '^ +200 +8\.70% .* 2300 +100% +run$' "$here/read"; }
	try "pprof shows exclusive and inclusive values" top
	sorts() { to pprof "$here/exact" && pprof -sample_index=visits -top && grep -qE '^ +2 .* step$' "$here/read"; }
	try "and each kind of value" sorts
	traces() {
		to pprof -T "$here/work" && pprof -traces && [ "$(grep -cE '^ +thread: +[0-9]+ ' "$here/read")" -ge 12 ]
	}
	try "and stacks with their labels" traces
else
	skip "pprof" "go is not here, which has it"
fi

# --- callgrind_annotate -----------------------------------------------------------------

if command -v callgrind_annotate >/dev/null; then
	annotate() { # ARGUMENT...: leaves "read"; any warning is an error
		callgrind_annotate "$@" "$here/out" >"$here/read" 2>"$here/warnings" && [ ! -s "$here/warnings" ]
	}
	exclusive() {
		to callgrind "$here/exact" && annotate --threshold=100 &&
			grep -qE '^ *2,300 \(100\.0%\) +230 \(100\.0%\) +PROGRAM TOTALS$' "$here/read" &&
			grep -qE '^ *2,000 \(86\.96%\) +200 \(86\.96%\) +[?]{3}:run > step$' "$here/read" &&
			grep -qE '^ *200 \( 8\.70%\) +20 \( 8\.70%\) +[?]{3}:run$' "$here/read"
	}
	try "callgrind: exclusive values and their total" exclusive
	tree() {
		annotate --inclusive=yes --tree=calling --threshold=100 &&
			grep -qE '^ *2,300 \(100\.0%\) +230 \(100\.0%\) +\* +[?]{3}:run$' "$here/read" &&
			grep -qE '^ *2,000 \(86\.96%\) +200 \(86\.96%\) +> +[?]{3}:run > step \(2x\) \[\]$' "$here/read"
	}
	try "callgrind: inclusive values, and calls" tree
	odd_callgrind() {
		to callgrind "$here/odd" && annotate --threshold=100 &&
			grep -qF '???:plain > line\x0abreak\x09tab\n' "$here/read" && grep -q '^Events recorded: *time page_faults$' "$here/read"
	}
	try "callgrind: names stay in their lines" odd_callgrind
	joined() {
		to callgrind "$here/work" "$here/work" && annotate --inclusive=yes --tree=calling && grep -qF '> same (42x)' "$here/read"
	}
	try "callgrind: profiles are summed" joined
	crossing() {
		to callgrind "$here/steps" && annotate --inclusive=yes --threshold=100 &&
			[ "$(sed -n 's/^ *\([0-9,]*\) (100.0%).*PROGRAM TOTALS/\1/p' "$here/read")" = "$(sed -n 's/^ *\([0-9,]*\) (100.0%).*:solve$/\1/p' "$here/read")" ]
	}
	try "callgrind: overlapping visits are in no sum" crossing
	noted() { to callgrind "$here/joined" && annotate && grep -q '^# Note: page-faults is of another run, ' "$here/out"; }
	try "callgrind: comments have the notes" noted
	marked() { to callgrind "$here/0" && annotate && grep -q '^# Some values have marks in reports: ' "$here/out"; }
	try "callgrind: a comment has the marks" marked
else
	skip "callgrind" "callgrind_annotate of valgrind is not here"
fi

tap_end
