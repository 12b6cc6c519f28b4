#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# make check with clang.
. "$PM_TOP/scripts/suite.sh"
# What is repeated for its own sake is repeated in the native suite.
[ -n "$PM_LONG" ] || export PERFMON_TEST_SHORT=1
check_tree "$PM_SUITE_DIR/build" --enable-werror --disable-static CC=clang CXX=clang++
