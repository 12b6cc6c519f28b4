#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# make check with clang.
. "$PM_TOP/scripts/suite.sh"
PM_TREE_JOBS=$PM_JOBS check_tree "$PM_SUITE_DIR/build" CC=clang CXX=clang++
