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

# Twenty blocks by the guest's own counters and by the tool. The first visits of a path, of
# which hardware counters hold a part of the library's work, are the same in all lengths. A
# switch of threads has a hardware read look at its page anew, once in some hundred visits: of
# the CPU's several lengths the two count that agree best with the tool.
cat >"$PM_SUITE_DIR/agree" <<'END'
export PERFMON_BIAS=subtract PERFMON_FORMAT=csv
for steps in 10 20 30 40 50; do
	PERFMON_OUTPUT=/out/cpu$steps PERFMON_EVENTS=instructions:u \
		tests/programs/exact_regions -1 $steps
done
for steps in 10 30; do
	PERFMON_OUTPUT=/out/tool$steps VALGRIND_LIB=/valgrind /valgrind/valgrind -q \
		--tool=perfmon tests/programs/exact_regions -1 $steps
done
END
agree() {
	scripts/guest --no-build --smp 1 --append kpti=off --append mitigations=off --out "$PM_SUITE_DIR" \
		--file "$stage=/valgrind" --file "$PM_SUITE_DIR/agree=/agree" sh /agree &&
		awk -F, '
			function visit(a, b, r) { return (sum[b, r] - sum[a, r]) / (visits[b, r] - visits[a, r]) }
			function off(a, b) { return a > b ? a - b : b - a }
			FNR == 1 {
				file = FILENAME
				sub(/.*\//, "", file)
				for (i = 1; i <= NF; i++)
					if ($i == "instructions:u" || $i == "exact::instructions")
						at = i
			}
			$1 == "all" && $7 ~ /^kernel / { sum[file, $7] = $at; visits[file, $7] = $9; name[$7] }
			END {
				for (r in name) {
					tool = visit("tool10", "tool30", r)
					best = 0
					for (i = 10; i < 50; i += 10)
						for (j = i + 10; j <= 50; j += 10)
							if (off(visit("cpu" i, "cpu" j, r), tool) < off(best, tool))
								best = visit("cpu" i, "cpu" j, r)
					print r, best, tool
					regions++
					wrong += off(best, tool) > 2 || tool < 1000
				}
				exit regions != 20 || wrong
			}' "$PM_SUITE_DIR"/cpu{10,20,30,40,50} "$PM_SUITE_DIR"/tool{10,30}
}
try "20 blocks count the same by the CPU and by the tool" agree

# Row: QU-02: functions without regions, in each of the ways in which they begin and end.
cat >"$PM_SUITE_DIR/functions" <<'END2'
export PATH=/valgrind:$PATH PERFMON_EXACT_DIR=/valgrind
bin/perfmon run --exact --function all --function leaf --function recurse --function even --function odd \
	--function 'tail*' --function jumps --function deep --function catches --function throws \
	--function 'signals_*' --function returns --function leaves --function thread \
	--function 'shapes::*' -f csv -o /out/functions.csv tests/programs/exact_functions
END2
functions() {
	rm -f "$PM_SUITE_DIR/functions.csv"
	scripts/guest --no-build --out "$PM_SUITE_DIR" --file "$stage=/valgrind" \
		--file "$PM_SUITE_DIR/functions=/functions" sh /functions &&
		awk -f tests/exact_functions.awk "$PM_SUITE_DIR/functions.csv"
}
try "functions are counted where they begin and end" functions
