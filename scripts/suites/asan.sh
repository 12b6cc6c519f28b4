#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The tests under the address and undefined-behaviour sanitizers.
. "$PM_TOP/scripts/suite.sh"
# Long repetitions are native.
[ -n "$PM_LONG" ] || export PERFMON_TEST_SHORT=1
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
check_sanitized asan address,undefined
