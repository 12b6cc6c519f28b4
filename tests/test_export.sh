#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# perfmon export: traces and folded stacks of regions with names that mean something there.
# Row: DC-02
# shellcheck disable=SC2317 # functions that "try" calls

perfmon=./perfmon
[ -x "$perfmon" ] || perfmon=perfmon
odd=./tests/programs/odd_names
work=./tests/programs/diff_work
check=./tests/programs/trace_check
# shellcheck source=tap.sh
. "${0%/*}/tap.sh"
export PERFMON_OUTPUT=none PERFMON_THREADS=keep

export_says() { # STATUS TEXT ARGUMENT...
	want=$1
	text=$2
	shift 2
	"$perfmon" export "$@" >"$here/out" 2>"$here/err" </dev/null
	status=$?
	[ "$status" -eq "$want" ] || {
		echo "# status $status, not $want"
		return 1
	}
	grep -qF -- "$text" "$here/out" "$here/err"
}

PERFMON_EVENTS=page-faults PERFMON_PROFILE=$here/odd "$odd" 100
PERFMON_EVENTS=none PERFMON_PROFILE=$here/work "$work" 1000 7 3

# --- what is wrong with the words -----------------------------------------------------

try "needs a format" export_says 2 "--format is missing" "$here/odd"
try "quotes a bad format" export_says 2 "'svg'" -f svg "$here/odd"
try "needs a profile" export_says 2 "no profile is given" -f chrome
try "refuses a weight of traces" export_says 2 "--weight is for" -f chrome -w time "$here/odd"
try "quotes what is no profile" export_says 1 "$odd" -f folded "$odd"
try "quotes an event that is not there" export_says 1 "no event 'cycels'; it has time, page-faults" \
	-f folded -w cycels "$here/odd"
# Whatever comes after it.
kept() {
	echo kept >"$here/kept" &&
		export_says 1 "$here/work: the profile has no event 'page-faults'" -f folded -w page-faults -o "$here/kept" \
			"$here/odd" "$here/work" && [ "$(cat "$here/kept")" = kept ]
}
try "leaves the output as it was if a later profile cannot be exported" kept
nothing() {
	export_says 1 "no event 'page-faults'" -f folded -w page-faults "$here/odd" "$here/work" && [ ! -s "$here/out" ]
}
try "and writes nothing to standard output" nothing
try "quotes a path that cannot be written" export_says 1 "/no/such/file" -f folded -o /no/such/file "$here/odd"
try "does not take a full disk for success" export_says 1 "No space left" -f chrome -o /dev/full "$here/odd"
mkdir "$here/empty"
try "complains in its own name" export_says 1 "perfmon export: '$here/empty'" -f chrome "$here/empty"
try "helps" export_says 0 "usage: perfmon export" --help

# --- folded stacks ----------------------------------------------------------------------

folded() { # ARGUMENT...: leaves out
	"$perfmon" export -f folded "$@" >"$here/out" 2>"$here/err"
}
shape() { folded "$here/odd" && [ "$(wc -l <"$here/out")" -eq 109 ] && ! grep -qvE '^plain(;[^;]+)? [0-9]+$' "$here/out"; }
try "a line for each path, of names and a number" shape
quoted() {
	grep -qF 'plain;a\x3bb "quoted" & <b>bold</b> ' "$here/out" &&
		grep -qF 'plain;line\x0abreak\x09tab\n ' "$here/out" &&
		grep -qF 'plain;bad\xff utf ' "$here/out" && grep -q "^plain;gr$(printf '\303\266\303\237')e " "$here/out"
}
try "what has a meaning in the format is written so" quoted
# What the report has, to a nanosecond for each path.
sums() {
	folded "$here/work" && mine=$(awk '{ sum += $NF } END { printf "%.0f", sum }' "$here/out") &&
		"$perfmon" report -f csv "$here/work" >"$here/csv" &&
		theirs=$(awk -F, '$1 == "all" { sum += $11 } END { printf "%.0f", sum }' "$here/csv") &&
		[ "$mine" -gt 0 ] && [ $((mine - theirs)) -le 5 ] && [ $((theirs - mine)) -le 5 ]
}
try "values are exclusive times" sums
threads() {
	folded -T "$here/work" && [ "$(cut -d';' -f1 "$here/out" | sort -u | wc -l)" -eq 3 ] &&
		! grep -qvE '^[0-9]+ [^;]*;all' "$here/out"
}
try "threads apart on request" threads
touched=mem:0x30000000/8:w:u
"$perfmon" stat -e "$touched" true >"$here/out" 2>"$here/err"
if grep -q "never opened" "$here/err"; then
	skip "values of an event" "$(sed -n 's/^  note: //p' "$here/err" | head -n 1)"
elif ! breakpoints_fire; then
	skip "values of an event" "$why"
else
	PERFMON_EVENTS=$touched PERFMON_PROFILE=$here/touch "$work" 100 7
	event() { folded -w "$touched" "$here/touch" && [ "$(cat "$here/out")" = "all;touch 70" ]; }
	try "values of an event" event
fi

# --- exact profiles ---------------------------------------------------------------------

./tests/programs/profile_exact "$here/exact" 1000
./tests/programs/profile_exact "$here/counters" 1000 counters
exact_folded() { folded "$@" "$here/exact" && [ "$(tr '\n' , <"$here/out")" = "run 200,run;step 2000,run;io 100," ]; }
try "an exact profile weighs by its first event" exact_folded
try "and by its name" exact_folded -w instructions
try "its times are no weight" export_says 1 "times are not those of the machine: choose an event" \
	-f folded -w time "$here/exact"
try "it is not exported with others" export_says 1 "export them one by one" \
	-f folded "$here/exact" "$here/counters"
exact_chrome() {
	"$perfmon" export -f chrome "$here/exact" >"$here/out" 2>/dev/null && ! grep -q _ns "$here/out" &&
		grep -q 'a nanosecond here is one of exact::instructions' "$here/out" &&
		grep -q '"name":"step".*"dur":2.000' "$here/out"
}
try "a trace is as long as its counts" exact_chrome

# --- metrics ----------------------------------------------------------------------------

# Known counts, of which some are estimates.
./tests/programs/profile_marks "$here"
is_folded() { # STACKS ARGUMENT...
	want=$1
	shift
	folded "$@" && [ "$(head -n 2 "$here/out" | tr '\n' ,)" = "$want" ]
}
try "the weight of a quotient is what is divided" is_folded "outer 150,outer;inner 999999850," -w ipc "$here/0"
try "a metric is known by its heading, too" is_folded "outer 150,outer;inner 999999850," -w IPC "$here/0"
try "a sum of inputs weighs what it comes to" is_folded "outer 100300,outer;inner 2000899700," \
	-w more -m "more = 2 * instructions + time_ns / 1" "$here/0"
try "what is estimated is told" grep -qxF \
	"perfmon export: '$here/0': some values have marks in reports: too_short, sampled" "$here/err"
try "a metric that does not add up is no weight" export_says 1 "'instructions / cycles + visits' is no sum" \
	-f folded -w x -m "x = instructions / cycles + visits" "$here/0"
try "nor is one with a constant" export_says 1 "'instructions + 1' is no sum" -f folded -w x -m "x = instructions + 1" "$here/0"
try "nor one that lacks an event" export_says 1 "no metric x: branches is not counted" \
	-f folded -w x -m "x = branches / cycles" "$here/0"
try "what divides may be missing" is_folded "outer 150,outer;inner 999999850," -w x -m "x = instructions / branches" "$here/0"
try "less than 1 has no place" export_says 0 "all values are below 0.5" -f folded -w x -m "x = 1e-12 * cycles" "$here/0"
try "quotes a bad metric" export_says 2 "'twice'" -f chrome -m twice "$here/0"
traced() {
	"$perfmon" export -f chrome -m "c = cycles / visits; d = branches / visits" "$here/0" >"$here/out" 2>"$here/err" &&
		grep -qF '"name":"inner",' "$here/out" &&
		grep '"name":"inner",' "$here/out" | grep -qE '"metrics":\{"ipc":1111\.[0-9]+,"ghz":1,"c":900000\}' &&
		grep '"name":"some",' "$here/out" | grep -qF '"marks":{"time":"sampled",' &&
		grep -qF "no metric d: branches is not counted" "$here/err"
}
try "traces have the metrics and the marks of each event" traced

# --- traces -----------------------------------------------------------------------------

"$check" >"$here/out" 2>&1
if [ $? -eq 77 ]; then
	skip "traces" "there is no jansson to read them with"
else
	trace() { # ARGUMENT...: leaves out
		"$perfmon" export -f chrome -o "$here/trace" "$@" 2>"$here/err" && "$check" "$here/trace" >"$here/out" 2>>"$here/err"
	}
	names() { trace "$here/odd" && [ "$(grep -cE '^[0-9]+ [0-9]+ 1 plain 1$' "$here/out")" -eq 2 ] &&
		[ "$(grep -c ' 2 wide [0-9]* 1$' "$here/out")" -eq 200 ] &&
		[ "$(grep -cF ' 2 a;b "quoted" & <b>bold</b> 2' "$here/out")" -eq 2 ]; }
	try "complete events, one in the other, of each thread" names
	said() { grep -q '"layout":"An aggregate' "$here/trace" && grep -q "sums of visits, not moments" "$here/trace"; }
	try "that say that they are sums" said
	several() {
		trace "$here/work" "$here/work" "$here/odd" &&
			[ "$(grep -E '^[0-9]+ [0-9]+ [0-9]+ ' "$here/out" | cut -d' ' -f1 | sort -u | wc -l)" -eq 3 ] &&
			[ "$(grep -c ' 2 same 7$' "$here/out")" -eq 6 ]
	}
	try "processes stay apart" several
	PERFMON_EVENTS=none PERFMON_PROFILE=$here/crossing ./tests/programs/export_work extra
	crossing() {
		trace "$here/crossing" && grep -qE '^[0-9]+ [0-9]+ async section \(overlapping\) 1$' "$here/out" &&
			grep -qE '^[0-9]+ [0-9]+ 2 step 10$' "$here/out" &&
			python3 -c 'import json, sys
for e in json.load(open(sys.argv[1]))["traceEvents"]:
    if e["name"] == "solve":
        ends = e["ts"] + e["dur"]
        own = e["args"]["exclusive_ns"] / 1000
    elif e["ph"] == "X":
        last = e["ts"] + e["dur"]
assert abs(ends - last - own) < 0.01, (ends, last, own)' "$here/trace"
	}
	if python3 -c 'import json' 2>/dev/null; then
		try "overlapping visits are beside the others, and make none longer" crossing
	else
		skip "overlapping visits are beside the others" "there is no python3 to read them with"
	fi
	PERFMON_THREADS=fold PERFMON_EVENTS=none PERFMON_PROFILE=$here/folded "$work" 100 7 3
	ended() { trace "$here/folded" && grep -q " 10000000 2 same 14$" "$here/out" && grep -q "2 ended threads, summed" "$here/trace"; }
	try "threads that were summed are called so" ended
	./tests/programs/profile_make "$here/sums" 3 4 0 folded
	tracks() {
		trace "$here/sums" && [ "$(grep -c ' 1 region1 3$' "$here/out")" -eq 3 ] &&
			[ "$(cut -d' ' -f2 "$here/out" | sort -u | tr '\n' ' ')" = "10000000 10000001 10000002 " ] &&
			[ "$(grep -c '"thread_name"' "$here/trace")" -eq 3 ] &&
			grep -q '"tid":10000001,"name":"thread_name","args":{"name":"2 ended threads, summed (CPU 1)"}' "$here/trace"
	}
	try "each sum of them has a track of its own" tracks
fi

# --- profiles of which a part is missing ------------------------------------------------

whole() { export_says 0 "" -f chrome "$here/work" && ! grep -q "partial" "$here/out" "$here/err"; }
try "a whole profile is not called partial" whole
head -c 2000 "$here/work" >"$here/half"
try "of a profile that was cut off folded stacks say so" export_says 0 "half': partial: " -f folded "$here/half"
try "and traces, in themselves, too" export_says 0 '"labels":"sums of visits, not moments; partial: ' -f chrome "$here/half"

# --- pages ------------------------------------------------------------------------------

page() {
	"$perfmon" report --html -o "$here/page" "$here/odd" "$here/work" 2>"$here/err" &&
		grep -c '<script' "$here/page" >"$here/out" && [ "$(cat "$here/out")" -eq 2 ] &&
		[ "$(grep -c '</script>' "$here/page")" -eq 2 ] && grep -q 'u003c/script>' "$here/page" &&
		! grep -qE '(src|href)=|https?:' "$here/page" && [ "$(tail -n 1 "$here/page")" = "</html>" ]
}
try "no name gets out of a page's data" page
partly() {
	"$perfmon" report --html -o "$here/page" "$here/odd" "$odd" 2>"$here/err"
	[ $? -eq 1 ] && grep -qF "$odd" "$here/err" && [ "$(tail -n 1 "$here/page")" = "</html>" ]
}
try "what is no profile is told, and the rest is shown" partly
full() { "$perfmon" report --html "$here/odd" >/dev/full 2>"$here/err"; [ $? -eq 1 ]; }
try "a page that does not fit is no success" full

tap_end
