#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# scripts/demo, here and in the guest, ends well and reports regions.
. "$PM_TOP/scripts/suite.sh"

for where in native guest; do
	option=()
	[ "$where" = native ] || option=(--guest)
	out=$PM_SUITE_DIR/$where.out
	status=0
	scripts/demo "${option[@]}" >"$out" </dev/null || status=$?
	cat "$out" >&2
	if [ "$status" -ne 0 ]; then
		not_ok "$where: status $status"
		continue
	fi
	ok "$where: runs"
	for word in triad naive blocked; do
		try "$where: the report names $word" grep -qiw "$word" "$out"
	done
done
try "guest: the report has instructions" grep -qi instructions "$PM_SUITE_DIR/guest.out"
try "guest: the report has cycles" grep -qi cycles "$PM_SUITE_DIR/guest.out"
