#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# All tests on real counters, in the guest: as root and as an unprivileged user, in two
# machines at the same time. With --long also with CPUs that run in parallel, where
# instructions are not counted.
. "$PM_TOP/scripts/suite.sh"

must prepares "$PM_TOP/scripts/guest" --prepare
mapfile -t tests < <(pm_tests "$PM_BUILD/arm64")

long=()
[ -z "$PM_LONG" ] || long=(--env PERFMON_TEST_LONG=1)
run() { # NAME OPTION...: leaves results in PM_SUITE_DIR/NAME
	local name=$1
	shift
	rm -rf "${PM_SUITE_DIR:?}/$name"
	mkdir -p "$PM_SUITE_DIR/$name"
	# The time limits are the guest's own, where an instruction takes a nanosecond.
	# shellcheck disable=SC2016 # for the guest's shell
	"$PM_TOP/scripts/guest" --no-build --timeout $((${PM_LONG:-0} ? 6000 : 1700)) --out "$PM_SUITE_DIR/$name" \
		--env PM_TAP_DIR=/out --env PM_TEST_TIMEOUT=120 "${long[@]}" "$@" \
		/bin/sh -c 'sh source/scripts/run-test $(cat tests.list)' \
		>"$PM_SUITE_DIR/$name.log" 2>&1 </dev/null
}
run root &
run user --user --set kernel.perf_event_paranoid=2 &
wait
names=(root user)
if [ -n "$PM_LONG" ]; then
	run parallel --parallel --smp 4 || true
	names+=(parallel)
fi
for name in "${names[@]}"; do
	# What the machine itself had to say.
	tail -n 5 "$PM_SUITE_DIR/$name.log" >&2
	taps "$PM_SUITE_DIR/$name" | sed -E "s/^(ok|not ok) - /\1 - $name: /"
	all_ran "$PM_SUITE_DIR/$name" ${tests+"${tests[@]}"}
done
