#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What the shared library exports is what the public headers declare, each name in a
# version node, and none that another library of the field has.
. "$PM_TOP/scripts/suite.sh"

native_tree all
library=$build/.libs/libperfmon.so

for file in include/perfmon/*.h; do
	printf '#include <%s>\n' "${file#include/}"
done >"$PM_SUITE_DIR/all.c"
must "all public headers together" gcc -std=gnu11 -Iinclude -Isrc -c "$PM_SUITE_DIR/all.c" \
	-aux-info "$PM_SUITE_DIR/declared.txt" -o /dev/null
sed -nE 's/^\/\* [^ ]*perfmon[^ ]*:NC \*\/ extern .*\b((perfmon|pfm)_[a-z0-9_]+) \(.*/\1/p' \
	"$PM_SUITE_DIR/declared.txt" | sort -u >"$PM_SUITE_DIR/declared"
nm -D --defined-only "$library" | awk '$2 ~ /[TDBRVWi]/ { print $3 }' | sort -u \
	>"$PM_SUITE_DIR/exported.versions"
sed 's/@.*//' "$PM_SUITE_DIR/exported.versions" | sort -u >"$PM_SUITE_DIR/exported"

try "every declared function is exported" nothing comm -23 "$PM_SUITE_DIR/declared" \
	"$PM_SUITE_DIR/exported"
# Data that inline functions use is declared, though not as a function.
undeclared() {
	comm -13 "$PM_SUITE_DIR/declared" "$PM_SUITE_DIR/exported" | while read -r name; do
		grep -qrw "$name" include src/arch src/fastpath/read.h || printf '%s\n' "$name"
	done
}
try "nothing else is exported" nothing undeclared
try "every name has a version" nothing grep -v '@@' "$PM_SUITE_DIR/exported.versions"
# Or one of the calls of perfmon/perfmon2.h.
try "every name is perfmon_noun_verb" nothing grep -vxE '(perfmon_[a-z0-9]+|pfm)_[a-z0-9_]+' \
	"$PM_SUITE_DIR/exported"
# LIKWID's, which may be in the same program.
try "no name is another library's" nothing grep -xE \
	'perfmon_(init|finalize|start|stop|read|setup|switch)[A-Za-z]*' "$PM_SUITE_DIR/exported"
