#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The tests that the table tests/beds gives to riscv64, on the counters of an emulated
# machine with Debian 13's kernel and C library.
. "$PM_TOP/scripts/suite.sh"

must prepares "$PM_TOP/scripts/guest" --riscv64 --prepare
out=$PM_SUITE_DIR/taps
rm -rf "$out"
mkdir -p "$out"
mapfile -t tests < <(awk '!/^#/ && / riscv64( |$)/ { print "tests/" $1 }' "$PM_TOP/tests/beds")
# The time limits are the machine's own, where an instruction takes a nanosecond.
"$PM_TOP/scripts/guest" --riscv64 --no-build --timeout 900 --out "$out" \
	--env PM_TAP_DIR=/out --env PM_TEST_TIMEOUT=120 --env PERFMON_TEST_SHORT=1 \
	sh source/scripts/run-test "${tests[@]}" >"$PM_SUITE_DIR/run.log" 2>&1 </dev/null || true
tail -n 5 "$PM_SUITE_DIR/run.log" >&2
taps "$out"
all_ran "$out" "${tests[@]}"

# What must have been seen on real counters, and was skipped nowhere.
if grep -q 'SKIP' "$out/test_guest_whole.tap"; then
	not_ok "a test of the machine's counters was skipped"
else
	ok "no test of the machine's counters was skipped"
fi
stat=$PM_SUITE_DIR/stat
try "perfmon stat counts user and kernel together" sh -c "'$PM_TOP/scripts/guest' --riscv64 \
	--no-build bin/perfmon stat -e instructions:uk -- /bin/true >'$stat' 2>&1 &&
	grep -q '[1-9][0-9,]*  instructions:uk' '$stat'"
try "perfmon stat prints no count of user mode alone" sh -c "'$PM_TOP/scripts/guest' \
	--riscv64 --no-build bin/perfmon stat -e instructions:u -- /bin/true >'$stat' 2>&1
	grep -q 'never opened  instructions:u' '$stat' &&
	grep -q 'cannot count user mode alone' '$stat'"
