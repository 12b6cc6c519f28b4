#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What regions and sessions count under the tool of exact/: blocks of so many instructions,
# exactly, and one number above that for every size, thread, depth and place in the code.
. "$PM_TOP/scripts/suite.sh"

exact_tree exact tests/programs/exact_blocks
here=$PM_SUITE_DIR/run
rm -rf "$here"
mkdir -p "$here"
blocks=$build/tests/programs/exact_blocks
export PERFMON_OUTPUT=$here/report PERFMON_FORMAT=csv

# exact EVENTS COMMAND...
exact=$here/exact
cat >"$exact" <<END
#!/bin/sh
events=\$1
shift
exec "$perfmon" run --exact -e "\$events" -- "\$@"
END
chmod +x "$exact"

try "regions add one number in five threads, at six depths and three places" \
	both 0 out "regions add" "$exact" instructions "$blocks" regions

try "first visits of paths add nothing to the visits around them, at any depth" \
	both 0 out "first visits add nothing" "$exact" instructions "$blocks" deep

# Rows of blocks, corrected: so many visits, and as many instructions as they have.
corrected() { # EVENTS HOW
	rm -f "$here/report"*
	PERFMON_BIAS=subtract status 0 "$exact" "$1" "$blocks" "$2" && awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		NR > 1 && $at["region"] ~ /^block / {
			rows++
			split($at["region"], name, " ")
			if ($at["exact::instructions"] != name[2] * $at["visits"]) {
				print $at["path"], $at["visits"], $at["exact::instructions"]
				wrong = 1
			}
		}
		END { print rows, "rows"; exit wrong || rows != 28 }' "$here/report"
}
try "subtracting the bias leaves the instructions of the blocks" corrected instructions one
try "so it does with more events than one" corrected instructions,loads,stores one
all=instructions,loads,stores,load-bytes,store-bytes,cond-branches,calls,sp-flops,dp-flops
try "and with all of them" corrected "$all" one
PERFMON_MONOTONIC=1 PERFMON_FENCE=1 try "and with a fence" corrected instructions one
try "and after an exec" corrected instructions exec
counts() {
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		$at["region"] ~ /^(block|level)/ { print $at["path"], $at["visits"], $at["exact::instructions"] }' \
		"$here/report" | sort
}
repeats() {
	corrected instructions one && counts >"$here/before" && corrected instructions one &&
		counts | diff "$here/before" -
}
try "two runs count the same, also around nested regions" repeats
with_stride() {
	PERFMON_STRIDE=7 status 0 "$exact" instructions "$blocks" one && says out "regions add"
}
try "a stride measures the same" with_stride
# A visit that is left out adds at most MOST instructions to the region around it.
# Row: FO-08
left_out() { # SETTING MOST
	rm -f "$here/report"*
	env "$1" "$exact" instructions "$blocks" tiny >"$here/out" 2>&1 && awk -F, -v most="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		NR > 1 { count[$at["region"]] = $at["exact::instructions"] }
		END {
			each = (count["many"] - count["few"]) / 9000
			print each, "instructions a visit"
			exit !("few" in count && !("tiny" in count) && each > 5 && each <= most)
		}' "$here/report"
}
try "a visit that is left out by name costs few instructions" left_out PERFMON_SKIP=tiny 80
try "one that is too deep costs little more" left_out PERFMON_DEPTH=1 120
try "a forked child counts for itself" status 0 "$exact" instructions "$blocks" fork
try "reads and stretches of sessions add one number each" \
	both 0 out "stretches" "$exact" instructions "$blocks" sessions
try "what cannot be counted is refused in a sentence" \
	both 0 out "event 'page-faults' cannot be counted" "$exact" instructions "$blocks" refused
totals() {
	PERFMON_PROFILE=$here/profile status 0 "$exact" instructions "$blocks" regions &&
		status 0 "$blocks" totals "$here/profile"
}
try "a kept profile has the totals of the process" totals
lists() {
	status 0 "$exact" loads,instructions "$perfmon" list loads &&
		says out "exact::loads	exact	exact	loads		reads of memory" || return 1
	status 0 "$exact" loads "$perfmon" list && says out "(not counted in this run" && ! grep cycles "$here/out"
}
try "the events are listed where they are counted" lists
elsewhere() {
	PERFMON_FORMAT=text PERFMON_EVENTS=exact::loads status 0 "$blocks" exec || true
	grep "perfmon run --exact -e loads" "$here/report"*
}
try "elsewhere they are refused with what to do" elsewhere
no_system_calls() {
	command -v strace >/dev/null || return 0
	! strace -f -o /dev/stdout -e trace=perf_event_open env VALGRIND_LIB="$build/exact/valgrind" \
		valgrind -q --tool=perfmon "$blocks" one | grep perf_event_open
}
try "no event is opened" no_system_calls
tells() {
	PERFMON_FORMAT=text status 0 "$exact" loads "$perfmon" info && says out "exact::loads" &&
		says out "3 to 20 times slower" && PERFMON_FORMAT=text status 0 "$perfmon" info &&
		says out "perfmon run --exact"
}
try "perfmon info says where it is" tells
