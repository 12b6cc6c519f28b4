#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# make check with gcc, as the user who calls, on this machine.
. "$PM_TOP/scripts/suite.sh"
read -ra options <<<"$PM_NATIVE_OPTIONS"
check_tree native "$PM_NATIVE" "${options[@]}"
