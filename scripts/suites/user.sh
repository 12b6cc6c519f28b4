#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests of the native suite as a user without privileges.
. "$PM_TOP/scripts/suite.sh"

if [ "$(id -u)" -ne 0 ]; then
	skip user "not root: the native suite ran unprivileged"
	exit 0
fi
native_tree check TESTS=

unprivileged() {
	setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all --inh-caps=-all "$@"
}
# The checkout may lie where only root can go.
stage=$PM_SUITE_DIR/stage
if ! unprivileged test -x "$PM_SUITE_DIR"; then
	stage=$(mktemp -d)
	chmod 755 "$stage"
	trap 'rm -rf "$stage"' EXIT
fi
must stages in_shell pm_stage "$build" "$stage/root"
perfmon=$stage/root/perfmon
chmod -R a+rX "$stage"
rm -rf "${stage:?}/taps" "${stage:?}/home"
mkdir -p "$stage/taps" "$stage/home"
chown 65534:65534 "$stage/taps" "$stage/home" "$perfmon"

mapfile -t tests < <(bed_tests user "$build")
cd "$perfmon"
# What is repeated for its own sake has been repeated in the native suite.
short=PERFMON_TEST_SHORT=1
[ -z "$PM_LONG" ] || short=PERFMON_TEST_LONG=1
for test in ${tests+"${tests[@]}"}; do
	if [ -e "$test" ]; then echo "$test"; else echo "source/$test"; fi
done |
	unprivileged env HOME="$stage/home" PM_TAP_DIR="$stage/taps" "$short" \
		LD_LIBRARY_PATH="$perfmon/lib" PATH="$perfmon/bin:$PATH" srcdir="$perfmon/source" \
		xargs -r -n 1 -P "$PM_JOBS" source/scripts/run-test >&2 || true
taps "$stage/taps"
all_ran "$stage/taps" ${tests+"${tests[@]}"}
