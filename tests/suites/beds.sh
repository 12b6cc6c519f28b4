#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The table tests/beds has each test once, no others, and no bed that there is not.
# No test sleeps instead of waiting.
. "$PM_TOP/scripts/suite.sh"

native_tree config.h
table() { sed '/^#/d; /^$/d' "$PM_TOP/tests/beds"; }
table | awk '{ print $1 }' | sort >"$PM_SUITE_DIR/listed"
pm_tests "$build" | sed 's|.*/||' | sort >"$PM_SUITE_DIR/tests"
try "each test has a line" nothing comm -13 "$PM_SUITE_DIR/listed" "$PM_SUITE_DIR/tests"
try "no line is of another" nothing comm -23 "$PM_SUITE_DIR/listed" "$PM_SUITE_DIR/tests"
try "no test has two" nothing uniq -d "$PM_SUITE_DIR/listed"
unknown() {
	table | awk '{ for (i = 2; i <= NF; i++) print $i }' | sort -u | grep -vxE -e \
		'-|clang|user|asan|tsan|guest-(root|others|user|parallel)|riscv64|no-guest'
}
try "each bed is one of those described" nothing unknown
# A sleep is by name what a test of time needs: see tests/helpers.h.
sleeps() {
	grep -nE '\b(u|nano|clock_nano)?sleep\(' tests/*.[ch] | grep -v '^tests/helpers\.h:'
}
try "no test sleeps to wait" nothing sleeps
