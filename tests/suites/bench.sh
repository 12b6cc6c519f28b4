#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What a read and a region cost on this machine is within bench/limits.
# Runs alone: some limits are of time.
. "$PM_TOP/tests/bench_limits.sh"

here=$PM_SUITE_DIR/here
: >"$here"
try "measures here" in_shell bench "$here" || true
[ "$(uname -m)" != x86_64 ] || check x86 "$here"
if [ "$(nproc)" -lt 2 ]; then
	skip "costs in time" "one CPU: two threads cannot run at the same time"
	exit 0
fi
again time "$here" 5
cat "$here" >&2
check time "$here"
