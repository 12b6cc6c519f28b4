#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Profiles that are read by another process than the one that wrote them: perfmon report.
# Row: DC-02
. "$PM_TOP/scripts/suite.sh"

native_tree all
if [ ! -x "$build/perfmon" ]; then
	skip profiles "the command was not built: libsmartcols is missing"
	exit 0
fi
perfmon=$build/perfmon
here=$PM_SUITE_DIR/run
rm -rf "$here"
mkdir -p "$here"
unset PERFMON_PROFILE

# Visits "outer" once and "inner" three times, in a thread of its own where asked to; then
# ends, ends without an end, or waits inside of "open" until something is written to it.
cat >"$here/program.c" <<'END'
#include <perfmon/region.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static void *visit(void *unused)
{
	PERFMON_REGION_BEGIN("outer");
	for (int i = 0; i < 3; i++) {
		PERFMON_REGION_BEGIN("inner");
		PERFMON_REGION_END("inner");
	}
	PERFMON_REGION_END("outer");
	return unused;
}
int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t thread;
	char byte;

	if (!strcmp(how, "thread") && !pthread_create(&thread, NULL, visit, NULL))
		pthread_join(thread, NULL);
	visit(NULL);
	if (!strcmp(how, "_exit"))
		_exit(0);
	if (strcmp(how, "wait") != 0)
		return 0;
	PERFMON_REGION_BEGIN("open");
	puts("ready");
	fflush(stdout);
	return read(0, &byte, 1) < 0;
}
END
must "a program compiles" gcc -std=gnu11 -pthread -Iinclude -Isrc "$here/program.c" \
	-o "$here/program" -L"$build/.libs" -lperfmon -Wl,-rpath,"$build/.libs"
program=$here/program

# status WANT COMMAND...: ends with that status; keeps out and err.
status() {
	local want=$1 got=0
	shift
	(cd "$here" && timeout 60 "$@") >"$here/out" 2>"$here/err" </dev/null || got=$?
	[ "$got" -eq "$want" ] || {
		echo "status $got, not $want"
		cat "$here/out" "$here/err"
		return 1
	}
}
says() { # FILE TEXT
	grep -qF -- "$2" "$here/$1" || {
		echo "'$2' is not in $1:"
		cat "$here/$1"
		return 1
	}
}
both() { # WANT FILE TEXT COMMAND...
	local want=$1 file=$2 text=$3
	shift 3
	status "$want" "$@" && says "$file" "$text"
}
quiet() { # whether nothing was complained about
	[ ! -s "$here/err" ] || {
		cat "$here/err"
		return 1
	}
}
export PERFMON_OUTPUT=none PERFMON_EVENTS=page-faults

kept() { # PROFILE ARGUMENT
	PERFMON_PROFILE=$here/$1 status 0 "$program" "$2" && [ -s "$here/$1" ]
}
must "a profile is kept" kept ended ''
must "a profile of threads is kept" env PERFMON_THREADS=keep PERFMON_PROFILE="$here/threads" \
	"$program" thread
must "a profile without an end is kept" kept exited _exit

same() {
	status 0 env PERFMON_OUTPUT=stdout PERFMON_PROFILE="$here/same" "$program" thread &&
		mv "$here/out" "$here/own" && status 0 "$perfmon" report same &&
		diff "$here/own" "$here/out" && quiet
}
try "report says what the program itself says" same
try "report shows the tree" both 0 out "  inner       3" "$perfmon" report ended
flat() { both 0 out "exclusive, without" "$perfmon" report -f flat ended && says out "inner        3"; }
try "report shows regions" flat
csv() { status 0 "$perfmon" report -f csv ended && grep -q '^all,.*,outer;inner,inner,3,3,' "$here/out"; }
try "report writes CSV" csv
in_json() {
	status 0 "$perfmon" report -f json ended && says out '"state":"ended"' &&
		{ ! command -v jq >/dev/null || jq -e '.nodes[1].visits == 3' "$here/out"; }
}
try "report writes JSON" in_json
per_thread() {
	status 0 "$perfmon" report -t threads && says out "(program), ended" &&
		[ "$(grep -c '^  inner' "$here/out")" -eq 3 ]
}
try "report shows each thread" per_thread
try "report subtracts the bias" both 0 out "no bias could be subtracted" \
	"$perfmon" report -b ended
to_file() { status 0 "$perfmon" report -o written ended && [ ! -s "$here/out" ] && says written "  inner"; }
try "report writes to a file" to_file
try "report quotes a file that it cannot write" both 1 err "'/no/such/file': No such file" \
	"$perfmon" report -o /no/such/file ended
try "report notices a full disk" both 1 err "'/dev/full': No space" \
	"$perfmon" report -o /dev/full ended

died() { both 0 out "the process died before it could end its profile" "$perfmon" report exited && says out "  inner"; }
try "a profile without an end is reported, and says so" died
died_in_json() { both 0 out '"duration_ns":null,"state":"died"' "$perfmon" report -f json exited; }
try "JSON says it, too" died_in_json

# A program that waits in "open": fifo 3 keeps its input open.
mkfifo "$here/input"
PERFMON_PROFILE=$here/running "$program" wait <"$here/input" >"$here/ready" &
pid=$!
exec 3>"$here/input"
for ((i = 0; i < 100; i++)); do
	! grep -q ready "$here/ready" || break
	sleep 0.1
done
runs() {
	both 0 out "the process still runs" "$perfmon" report running && says out "  inner" &&
		grep -q '^open *0 *- ?' "$here/out"
}
try "a running program is reported from its file" runs
try "a running program is reported by its pid" both 0 out "the process still runs" \
	"$perfmon" report -p "$pid"
kill -KILL "$pid"
wait "$pid" || true
exec 3>&-
killed() {
	both 0 out "the process died before it could end its profile" "$perfmon" report running &&
		says out "  inner" && grep -q '^open *0 *- ?' "$here/out"
}
try "a killed program is reported, and says so" killed
try "a pid that is none is quoted" both 1 err "process $pid" "$perfmon" report -p "$pid"

head -c 100000 /dev/zero >"$here/zeros"
head -c 3000 "$here/ended" >"$here/short"
try "what is no profile is quoted" both 1 err "'zeros'" "$perfmon" report zeros
try "what is not there is quoted" both 1 err "'nosuch'" "$perfmon" report nosuch
cut_off() { both 0 out "partial: the profile is cut off" "$perfmon" report short; }
try "a profile that was cut off says so" cut_off
try "report needs a profile" both 2 err "no profile is given" "$perfmon" report
try "report quotes an unknown format" both 2 err "'xml'" "$perfmon" report -f xml ended
try "report quotes what is no pid" both 2 err "'1x'" "$perfmon" report -p 1x

paged() {
	(cd "$here" && TERM=xterm script -qec "PAGER='sed s/^/@/' $perfmon report ended" /dev/null \
		</dev/null | tr -d '\r' >"$here/shown") && says shown "@outer"
}
if command -v script >/dev/null; then
	try "report is paged on a terminal" paged
else
	skip "report is paged on a terminal" "there is no script(1)"
fi
