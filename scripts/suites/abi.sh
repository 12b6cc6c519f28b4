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

# --- the baseline: what programs that are compiled already rely on --------------------------

# Constants, by their values: enumerators, and macros without parameters.
{
	grep -ohE '^#[[:space:]]*define (PERFMON|PFM)_[A-Z0-9_]+[[:space:]]' include/perfmon/*.h |
		awk '{ print $NF }' | grep -vE '_$|^PERFMON_VERSION_'
	gcc -std=gnu11 -Iinclude -Isrc -E -P "$PM_SUITE_DIR/all.c" | tr -d '\n' |
		grep -oE 'enum (perfmon|pfm)_[a-z_]+ *\{[^}]*\}' | grep -oE '\b(PERFMON|PFM)_[A-Z0-9_]+'
} | sort -u >"$PM_SUITE_DIR/constants"
{
	cat "$PM_SUITE_DIR/all.c"
	printf '#include <stdio.h>\nint main(void)\n{\n'
	sed 's/.*/\tprintf("& %lld\\n", (long long)_Generic((&), char *: 0, default: (&)));/' \
		"$PM_SUITE_DIR/constants"
	printf '}\n'
} >"$PM_SUITE_DIR/constants.c"
# Functions and variables that are exported, and the types that these lead to.
described() { # LIBRARY
	abidw --headers-dir include --drop-private-types --exported-interfaces-only \
		--no-parameter-names --no-show-locs --no-corpus-path --no-comp-dir-path \
		--no-elf-needed --no-write-default-sizes --type-id-style sequence "$1"
}
# An intended change before 1.0 replaces the file: the suite leaves the new one in its folder.
constants() {
	gcc -std=gnu11 -w -Iinclude -Isrc "$PM_SUITE_DIR/constants.c" -o "$PM_SUITE_DIR/constants.program" &&
		"$PM_SUITE_DIR/constants.program" >"$PM_SUITE_DIR/abi.constants" &&
		diff tests/data/abi.constants "$PM_SUITE_DIR/abi.constants"
}
try "constants have the values of tests/data/abi.constants" constants
interfaces() {
	# This type is the kernel's: newer headers have it longer.
	printf '[suppress_type]\nname = perf_event_attr\n' >"$PM_SUITE_DIR/suppressed"
	described "$library" >"$PM_SUITE_DIR/abi.xml" &&
		abidiff --suppressions "$PM_SUITE_DIR/suppressed" tests/data/abi.xml "$PM_SUITE_DIR/abi.xml"
}
if [ "$(uname -m)" = x86_64 ]; then
	try "functions and types are as in tests/data/abi.xml" interfaces
else
	skip "functions and types are as in tests/data/abi.xml" "the file describes x86-64"
fi
