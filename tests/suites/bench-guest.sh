#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What a read and a region cost in the guest, in instructions, is within bench/limits.
. "$PM_TOP/tests/bench_limits.sh"

# Two runs: what user mode does alone is the same in both, to the instruction.
rm -f "$PM_SUITE_DIR"/guest*
mapfile -t exactly < <({ limits guest | sed 's/ .*//' && echo region.scaling; } | programs)
try "measures in the guest" in_shell bench "$PM_SUITE_DIR/guest.1" --guest || true
try "measures there again what is exact" in_shell bench "$PM_SUITE_DIR/guest.2" --guest "${exactly[@]}" || true
cat "$PM_SUITE_DIR/guest.1" "$PM_SUITE_DIR/guest.2" >&2
exact() {
	grep -E ' (read\.(inline|call)|region\.(pair|kept|watched|kept_watched|siblings|parents|deep|disarmed)|timestamp)' "$1" |
		grep -v papi | sort
}
try "the same in both runs" cmp <(exact "$PM_SUITE_DIR/guest.1") <(exact "$PM_SUITE_DIR/guest.2") || true
cat "$PM_SUITE_DIR/guest.1" "$PM_SUITE_DIR/guest.2" >"$PM_SUITE_DIR/guest"
check guest "$PM_SUITE_DIR/guest"
# Five attempts of what is not, with those two.
again guest-kernel "$PM_SUITE_DIR/guest" 4 --guest
check guest-kernel "$PM_SUITE_DIR/guest"
# Where the profile is, and whether somebody looks, costs nothing.
for way in kept watched kept_watched; do
	for counters in 0 4; do
		plain=$(measured region.pair.$counters instructions "$PM_SUITE_DIR/guest")
		try "region.$way.pair.$counters is region.pair.$counters, $plain" test -n "$plain" -a \
			"$plain" = "$(measured region.$way.pair.$counters instructions "$PM_SUITE_DIR/guest")" || true
	done
done
