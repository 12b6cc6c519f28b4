#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The tests with clang, and with characters that have no sign, as those of arm64.
. "$PM_TOP/scripts/suite.sh"
# What is repeated for its own sake is repeated in the native suite.
[ -n "$PM_LONG" ] || export PERFMON_TEST_SHORT=1
must "builds the stand-in" in_shell pm_standin "$PM_SUITE_DIR/build" clang
pm_standin "$PM_SUITE_DIR/build" clang
# The tests themselves are compiled in half the time, after all else.
test_flags="-O1 -funsigned-char"
check_tree clang "$PM_SUITE_DIR/build" --enable-werror --disable-static CC=clang CXX=clang++ \
	CFLAGS="-O2 -funsigned-char" CXXFLAGS="-O2 -funsigned-char"
