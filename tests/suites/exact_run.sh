#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# perfmon run --exact and perfmon stat --exact: what they start, what they refuse, what they
# pass on. With a stand-in for Valgrind, and where the tool was built with Valgrind itself.
. "$PM_TOP/scripts/suite.sh"

native_tree all
if [ ! -x "$build/perfmon" ]; then
	skip exact_run "the command was not built: ncurses is missing"
	exit 0
fi
case $(uname -m) in
x86_64) tool="perfmon-amd64-linux" ;;
aarch64) tool="perfmon-arm64-linux" ;;
*)
	skip exact_run "the tool is not for this CPU"
	exit 0
	;;
esac
perfmon=$build/perfmon
here=$PM_SUITE_DIR/run
rm -rf "$here"
mkdir -p "$here/bin" "$here/tool" "$here/empty"

# --- a stand-in ---------------------------------------------------------------------------

# It keeps its arguments and the size of the stack's words, and leaves totals of three
# processes, one of which failed to become another.
cat >"$here/bin/valgrind" <<'END'
#!/bin/sh
here=$(dirname "$0")/..
printf '%s\n' "$@" >"$here/arguments"
echo "$VALGRIND_LIB" >"$here/lib"
echo "${PERFMON_EVENTS-unset}" >"$here/events"
totals=
while [ $# -gt 0 ]; do
	case $1 in
	--totals=*) totals=${1#--totals=} ;;
	--) shift && break ;;
	esac
	shift
done
if [ -n "$totals" ] && [ -z "$LOSE" ]; then
	more=0
	[ -z "$VARY" ] || more=$(wc -c <"$here/varies") && echo >>"$here/varies"
	{
		echo "exec $$ instructions=5 loads=2 /bin/x y"
		echo "noexec $$ instructions=5 loads=2 /bin/x y"
		echo "exec $$ instructions=700 loads=100 sh a=3"
		echo "end 1 instructions=200 loads=20 cc"
		echo "end $$ instructions=$((1000 + more)) loads=3 sh instructions=9"
		echo "later 7 x=1"
		[ "$SPOIL" != cut ] || printf "end $$ instructions=12 loads=3"
	} >>"$totals"
	[ "$SPOIL" != unknown ] || echo "unknown 7 instructions=1 x" >>"$totals"
	[ "$SPOIL" != fifo ] || { rm "$totals" && mkfifo "$totals"; }
fi
exec "$@"
END
chmod +x "$here/bin/valgrind"
printf '#!/bin/sh\n' >"$here/tool/$tool"
chmod +x "$here/tool/$tool"
touch "$here/varies"
export PERFMON_EXACT_DIR=$here/tool
real_path=$PATH
PATH=$here/bin:$PATH

try "run passes the exit status on" status 7 "$perfmon" run --exact sh -c 'exit 7'
try "run passes a signal on" status 143 "$perfmon" run -x sh -c 'kill $$'
try "run takes options of the command for its own" both 0 out "-x" "$perfmon" run -x -- echo -x --
starts() {
	status 0 "$perfmon" run --exact -e loads,exact::stores,LOADS -- echo a && says out a &&
		grep -qx -- '--tool=perfmon' "$here/arguments" &&
		grep -qx -- '--trace-children=yes' "$here/arguments" &&
		grep -qx -- '--command-line-only=yes' "$here/arguments" &&
		grep -qx -- '--events=loads,stores' "$here/arguments" &&
		! grep -- '--totals' "$here/arguments" &&
		[ "$(cat "$here/lib")" = "$here/tool" ] &&
		[ "$(cat "$here/events")" = exact::loads,exact::stores ]
}
try "run starts Valgrind with the tool" starts
# The stand-in leaves no trees.
chooses() {
	both 1 err "'true' left no counts" "$perfmon" run -x -o none --function 'a*' --function b -- true &&
		grep -qx -- '--function=a\*' "$here/arguments" && grep -qx -- '--function=b' "$here/arguments" &&
		grep -q -- '^--tree=/.*/perfmon-run-' "$here/arguments" && ! grep -- '--functions' "$here/arguments" &&
		status 1 "$perfmon" run -x -o none --functions -- true && grep -qx -- '--functions=yes' "$here/arguments"
}
try "run chooses functions" chooses
counts_instructions() {
	status 0 "$perfmon" run -x true && grep -qx -- '--events=instructions' "$here/arguments" &&
		[ "$(cat "$here/events")" = unset ]
}
try "run counts instructions when nobody says what" counts_instructions
of_environment() {
	status 0 env PERFMON_EVENTS="calls, loads" "$perfmon" run -x true &&
		grep -qx -- '--events=calls,loads' "$here/arguments"
}
try "run counts what the environment says" of_environment
lists() { # COMMAND...
	both 2 err "'page-faults' is not an event that --exact counts" "$@" && says err "instructions, loads, stores"
}
try "run quotes an event that is not counted, and lists what is" \
	lists "$perfmon" run --exact -e loads,page-faults -- touch started
try "so it does one of the environment" lists env PERFMON_EVENTS=page-faults "$perfmon" run -x touch started
try "stat does" lists "$perfmon" stat -x -e page-faults touch started
try "nothing was started" test ! -e "$here/started"
try "run: no such command is 127" both 127 err "cannot run './nosuch'" "$perfmon" run -x ./nosuch
try "run: a folder is 126" both 126 err "cannot run '/tmp'" "$perfmon" run -x /tmp
try "stat: no such command is 127" both 127 err "cannot run 'no/such'" "$perfmon" stat -x no/such

lists_exact() { both 0 out "exact::loads" "$perfmon" list exact && says out "perfmon run --exact"; }
try "list names what is counted" lists_exact
in_json() {
	both 0 out '"exact":true,"translated":false' "$perfmon" info --json &&
		both 0 out '"exact":false,"translated":false' env PERFMON_EXACT_DIR="$here/empty" "$perfmon" info --json &&
		both 0 out '"exact":false' env PATH="$here/empty" "$perfmon" info --json
}
try "info says so in JSON" in_json
without_valgrind() { # SUBCOMMAND
	both 1 err "--exact needs Valgrind: install the package valgrind" \
		env PATH="$here/empty" "$perfmon" "$1" --exact "$(type -P true)"
}
try "run says that Valgrind is missing" without_valgrind run
try "stat says that Valgrind is missing" without_valgrind stat
try "a wrong folder of the tool is quoted" both 1 err "PERFMON_EXACT_DIR '$here/empty'" \
	env PERFMON_EXACT_DIR="$here/empty" "$perfmon" run -x true
# The command finds the tool from where it is itself.
moved() {
	mkdir -p "$here/root/perfmon/bin" "$here/root/perfmon/libexec/perfmon/valgrind" &&
		cp "$perfmon" "$here/root/perfmon/bin/" || return 1
	both 1 err "without the tool" env -u PERFMON_EXACT_DIR "$here/root/perfmon/bin/perfmon" run -x true &&
		cp "$here/tool/$tool" "$here/root/perfmon/libexec/perfmon/valgrind/" &&
		status 0 env -u PERFMON_EXACT_DIR "$here/root/perfmon/bin/perfmon" run -x true &&
		[ "$(cat "$here/lib")" = "$here/root/perfmon/libexec/perfmon/valgrind" ] &&
		mv "$here/root/perfmon" "$here/root/other" &&
		status 0 env -u PERFMON_EXACT_DIR "$here/root/other/bin/perfmon" run -x true &&
		[ "$(cat "$here/lib")" = "$here/root/other/libexec/perfmon/valgrind" ]
}
try "the tool is found from the place of the command" moved

set_user_id() {
	cp "$(type -P true)" "$here/rights" && chmod u+s "$here/rights" &&
		both 126 err "set-user-ID" "$perfmon" run -x ./rights
}
try "a set-user-ID program is refused" set_user_id
foreign() {
	# Of 32 bits, as its fifth byte says.
	{ head -c 4 "$perfmon" && printf '\001' && tail -c +6 "$perfmon"; } >"$here/foreign" &&
		chmod +x "$here/foreign" && both 126 err "64-bit programs" "$perfmon" run -x ./foreign
}
try "a 32-bit program is refused" foreign

sums() {
	status 3 "$perfmon" stat -x -e instructions,loads sh -c 'exit 3' &&
		grep -qE '^ +1,900  exact::instructions$' "$here/err" &&
		grep -qE '^ +123  exact::loads$' "$here/err" &&
		says err "counted exactly by translation" && ! ls /tmp/perfmon-stat-"$$"* 2>/dev/null
}
try "stat sums the processes" sums
no_file() {
	mkdir -p "$here/tmp" && status 0 env TMPDIR="$here/tmp" "$perfmon" stat -x true && nothing ls "$here/tmp"
}
try "stat leaves no file" no_file
try "stat says that it cannot write" both 1 err "no/such" env TMPDIR=/no/such "$perfmon" stat -x true
agree() {
	both 0 err "the runs agree in every count" "$perfmon" stat -x -r 3 true &&
		both 0 err "the runs differ, 'exact::instructions' by 2" env VARY=1 "$perfmon" stat -x -r 3 true
}
try "stat says whether runs agree" agree
as_data() {
	status 0 "$perfmon" stat -x -f csv -r 2 true && says err ",,exact::instructions,,1900,counted,1,2,0,1900,1900" &&
		status 0 "$perfmon" stat -x -f json true && says err '"exact":true' &&
		says err '"event":"exact::instructions","unit":"","status":"counted","count":1900,' &&
		{ ! command -v python3 >/dev/null || python3 -m json.tool <"$here/err" >/dev/null; }
}
try "stat writes CSV and JSON" as_data
loses() {
	LOSE=1 both 1 err "not counted  exact::instructions" "$perfmon" stat -x true && says err "1 of 1 runs left no counts"
}
try "a run without totals is no run of zero" loses
status_first() { LOSE=1 both 3 err "not counted" "$perfmon" stat -x sh -c 'exit 3'; }
try "the command's own status comes first" status_first
spoilt() { # HOW TEXT
	SPOIL=$1 both 1 err "$2" "$perfmon" stat -x -e instructions,loads true && ! grep -q exact:: "$here/err"
}
try "a line that was cut is no count" spoilt cut "a line is not whole"
try "a file that was replaced is not waited for" spoilt fifo "replaced or removed the file"
unknown() { SPOIL=unknown both 0 err "does not know an instruction" "$perfmon" stat -x true; }
try "stat says that a program ended at an unknown instruction" unknown
full() {
	# shellcheck disable=SC2016 # for the command's shell
	mkdir -p "$here/small" && status 1 unshare -rm sh -c 'mount -t tmpfs -o size=16k none "$0" || exit 99
		cat /dev/zero >"$0/fill" 2>/dev/null; TMPDIR=$0 "$@"' "$here/small" "$perfmon" stat -x touch started &&
		says err "No space left" && [ ! -e "$here/started" ]
}
if unshare -rm mount -t tmpfs none /mnt 2>/dev/null; then
	try "a disk that is full is no count" full
else
	skip "a disk that is full is no count" "no filesystem can be mounted here"
fi
for option in "-p 1" "-t 1" "-C all" -a "-I 100" -i --descendants --split; do
	# shellcheck disable=SC2086 # an option and its value
	try "stat --exact refuses $option" both 2 err "remove --" "$perfmon" stat --exact $option true
done
try "stat has a timeout" status 143 "$perfmon" stat -x --timeout 200 sleep 60
unset PERFMON_EXACT_DIR
PATH=$real_path

# --- with Valgrind ------------------------------------------------------------------------

if ! command -v valgrind >/dev/null || [ ! -x "$build/exact/valgrind/$tool" ]; then
	skip "with Valgrind" "the tool was not built: the package valgrind is missing"
	exit 0
fi
cat >"$here/program.c" <<'END'
#include <perfmon/region.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "0";
	volatile int sum = 0;

	PERFMON_REGION_BEGIN("work");
	for (int i = 0; i < 1000; i++)
		sum += i;
	PERFMON_REGION_END("work");
	if (!strcmp(how, "kill"))
		raise(SIGTERM);
	if (!strcmp(how, "stack"))
		printf("%lx\n", (unsigned long)(uintptr_t)&how % 4096);
	return atoi(how);
}
END
must "a program compiles" gcc -O1 -std=gnu11 -Iinclude -Isrc "$here/program.c" \
	-o "$here/program" -L"$build/.libs" -lperfmon -Wl,-rpath,"$build/.libs"
program=$here/program
# instructions FILE: those of "work", which are at least 3 for each of 1,000 additions.
instructions() {
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		$at["region"] == "work" { print $at["exact::instructions"]; bad = $at["exact::instructions"] < 3000; exit }
		END { exit bad }' "$here/$1"
}
try "the exit status is the program's" status 7 "$perfmon" run -x -o none "$program" 7
try "the signal is the program's" status 143 "$perfmon" run -x -o none "$program" kill
counts() {
	status 0 "$perfmon" run -x -f csv -o stdout "$program" && says out "exact::instructions" && instructions out
}
try "regions count" counts
same_count() {
	local name
	for name in one another; do
		status 0 env ${more+"$more"} "$perfmon" run -x -f csv -o stdout "$program" &&
			instructions out >"$here/$name.count" || return 1
		local more=VARIABLE=which-moves-the-environment
	done
	[ -s "$here/one.count" ] && cmp "$here/one.count" "$here/another.count"
}
try "regions count the same in another environment" same_count
quiet() {
	status 0 "$perfmon" run -x -o none "$program" && nothing cat "$here/err" &&
		status 0 env VALGRIND_OPTS=--nosuch "$perfmon" run -x -o none "$program" && nothing cat "$here/err" &&
		printf -- '--nosuch\n' >"$here/.valgrindrc" &&
		status 0 env HOME="$here" "$perfmon" run -x -o none "$program" && nothing cat "$here/err"
	local ended=$?
	rm -f "$here/.valgrindrc"
	return $ended
}
try "neither Valgrind nor its options are seen" quiet
stack() {
	status 0 env VARIABLE=a "$perfmon" run -x -o none "$program" stack && cp "$here/out" "$here/stack" &&
		status 0 env VARIABLE=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa MORE=b "$perfmon" run -x -o none "$program" stack &&
		cmp "$here/out" "$here/stack" && cp "$program" "$here/program-of-a-longer-name" &&
		status 0 "$perfmon" run -x -o none ./program-of-a-longer-name stack && cmp "$here/out" "$here/stack"
}
try "the stack keeps its place within a page" stack
script() {
	printf '#!/bin/sh\nexec "%s" "$@"\n' "$program" >"$here/script" && chmod +x "$here/script" &&
		status 5 "$perfmon" run -x -f csv -o stdout ./script 5 && says out "exact::instructions"
}
try "a script and what it executes" script
static() {
	printf 'int main(void) { return 4; }\n' >"$here/static.c" && gcc -static "$here/static.c" -o "$here/static" &&
		both 4 err "exact::instructions" "$perfmon" stat -x ./static && ! grep -q "not counted" "$here/err"
}
try "a static program" static
repeats() {
	both 0 err "the runs agree in every count" "$perfmon" stat -x -r 2 -e instructions,loads,stores true
}
try "stat counts the same in each run" repeats
children() {
	local name
	for name in one two; do
		status 0 "$perfmon" stat -x -f csv "$program" &&
			awk -F, '$3 == "exact::instructions" { print $5 }' "$here/err" >"$here/$name.count" || return 1
	done
	status 0 "$perfmon" stat -x -f csv sh -c "'$program'; '$program'; exit 0" &&
		awk -F, -v one="$(cat "$here/one.count")" '$3 == "exact::instructions" { exit !($5 > 2 * one) }' "$here/err"
}
try "stat counts child processes" children
relative() { mkdir -p "$here/tmp" && status 0 env TMPDIR=tmp "$perfmon" stat -x sh -c 'cd / && sh -c : && :'; }
try "stat counts those in other folders when TMPDIR is relative" relative
# By another process: who kills itself does so by the tool.
lost() { both 137 err "left no counts" "$perfmon" stat -x sh -c '(kill -9 $$); :'; }
try "stat says that a killed process left no counts" lost
# cat ends after the process that has killed its parent, and still has its output.
later() {
	rm -rf "$here/tmp" && mkdir "$here/tmp" || return 1
	TMPDIR=$here/tmp "$perfmon" stat -x -o /dev/null sh -c '(kill -9 $$); :' | cat
	nothing ls "$here/tmp"
}
try "who ends after the command leaves no file" later
twice() { both 0 out "exact::instructions" "$perfmon" run -x "$perfmon" run -x -f csv -o stdout "$program"; }
try "what is counted already is not counted once more" twice
below_stat() { status 1 "$perfmon" run -x "$perfmon" stat -x "$program" && says err "cannot start Valgrind below Valgrind"; }
try "stat says that it cannot count so" below_stat

# The example for continuous integration: a change of 0.1 % in one region, one run a side.
example() { # PROGRAM OPTION...
	gcc -O2 -std=gnu11 -Iinclude "${@:2}" examples/ci/search.c -o "$here/$1" -L"$build/.libs" -lperfmon \
		-Wl,-rpath,"$build/.libs"
}
compare() { # STATUS BEFORE AFTER
	status "$1" env PATH="$build:$PATH" "$PM_TOP/examples/ci/compare" "$2" "$3"
}
must "the example compiles" example search
must "and with its change" example changed -DCHANGED
finds() {
	compare 1 ./search ./changed && grep -qE '^lookup +exact::instructions .* \+0\.1[01]%.* more$' "$here/out" &&
		! grep -E '^(fill|sort) ' "$here/out"
}
try "the example finds a regression of 0.1 % in its region" finds
try "and none between equal programs" compare 0 ./search ./search
try "nor when less is executed" compare 0 ./changed ./search
try "a change below the bound passes" env EFFECT=1% PROFILES="$here/bound" PATH="$build:$PATH" examples/ci/compare "$here/search" "$here/changed"
try "a program that fails is no comparison" compare 2 false ./search

# Row: FO-04: tasks that four threads run in turn. Each step of a task is the same work, on whatever
# thread it runs.
cat >"$here/tasks.c" <<'END'
#include <perfmon/perfmon.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#define TASKS 64

static struct {
	struct perfmon_task task;
	int steps;
} tasks[TASKS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int queue[TASKS], first, count, left = TASKS, steps;

static void step(int n)
{
	if (!n)
		PERFMON_REGION_BEGIN("task");
	for (volatile int i = 0; i < 100; i++)
		;
	if (n + 1 == steps)
		PERFMON_REGION_END("task");
}

static void run(int t)
{
	perfmon_task_resume(&tasks[t].task);
	step(tasks[t].steps++);
	if (tasks[t].steps == steps)
		perfmon_task_end(&tasks[t].task);
	else
		perfmon_task_suspend(&tasks[t].task);
	pthread_mutex_lock(&lock);
	if (tasks[t].steps == steps)
		left--;
	else
		queue[(first + count++) % TASKS] = t;
	pthread_mutex_unlock(&lock);
}

static void *work(void *unused)
{
	int more = 1, t;

	PERFMON_REGION_BEGIN("worker");
	while (more) {
		pthread_mutex_lock(&lock);
		more = left;
		t = more && count ? queue[first] : -1;
		if (t >= 0) {
			first = (first + 1) % TASKS;
			count--;
		}
		pthread_mutex_unlock(&lock);
		if (t >= 0)
			run(t);
		else
			sched_yield();
	}
	PERFMON_REGION_END("worker");
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];

	steps = argc > 1 ? atoi(argv[1]) : 2;
	PERFMON_REGION_BEGIN("main");
	for (int t = 0; t < TASKS; t++) {
		perfmon_task_begin(&tasks[t].task);
		perfmon_task_suspend(&tasks[t].task);
		queue[count++] = t;
	}
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	PERFMON_REGION_END("main");
	return 0;
}
END
must "a program with tasks compiles" gcc -O2 -std=gnu11 -Iinclude "$here/tasks.c" -o "$here/tasks" -pthread \
	-L"$build/.libs" -lperfmon -Wl,-rpath,"$build/.libs"
# tasks STEPS: what is exclusive in all tasks, and whether all paths and the rest are the total
tasks() {
	"$perfmon" run --exact -f csv -o "$here/tasks.csv" "$here/tasks" "$1" || return
	awk -F, '
		{ sub(/\r$/, "") }
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["path"] == "main;task" { print $at["exact::instructions.exclusive"], $at["visits"] }' "$here/tasks.csv"
}
steps_are_equal() {
	local few more most visits steps=2000
	[ -z "$PM_LONG" ] || steps=15625 # a million in all
	read -r few visits < <(tasks 50) && [ "$visits" = 64 ] &&
		read -r more visits < <(tasks 100) && [ "$visits" = 64 ] &&
		read -r most visits < <(tasks "$steps") && [ "$visits" = 64 ] || return
	echo "# $few, $more, $most"
	# shellcheck disable=SC2017 # each of 50 steps counts the same
	[ $((most - few)) -eq $(((more - few) / 50 * (steps - 50))) ] && [ "$more" -gt "$few" ]
}
try "tasks that migrate count each step alike, to the instruction" steps_are_equal

openmpi_anywhere
below() {
	rm -f "$here"/rank.* && status 0 mpirun -n 2 "$perfmon" run -x -f csv -o "rank.%r" "$program" &&
		grep -q exact::instructions "$here/rank.0" && grep -q exact::instructions "$here/rank.1"
}
above() {
	rm -f "$here"/rank.* && status 0 "$perfmon" run -x -f csv -o "rank.%r" mpirun -n 2 "$program" &&
		grep -q exact::instructions "$here/rank.0" && grep -q exact::instructions "$here/rank.1"
}
if command -v mpirun >/dev/null; then
	try "ranks run below mpirun" below
	try "and above it" above
else
	skip "ranks" "mpirun is missing"
fi
