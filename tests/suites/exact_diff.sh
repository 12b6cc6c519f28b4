#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# One run on each side decides, where counts are exact: equal programs never differ, and one
# element in a thousand more in one of twenty regions is found.
. "$PM_TOP/scripts/suite.sh"

exact_tree exact_diff tests/programs/exact_regions
here=$PM_SUITE_DIR/run
rm -rf "$here"
mkdir -p "$here"
regions=$build/tests/programs/exact_regions
# With --long so many that they have 105 pairs, else 28.
RUNS=8
[ -z "$PM_LONG" ] || RUNS=15

runs() { # PROFILE ARGUMENT...
	local profile=$here/$1
	shift
	"$perfmon" run --exact -o none -P "$profile" -- "$regions" "$@"
}
all_run() {
	local i
	for ((i = 0; i < RUNS; i++)); do
		runs "equal$i" -1 || return 1
	done
}
try "$RUNS runs" all_run

compared=0
equal() {
	local i j
	for ((i = 0; i < RUNS; i++)); do
		for ((j = i + 1; j < RUNS; j++)); do
			"$perfmon" diff --min-effect 0% "$here/equal$i" "$here/equal$j" \
				>"$here/out" 2>&1 || {
				echo "run $i against run $j: status $?"
				cat "$here/out"
				return 1
			}
			compared=$((compared + 1))
		done
	done
}
try "equal programs do not differ in any of their pairs" equal
try "which are all of them" test "$compared" -eq $((RUNS * (RUNS - 1) / 2))

found() { # REGION
	local got=0
	rm -f "$here/more"
	runs more "$1" || return 1
	"$perfmon" diff --min-effect 0.05% "$here/equal0" "$here/more" >"$here/out" 2>&1 || got=$?
	cat "$here/out"
	[ "$got" -eq 1 ] && grep -q "kernel $1 .*more" "$here/out" &&
		[ "$(grep -c "kernel .* more" "$here/out")" -eq 1 ]
}
for region in 0 7 13 19; do
	try "0.1 % more in region $region is found, and nothing else" found "$region"
done
