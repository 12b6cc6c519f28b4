#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# All tests on real counters, in the guest, as root; those of what a user may count, as an
# unprivileged one, too; and what does not count at all (the suite "user" has the rest as a
# user): in three machines at the same time. Snapshots against writers also on CPUs that run
# in parallel, where instructions are not counted; with --long all tests.
. "$PM_TOP/scripts/suite.sh"

must prepares "$PM_TOP/scripts/guest" --prepare
# Tests of texts, tables, files and refusals alone, in which the machine has no part, with
# --long only: all beds of the host run them, and an emulated machine is slow.
plain='/(test_(options|report|metric|judge|merge|diff_decide|placement|stride|top|profile_file)$'
plain+='|test_(events_(errors|machines)|faults|faults_around|kept|kept_kill)$|test_hostile\.sh|fuzz_|many_)'
[ -z "$PM_LONG" ] || plain='/test_hostile\.sh'
mapfile -t tests < <(pm_tests "$PM_BUILD/arm64" | grep -Ev "$plain")

# Tests that need no counter, and some that do: what the third machine has time for.
portable='/(test_(events|report|snapshot|profile_file|kept|options|log|sample|ring|format|placement|region_levels|region_(fork|programs|signals)|faults|states|cover|process|top$|read$|counter_read)|race_|fuzz_|many_)'
# Tests of what depends on who counts.
rights='/(test_(guest_read|session|sampling|info|spread|stat\.sh|region_access|regions)|inline_)'
[ -z "$PM_LONG" ] || rights+='|/test_(sets|overflow|switching|region_truth|region_threads)'
# Tests that count, for which once is enough: as the user who has less.
once='/test_(examples|diff|export)\.sh'
mapfile -t counting < <(printf '%s\n' "${tests[@]}" | grep -Ev "$portable|$once")
mapfile -t as_user < <(printf '%s\n' "${tests[@]}" | grep -E "$rights|$once")
mapfile -t others < <(printf '%s\n' "${tests[@]}" | grep -E "$portable")

# What is repeated for its own sake is repeated less: an emulated machine is slow.
long=(--env PERFMON_TEST_SHORT=1)
[ -z "$PM_LONG" ] || long=(--env PERFMON_TEST_LONG=1)
run() { # NAME GREP PATTERN OPTION...: what grep finds leaves results in PM_SUITE_DIR/NAME
	local name=$1 find=$2 pattern=$3
	shift 3
	rm -rf "${PM_SUITE_DIR:?}/$name"
	mkdir -p "$PM_SUITE_DIR/$name"
	# What reads registers without leave comes first: the kernel leaves the access on when
	# the last process that had it has gone.
	# The time limits are the guest's own, where an instruction takes a nanosecond.
	# shellcheck disable=SC2016 # for the guest's shell
	"$PM_TOP/scripts/guest" --no-build --timeout $((${PM_LONG:-0} ? 6000 : 1700)) --out "$PM_SUITE_DIR/$name" \
		--env PM_TAP_DIR=/out --env PM_TEST_TIMEOUT=120 "${long[@]}" "$@" \
		--env FIND="$find" --env PATTERN="$pattern" --env PLAIN="$plain" \
		/bin/sh -c 'grep $FIND "$PATTERN" tests.list | grep -Ev "$PLAIN" >/tmp/tests
			sh source/scripts/run-test $(grep counter_read /tmp/tests) \
				$(grep -v counter_read /tmp/tests)' \
		>"$PM_SUITE_DIR/$name.log" 2>&1 </dev/null
}
run root -Ev "$portable|$once" &
run user -E "$rights|$once" --user --set kernel.perf_event_paranoid=2 &
run others -E "$portable" &
# Writers and readers on several CPUs at the same time.
run races -E /race_snapshot --parallel --smp 4 &
wait
if [ -n "$PM_LONG" ]; then
	run parallel -E . --parallel --smp 4 || true
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
collect user "${as_user[@]}"
collect others "${others[@]}"
collect races tests/race_snapshot
[ -z "$PM_LONG" ] || collect parallel "${tests[@]}"
