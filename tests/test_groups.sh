#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Groups of events by name: perfmon list groups, -g of perfmon run and stat, PERFMON_GROUP.
# Row: QU-03
# shellcheck disable=SC2317 # functions that "try" calls

perfmon=./perfmon
[ -x "$perfmon" ] || perfmon=perfmon
work=./tests/programs/diff_work
# shellcheck source=tap.sh
. "${0%/*}/tap.sh"
unset PERFMON_EVENTS PERFMON_GROUP PERFMON_METRICS

says() { # STATUS TEXT ARGUMENT...
	want=$1
	text=$2
	shift 2
	"$perfmon" "$@" >"$here/out" 2>"$here/err" </dev/null
	status=$?
	[ "$status" -eq "$want" ] || {
		echo "# status $status, not $want"
		return 1
	}
	grep -qF -- "$text" "$here/out" "$here/err"
}

"$perfmon" list groups >"$here/groups" 2>"$here/err"
listed() { # each name once or more, with what it needs
	for group in FLOPS MEM; do
		grep -q "^$group	[^	]*	exact::[^	]*	exact	$" "$here/groups" || return 1
	done
	for group in MEM CACHE BRANCH TLB; do
		grep -Eq "^$group	[^	]+	[^	]+	(yes	|no	.+)$" "$here/groups" || return 1
	done
	# Some CPUs have no event that answers these.
	for group in FLOPS TOPDOWN ENERGY; do
		grep -Eq "^$group	([^	]+	[^	]+	(yes	|no	.+)|		no	no event of this CPU .*)$" "$here/groups" || return 1
	done
}
try "list groups says what each needs, and whether it is here" listed
# The kernel alone decides what is here: what the list offers is counted, what it does not is refused.
truthful() {
	for group in CACHE BRANCH TLB TOPDOWN; do
		if grep -q "^$group	.*	yes	" "$here/groups"; then
			says 0 "$(sed -n "s/^$group	\([^	 ]*\)[^	]*	.*	yes	.*/\1/p" "$here/groups" | head -n 1)" \
				stat -g "$group" true || return 1
		else
			says 1 "group $group cannot be counted here" stat -g "$group" true || return 1
		fi
	done
}
try "what is listed as here is counted, and the rest is refused by its event" truthful
in_run() {
	if grep -q "^BRANCH	insn/br	.*	yes	" "$here/groups"; then
		PERFMON_OUTPUT=stdout says 0 "insn/br" run -g branch -f csv -- "$work" 100 3 1 &&
			PERFMON_GROUP=branch PERFMON_FORMAT=csv PERFMON_OUTPUT=stdout "$work" 100 3 1 >"$here/out" 2>&1 &&
			grep -q "insn/br" "$here/out"
	else
		says 1 "group BRANCH cannot be counted here" run -g branch -- "$work" 100 3 1
	fi
}
try "run counts a group, and so does a program by PERFMON_GROUP" in_run
without() { # the note of a program that cannot count it
	PERFMON_GROUP=$1 PERFMON_FORMAT=json PERFMON_OUTPUT=stdout "$work" 100 3 1 >"$here/out" 2>&1 &&
		grep -qF -- "$2" "$here/out"
}
if grep -q "^FLOPS	.*	yes	" "$here/groups"; then
	skip "without counters another way is named" "this machine counts FLOPS"
else
	try "without counters another way is named" says 1 "'--exact -g FLOPS' counts exactly, and 'perfmon roofline'" \
		stat -g FLOPS true
	try "... and a program says what is missing" without FLOPS "group FLOPS cannot be counted here"
fi
try "a program says which name is no group" without NOSUCH "PERFMON_GROUP: 'NOSUCH' is not a group"
try "a wrong name is quoted" says 2 "'FLOP' is not a group: did you mean 'FLOPS'?" stat -g MEM,FLOP true
try "so is one that exact counts do not have" says 2 "'TLB' is not a group of what --exact counts" \
	stat --exact -g TLB true
try "a second list does not replace the first" says 2 "--group is given twice: name all in one list: --group FLOPS,MEM" \
	stat -g FLOPS -g MEM true
try "... nor does one of run" says 2 "--group is given twice" run -g FLOPS --group=MEM -- true
try "an empty name is none" says 2 "'' is not a group" run -g MEM, -- true

# One operation for each element of scale and add, two of triad, none of copy.
exact() {
	"$perfmon" run --exact -g flops,mem -f json -o "$here/exact.json" -- ./examples/stream 20000 4 >"$here/out" 2>&1 &&
		python3 - "$here/exact.json" <<-'PY'
			import json, sys
			report = json.load(open(sys.argv[1]))
			names = [metric["name"] for metric in report["metrics"]]
			done = {"copy": 0, "scale": 1, "add": 1, "triad": 2}
			for node in report["nodes"]:
			    if node["region"] not in done:
			        continue
			    metric = node["metrics"][names.index("flop/visit")]
			    wanted = done.pop(node["region"]) * 20000 * 4
			    assert metric["value"] * node["visits"] == wanted, (node["region"], metric)
			assert not done, done
		PY
}
if grep -q -e __asan_init -e __tsan_init ./examples/stream ./examples/.libs/stream 2>/dev/null; then
	skip "with --exact the operations are those of the source" "Valgrind does not run programs with a sanitizer"
elif ! "$perfmon" info 2>/dev/null | grep -q 'run --exact  *yes'; then
	skip "with --exact the operations are those of the source" "Valgrind or the tool of exact/ is not there"
else
	try "with --exact the operations are those of the source" exact
fi
tap_end
