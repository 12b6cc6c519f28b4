#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The Valgrind tool of exact/ on arm64: what exact_tool.sh checks of blocks of instructions.
. "$PM_TOP/scripts/suite.sh"

must "the guest is prepared" scripts/guest --prepare
tool=build/arm64/exact/valgrind/perfmon-arm64-linux
if [ ! -e "$tool" ]; then
	skip exact_guest "the tool was not built: the guest has no valgrind"
	exit 0
fi
# Beside the tool, Valgrind's own files from the guest's packages.
stage=$PM_SUITE_DIR/valgrind
rm -rf "$stage"
mkdir -p "$stage"
cp "$tool" build/guest/sysroot/usr/libexec/valgrind/{default.supp,vgpreload_core-arm64-linux.so} "$stage/"
cp build/guest/sysroot/usr/bin/valgrind.bin "$stage/valgrind"

all=instructions,loads,stores,load-bytes,store-bytes,cond-branches,calls,sp-flops,dp-flops
for events in "$all" instructions; do
	name=${events/$all/all events}
	scripts/guest --no-build --file "$stage=/valgrind" --env VALGRIND_LIB=/valgrind \
		/valgrind/valgrind -q --tool=perfmon --events="$events" tests/programs/exact_truth \
		>"$PM_SUITE_DIR/results" 2>"$PM_SUITE_DIR/differs" || true
	sed -n "s/^\(ok\|not ok\) - /&$name: /p" "$PM_SUITE_DIR/results"
	cat "$PM_SUITE_DIR/differs" >&2
	if ! grep -q '^ok' "$PM_SUITE_DIR/results"; then
		not_ok "$name: nothing was told"
	fi
done
