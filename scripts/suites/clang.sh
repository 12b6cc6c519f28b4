#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# make check with clang.
. "$PM_TOP/scripts/suite.sh"
check_tree "$PM_SUITE_DIR/build" --disable-static CC=clang CXX=clang++
