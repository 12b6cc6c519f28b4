#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The tests under the thread sanitizer.
. "$PM_TOP/scripts/suite.sh"
# What is repeated for its own sake is repeated in the native suite.
[ -n "$PM_LONG" ] || export PERFMON_TEST_SHORT=1
# The sanitizer calls handlers when it sees fit, from its own code: nothing on the stack
# then says that it is one, and what a handler does is no longer asynchronous. A child of
# fork may have threads.
export TSAN_OPTIONS=${TSAN_OPTIONS:-report_signal_unsafe=0:die_after_fork=0}
check_sanitized tsan thread
