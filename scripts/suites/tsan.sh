#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# make check under the thread sanitizer.
. "$PM_TOP/scripts/suite.sh"
check_sanitized thread
