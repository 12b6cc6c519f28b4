#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Metrics by name: -M of perfmon run and stat, with files and with what perf knows of CPUs.
# Row: QU-04
# shellcheck disable=SC2317 # functions that "try" calls

perfmon=./perfmon
[ -x "$perfmon" ] || perfmon=perfmon
work=./tests/programs/diff_work
values=./tests/programs/metric_values
# shellcheck source=tap.sh
. "${0%/*}/tap.sh"
unset PERFMON_EVENTS PERFMON_GROUP PERFMON_METRICS PERF_CPUID

says() { # STATUS TEXT ARGUMENT...
	want=$1
	text=$2
	shift 2
	"$perfmon" "$@" >"$here/out" 2>"$here/err" </dev/null
	status=$?
	[ "$status" -eq "$want" ] || {
		echo "# status $status, not $want"
		return 1
	}
	grep -qF -- "$text" "$here/out" "$here/err"
}

cat >"$here/m.json" <<'JSON'
{"Header": {"Info": "as vendors publish them, \u00b5"}, "Metrics": [
 {"MetricName": "faults", "MetricExpr": "2 * page\\-faults + base", "ScaleUnit": "100%"},
 {"MetricName": "base", "MetricExpr": "(page\\-faults if #num_cpus > 0 else no_such) * has_event(page\\-faults)"},
 {"MetricName": "doubled", "MetricExpr": "page\\-faults", "ScaleUnit": "2events"},
 {"MetricName": "rate", "MetricExpr": "page\\-faults / duration_time", "ScaleUnit": "1faults/s"},
 {"MetricName": "ratio", "MetricExpr": "d_ratio(page\\-faults, 0) + min(1, page\\-faults) + max(2, 3)"},
 {"MetricName": "none", "MetricExpr": "1 / (page\\-faults - page\\-faults)"},
 {"MetricName": "zero", "MetricExpr": "1 / 0"},
 {"MetricName": "cpu", "MetricExpr": "page\\-faults if strcmp_cpuid_str(0x410fd493) | strcmp_cpuid_str(0x010fffff) ^ 1 else 7"},
 {"MetricName": "ring", "MetricExpr": "1 + around"},
 {"MetricName": "around", "MetricExpr": "Ring / 2"},
 {"MetricName": "lacking", "MetricExpr": "page\\-faults / no_such_event_at_all"},
 {"MetricName": "dash", "MetricExpr": "1000 * page-faults / 2"},
 {"MetricName": "pmu", "MetricExpr": "nopmu@event\\=0x1\\,umask\\=0x2@ / 2"},
 {"MetricName": "wrong", "MetricExpr": "1 + * 2"},
 {"MetricName": "literal", "MetricExpr": "#no_such_literal"}
]}
JSON

m() { # NAME: the value of a metric of the last report of stat
	python3 -c 'import json, sys
report = json.load(open(sys.argv[1]))
print([m["value"] for m in report["metrics"] if m["metric"] == sys.argv[2]][0])' "$here/stat" "$1"
}
n() { # the page faults of that report
	python3 -c 'import json, sys
report = json.load(open(sys.argv[1]))
print([e["count"] for e in report["events"] if e["event"].startswith("page-faults")][0])' "$here/stat"
}
by_hand() {
	"$perfmon" stat -f json -o "$here/stat" \
		-M "@$here/m.json:faults,@$here/m.json:ratio,@$here/m.json:none,@$here/m.json:rate,@$here/m.json:cpu,@$here/m.json:doubled" true 2>"$here/err" || return 1
	[ "$(m faults)" = "$((300 * $(n)))" ] && [ "$(m ratio)" = 4 ] && [ "$(m none)" = None ] && [ "$(m cpu)" = "$(n)" ] &&
		[ "$(m doubled)" = "$((2 * $(n)))" ] && grep -q '"unit":"events"' "$here/stat" &&
		python3 -c 'import json, sys
report = json.load(open(sys.argv[1]))
rate = [m for m in report["metrics"] if m["metric"] == "rate"][0]
assert rate["unit"] == "faults/s"
count = report["events"][0]["count"]
assert abs(rate["value"] - count / (report["elapsed_ns"]["mean"] / 1e9)) < 1e-6 * rate["value"]' "$here/stat"
}
try "the values are those of the counts" by_hand
try "run shows them for regions" says 0 ",faults" run -f csv -o stdout -M "@$here/m.json:faults" -- "$work" 100 3 1
regions() {
	PERFMON_OUTPUT="$here/run" "$perfmon" run -f json -M "@$here/m.json:faults" -- "$work" 100 3 1 >"$here/out" 2>&1 &&
		python3 -c 'import json, sys
report = json.load(open(sys.argv[1]))
names = [m["name"] for m in report["metrics"]]
for node in report["nodes"]:
    assert node["metrics"][names.index("faults")]["value"] == 300 * node["counts"][0]["sum"]
assert report["nodes"]' "$here/run"
}
try "... from the counts of each" regions

refused() { # METRIC TEXT
	says "$1" "$3" stat -M "@$here/m.json:$2" true
}
try "a missing event is named, with the metric" refused 1 lacking "no metric 'lacking' here, which needs 'no_such_event_at_all'"
try "... and what a '-' in its name needs" refused 1 dash "; in an expression '-' subtracts: write '\\-' for a '-' in a name"
unsaid() { refused 1 lacking "no_such_event_at_all" && ! grep -F subtracts "$here/out" "$here/err"; }
try "... where there is one" unsaid
try "so is a missing PMU" refused 1 pmu "which needs 'nopmu/event=0x1,umask=0x2/': this machine has no PMU 'nopmu'"
try "a circle is refused" refused 2 ring "leads back to itself"
try "a mistake is quoted with its place" refused 2 wrong "metric 'wrong': a number, an event or '(' is missing at character 5 of '1 + * 2'"
try "an unknown literal is quoted" refused 2 literal "'#no_such_literal' is not a known literal"
try "what always divides by zero is refused" refused 2 zero "no metric 'zero' here: it divides by zero"
try "a name that is not in the file is refused" refused 2 fault "did you mean 'faults'?"
try "a file needs a name" says 2 "expects @FILE:NAME" stat -M "@m" true
try "a file that is not there is quoted" says 1 "cannot read the file '/no/such' (No such file" stat -M "@/no/such:x" true
echo '[{"MetricName": "x", "MetricExpr": ' >"$here/bad.json"
try "so is one that is not JSON" says 2 "is not JSON from character" stat -M "@$here/bad.json:x" true
fifo() {
	mkfifo "$here/fifo" && timeout 60 "$perfmon" stat -M "@$here/fifo:x" true 2>"$here/err"
	[ $? -eq 1 ] && grep -qF "'$here/fifo' (not a regular file)" "$here/err"
}
try "nobody waits for the writer of a FIFO" fifo
try "a directory is quoted" says 1 "cannot read the file '$here' (not a regular file)" stat -M "@$here:x" true
large() {
	{ printf '[{"MetricName": "x", "MetricExpr": "7", "PublicDescription": "' && head -c 2000000 /dev/zero | tr '\0' d && echo '"}]'; } >"$here/large.json"
	says 0 "7" stat -M "@$here/large.json:x" true
}
try "a file may be large" large
nested() {
	python3 -c 'import json, sys
json.dump([{"MetricName": f"m{i}", "MetricExpr": f"m{i + 1} + 1" if i < 20000 else "1"} for i in range(20001)], sys.stdout)' >"$here/nested.json"
	says 2 "metric 'm0': the formula is nested too deep" stat -M "@$here/nested.json:m0" true &&
		says 0 "301" stat -M "@$here/nested.json:m19700" true
}
try "metrics may use one another so often, and no more" nested
echo '[]' >"$here/none.json"
try "or has no metrics" says 2 "has no metrics" stat -M "@$here/none.json:x" true
try "a second list does not replace the first" says 2 "--named-metrics is given twice" stat -M "@m:a" -M "@m:b" true
try "an empty name is refused" says 2 "a metric's name is missing" stat -M "@$here/m.json:base," true
try "exact events have no metrics of perf" says 2 "-M needs the counters of a CPU" run --exact -M ipc -- true

# What perf 6.12 prints: long texts are folded, and a third one is a limit.
mkdir -p "$here/bin"
cat >"$here/bin/perf" <<'END'
#!/bin/sh
cat <<TEXT

Metrics:

  folded
       [A description that is folded
        [since it is long]]
       [(page\\-faults + 1) * 34 /
        (2 * page\\-faults
        + 2)]
       [folded > 0.1 & short > 5]
  named
       [A description]
       [nopmu@event\\=0x1\\,
        umask\\=0x2@]
  short
       [A description]
       [23 - page\\-faults * 0]
       [short > 5]
  long
       [A description]
       [long_event * 2]

Events:

  long_event
       [A description]
       software/$(printf 'config=%020d,' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30)config=$(printf %0200d 0)/
TEXT
END
chmod +x "$here/bin/perf"
has_value() { # NAME VALUE
	PATH="$here/bin:$PATH" "$perfmon" stat -f json -o "$here/stat" -M "$1" true >"$here/out" 2>&1 &&
		python3 -c 'import json, sys
report = json.load(open(sys.argv[1]))
assert [m["value"] for m in report["metrics"] if m["metric"] == sys.argv[2]] == [float(sys.argv[3])], report["metrics"]' \
			"$here/stat" "$1" "$2"
}
try "an expression that perf has folded is read, not its limit" has_value folded 17
try "and one that it has not" has_value short 23
# shellcheck disable=SC2030,SC2031 # for this command alone
folded_name() { (PATH="$here/bin:$PATH" && says 1 "which needs 'nopmu/event=0x1,umask=0x2/'" stat -M named true); }
try "a name of an event that is folded at its comma is one" folded_name
# shellcheck disable=SC2030,SC2031 # for this command alone
long_event() { (PATH="$here/bin:$PATH" && says 1 "event 'long_event' has too many terms" stat -M long true); }
try "an event with more terms than a name can have is refused" long_event

if ! perf --version >"$here/out" 2>&1; then
	skip "metrics of perf" "perf is not installed"
	try "without perf the sentence says what helps" says 1 "install it" stat -M ipc true
	tap_end
fi
try "a name that perf does not know is quoted" says 2 "'no_such_metric' is not a metric of this CPU that perf knows" \
	stat -M no_such_metric true
compared() {
	"$values" >"$here/values" && python3 "${0%/*}/metric_values.py" "$here/values" >"$here/out" 2>&1
}
for cpu in GenuineIntel-6-55-4 GenuineIntel-6-6A-6 GenuineIntel-6-7E-5 GenuineIntel-6-8F-8 AuthenticAMD-25-1-1; do
	export PERF_CPUID="$cpu"
	if perf list --details metric 2>/dev/null | grep -q '^       \['; then
		try "all expressions of $cpu have the values of another evaluation" compared
	else
		skip "all expressions of $cpu" "perf has no metrics of this CPU"
		continue
	fi
	broken() { "$values" --mutate 2 >"$here/out" && grep -q '^[1-9][0-9]* broken' "$here/out" && ! grep -q 'no message' "$here/out"; }
	try "broken ones of $cpu are refused with a message" broken
done
tap_end
