#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Profiles compared and shown: false alarms of perfmon diff; pages in a browser.
# Row: DC-02
. "$PM_TOP/scripts/suite.sh"

native_tree all
native_tree tests/programs/diff_work tests/programs/odd_names tests/programs/profile_marks \
	tests/programs/profile_wide tests/programs/profile_exact tests/programs/top_work
if [ ! -x "$build/perfmon" ]; then
	skip pages "the command was not built: ncurses is missing"
	exit 0
fi
perfmon=$build/perfmon
here=$PM_SUITE_DIR/run
rm -rf "$here"
mkdir -p "$here"
export PERFMON_OUTPUT=none PERFMON_EVENTS=page-faults,task-clock,context-switches

# --- false alarms of comparisons -------------------------------------------------------

# Not through libtool's script: it takes longer than the program.
work=$build/tests/programs/.libs/diff_work
[ -x "$work" ] || work=$build/tests/programs/diff_work
comparisons=100
[ -z "$PM_LONG" ] || comparisons=1000

# alarms NAME RUNS ORDER: how many of the comparisons of equal programs, RUNS a side, find
# a change. In the order ABBA, or all of A before all of B.
alarms() {
	local runs=$2 order=$3 count=0 c r side status a b
	for ((c = 0; c < comparisons; c++)); do
		a=() b=()
		for ((r = 0; r < 2 * runs; r++)); do
			side=$(((r + 1) / 2 % 2))
			[ "$order" = turns ] || side=$((r >= runs))
			rm -f "$here/$1.$r"
			LD_LIBRARY_PATH=$build/.libs PERFMON_PROFILE=$here/$1.$r "$work" || return 1
			if [ $side -eq 0 ]; then a+=("$here/$1.$r"); else b+=("$here/$1.$r"); fi
		done
		status=0
		"$perfmon" diff "${a[@]}" -- "${b[@]}" >"$here/$1.out" || status=$?
		case $status in
		0 | 4) ;;
		1 | 3)
			count=$((count + 1))
			cat "$here/$1.out" >&2
			;;
		*) return 1 ;;
		esac
		# Equal programs do not count if nothing could have been found.
		! grep -q "too few runs to decide" "$here/$1.out" || return 1
	done
	echo "$count" >"$here/$1.alarms"
}
# At 1 % there is one in a hundred; the tests of simulated runs have what distributions
# far from normal add. The order in which a machine that is shared gives its time away is
# in here, too.
at_most_five_of_100() { # NAME RUNS ORDER
	alarms "$@" && [ "$(cat "$here/$1.alarms")" -le $((5 * comparisons / 100)) ]
}
try "equal programs are found changed in at most 5 of 100 comparisons" \
	at_most_five_of_100 turns 6 turns
echo "false alarms: $(cat "$here/turns.alarms") of $comparisons" >&2
if [ -n "$PM_LONG" ]; then
	try "also when all runs of one came first" at_most_five_of_100 blocks 6 blocks
	try "also of 12 runs" at_most_five_of_100 twelve 12 turns
fi

# --- pages -----------------------------------------------------------------------------

browser=$(command -v chromium-headless-shell || command -v chromium || true)
if [ -z "$browser" ]; then
	skip "pages in a browser" "there is no chromium-headless-shell"
	exit 0
fi
unset PERFMON_EVENTS
make_page() {
	local rank long=a-metric-whose-name-alone-is-wider-than-a-narrow-window-is odd=$build/tests/programs/.libs/odd_names
	[ -x "$odd" ] || odd=$build/tests/programs/odd_names
	mkdir -p "$here/ranks"
	for rank in 0 1 2; do
		LD_LIBRARY_PATH=$build/.libs PERFMON_EVENTS=task-clock PERFMON_THREADS=keep \
			OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=3 \
			PERFMON_PROFILE=$here/ranks/%r "$odd"
	done
	"$perfmon" report --html -m "busy = task-clock / time_ns; $long = visits" -o "$here/page.html" "$here/ranks"
}
must "makes a page" in_shell make_page
browse() { # FILE OPTION...: what the browser made of it, on stdout
	local file=$1
	shift
	HOME=$here timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$here/browser" \
		--enable-logging=stderr --virtual-time-budget=5000 "$@" "file://$file" 2>"$here/browser.err"
}
# in_browser PAGE CHECK OUT WIDTH: tries PAGE in a window of that width, with what looks for
# errors in front of all scripts, and the tests of CHECK behind them.
in_browser() {
	awk -v check="$PM_TOP/tests/$2" -v width="$4" '
		{ if ($0 != "</body>") print }
		/^<meta charset/ {
			print "<script>const caught = [], wanted_width = " width ";"
			print "for (const kind of [\"error\", \"unhandledrejection\", \"securitypolicyviolation\"])"
			print "addEventListener(kind, e => caught.push(kind + \": \" + (e.message || e.violatedDirective || e.reason)));"
			# What no person would write, and scripts do when they take one thing for another.
			print "const slips = () => document.body.innerText.match(" \
				"/\\[object|undefined|NaN|Infinity|null|true|false|[( ]unmatched\\b/g) || [];"
			print "</script>"
		}
		$0 == "</body>" {
			print "<script>"
			while ((getline line <check) > 0)
				print line
			print "</script></body>"
		}' "$here/$1" >"$here/$3.html"
	browse "$here/$3.html" --window-size="$4",900 --dump-dom >"$here/$3.dom" || true
	cp "$here/browser.err" "$here/$3.err"
	sed -n '/<pre id="results">$/,/^<\/pre>/{ /^\(ok\|not ok\) - /p }' "$here/$3.dom" |
		sed -e 's/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' -e 's/^\(ok\|not ok\) - /\1 - in a browser: /'
}
silent() { ! grep CONSOLE "$here/$1.err"; }
for width in 1200 400; do
	in_browser page.html page_check.js $width.tested $width
	try "the browser had results, $width pixels wide" \
		grep -q '^ok - no error was reported' "$here/$width.tested.dom"
	try "and nothing to complain of, $width pixels wide" silent $width.tested
done

# What most pages are of: one process that lost nothing, then one that has lost something.
# Of threads that ended, one sum or each.
ordinary() { # PAGE KEEP LINE...
	local page=$1 keep=$2
	shift 2
	rm -f "$here/$page"
	printf '%s\n' "$@" exit | LD_LIBRARY_PATH=$build/.libs PERFMON_EVENTS=task-clock,page-faults PERFMON_THREADS=$keep \
		PERFMON_PROFILE=$here/$page "$build/tests/programs/top_work" >"$here/$page.answers" &&
		"$perfmon" report --html -o "$here/$page.html" "$here/$page"
}
must "makes an ordinary page" in_shell ordinary ordinary fold "visits 3" "thread 5" "thread 2"
must "makes a page of each thread" in_shell ordinary threads keep "visits 3" "thread 5" "thread 2"
must "makes a page of one thread that lost an END" in_shell ordinary loss fold "visits 3" "begin outer" "end slove" \
	"end slove" "end outer" "end slove"
for page in ordinary threads loss; do
	in_browser $page.html page_ordinary_check.js $page.tested 1200
	try "the browser had results of $page" grep -q "^ok - $page: no error was reported" "$here/$page.tested.dom"
	try "and nothing to complain of there: $page" silent $page.tested
done

# Numbers that are not whole, not known or not to be trusted, of one process and of two.
make_marks() {
	mkdir -p "$here/marks"
	"$build/tests/programs/profile_marks" "$here/marks" &&
		"$perfmon" report --html -o "$here/one.html" "$here/marks/0" &&
		"$perfmon" report --html -o "$here/two.html" "$here/marks/0" "$here/marks/1"
}
must "makes pages of numbers with marks" in_shell make_marks
for page in one two; do
	in_browser $page.html page_marks_check.js $page.tested 1200
	try "the browser had results of $page" \
		grep -q "^ok - $page process.*: no error was reported" "$here/$page.tested.dom"
done

# A tree of more than a screenful.
make_wide() {
	"$build/tests/programs/profile_wide" "$here/wide" &&
		"$perfmon" report --html -o "$here/wide.html" "$here/wide"
}
must "makes a page of many paths" in_shell make_wide
in_browser wide.html page_wide_check.js wide.tested 1280
try "the browser had results of many paths" grep -q "^ok - many paths: no error was reported" "$here/wide.tested.dom"

# A thread that waits for another one.
cat >"$here/waits.c" <<'EOF'
#include <perfmon/perfmon.h>
#include <pthread.h>

static void part(int times)
{
	PERFMON_REGION_BEGIN("part");
	for (volatile int i = 0; i < times; i++)
		;
	PERFMON_REGION_END("part");
}

static void *work(void *unused)
{
	PERFMON_REGION_BEGIN("solve");
	part(10000000);
	PERFMON_REGION_END("solve");
	return unused;
}

int main(void)
{
	pthread_t thread;

	PERFMON_REGION_BEGIN("solve");
	pthread_create(&thread, NULL, work, NULL);
	part(100000);
	PERFMON_REGION_BEGIN("(idle)");
	pthread_join(thread, NULL);
	PERFMON_REGION_END("(idle)");
	PERFMON_REGION_END("solve");
	return 0;
}
EOF
make_waits() {
	rm -f "$here/waits.profile"
	gcc -O2 -I"$PM_TOP/include" -I"$build/include" "$here/waits.c" -o "$here/waits" -pthread \
		-L"$build/.libs" -lperfmon -Wl,-rpath,"$build/.libs" &&
		PERFMON_EVENTS=none PERFMON_THREADS=keep PERFMON_OUTPUT=none PERFMON_PROFILE=$here/waits.profile "$here/waits" &&
		"$perfmon" report --html -o "$here/waits.html" "$here/waits.profile"
}
must "makes a page of threads that wait" in_shell make_waits
in_browser waits.html page_waits_check.js waits.tested 1200
try "the browser had results of waits" grep -q "^ok - waits: no error was reported" "$here/waits.tested.dom"

# Threads that follow one.
make_team() {
	rm -f "$here/team"
	OMP_NUM_THREADS=3 PERFMON_EVENTS=none PERFMON_NOTE=n=128 PERFMON_STEPS=smooth PERFMON_OUTPUT=none PERFMON_PROFILE=$here/team \
		"$build/examples/openmp" && "$perfmon" report --html -o "$here/team.html" "$here/team"
}
if [ -x "$build/examples/openmp" ]; then
	must "makes a page of a team" in_shell make_team
	in_browser team.html page_team_check.js team.tested 1200
	try "the browser had results of a team" grep -q "^ok - team: no error was reported" "$here/team.tested.dom"
	try "and nothing to complain of: team" silent team.tested
else
	skip "a page of a team" "the compiler has no OpenMP"
fi

# Counted exactly by translation.
make_exact() {
	"$build/tests/programs/profile_exact" "$here/exact.1" 2000 &&
		"$build/tests/programs/profile_exact" "$here/exact.2" 4000 &&
		"$perfmon" report --html -o "$here/exact.html" "$here/exact.1" "$here/exact.2"
}
must "makes a page of exact profiles" in_shell make_exact
in_browser exact.html page_exact_check.js exact.tested 1200
try "the browser had results of exact profiles" grep -q "^ok - exact: no error was reported" "$here/exact.tested.dom"
try "and nothing to complain of there" silent exact.tested
