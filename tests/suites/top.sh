#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# perfmon top: rates that are known, of a program that does what it is told, as lines and
# on a terminal.
# Row: DC-02
# shellcheck disable=SC2317 # functions that "try" calls
. "$PM_TOP/scripts/suite.sh"

native_tree all
native_tree tests/programs/terminal tests/programs/top_work
if [ ! -x "$build/perfmon" ]; then
	skip top "the command was not built: ncurses is missing"
	exit 0
fi
perfmon=$build/perfmon
terminal=$build/tests/programs/terminal
here=$PM_SUITE_DIR/run
rm -rf "$here"
mkdir -p "$here"
ulimit -c 0
export PERFMON_OUTPUT=none PERFMON_EVENTS=none
unset PERFMON_PROFILE

# --- the program that is watched ------------------------------------------------------------

# work_begin [NAME=VALUE]...: starts it; its number is in work.
work_begin() {
	rm -f "$here/in" "$here/answers"
	mkfifo "$here/in" "$here/answers"
	env "$@" "$build/tests/programs/top_work" <"$here/in" >"$here/answers" 2>"$here/work.err" &
	work_job=$!
	exec 7>"$here/in" 8<"$here/answers"
	read -r -t 20 work <&8
}
# tell LINE...: each is done when it is answered.
tell() {
	local line answer=none
	for line; do
		printf '%s\n' "$line" >&7
		read -r -t 20 answer <&8 || true
		[ "$answer" = ok ] || return 1
	done
}
work_end() {
	kill -s KILL "$work_job" 2>/dev/null || true
	wait "$work_job" 2>/dev/null || true
	exec 7>&- 8<&-
}

# --- what top says --------------------------------------------------------------------------

# top WANT ARGUMENT...: ends with that status; keeps out and err.
top() {
	local want=$1 got=0
	shift
	timeout 60 "$perfmon" top "$@" >"$here/out" 2>"$here/err" </dev/null || got=$?
	cat "$here/out" "$here/err"
	[ "$got" -eq "$want" ] || {
		echo "status $got, not $want"
		return 1
	}
}
refuses() { # STATUS TEXT ARGUMENT...
	local want=$1 text=$2
	shift 2
	top "$want" "$@" && grep -qF -- "$text" "$here/err"
}
# sum COLUMN THREAD PATH: over all lines of out.
sum() {
	where=$3 awk -F '\t' -v column="$1" -v thread="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["thread"] == thread && $at["path"] == ENVIRON["where"] {
			sum += $at[column]; found = 1 }
		END { print found ? sum : "none" }' "$here/out"
}
cell() { # COLUMN THREAD PATH: of the first such line
	where=$3 awk -F '\t' -v column="$1" -v thread="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["thread"] == thread && $at["path"] == ENVIRON["where"] { print $at[column]; exit }' "$here/out"
}
is() { # WANT GOT
	[ "$1" = "$2" ] || {
		echo "'$2', not '$1'"
		return 1
	}
}
# What the columns say of each other.
consistent() {
	awk -F '\t' '
		function off(a, b) { return a - b > 1e-6 * b || b - a > 1e-6 * b }
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{
			visits = $at["visits"]
			if ($at["seconds"] <= 0 || off($at["visits_per_s"] * $at["seconds"], visits))
				bad = 1
			if (visits && off($at["time_percent"] / 100 * $at["seconds"] * 1e9,
					visits * $at["mean_ns"]))
				bad = 1
			if (visits && $at["self_percent"] > $at["time_percent"])
				bad = 1
			if (bad) { print "line " NR ": " $0; exit }
		}
		END { exit bad }' "$here/out"
}

work_begin
try "refuses a delay that is none" refuses 2 "'x'" -d x "$work"
try "refuses a delay of nothing" refuses 2 "'0'" -d 0 "$work"
try "refuses a count of nothing" refuses 2 "'0'" -n 0 "$work"
try "refuses a second process" refuses 2 "'2'" "$work" 2
try "takes a process by its option" top 0 --once -d 0.01 -p "$work"
try "refuses a process that is a name" refuses 2 "'./1' is not a process ID" --once -p ./1
try "refuses a process and a file" refuses 2 "'x': watch one process" --once -p "$work" x
try "refuses a column that is not there" refuses 2 "'nosuch' is not a column" --once -d 0.01 -k nosuch "$work"
try "names the columns that are there" grep -q "name, open, visits, time, self, mean" "$here/err"
try "refuses a metric that is none" refuses 2 "'twice'" --once -m "twice" "$work"
metrics() {
	top 0 --once -d 0.01 -m "twice = 2 * visits; x = cycles / visits" "$work" &&
		head -n 1 "$here/out" | grep -q $'\ttwice\t' &&
		grep -qxF "perfmon top: no metric x: cycles is not counted" "$here/err"
}
try "has columns of metrics, and says which cannot be" metrics
try "refuses process 0" refuses 2 "'0' is not a process ID" 0
try "refuses a process that is not there" refuses 1 "4194999" 4194999
try "refuses a process without a profile" refuses 1 "process $$ has no profile" $$
try "refuses a file that is not there" refuses 1 "'./1234'" ./1234
try "refuses a file that is no profile" refuses 1 "README.md" "$PM_TOP/README.md"
lists() { top 0 && grep -q "^$work"$'\t'".*top_work\$" "$here/out"; }
try "lists the processes that can be watched" lists

# until_output: of what was started in the background with its output in out
until_output() {
	local i
	for ((i = 0; i < 2000; i++)); do
		[ ! -s "$here/out" ] || return 0
		sleep 0.01
	done
	return 1
}
# watched ARGUMENT...: six tables of it by top. When the first is there the base of all
# others has been taken: what the program does from then on is in them, each visit once.
watched() {
	: >"$here/out"
	timeout 60 "$perfmon" top -d 0.15 -n 6 "$@" >"$here/out" 2>"$here/err" </dev/null &
	until_output
	tell "visits 500" "thread 20" "visits 3" "stay 40"
	wait $!
}
adds_up() {
	cat "$here/out" "$here/err"
	is 0 "$(cell visits all outer)" && is 563 "$(sum visits all outer)" &&
		is 1126 "$(sum visits all "outer;inner")" && consistent
}
adds_up_by_thread() {
	cat "$here/out" "$here/err"
	is 503 "$(sum visits "$work" outer)" && is 20 "$(sum visits ended outer)" &&
		is 80 "$(sum visits "$1" "outer;inner")"
}
# The thread that stayed.
stayer() {
	local task
	for task in /proc/"$work"/task/*; do
		[ "$(cat "$task/comm")" != stayer ] || echo "${task##*/}"
	done
}
must "watches" watched "$work"
try "of a profile in memory each visit is seen once" adds_up
work_end
work_begin
must "watches each thread" watched -T "$work"
try "of all threads each visit is seen once" adds_up
try "each thread has its own, ended ones together" adds_up_by_thread "$(stayer)"
work_end
rm -f "$here/profile"
work_begin PERFMON_PROFILE="$here/profile"
must "watches a file" watched --flat "$here/profile"
flat_adds_up() {
	cat "$here/out"
	is 563 "$(sum visits all outer)" && is 1126 "$(sum visits all inner)" && consistent
}
try "of a profile in a file each visit is seen once" flat_adds_up
once_by_pid() { top 0 --once -d 0.05 "$work" && is 0 "$(cell visits all outer)" && is 3 "$(wc -l <"$here/out")"; }
try "a profile in a file is found by its process" once_by_pid

tell "begin open" "visits 4" "begin größe;" $'begin a\e[31m'
open() {
	top 0 --once -d 0.05 "$work" && is 1 "$(cell open all open)" &&
		is - "$(cell time_percent all open)" && is "?" "$(cell marks all open)" &&
		is 0 "$(cell open all "open;outer")"
}
try "an open visit is there and marked" open
odd_names() {
	is 1 "$(cell open all 'open;größe\;')" &&
		is 1 "$(cell open all 'open;größe\;;a\x1b[31m')"
}
try "a name cannot be taken for another, nor for a sequence" odd_names
filters() { top 0 --once -d 0.05 --filter INN "$work" && is 4 "$(grep -c outer "$here/out")" && ! grep -q größe "$here/out"; }
try "a filter leaves paths" filters
finds_nothing() { top 0 --once -d 0.05 --filter nosuch "$work" && grep -q "'nosuch'" "$here/err"; }
try "a filter that leaves nothing says so" finds_nothing
on_terminal() {
	printf 'ends 0\nshow\n' | "$terminal" 30 80 "$perfmon" top --once -d 0.05 "$work" >"$here/shown" &&
		grep -q "^region .* visits/s " "$here/shown" && grep -q "^  outer .* 0.0 " "$here/shown" &&
		grep -q "^  ?     without visits that have begun" "$here/shown"
}
try "once to a terminal is a table" on_terminal

# --- CPU time -----------------------------------------------------------------------------------

# is_more A B: numbers
is_more() {
	awk -v a="$1" -v b="$2" 'BEGIN { if (!(a + 0 > b + 0)) { print a " is not more than " b; exit 1 } }'
}
no_cpu_of_regions() {
	top 0 --once -d 0.05 "$work" && ! head -n 1 "$here/out" | grep -q "cpu_percent.*cpu_percent" &&
		head -n 1 "$here/out" | grep -q $'\tthread_cpu_percent$'
}
try "without task-clock regions have no CPU time, and threads have" no_cpu_of_regions
work_end
work_begin PERFMON_EVENTS=task-clock
tell spin "stay 1"
of_threads() {
	local spinner
	top 0 -T --once -d 0.5 "$work"
	spinner=$(awk -F '\t' '$3 == "spin" && $2 != "all" { print $2; exit }' "$here/out")
	is_more "$(cell thread_cpu_percent "$spinner" spin)" 1 &&
		is_more "$(cell thread_cpu_percent all spin)" 1 &&
		is 0 "$(cell thread_cpu_percent "$(stayer)" outer)"
}
try "the CPU time of threads is that of those that run" of_threads
of_regions() {
	: >"$here/out"
	timeout 60 "$perfmon" top -d 0.4 -n 2 "$work" >"$here/out" 2>"$here/err" </dev/null &
	until_output
	tell sleep sleep sleep
	wait $!
	cat "$here/out"
	is_more "$(sum cpu_percent all spin)" 1 &&
		is_more "$(sum time_percent all sleep)" "$(awk -v cpu="$(sum cpu_percent all sleep)" \
			'BEGIN { print 5 * cpu + 1 }')"
}
try "where task-clock is counted, the CPU time of regions stands beside their wall time" of_regions
work_end
work_begin
tell "visits 4" "begin open" "visits 1"

# --- the end ----------------------------------------------------------------------------------

ended_while() { # COMMAND...: what ends it while it is watched
	: >"$here/out"
	timeout 60 "$perfmon" top -d 0.2 "$work" >"$here/out" 2>"$here/err" </dev/null &
	local watcher=$!
	until_output
	tell "visits 9" || return 1
	"$@"
	wait "$watcher" || return 1
	cat "$here/out" "$here/err"
	grep -q "the process has ended: these are its last values" "$here/err" &&
		is 9 "$(sum visits all outer)" && consistent
}
by_kill() { kill -s KILL "$work_job"; }
by_exit() { echo exit >&7; }
by_exec() { echo exec >&7; }
dead_file() { # is a whole table, at once, not one of an interval
	top 0 -d 100 "$here/profile" && is 5 "$(cell visits all outer)" &&
		grep -q "has ended" "$here/err" && is "$1" "$(cell open all open)"
}
work_end
killed_file() { dead_file 1 && is - "$(cell visits_per_s all outer)"; }
rm -f "$here/profile"
work_begin PERFMON_PROFILE="$here/profile"
tell "visits 4" "begin open"
work_end
try "of a file of one that was killed there are values, and no rates" killed_file
out_of_sight() { # of another boot
	LC_ALL=C sed "s/$(cat /proc/sys/kernel/random/boot_id)/00000000-0000-0000-0000-000000000000/" \
		"$here/profile" >"$here/elsewhere"
	top 0 "$here/elsewhere" && is 5 "$(cell visits all outer)" &&
		is - "$(cell visits_per_s all outer)" && grep -q "unknown whether" "$here/err"
}
try "of a file of another machine it does not say that it has ended" out_of_sight
for way in by_kill by_exit by_exec; do
	work_begin
	try "sees the end, ${way/_/ }, and all that was before" ended_while "$way"
	work_end
done

# --- the screen -------------------------------------------------------------------------------

# on_screen ROWS COLUMNS ARGUMENT...: of top; what is to be seen is on standard input.
on_screen() {
	local rows=$1 columns=$2
	shift 2
	timeout 100 "$terminal" "$rows" "$columns" "$perfmon" top -d 0.1 "$@"
}
screen() { on_screen 20 100 "$work" <"$here/script"; }

work_begin
tell "visits 5" "begin größe" "stay 2"
cat >"$here/script" <<END
see outer
see   inner
taken
line 0 top_work, pid $work: 2 threads; the last 0.
line 1 call tree, of all threads, by self
line 2 region
line 2 visits/s
line 19 q leave
see größe
keys >
line 1 by mean
keys <<<<
line 1 by open
line 3 größe
keys <
line 1 by name
line 3 größe
keys r
line 1 by name, the lowest first
line 3 outer
keys r
keys t
line 1 of each thread
see thread $work (top_work)
see (stayer)
keys t
gone thread $work
keys f
line 1 regions
gone   inner
see inner
keys /
line 19 filter: _
keys inx
line 19 filter: inx_
see no region matches the filter
keys \d
line 19 filter: in_
keys \r
line 19 q leave
line 1 with 'in'
gone outer
see inner
keys /zzz\e
line 1 with 'in'
see inner
keys h
see sort by the column before
keys x
gone sort by the column before
size 8 50
line 7 q leave
line 3 inner
size 30 120
line 29 q leave
keys p
line 1 PAUSED
keys p
gone PAUSED
keys q
ends 0
restored
END
try "the screen does what keys say" screen

held() {
	{
		printf 'see outer\nkeys p\nsee PAUSED\n'
		sleep 0.3
		tell "begin later" >&2
		sleep 0.5
		printf 'gone later\nkeys p\nsee later\nkeys q\nends 0\n'
	} | on_screen 20 100 "$work"
}
try "a table that is held stays as it is" held

scrolls() {
	local i
	for ((i = 10; i < 30; i++)); do
		tell "begin name$i" "end name$i"
	done
	printf '%s\n' "line 3 größe" "gone name25" 'keys \e[6~' "gone größe" 'keys \eOF' "see   inner" \
		'keys \eOH' "line 3 größe" 'keys \eOB' "line 3 later" 'keys \eOC' "gone open" \
		"keys q" "ends 0" | on_screen 10 60 --sort name "$work"
}
try "rows and columns scroll" scrolls

# A window manager may give a window its size while the program in it begins: just after any
# of its questions for the size.
cat >"$here/late.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>

static int asked;

__attribute__((destructor)) static void tell(void)
{
	FILE *file = fopen(getenv("ASKED"), "w");

	fprintf(file, "%d\n", asked);
	fclose(file);
}

int ioctl(int fd, unsigned long request, ...)
{
	static int (*real)(int, unsigned long, ...);
	va_list arguments;
	void *argument;
	int got;

	va_start(arguments, request);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	real = real ? real : dlsym(RTLD_NEXT, "ioctl");
	got = real(fd, request, argument);
	if (request == TIOCGWINSZ && ++asked == atoi(getenv("LATE")))
		real(fd, TIOCSWINSZ, &(struct winsize){.ws_row = 8, .ws_col = 50});
	return got;
}
END
gcc -shared -fPIC "$here/late.c" -o "$here/late.so"
late() { # NTH LINE...
	local nth=$1
	shift
	printf '%s\n' "$@" "keys q" "ends 0" |
		timeout 60 "$terminal" 20 100 env ASKED="$here/asked" LATE="$nth" LD_PRELOAD="$here/late.so" \
			"$perfmon" top -d 0.1 "$work"
}
late_size() {
	local nth
	late 0 "line 19 q leave" || return 1
	is_more "$(cat "$here/asked")" 0 || return 1
	for ((nth = $(cat "$here/asked"); nth; nth--)); do
		late "$nth" "line 7 q leave" "gone flat" || return 1
	done
}
try "a size that comes while it begins is taken" late_size

counts() { printf 'ends 0\nrestored\n' | on_screen 20 100 -n 3 "$work"; }
try "leaves after a number of tables" counts
ended_on_screen() {
	{
		printf 'see outer\ntaken\n'
		sleep 0.3
		kill -s KILL "$work_job"
		printf '%s\n' "line 1 the process has ended: these are its last values" "see outer" \
			"keys t" "see ended threads" "keys q" "ends 0" restored
	} | on_screen 40 100 "$work"
}
work_end
work_begin
tell "thread 1"
try "the screen says that the process has ended, and keeps its values" ended_on_screen
work_end

work_begin
for signal in 1 2 3 4 6 7 8 10 11 13 14 15 24 31 34; do
	by_signal() {
		printf '%s\n' "see outer" taken "signal $signal" "ends $((128 + signal))" restored |
			on_screen 20 100 "$work"
	}
	try "puts the terminal back after signal $signal" by_signal
done
stops() {
	printf '%s\n' "see outer" taken "signal 20" restored "signal 18" taken "see outer" "keys q" \
		"ends 0" restored | on_screen 20 100 "$work"
}
try "puts the terminal back while it is stopped" stops
work_end
work_begin PERFMON_EVENTS=task-clock
tell spin
on_screens() {
	printf '%s\n' "see spin" "line 2 region" "see % CPU" "see cpu%" "keys t" "see (spinner), " "keys q" "ends 0" |
		on_screen 30 120 "$work"
}
try "the screen has both" on_screens
no_terminal() {
	printf '%s\n' "see 'nosuch'" "ends 1" restored |
		timeout 60 "$terminal" 20 100 env TERM=nosuch "$perfmon" top "$work"
}
try "a terminal that is not known is an error" no_terminal
wrong_column() {
	printf '%s\n' "see 'nosuch' is not a column" "ends 2" restored | on_screen 20 100 -k nosuch "$work"
}
try "a wrong column is an error, on a terminal too" wrong_column
work_end
# What could not have failed: a terminal that is left as it is.
broken() {
	! printf '%s\n' "ends 0" restored | timeout 60 "$terminal" 20 100 sh -c 'stty raw' 2>/dev/null
}
try "a terminal that is not put back would be seen" broken
