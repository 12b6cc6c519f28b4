#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# All tests on real counters, in the guest: as root and as an unprivileged user, and what
# does not count, as root alone (the suite "user" has it as a user), in three machines at
# the same time. With --long also with CPUs that run in parallel, where instructions are
# not counted.
. "$PM_TOP/scripts/suite.sh"

must prepares "$PM_TOP/scripts/guest" --prepare
mapfile -t tests < <(pm_tests "$PM_BUILD/arm64")

# Tests of texts, files, tables and of what fails: they need no counter.
portable='/(test_(events|report|snapshot|options|log|sample|ring|format|placement|faults|states|cover|target_watch|read$|counter_read)|race_)'
mapfile -t counting < <(printf '%s\n' "${tests[@]}" | grep -Ev "$portable")
mapfile -t others < <(printf '%s\n' "${tests[@]}" | grep -E "$portable")

long=()
[ -z "$PM_LONG" ] || long=(--env PERFMON_TEST_LONG=1)
run() { # NAME GREP OPTION...: what grep finds leaves results in PM_SUITE_DIR/NAME
	local name=$1 find=$2
	shift 2
	rm -rf "${PM_SUITE_DIR:?}/$name"
	mkdir -p "$PM_SUITE_DIR/$name"
	# The time limits are the guest's own, where an instruction takes a nanosecond.
	# shellcheck disable=SC2016 # for the guest's shell
	"$PM_TOP/scripts/guest" --no-build --timeout $((${PM_LONG:-0} ? 6000 : 1700)) --out "$PM_SUITE_DIR/$name" \
		--env PM_TAP_DIR=/out --env PM_TEST_TIMEOUT=120 "${long[@]}" "$@" \
		--env FIND="$find" --env PORTABLE="$portable" \
		/bin/sh -c 'sh source/scripts/run-test $(grep $FIND "$PORTABLE" tests.list)' \
		>"$PM_SUITE_DIR/$name.log" 2>&1 </dev/null
}
run root -Ev &
run user -Ev --user --set kernel.perf_event_paranoid=2 &
run others -E &
wait
if [ -n "$PM_LONG" ]; then
	portable=. run parallel -E --parallel --smp 4 || true
fi
collect() { # NAME TEST...
	local name=$1
	shift
	# What the machine itself had to say.
	tail -n 5 "$PM_SUITE_DIR/$name.log" >&2
	taps "$PM_SUITE_DIR/$name" | sed -E "s/^(ok|not ok) - /\1 - $name: /"
	all_ran "$PM_SUITE_DIR/$name" "$@"
}
collect root "${counting[@]}"
collect user "${counting[@]}"
collect others "${others[@]}"
[ -z "$PM_LONG" ] || collect parallel "${tests[@]}"
