#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Profiles that are read by another process than the one that wrote them: perfmon report.
# Row: DC-02
. "$PM_TOP/scripts/suite.sh"

native_tree all
if [ ! -x "$build/perfmon" ]; then
	skip profiles "the command was not built: ncurses is missing"
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
try "report shows a metric" both 0 out "  twice" "$perfmon" report -m 'none; twice = 2 * visits' ended
try "report quotes a bad metric" both 2 err "at the end of 'x ='" "$perfmon" report -m 'x =' ended
try "report shows the tree" both 0 out "  inner       3" "$perfmon" report ended
flat() { both 0 out "exclusive, without" "$perfmon" report -f flat ended && says out "inner        3"; }
try "report shows regions" flat
csv() { status 0 "$perfmon" report -f csv ended && grep -q '^all,.*,outer;inner,inner,3,3,' "$here/out"; }
try "report writes CSV" csv
pages() {
	status 0 "$perfmon" report --html ended && mv "$here/out" "$here/page" &&
		status 0 "$perfmon" report -f html ended && cmp "$here/page" "$here/out" && says out "<html"
}
try "report writes a page" pages
in_json() {
	status 0 "$perfmon" report -f json ended && says out '"state":"ended"' &&
		{ ! command -v jq >/dev/null || jq -e '.nodes[1].visits == 3' "$here/out"; }
}
try "report writes JSON" in_json
per_thread() {
	status 0 "$perfmon" report -T threads && says out "(program), ended" &&
		[ "$(grep -c "^  inner" "$here/out")" -eq 4 ]
}
try "report shows each thread" per_thread
try "report shows the levels of this machine" both 0 out "machine:0 (CPU " \
	"$perfmon" report -l machine ended
try "a level that is none is quoted" both 2 err "'rack' is not a level" \
	"$perfmon" report -l rack ended
try "levels are of one process" both 2 err "--level" "$perfmon" report -l core ended threads
# Where the event is refused nothing has been measured.
subtracted() {
	status 0 "$perfmon" report -b ended &&
		grep -qE 'an empty region counts 0 \(subtracted\)|no bias was measured' "$here/out"
}
try "report subtracts the bias" subtracted
# In JSON, where nothing else differs.
by_variable() {
	status 0 "$perfmon" report -b -f json ended && mv "$here/out" "$here/by_option" &&
		PERFMON_BIAS=subtract status 0 "$perfmon" report -f json ended && cmp "$here/out" "$here/by_option" &&
		grep -q '"bias_subtracted":true' "$here/out" &&
		PERFMON_BIAS=keep status 0 "$perfmon" report -b -f json ended && cmp "$here/out" "$here/by_option"
}
try "and by PERFMON_BIAS, too" by_variable
top() { # the wanted rows of this report: "outer" and "inner" are all
	status 0 "$perfmon" report --top 1 -f flat ended && says out "left out 1 row, with" &&
		[ "$(grep -cE '^(outer|inner) ' "$here/out")" -eq 1 ] &&
		PERFMON_TOP=1 status 0 "$perfmon" report -f flat ended && says out "left out 1 row" &&
		PERFMON_TOP=1 status 0 "$perfmon" report --top 2 -f flat ended && ! grep -q "left out" "$here/out" &&
		status 0 "$perfmon" run --top 1 -f flat -o stdout -- "$program" && says out "left out 1 row"
}
try "report shows the dearest regions alone" top
try "a number of them that is none is quoted" both 2 err "'0' is not a number" "$perfmon" report --top 0 ended
try "and for run, too" both 2 err 'PERFMON_TOP="few"' "$perfmon" run --top few -- "$program"
try "formats for programs leave nothing out" both 2 err "--top" "$perfmon" report --top 1 -f csv ended
noted() { # the command line adds to the environment, and wins over it
	PERFMON_NOTE='n=64;user=me' PERFMON_PROFILE=$here/noted status 0 "$perfmon" run --note n=128 \
		--note 'compiler=gcc 12' -o none -- "$program" && status 0 "$perfmon" report noted &&
		says out "  noted    n=128, user=me, compiler=gcc 12" &&
		status 0 "$perfmon" report -f json noted &&
		says out '"run_notes":{"n":"128","user":"me","compiler":"gcc 12"}'
}
try "a profile says what its user says of the run" noted
try "a note that is none is quoted" both 2 err "--note: 'n' is no note" "$perfmon" run --note n -- "$program"
# Two runs with n=9, one with n=10 of another job, one without n.
by_runs() {
	local by=$here/by/
	mkdir "$by" && PERFMON_PROFILE=$by PERFMON_NOTE=n=9 "$program" && PERFMON_PROFILE=$by PERFMON_NOTE=n=9 "$program" &&
		PMIX_NAMESPACE=other PERFMON_PROFILE=$by PERFMON_NOTE=n=10 "$program" thread &&
		PERFMON_PROFILE=$by PERFMON_NOTE=user=me "$program"
}
must "runs with notes are kept" by_runs
by_text() { # 9 is less than 10, as a number; standard error names the one without
	status 0 "$perfmon" report --by n by && says out "mean time of a process by n, inclusive:" &&
		grep -qE '^region +n=9 +n=10$' "$here/out" && grep -qE '^outer( +[0-9.<]+( \*)?){2}$' "$here/out" &&
		grep -qE '^inner( +[0-9.<]+( \*)?){2}$' "$here/out" && says out "processes  2 with n=9, 1 with n=10" &&
		says err "is left out: it has no note 'n'" && [ "$(wc -l <"$here/err")" -eq 1 ]
}
try "report compares runs by a note" by_text
sum_of() { # FILTER COLUMN: of CSV in "out"
	awk -F, -v filter="$1" -v column="$2" '$0 ~ filter { sum += $column } END { printf "%.3f", sum }' "$here/out"
}
by_csv() { # the mean of the two runs is that of their own reports
	local mean sum=0 file
	status 0 "$perfmon" report --by n -f csv by && mean=$(sum_of '^9,2,outer,' 4) && [ "$mean" != 0.000 ] || return
	for file in "$here"/by/*; do
		if ! status 0 "$perfmon" report -f json "$file" || ! grep -q '"n":"9"' "$here/out"; then
			continue
		fi
		status 0 "$perfmon" report -f csv "$file" && sum=$(awk "BEGIN { printf \"%.3f\", $sum + $(sum_of '^all,.*,outer,outer,' 10) }")
	done
	awk "BEGIN { exit !($sum > 0 && ($sum / 2 - $mean) ^ 2 < 1) }"
}
try "by the means of their own reports" by_csv
by_json() {
	status 0 "$perfmon" report --by n -f json by && says out '"columns":[{"value":"9","processes":2},{"value":"10","processes":1}]' &&
		{ ! command -v jq >/dev/null || jq -e '.rows[0].cells | length == 2' "$here/out"; }
}
try "in JSON" by_json
by_top() { status 0 "$perfmon" report --by n --top 1 by && says out "left out 1 row" && [ "$(grep -cE '^(outer|inner) ' "$here/out")" -eq 1 ]; }
try "with the dearest regions alone" by_top
try "a note that no run has is quoted" both 2 err "no profile has a note 'size'" "$perfmon" report --by size by
try "a page is not by a note" both 2 err "--by: --html" "$perfmon" report --by n --html by
to_file() { status 0 "$perfmon" report -o written ended && [ ! -s "$here/out" ] && says written "  inner"; }
try "report writes to a file" to_file
# COMMAND with a limit on files of 0 bytes, which the suite's own must not have.
# shellcheck disable=SC2016 # the inner shell expands them
limited=(bash -c '(ulimit -f 0 && exec "$@" >limited) 2>&1 | cat >&2; exit "${PIPESTATUS[0]}"' -)
kept_whole() { # COMMAND...: a file that is too small for its output stays as it was
	echo old >"$here/older" &&
		both 1 err "'older': File too large" "${limited[@]}" "$@" -o older ended &&
		[ "$(cat "$here/older")" = old ] && ! ls "$here"/.perfmon.* 2>/dev/null
}
try "report replaces a file by a whole one" kept_whole "$perfmon" report
try "a page replaces a file by a whole one" kept_whole "$perfmon" report --html
try "export replaces a file by a whole one" kept_whole "$perfmon" export -f folded
linked() {
	echo old >"$here/older" && ln -sf older "$here/link" &&
		status 0 "$perfmon" report -o link ended && [ -L "$here/link" ] && says older "  inner"
}
try "report follows a link to its file" linked
to_stdout_file() {
	status 0 "$perfmon" report -o /dev/stdout ended && says out "  inner"
}
try "report writes to /dev/stdout" to_stdout_file
limited_stdout() { both 1 err "standard output: File too large" "${limited[@]}" "$perfmon" report ended; }
try "report says that standard output is too small" limited_stdout
try "report quotes a file that it cannot write" both 1 err "'/no/such/file': No such file" \
	"$perfmon" report -o /no/such/file ended
try "report notices a full disk" both 1 err "'/dev/full': No space" \
	"$perfmon" report -o /dev/full ended

died() { both 0 out "the process died before ending its profile" "$perfmon" report exited && says out "  inner"; }
try "a profile without an end is reported, and says so" died
died_in_json() { both 0 out '"state":"died"' "$perfmon" report -f json exited; }
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
		grep -qE "^open +0( +-)+\$" "$here/out"
}
try "a running program is reported from its file" runs
try "a running program is reported by its pid" both 0 out "the process still runs" \
	"$perfmon" report -p "$pid"
kill -KILL "$pid"
wait "$pid" || true
exec 3>&-
killed() {
	both 0 out "the process died before ending its profile" "$perfmon" report running &&
		says out "  inner" && grep -qE "^open +0( +-)+\$" "$here/out"
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

# --- many profiles ---------------------------------------------------------------------

mkdir -p "$here/many"
for rank in 0 1 2; do
	must "rank $rank keeps its profile in a folder" env PERFMON_PROFILE="$here/many/" \
		OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=3 "$program" thread
done
echo "a log" >"$here/many/log"
named() { [ "$(cd "$here/many" && echo perfmon.*)" = "perfmon.0.profile perfmon.1.profile perfmon.2.profile" ]; }
try "files are named by rank" named
merges() {
	both 0 out "3 ranks of 3 on" "$perfmon" report many && quiet &&
		says out "time over 3 ranks, inclusive:" && grep -q '^  inner *18 ' "$here/out" &&
		grep -q '^  inner *3 ' "$here/out"
}
try "a folder is merged" merges
by_files() {
	status 0 "$perfmon" report -f csv many && mv "$here/out" "$here/own" &&
		status 0 "$perfmon" report -f csv many/perfmon.0.profile many/perfmon.1.profile \
			many/perfmon.2.profile && diff "$here/own" "$here/out" && grep -q . "$here/out"
}
try "so are files" by_files

# Two runs into one folder: the files of the second one go to other names.
mkdir -p "$here/jobs"
for job in 41 42; do
	for rank in 0 1; do
		must "rank $rank of job $job keeps its profile" env PERFMON_PROFILE="$here/jobs/" \
			PERFMON_OUTPUT="$here/jobs/report.$job.%r" SLURM_JOB_ID=$job SLURM_STEP_ID=0 \
			SLURM_PROCID=$rank SLURM_NTASKS=2 "$program"
	done
done
moved() {
	grep -q "note: the profile is in '.*/perfmon.1.profile.[0-9]*': there was a file '.*/perfmon.1.profile' before" \
		"$here/jobs/report.42.1" && ! grep -q "there was a file" "$here/jobs/report.41.1"
}
try "a profile that went to another name is named at the end of the run" moved
told_apart() {
	status 2 "$perfmon" report jobs && says err "the profiles are of 2 jobs, which are not summed" &&
		says err "job=slurm:41.0: 2 profiles, from " && says err "job=slurm:42.0: 2 profiles, from " &&
		[ ! -s "$here/out" ]
}
try "profiles of two jobs are told apart, and not summed" told_apart
chosen() {
	both 0 out "2 ranks of 2 on" "$perfmon" report --job "$1" jobs && quiet &&
		says out "  job      slurm:42.0" && grep -q '^  inner *6 ' "$here/out"
}
try "one of them is chosen" chosen slurm:42.0
try "also without the name of what numbers them" chosen 42.0
try "a job that is not there is quoted" both 2 err "no profile is of the job '43'" "$perfmon" report --job 43 jobs
job_json() { status 0 "$perfmon" report -f json --job 41.0 jobs && says out '"job":"slurm:41.0"'; }
try "JSON has the job" job_json
merged_json() {
	status 0 "$perfmon" report -f json many &&
		{ ! command -v jq >/dev/null ||
			jq -e '.processes[2].rank == 2 and .nodes[1].processes.time_ns.present == 3' "$here/out"; }
}
try "a folder is merged into JSON" merged_json
bad_ones() {
	cp "$here/zeros" "$here/many/zeros.profile"
	: >"$here/many/perfmon.empty"
	status 1 "$perfmon" report many nosuch many/zeros.profile && says err "'nosuch'" &&
		says err "'many/zeros.profile'" && ! grep -q perfmon.empty "$here/err" &&
		says out "3 ranks of 3 on"
	local result=$?
	rm "$here/many/zeros.profile" "$here/many/perfmon.empty"
	return "$result"
}
try "bad files are quoted, and the rest is reported" bad_ones
nothing_in_it() {
	mkdir "$here/empty" && : >"$here/empty/file" &&
		both 1 err "'empty': no profile in this directory" "$perfmon" report empty
}
try "an empty file is no profile" nothing_in_it
alone() { both 1 err "'nosuch'" "$perfmon" report nosuch ended && says out "  inner       3" && says out ", pid "; }
try "of one good file the report is its own" alone
twice() { both 0 out "rank 1 is here more than once" "$perfmon" report many many/perfmon.1.profile; }
try "a rank that is there twice is told" twice
missing() { both 0 out "rank 1 of 3 has no profile here" "$perfmon" report many/perfmon.0.profile many/perfmon.2.profile; }
try "a rank that is not there is told" missing
try "threads are of one process" both 2 err "--per-thread" "$perfmon" report -T many
mkdir -p "$here/none"
try "a folder without a profile is quoted" both 1 err "'none': no profile in this directory" "$perfmon" report none

# --- MPI -------------------------------------------------------------------------------

# Four ranks, of which rank r touches 80 * (r + 1)^2 new pages in "compute", and rank 3 is
# killed when the others have ended.
cat >"$here/ranks.c" <<'END'
#include <mpi.h>
#include <perfmon/region.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static long page;
static void touch(int pages)
{
	char *memory = mmap(NULL, pages * page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < pages; i++)
		memory[i * page] = 1;
	munmap(memory, pages * page);
}
static void compute(int pages)
{
	PERFMON_REGION_SCOPE("compute");
	touch(pages);
}
int main(int argc, char **argv)
{
	int rank, ranks, pids[4], killed = argc < 2 ? 3 : -1;

	page = sysconf(_SC_PAGESIZE);
	touch(1);
	PERFMON_REGION_BEGIN("run");
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (ranks != 4)
		return 1;
	pids[rank] = getpid();
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
	for (int step = 0; step < 5; step++) {
		PERFMON_REGION_SCOPE("step");
		for (int i = 0; i <= rank; i++)
			compute(16 * (rank + 1));
		PERFMON_REGION_SCOPE("exchange");
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (!rank) {
		PERFMON_REGION_SCOPE("output");
		usleep(1000);
	}
	if (rank == 2 && argc > 1 && !strcmp(argv[1], "die"))
		_exit(0);
	MPI_Finalize();
	if (rank == killed) {
		PERFMON_REGION_BEGIN("killed");
		for (int r = 0; r < 3; r++)
			for (int i = 0; !kill(pids[r], 0) && i < 1000; i++)
				usleep(10000);
		raise(SIGKILL);
	}
	PERFMON_REGION_END("run");
	return 0;
}
END
# The four profiles, as they must be merged: exactly, but for times.
has_lines() { # PATTERN...
	local line
	for line; do
		grep -qE "^$line" "$here/out" || {
			echo "no line has '$line'"
			cat "$here/out"
			return 1
		}
	done
}
merged_ranks() { # FOLDER
	status 0 "$perfmon" report "$1" && quiet && says out "4 ranks of 4 on" &&
		says out "rank 3 died before ending its profile" &&
		has_lines 'run +3 +>=[0-9.]+ ' '  step +20 ' '    compute +50 ' '    exchange +20 ' '  output +1 ' \
			'  killed +0 +- +-$' 'run +3\? ' '    compute +4 +2400 +600 +80 +0 +1280 +3 +113\.3$' \
			'  output +1 +[<0-9.]+ +[<0-9.]+ +0(\.000)? +1 +[<0-9.]+ +0 +300\.0$'
}
mpi() { # NAME LAUNCHER...
	local name=$1
	shift
	if ! command -v "mpicc.$name" >/dev/null || ! command -v "mpirun.$name" >/dev/null; then
		skip "four ranks of $name" "mpicc.$name or mpirun.$name is not there"
		return
	fi
	try "a program compiles with $name" "mpicc.$name" -O1 -Iinclude -Isrc "$here/ranks.c" \
		-o "$here/ranks.$name" -L"$build/.libs" -lperfmon -Wl,-rpath,"$build/.libs"
	mkdir -p "$here/$name"
	# The launcher's own status tells of the rank that was killed.
	(cd "$here" && PERFMON_PROFILE=$name/ timeout 60 "mpirun.$name" "$@" -n 4 "./ranks.$name" \
		</dev/null >&2) || true
	try "four ranks of $name are merged, one of them killed" merged_ranks "$name"

	mkdir -p "$here/$name.run"
	# Nobody looks at a terminal, as in a batch job.
	told() {
		(cd "$here/$1.run" && env -u PERFMON_OUTPUT timeout 60 "mpirun.$1" "${@:2}" -n 4 "$perfmon" run \
			"../ranks.$1" end </dev/null >"$here/out" 2>"$here/err") &&
			[ "$(grep -c '^perfmon: ' "$here/err")" -eq 1 ] && [ ! -s "$here/out" ] &&
			says err "perfmon: reports of 4 ranks: $here/$1.run/perfmon.0.txt to perfmon.3.txt" &&
			[ -s "$here/$1.run/perfmon.0.txt" ] && [ -s "$here/$1.run/perfmon.3.txt" ]
	}
	try "run under $name says once where the reports are" told "$name" "$@"

	rm -f "$build/src/mpi/libperfmon-mpi.so"*
	try "libperfmon-mpi is built for $name" pm_make "$build" "$PM_SUITE_DIR/make.log" \
		src/mpi/libperfmon-mpi.so MPICC="mpicc.$name"
	mkdir -p "$here/$name.one"
	in_one_file() {
		(cd "$here/$1.one" && env -u PERFMON_OUTPUT timeout 60 "mpirun.$1" "${@:2}" -n 4 \
			env LD_PRELOAD="$build/src/mpi/libperfmon-mpi.so" "../ranks.$1" end </dev/null 2>"$here/err") &&
			says err "perfmon: report of 4 ranks: $here/$1.one/perfmon.txt" &&
			[ "$(cd "$here/$1.one" && echo *)" = perfmon.txt ] &&
			cp "$here/$1.one/perfmon.txt" "$here/out" && says out "4 ranks of 4 on" &&
			says out "ranks 0-3 handed over their profiles inside visits" && has_lines '  step +20 ' '    compute +50 ' \
			'    compute +4 +2400 +600 +80 +0 +1280 +3 +113\.3$'
	}
	try "four ranks of $name are merged by MPI into one file" in_one_file "$name" "$@"
	# MPICH's own MPI_Finalize() waits for the rank for ever.
	[ "$name" = openmpi ] || return 0
	mkdir -p "$here/$name.died"
	without_the_dead() {
		(cd "$here/$1.died" && env -u PERFMON_OUTPUT PERFMON_MPI_WAIT=1 timeout 60 "mpirun.$1" "${@:2}" \
			--enable-recovery -n 4 env LD_PRELOAD="$build/src/mpi/libperfmon-mpi.so" "../ranks.$1" die \
			</dev/null >"$here/out" 2>"$here/err") || true
		says err "perfmon: rank 2 did not come to MPI_Finalize() within 1 s" &&
			[ "$(cd "$here/$1.died" && echo *)" = perfmon.txt ] &&
			cp "$here/$1.died/perfmon.txt" "$here/out" && says out " 3 ranks of 4 on " &&
			says out "rank 2 of 4 has no profile here"
	}
	try "a rank that died has no part, and rank 3 behind it has" without_the_dead "$name" "$@"
	fortran "$name" "$@"
}

# Fortran, in the three forms of its calls.
for form in mpif.h mpi mpi_f08; do
	use="use $form" include=
	[ "$form" != mpif.h ] || use='' include="include 'mpif.h'"
	cat >"$here/$form.f90" <<END
program ranks
	use, intrinsic :: iso_c_binding
	$use
	implicit none
	$include
	interface
		subroutine region_begin(name) bind(C, name="perfmon_region_begin_name")
			import
			character(kind=c_char), intent(in) :: name(*)
		end subroutine
		subroutine region_end(name) bind(C, name="perfmon_region_end_name")
			import
			character(kind=c_char), intent(in) :: name(*)
		end subroutine
	end interface
	integer :: ierror
	call MPI_Init(ierror)
	call region_begin("solve" // c_null_char)
	call region_end("solve" // c_null_char)
	ierror = -1
	call MPI_Finalize(ierror)
	if (ierror /= 0) stop 1
end program
END
done
fortran_run() { # NAME LAUNCHER... PROGRAM: two ranks, which write nothing but reports
	local name=$1
	rm -rf "$here/$name.fortran" && mkdir "$here/$name.fortran" &&
		(cd "$here/$name.fortran" && env -u PERFMON_OUTPUT PERFMON_EVENTS=none \
			timeout 60 "mpirun.$name" "${@:2}" </dev/null >"$here/out" 2>"$here/err")
}
fortran_is_one() { # NAME LAUNCHER... PROGRAM
	fortran_run "$@" && [ "$(cd "$here/$1.fortran" && echo *)" = perfmon.txt ] &&
		[ "$(grep -c '^perfmon: ' "$here/err")" -eq 1 ] &&
		says err "perfmon: report of 2 ranks: $here/$1.fortran/perfmon.txt" &&
		cp "$here/$1.fortran/perfmon.txt" "$here/out" && says out "2 ranks of 2 on" && has_lines 'solve +2 ' &&
		! grep -E 'note: (rank|pid)' "$here/out"
}
# Behind MPI the library sees no call of the program's, and says so, once.
fortran_is_missed() { # NAME LAUNCHER... PROGRAM
	fortran_run "$@" && [ "$(grep -c 'did not see MPI_Finalize()' "$here/err")" -eq 1 ] &&
		says err "perfmon: reports of 2 ranks: $here/$1.fortran/perfmon.0.txt to perfmon.1.txt"
}
fortran() { # NAME LAUNCHER...
	local name=$1 form own libraries=(-lmpi_mpifh -lmpi)
	shift
	[ "$name" != mpich ] || libraries=(-lmpichfort -lmpich)
	own=(-L"$build/src/mpi" -L"$build/.libs" -lperfmon "-Wl,-rpath,$build/.libs:$build/src/mpi")
	if ! command -v "mpifort.$name" >/dev/null; then
		skip "Fortran with $name" "mpifort.$name is not there"
		return
	fi
	for form in mpif.h mpi mpi_f08; do
		try "Fortran's $form compiles with $name" "mpifort.$name" "$here/$form.f90" \
			-o "$here/fortran" "${own[@]}"
		try "Fortran's $form with $name: preloaded, one report" fortran_is_one "$name" "$@" -n 2 \
			env LD_PRELOAD="$build/src/mpi/libperfmon-mpi.so" "$here/fortran"
	done
	try "Fortran links the library with $name" "mpifort.$name" "$here/mpi_f08.f90" -o "$here/linked" \
		-lperfmon-mpi "${own[@]}"
	try "Fortran with $name: linked, one report" fortran_is_one "$name" "$@" -n 2 "$here/linked"
	# The wrapper names MPI's libraries last: these are named before.
	try "Fortran links the library behind $name" "mpifort.$name" "$here/mpi.f90" -o "$here/behind" \
		-Wl,--no-as-needed "${libraries[@]}" -lperfmon-mpi "${own[@]}"
	try "Fortran with $name: linked behind MPI, a sentence" fortran_is_missed "$name" "$@" -n 2 "$here/behind"
}
as_root=()
[ "$(id -u)" -ne 0 ] || as_root=(--allow-run-as-root)
mpi openmpi "${as_root[@]}" --oversubscribe
mpi mpich

# --- large ones ------------------------------------------------------------------------

make=$build/tests/programs/profile_make
must "the makers of large profiles are built" pm_make "$build" "$PM_SUITE_DIR/make.log" \
	tests/programs/profile_make tests/programs/measure
declare -A ms kib
# measured NAME COMMAND...: the least of three times and the memory.
measured() {
	local name=$1
	shift
	read -r "ms[$name]" "kib[$name]" < <("$build/tests/programs/measure" 3 "$@" 2>"$here/err")
	cat "$here/err" >&2
}
within() { # WHAT VALUE BOUND
	echo "$1: $2, at most $3"
	[ "$2" -le "$3" ]
}
mkdir -p "$here/ranks" "$here/ranks10"
must "1,000 ranks with 200 paths are made" "$make" "$here/ranks" 1000 200 2
must "100 ranks with 200 paths are made" "$make" "$here/ranks10" 100 200 2
measured few "$perfmon" report "$here/ranks10"
measured many "$perfmon" report "$here/ranks"
profile_kib=$(($(stat -c %s "$here/ranks/perfmon.0.profile") / 1024))
try "1,000 ranks with 200 paths are merged in seconds (${ms[many]} ms)" within ms "${ms[many]}" 9999
try "memory does not grow with them (${kib[few]} KiB for 100, ${kib[many]} KiB for 1,000)" \
	within KiB $((kib[many] - kib[few])) $((900 * profile_kib / 10))
if command -v script >/dev/null; then
	bar() {
		(cd "$here" && TERM=xterm script -qec "$perfmon report ranks ranks ranks ranks >out" /dev/null \
			</dev/null >"$here/shown") && says shown " of 4000 profiles" &&
			says shown "[#" && [ "$(tail -c 3 "$here/shown")" = $'\x1b[K' ] &&
			says out "4000 ranks of 1000"
	}
	try "a terminal gets a bar, which goes away" bar
	dumb() {
		(cd "$here" && TERM=dumb script -qec "$perfmon report ranks ranks ranks ranks >out" /dev/null \
			</dev/null >"$here/shown") && [ ! -s "$here/shown" ]
	}
	try "TERM=dumb gets none" dumb
else
	skip "a terminal gets a bar" "there is no script(1)"
fi
status 0 "$perfmon" report ranks && try "what is no terminal gets none" quiet
rm -r "$here/ranks" "$here/ranks10"

# Time and memory of reports of THREADS times PATHS.
for size in 1000x1000 250x1000 1000x250; do
	must "a profile of $size threads and paths is made" \
		"$make" "$here/large" "${size%x*}" "${size#*x}" 2
	measured "$size" "$perfmon" report "$here/large"
	rm "$here/large"
done
try "1,000 threads with 1,000 paths are reported (${ms[1000x1000]} ms) within 1 GB (${kib[1000x1000]} KiB)" within KiB "${kib[1000x1000]}" 976562
for size in 250x1000 1000x250; do
	# Four times as much takes four times as much if it grows linearly, 16 times if with
	# the square: the bound is between these.
	try "time grows linearly from $size on (${ms[$size]} ms)" \
		within ms "${ms[1000x1000]}" $((8 * ms[$size]))
	try "memory grows linearly from $size on (${kib[$size]} KiB)" \
		within KiB "${kib[1000x1000]}" $((4 * kib[$size]))
done
