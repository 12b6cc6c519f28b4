#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Snapshots as fast as possible against writers on all CPUs, for ten minutes in each of: this
# machine, under ThreadSanitizer, and the guest with CPUs that run in parallel.
. "$PM_TOP/scripts/suite.sh"

third=200 # seconds for each of the three tests with real regions
report() { # NAME COMMAND...
	local name=$1
	shift
	"$@" >"$PM_SUITE_DIR/$name" 2>"$PM_SUITE_DIR/$name.log" </dev/null || not_ok "$name: status $?"
	sed -n -E "s/^(ok|not ok) [0-9]+ - /\1 - $name: /p" "$PM_SUITE_DIR/$name"
	[ "$(grep -c '^ok' "$PM_SUITE_DIR/$name")" -eq 5 ] || not_ok "$name did not end"
	cat "$PM_SUITE_DIR/$name" >&2
}
native_tree all tests/race_snapshot
report native timeout 1200 "$build/tests/race_snapshot" $third

must "configures for ThreadSanitizer" in_shell pm_configure "$PM_SUITE_DIR/build" \
	--enable-werror --enable-sanitizer=thread
must "builds for ThreadSanitizer" in_shell pm_make "$PM_SUITE_DIR/build" \
	"$PM_SUITE_DIR/make.log" libperfmon_all.la tests/race_snapshot
TSAN_OPTIONS=report_signal_unsafe=0:die_after_fork=0 \
	report tsan timeout 2700 "$PM_SUITE_DIR/build/tests/race_snapshot" $third

must "prepares the guest" "$PM_TOP/scripts/guest" --prepare
report guest "$PM_TOP/scripts/guest" --no-build --parallel --smp 4 --timeout 3000 \
	tests/race_snapshot $third
