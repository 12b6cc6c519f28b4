#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What compilers make of regions: nothing where they are compiled out, and on arm64 the
# fence and the release store that neither x86 nor the emulator can miss.
. "$PM_TOP/scripts/suite.sh"

work=$PM_SUITE_DIR/work
mkdir -p "$work"
cat >"$work/use.c" <<EOT
#include <perfmon/region.h>

int use(int n);
int use(int n)
{
	PERFMON_REGION_SCOPE("scope");
	PERFMON_REGION_BEGIN("a");
	n++;
	PERFMON_REGION_END("a");
	return n;
}
EOT
cp "$work/use.c" "$work/use.cc"
symbols() { # COMPILER FILE OPTION...
	local compiler=$1 file=$2
	shift 2
	"$compiler" -Wall -Wextra -Werror -Iinclude "$@" -c "$file" -o "$work/use.o"
	nm "$work/use.o" | { grep -c perfmon || true; }
}
for compiler in gcc clang g++ clang++; do
	file=$work/use.c
	case $compiler in
	*++) file=$work/use.cc ;;
	esac
	for level in -O0 -O2; do
		try "$compiler $level: compiled out, nothing is left" \
			test "$(symbols "$compiler" "$file" "$level" -DPERFMON_DISABLE)" = 0 || true
		try "$compiler $level: otherwise something is" \
			test "$(symbols "$compiler" "$file" "$level")" != 0 || true
	done
done

try "the arm64 library" "$PM_TOP/scripts/guest" --prepare || exit 0
library=$PM_BUILD/arm64/.libs/libperfmon.so
listing=$work/listing
aarch64-linux-gnu-objdump -d --no-show-raw-insn "$library" >"$listing"
# The writer's side of a node (fastpath/thread.h): sequence odd; dmb ishst; the fields;
# sequence even by stlr. In this order, in every form of END.
ordered() { # SYMBOL
	awk -v symbol="<$1>:" '
		$2 == symbol { inside = 1; next }
		inside && /^$/ { exit }
		inside && $2 == "dmb" && $3 == "ishst" { fence = NR }
		inside && $2 == "stlr" { if (fence) good = 1 }
		END { exit !good }' "$listing"
}
for form in plain_0 plain_1 plain_2 plain_3 plain_4 plain_5 plain_6 general; do
	try "end_$form: dmb ishst, then stlr" ordered "end_$form" || true
done
for slow in pm_region_end_moved pm_fold_thread; do
	try "$slow: dmb ishst, then stlr" ordered "$slow" || true
done
try "begin_plain_2 needs neither" in_shell eval '! ordered begin_plain_2' || true
