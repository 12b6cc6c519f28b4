#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The C files are as .clang-format has them, and their comments as CONTRIBUTING.md wants them.
. "$PM_TOP/scripts/suite.sh"

mapfile -t files < <(find src include exact tests bench examples scripts/standin -name '*.[ch]' -o -name '*.cc' | sort)
try "the ${#files[@]} C files are formatted" clang-format --style=file --dry-run -Werror "${files[@]}" || true

# What fits a line is not closed on the next.
closed() {
	awk 'FNR == 1 { last = "" }
	     last ~ /^[\t ]*\/\* / && last !~ /\*\// && /^[\t ]*\*\/$/ { print FILENAME ":" FNR ": closed on a line of its own" }
	     { last = $0 }' "${files[@]}"
}
try "no comment of one line is closed on the next" nothing closed || true
