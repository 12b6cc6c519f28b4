#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The native tests twenty times, two programs at once, for what fails now and then.
. "$PM_TOP/scripts/suite.sh"

native_tree check TESTS=
for round in {1..20}; do
	rm -rf "$PM_SUITE_DIR/taps"
	mkdir -p "$PM_SUITE_DIR/taps"
	PM_TAP_DIR=$PM_SUITE_DIR/taps make -C "$build" -k -j 2 check \
		LOG_COMPILER="$PM_TOP/scripts/run-test" \
		SH_LOG_COMPILER="$PM_TOP/scripts/run-test" >&2 </dev/null || true
	# What is skipped was said once, by the native suite.
	taps "$PM_SUITE_DIR/taps" | sed "/# SKIP/d; s/\$/ (round $round)/"
done
