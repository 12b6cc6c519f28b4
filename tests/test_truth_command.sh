#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# perfmon truth: its options, its report, and its verdicts on the counters that are here: none, those of
# the guest, or those of perfmon run --exact.
# Row: QU-07
# shellcheck disable=SC2317 # functions that "try" calls

perfmon=./perfmon
[ -x "$perfmon" ] || perfmon=perfmon
get=./tests/programs/json_get
# shellcheck source=tap.sh
. "${0%/*}/tap.sh"

truth_says() { # STATUS TEXT ARGUMENT...
	want=$1
	text=$2
	shift 2
	"$perfmon" truth "$@" >"$here/out" 2>"$here/err" </dev/null
	status=$?
	[ "$status" -eq "$want" ] || {
		echo "# status $status, not $want"
		return 1
	}
	grep -qF -- "$text" "$here/out" "$here/err"
}
# The verdict on EVENT in the last output: what stands in its line.
verdict_is() { # EVENT VERDICT
	grep -qE "^  $1(:u)? +$2( |\$)" "$here/out"
}

# --- what is wrong with the words -----------------------------------------------------

try "helps" truth_says 0 "usage: perfmon truth" --help
try "takes no arguments" truth_says 2 "'true': expects no arguments" true
try "quotes a bad format" truth_says 2 "'xml' is not one of text, json" -f xml
try "quotes an event that is not known" truth_says 2 "cycels" -e cycels
try "quotes a path that cannot be written" truth_says 1 "/no/such/file" -e page-faults -o /no/such/file
try "does not take a full disk for success" truth_says 1 "No space left" -e page-faults -o /dev/full

# --- the report -----------------------------------------------------------------------

# As files for programs are read: by the verdicts in it.
report() {
	"$perfmon" truth -f json -o "$here/report" 2>"$here/err" </dev/null
	status=$?
	tr -d '\n' <"$here/report" >"$here/out"
	case $status in
	0) grep -q '"wrong":false,"machine"' "$here/out" && ! grep -q '"wrong":true' "$here/out" ;;
	1) grep -q '"wrong":true,"machine"' "$here/out" ;;
	*) return 1 ;;
	esac
}
try "the status tells whether anything is wrong" report
private() {
	# The home may be /, and the name may be a word of the report.
	home=${HOME:-/nowhere}
	[ "$home" != / ] || home=/nowhere
	user=$(id -un 2>/dev/null || echo nobody)
	grep -q '"name":"page-faults' "$here/out" &&
		! grep -qF -e "$here" -e "$home/" -e "\"$user\"" -e "/$user" "$here/out"
}
try "the report has no path and no name of a user" private
complete() {
	for member in machine.kernel machine.architecture findings.0.verdict findings.0.why format; do
		"$get" "$here/out" "$member" || return
	done >"$here/csv"
}
"$get" "$here/out" format >/dev/null 2>&1
if [ $? -eq 77 ]; then
	skip "the report is JSON" "built without jansson"
else
	try "the report is JSON" complete
fi

# --- the kernel's own events ----------------------------------------------------------

"$perfmon" truth -e page-faults,task-clock >"$here/out" 2>"$here/err"
status=$?
if verdict_is page-faults "not there"; then
	skip "software events are exact" "this user may not count: $(grep page-faults "$here/out")"
else
	software() {
		if [ "$status" -ne 0 ] || ! verdict_is page-faults exact || ! verdict_is task-clock exact; then
			sed 's/^/# /' "$here/out" "$here/err"
			return 1
		fi
	}
	try "software events are exact" software
fi

# --- counters -------------------------------------------------------------------------

"$perfmon" truth -e instructions,cycles >"$here/out" 2>"$here/err"
status=$?
absent() {
	[ "$status" -eq 0 ] && verdict_is cycles "not there" &&
		grep -q "No event of a CPU's counters could be judged" "$here/out"
}
exact() {
	[ "$status" -eq 0 ] && verdict_is instructions exact && verdict_is cycles exact &&
		grep -q "Nothing is wrong" "$here/out"
}
# An event that the PMU says it does not have, which opens and stays 0.
denied() {
	truth_says 0 "the PMU says that it does not count this event" -e r04
}
# One of which the PMU does not tell whether it has it.
silent() {
	truth_says 1 "Count nothing: $1" -e "instructions,$1" && verdict_is instructions exact
}
reads() {
	"$perfmon" truth >"$here/out" 2>"$here/err"
	verdict_is "reads in user space" exact && verdict_is "user and kernel mode" exact &&
		verdict_is "overflows of cycles" exact && verdict_is inst_retired exact
}
if verdict_is instructions "not there"; then
	try "says what is not there" absent
	skip "true counters are exact" "there are none: $(grep instructions "$here/out")"
else
	try "true counters are exact" exact
	if [ "$(uname -m)" = aarch64 ] && [ "$(id -u)" -eq 0 ]; then
		try "an event that the PMU denies is not there" denied
		try "an event that stays 0 counts nothing" silent INST_SPEC_EXEC_LOAD
		try "reads, modes and overflows are exact" reads
	fi
fi

# On a terminal of 100 columns, which "script" makes.
narrow() {
	SHELL=/bin/sh script -qc "stty cols 100; '$perfmon' truth -e instructions,cycles,page-faults" /dev/null \
		</dev/null >"$here/out"
	grep -q page-faults "$here/out" && ! grep '.\{102\}' "$here/out"
}
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
	try "lines are not longer than those of the terminal" narrow
else
	skip "lines are not longer than those of the terminal" "there is no script(1)"
fi

# --- settings of a user -------------------------------------------------------------------

# Those of regions, as PERFMON_ONLY, do not come to what is measured. PERFMON_DEBUG would be seen.
own_settings() {
	PERFMON_DEBUG=1 "$perfmon" truth >"$here/out" 2>"$here/err" </dev/null
	grep -q "region with time alone  *minimum" "$here/out" && ! grep "is set up with" "$here/err"
}
try "a region's cost does not depend on the environment" own_settings

# --- counts by translation --------------------------------------------------------------

translated() {
	"$perfmon" run --exact -e instructions,loads,stores,cond-branches,sp-flops,dp-flops -- "$perfmon" truth \
		-e exact::instructions,exact::loads,exact::stores,exact::cond-branches,exact::sp-flops,exact::dp-flops \
		>"$here/out" 2>"$here/err" || return
	for event in instructions loads stores cond-branches sp-flops dp-flops; do
		verdict_is "exact::$event" exact || return
	done
}
if grep -q -e __asan_init -e __tsan_init "$perfmon" .libs/perfmon 2>/dev/null; then
	skip "exact events are exact" "Valgrind does not run programs with a sanitizer"
elif "$perfmon" info 2>/dev/null | grep -q 'run --exact  *yes'; then
	try "exact events are exact" translated
else
	skip "exact events are exact" "Valgrind or the tool of exact/ is not there"
fi
tap_end
