#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# perfmon run --hooks: regions that a program does not name, by libraries that are loaded into it.
. "$PM_TOP/scripts/suite.sh"

native_tree all
if [ ! -x "$build/perfmon" ]; then
	skip hooks "the command was not built: ncurses is missing"
	exit 0
fi
installed_tree
perfmon=$prefix/bin/perfmon
export LD_LIBRARY_PATH=$prefix/lib
here=$PM_SUITE_DIR/run
rm -rf "$here"
mkdir -p "$here"
# shellcheck disable=SC2054
library=("-I$PM_TOP/include" -L"$prefix/lib" -lperfmon)

# --- the option -----------------------------------------------------------------------------

lists() {
	status 0 "$perfmon" run --hooks && grep -q '^openmp  *[a-z]' "$here/out" && grep -q '^threads  *[a-z]' "$here/out"
}
try "--hooks alone lists them" lists
try "an unknown hook is quoted" both 2 err "'opnmp' is not a hook: expects one of kokkos, likwid, mpi, openmp, papi-hl, threads" \
	"$perfmon" run --hooks=threads,opnmp true
try "no hook is one, too" both 2 err "'' is not a hook" "$perfmon" run --hooks= true
preloads() { # WANT: of the names of the files alone
	[ "$(sed -n 's/^LD_PRELOAD=//p' "$here/out" | tr ':' '\n' | sed 's|.*/||' | tr '\n' ' ')" = "$1" ]
}
both_loaded() { status 0 "$perfmon" run --hooks threads,openmp env && preloads "libperfmon-openmp.so.0 libperfmon-threads.so.0 "; }
try "each is loaded" both_loaded
once() {
	status 0 "$perfmon" run --hooks=openmp,openmp "$perfmon" run --hooks=openmp,threads env &&
		preloads "libperfmon-openmp.so.0 libperfmon-threads.so.0 "
}
try "each once" once
kept() {
	status 0 env LD_PRELOAD=libm.so.6 "$perfmon" run --hooks=openmp env &&
		preloads "libm.so.6 libperfmon-openmp.so.0 "
}
try "what was loaded stays" kept
# same OPTION... -- COMMAND...: the same output and status with hooks and without.
same() {
	local want=0 got=0
	(cd "$here" && timeout 60 "$@") >"$here/without" 2>&1 || want=$?
	(cd "$here" && timeout 60 "$perfmon" run --hooks=openmp,threads -o none -- "$@") >"$here/with" 2>&1 || got=$?
	[ "$got" -eq "$want" ] && cmp "$here/without" "$here/with"
}
try "a command without OpenMP is as without hooks" same sh -c 'ls /usr; exit 7'
silent() { status 0 "$perfmon" run --hooks=openmp,threads -- "$@" && [ ! -s "$here/err" ]; }
cat >"$here/plain.cc" <<'END'
#include <thread>
int main() { std::thread thread([] {}); thread.join(); }
END
must "a program compiles" g++ -O1 -pthread "$here/plain.cc" -o "$here/plain"
try "a program without regions has no report" silent ./plain

# --- OpenMP ---------------------------------------------------------------------------------

cat >"$here/loops.c" <<'END'
#include <omp.h>
#include <perfmon/region.h>
#include <stdio.h>

static int tasks;
static double work(long n)
{
	volatile double sum = 0;

	for (long i = 0; i < n; i++)
		sum += (double)i;
	return sum;
}
static void nested(void)
{
#pragma omp parallel num_threads(2)
	{
#pragma omp parallel num_threads(2)
		work(10);
	}
}
static void rest(void)
{
#pragma omp parallel for schedule(dynamic) num_threads(2)
	for (int i = 0; i < 10; i++)
		work(10);
#pragma omp parallel for schedule(guided, 2) num_threads(2)
	for (int i = 0; i < 10; i++)
		work(10);
#pragma omp parallel for schedule(runtime) num_threads(2)
	for (int i = 0; i < 10; i++)
		work(10);
#pragma omp parallel for schedule(monotonic : dynamic) num_threads(2)
	for (int i = 0; i < 10; i++)
		work(10);
#pragma omp parallel sections num_threads(2)
	{
#pragma omp section
		work(10);
#pragma omp section
		work(10);
	}
	int sum = 0;
#pragma omp parallel reduction(task, + : sum) num_threads(2)
#pragma omp task in_reduction(+ : sum)
	sum++;
#pragma omp parallel num_threads(2)
#pragma omp single
	{
		char large[8000] = {1};
#pragma omp task firstprivate(large)
#pragma omp atomic
		tasks += large[0];
#pragma omp taskloop grainsize(10)
		for (int i = 0; i < 100; i++)
#pragma omp atomic
			tasks++;
	}
	printf("%d reduced, %d tasks\n", sum, tasks);
}
int main(void)
{
	double sum = 0;
	int threads = 0;

	omp_set_max_active_levels(2);
	PERFMON_REGION_BEGIN("solve");
	for (int k = 0; k < 100; k++) {
#pragma omp parallel for reduction(+ : sum) num_threads(2)
		for (int i = 0; i < 100; i++)
			sum += work(10);
	}
#pragma omp parallel reduction(+ : threads) num_threads(3)
	{
		threads++;
#pragma omp barrier
		work(10);
	}
	nested();
	PERFMON_REGION_END("solve");
	rest();
	printf("%g of %d threads\n", sum, threads);
	return 3;
}
END
compiles() { gcc -O1 -fopenmp "$@" "${library[@]}"; }
must "a program with OpenMP compiles" compiles -g "$here/loops.c" -o "$here/loops"
unset OMP_NUM_THREADS OMP_SCHEDULE OMP_CANCELLATION
status_and_output() {
	status 3 ./loops && grep -v '^perfmon\|^ ' "$here/out" >"$here/without" &&
		status 3 "$perfmon" run --hooks=openmp -o report -f csv -e none ./loops && cmp "$here/without" "$here/out" &&
		nothing cat "$here/err"
}
# Row: FO-06
must "its output and its status are the same" in_shell status_and_output
# A row of the report: path, region and visits.
row() { # FILE PATH VISITS
	grep -qE "^all,([^,]*,)*$2,[^,]*,$3," "$here/$1" || {
		echo "no row $2 with $3 visits in $1:"
		grep '^all,' "$here/$1"
		return 1
	}
}
line() { grep -n "$1" "$here/loops.c" | sed -n "${2:-1}s/:.*//p"; }
main_1=$(line 'parallel for reduction')
main_2=$(line 'parallel reduction(+')
nested_1=$(line 'parallel num_threads(2)' 1)
nested_2=$(line 'parallel num_threads(2)' 2)
# Both threads of 100 loops.
try "a loop is below the region around it, in all its threads" row report "solve;main:$main_1 \(parallel\)" 200
try "its join is apart" row report "solve;main:$main_1 \(parallel\);\(join\)" 100
try "a team of three" row report "solve;main:$main_2 \(parallel\)" 3
try "a barrier is apart" row report "solve;main:$main_2 \(parallel\);\(barrier\)" 3
try "a construct in a construct" row report "solve;nested:$nested_1 \(parallel\);nested:$nested_2 \(parallel\)" 4
for schedule in dynamic guided runtime monotonic sections; do
	try "schedule: $schedule" row report "rest:$(line "parallel.*$schedule") \(parallel\)" 2
done
try "tasks with reductions" row report "rest:$(line 'reduction(task') \(parallel\);rest:$(line 'task in_reduction') \(task\)" 2
try "tasks of a loop" row report "rest:$(line 'parallel num_threads(2)' 3) \(parallel\);rest:$(line taskloop) \(task\)" 10
one_root() { [ "$(grep -cE '^all,([^,]*,)*solve,solve,' "$here/report")" -eq 1 ] && ! grep -qE '^all,([^,]*,)*main:[0-9]* \(parallel\),main' "$here/report"; }
try "workers have no tree of their own" one_root
# Row: FO-08
skips() {
	status 3 "$perfmon" run --hooks=openmp --skip 'main:*,(join)' -o skipped -f csv -e none ./loops &&
		row skipped 'solve;\(barrier\)' 3 && ! grep -E '^all,.*(\(join\)|main:)' "$here/skipped" &&
		status 3 "$perfmon" run --hooks=openmp --depth 2 -o skipped -e none ./loops &&
		grep -E 'left out: [0-9]+ visits, by PERFMON_DEPTH' "$here/skipped"
}
try "constructs are left out by their names, and what is too deep" skips
below() { # FILE PATH
	status 3 "$perfmon" run --hooks=openmp -o report -f csv -e none "./$1" && row report "$2" 200
}
must "without debug information" strip -g "$here/loops" -o "$here/symbols"
try "a construct has the name of its function and a number" below symbols 'solve;main \(parallel 0\)'
must "without symbols" strip "$here/loops" -o "$here/stripped"
try "and with nothing left its place in the file" below stripped 'solve;stripped\+0x[0-9a-f]* \(parallel\)'
compressed() { objcopy --compress-debug-sections "$here/loops" "$here/compressed" && below compressed "solve;main:$main_1 \(parallel\)"; }
separate() {
	objcopy --only-keep-debug "$here/loops" "$here/separate.debug" &&
		strip "$here/loops" -o "$here/separate" &&
		(cd "$here" && objcopy --add-gnu-debuglink=separate.debug separate) &&
		below separate "solve;main:$main_1 \(parallel\)"
}
if ldconfig -p | grep 'libdw\.so\.1 ' >/dev/null; then
	try "compressed debug information has lines" compressed
	try "separate debug information has lines" separate
	# loaded PROGRAM: the libraries that read debug information, in this process
	loaded() {
		rm -f "$here"/loader.*
		status 3 env LD_DEBUG=files LD_DEBUG_OUTPUT="$here/loader" \
			"$perfmon" run --hooks=openmp -o report -e none "./$1" &&
			cat "$here"/loader.* | grep -oE 'file=(libdw|libdebuginfod)\.so' | sort -u
	}
	loads_nothing() { nothing loaded stripped; }
	loads_no_more() { [ "$(loaded symbols)" = file=libdw.so ] && [ "$(loaded loops)" = file=libdw.so ]; }
	try "for a file with nothing to read no library is loaded" loads_nothing
	try "and none that asks servers" loads_no_more
	kept() { # FILE
		cp "$here/$1" "$here/later" &&
			status 3 "$perfmon" run --hooks=openmp -P "$1.profile" -o none -e none ./later
	}
	named() { # PATH VISITS OPTION...
		local path=$1 visits=$2
		shift 2
		(cd "$here" && "$perfmon" report -f csv "$@" >named) || return
		row named "$path" "$visits"
	}
	later() {
		local id
		id=$(readelf -n "$here/loops" | sed -n 's/.*Build ID: //p')
		kept stripped && kept loops && mkdir -p "$here/debug/.build-id/${id:0:2}" "$here/copy" &&
			objcopy --only-keep-debug "$here/loops" "$here/debug/.build-id/${id:0:2}/${id:2}.debug" &&
			cp "$here/loops" "$here/copy/later" && cp "$here/stripped" "$here/later" &&
			cp "$here/stripped.profile" "$here/before" &&
			named 'solve;later\+0x[0-9a-f]* \(parallel\)' 200 stripped.profile &&
			named "solve;main:$main_1 \(parallel\)" 200 --debug-dir debug stripped.profile &&
			named "solve;main:$main_1 \(parallel\)" 200 --debug-dir copy stripped.profile &&
			named "solve;main:$main_1 \(parallel\)" 400 --debug-dir copy stripped.profile loops.profile &&
			(cd "$here" && "$perfmon" export --debug-dir debug -f folded stripped.profile) |
			grep "solve;main:$main_1 (parallel)" &&
			cmp "$here/before" "$here/stripped.profile"
	}
	changed() {
		cp "$here/other" "$here/later"
		named 'solve;later\+0x[0-9a-f]* \(parallel\)' 200 stripped.profile &&
			(cd "$here" && "$perfmon" report stripped.profile) | grep 'later is another file than when the program ran' &&
			rm "$here/later" && named "solve;main:$main_1 \(parallel\)" 200 --debug-dir debug stripped.profile &&
			(cd "$here" && "$perfmon" report stripped.profile) | grep 'later is not here'
	}
	try "a report finds names that the run did not, once for runs of both kinds" later
	echo 'int main(void) { return 0; }' | gcc -x c - -o "$here/other"
	try "but not in a file that has changed" changed
else
	skip "debug information" "libdw1 is not installed"
fi

cat >"$here/cxx.cc" <<'END'
#include <cstdio>
#include <string>
struct text {
	std::string own = "a text that is longer than a short one";
};
int lengths(text value)
{
	int sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
	for (int i = 0; i < 10; i++)
#pragma omp task firstprivate(value)
#pragma omp atomic
		sum += (int)value.own.size();
	return sum;
}
int main() { std::printf("%d\n", lengths(text())); }
END
must "a program of C++ compiles" g++ -O1 -fopenmp "$here/cxx.cc" -o "$here/cxx"
try "tasks whose data has constructors" same ./cxx
cxx() {
	status 0 "$perfmon" run --hooks=openmp -o report -f csv -e none ./cxx &&
		row report 'lengths\(text\) \(parallel 0\)' 2 && row report 'lengths\(text\) \(parallel 0\);lengths\(text\) \(task [01]\)' 10
}
try "names of C++ are as written" cxx

# --- OpenMP of clang --------------------------------------------------------------------------

{
	sed -n '/^static void rest/,/^}/!p' "$here/loops.c" | sed '/rest();/d; /static int tasks/d; s/return 3;/return many();/'
	printf 'static int many(void)\n{\n\tint sum = 0'
	seq 40 | sed 's/.*/, v& = &/'
	printf ';\n#pragma omp parallel num_threads(2)\n#pragma omp single\n\tsum += 0'
	seq 40 | sed 's/.*/ + v&++/'
	printf ';\n\treturn sum == 820 && v40 == 41 ? 3 : 1;\n}\n'
} >"$here/clang.c"
sed -i 's/^int main(void)/static int many(void);\n&/' "$here/clang.c"
main_clang=$(grep -n 'parallel for reduction' "$here/clang.c" | cut -d : -f 1)
if echo 'int main(void) { return 0; }' | clang -fopenmp -x c - -o "$here/clang" 2>/dev/null && "$here/clang"; then
	must "clang compiles it" clang -O1 -g -fopenmp "$here/clang.c" -o "$here/clang" "${library[@]}"
	of_clang() { # PATH VISITS
		status 3 env PERFMON_OUTPUT=none ./clang && mv "$here/out" "$here/without" &&
			status 3 "$perfmon" run --hooks=openmp -o report -f csv -e none ./clang &&
			cmp "$here/out" "$here/without" && row report "$1" "$2"
	}
	try "clang: a loop, the same output and status" of_clang "solve;main:$main_clang \(parallel\)" 200
	try "clang: its join" row report "solve;main:$main_clang \(parallel\);\(join\)" 100
	try "clang: a barrier" row report 'solve;main:[0-9]* \(parallel\);\(barrier\)' 3
	try "clang: a construct in a construct" row report 'solve;nested:[0-9]* \(parallel\);nested:[0-9]* \(parallel\)' 4
	try "clang: more variables than fit registers" row report 'many:[0-9]* \(parallel\)' 2
	cat >"$here/tasks.c" <<'END'
#include <omp.h>
#include <stdio.h>

int main(void)
{
	char large[8000] = {1};
	double aligned[4] __attribute__((aligned(64))) = {1, 2, 3, 4};
	int sum = 0, reduced = 0, late = 0;
	omp_event_handle_t event;

#pragma omp parallel num_threads(2)
#pragma omp single
	{
		for (int i = 0; i < 100; i++)
#pragma omp task shared(sum)
#pragma omp atomic
			sum++;
#pragma omp task firstprivate(large, aligned)
#pragma omp atomic
		sum += large[0] + (int)aligned[3] + ((unsigned long)aligned % 64 ? 1000 : 0);
#pragma omp taskloop grainsize(10)
		for (int i = 0; i < 100; i++)
#pragma omp atomic
			sum++;
#pragma omp task if (0)
		{
#pragma omp atomic
			sum++;
#pragma omp task
#pragma omp atomic
			sum++;
		}
#pragma omp task untied
		{
#pragma omp task
#pragma omp atomic
			sum++;
#pragma omp taskwait
#pragma omp atomic
			sum++;
		}
#pragma omp task depend(out : late)
		late = 5;
#pragma omp task depend(inout : late)
		late++;
#pragma omp taskgroup task_reduction(+ : reduced)
		for (int i = 0; i < 10; i++)
#pragma omp task in_reduction(+ : reduced)
			reduced++;
#pragma omp task
		;
#pragma omp task detach(event)
#pragma omp atomic
		sum++;
		omp_fulfill_event(event);
	}
	printf("%d %d %d\n", sum, late, reduced);
	return 3;
}
END
	must "clang compiles tasks" clang -O1 -g -fopenmp "$here/tasks.c" -o "$here/tasks"
	task() { # WHAT: a task at this line, below the construct
		echo "main:$(grep -n 'parallel num_threads' "$here/tasks.c" | cut -d : -f 1) \(parallel\);main:$(grep -n "$1" "$here/tasks.c" | cut -d : -f 1) \(task\)"
	}
	tasks_of_clang() {
		status 3 ./tasks && says out '210 6 10' && mv "$here/out" "$here/without" &&
			status 3 "$perfmon" run --hooks=openmp -o report -f csv -e none ./tasks &&
			cmp "$here/out" "$here/without" && row report "$(task 'task shared(sum)')" 100
	}
	must "clang: tasks, the same output and status" tasks_of_clang
	try "clang: a task with data of its own" row report "$(task firstprivate)" 1
	try "clang: a loop of tasks" row report "$(task taskloop)" 10
	try "clang: a task that is not deferred, and one in it" row report "$(task 'task if (0)');main:[0-9]* \(task\)" 1
	try "clang: an untied task has a visit for each part" row report "$(task untied)" '[2-9]'
	try "clang: a task that depends on another" row report "$(task 'depend(inout')" 1
	try "clang: tasks with a reduction" row report "$(task in_reduction)" 10
	try "clang: a task that ends later" row report "$(task detach)" 1
	no_task_in_a_wait() { ! grep -E '^all,.*\((barrier|join)\);[^,]*\(task\)' "$here/report"; }
	try "clang: no task is in a barrier" no_task_in_a_wait
	must "clang: tasks whose data has constructors compile" clang++ -O1 -fopenmp "$here/cxx.cc" -o "$here/cxx-clang"
	try "clang: tasks whose data has constructors" same ./cxx-clang
	must "clang: without symbols" strip "$here/clang" -o "$here/clang-stripped"
	try "clang: the name is the compiler's" below clang-stripped "solve;main:$main_clang \(parallel\)"
else
	skip "OpenMP of clang" "clang or its OpenMP library is not there"
fi

cat >"$here/part.c" <<'END'
long part(long n);
long part(long n)
{
	long sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(2)
	for (long i = 0; i < n; i++)
		sum += i;
	return sum;
}
END
cat >"$here/loads.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
	void *library = dlopen("./part.so", RTLD_NOW | RTLD_LOCAL);
	long (*part)(long) = (long (*)(long))dlsym(library, "part");

	for (int i = 0; i < 5; i++)
		printf("%ld\n", part(1000));
	return 4;
}
END
must "a library with OpenMP compiles" gcc -O1 -fopenmp -shared -fPIC "$here/part.c" -o "$here/part.so"
must "a program that loads it" gcc -O1 "$here/loads.c" -o "$here/loads"
try "OpenMP that is loaded by a library of the program's own" same ./loads
loads() { status 4 "$perfmon" run --hooks=openmp -o report -f csv -e none ./loads && row report 'part \(parallel 0\)' 10; }
try "it has regions" loads
# A second OpenMP library, as packages of Python bring one: each module calls its own, or that of
# the program. The copy has a name of the same length.
renamed() { sed 's/libgomp\.so\.1/libgown.so.1/g' "$1" >"$2"; }
second() {
	renamed "$(gcc -print-file-name=libgomp.so.1)" "$here/libgown.so.1"
	sed 's/part/other/g' "$here/part.c" >"$here/other.c"
	gcc -O1 -fopenmp -shared -fPIC "$here/other.c" -o "$here/other.shared" -Wl,-rpath,"$here"
	renamed "$here/other.shared" "$here/other.so"
	sed 's/return 4;/library = dlopen(".\/other.so", RTLD_NOW | RTLD_LOCAL);\n\tpart = (long (*)(long))dlsym(library, "other");\n\tprintf("%ld\\n", part(2000));\n\treturn 4;/' \
		"$here/loads.c" >"$here/two.c"
	sed 's/return 4;/\n#pragma omp parallel num_threads(2)\n\tputs("in the program");\n\treturn 4;/' \
		"$here/two.c" >"$here/three.c"
	gcc -O1 "$here/two.c" -o "$here/two"
	gcc -O1 -fopenmp "$here/three.c" -o "$here/three"
}
must "a second OpenMP library" in_shell second
two() { # PROGRAM
	same "./$1" && status 4 "$perfmon" run --hooks=openmp -o report -f csv -e none "./$1" &&
		row report 'part \(parallel 0\)' 10 && row report 'other \(parallel 0\)' 2
}
try "two OpenMP libraries in a program" two two
try "where the program has one itself" two three

linked() {
	compiles -g "$here/loops.c" -o "$here/linked" -Wl,--no-as-needed -lperfmon-openmp &&
		status 3 env PERFMON_OUTPUT=report PERFMON_FORMAT=csv PERFMON_EVENTS=none ./linked &&
		row report "solve;main:$main_1 \(parallel\)" 200 &&
		status 3 "$perfmon" run --hooks=openmp -o report -f csv -e none ./linked &&
		row report "solve;main:$main_1 \(parallel\)" 200
}
try "a program may be linked with the hook, and is not hooked twice" in_shell linked

# --- threads --------------------------------------------------------------------------------

cat >"$here/threads.cc" <<'END'
#include <cstdio>
#include <future>
#include <perfmon/region.h>
#include <pthread.h>
#include <thread>
#include <threads.h>
#include <unistd.h>

static int ends[2];
static void *leaves(void *) { PERFMON_REGION_SCOPE("leaves"); pthread_exit(ends); }
static void *waits(void *)
{
	PERFMON_REGION_BEGIN("waits");
	PERFMON_REGION_END("waits");
	(void)!write(ends[1], "", 1);
	for (;;)
		pause();
}
static int c11(void *) { PERFMON_REGION_SCOPE("c11"); return 5; }
int main()
{
	pthread_t thread;
	thrd_t other;
	void *result;
	char byte;
	int sum = 0, status;

	PERFMON_REGION_BEGIN("spawn");
	std::thread([] {
		PERFMON_REGION_SCOPE("part");
		std::thread([] { PERFMON_REGION_SCOPE("inner"); }).join();
	}).join();
	sum += std::async(std::launch::async, [] { PERFMON_REGION_SCOPE("async"); return 4; }).get();
	pthread_create(&thread, nullptr, leaves, nullptr);
	pthread_join(thread, &result);
	sum += result == ends;
	if (pipe(ends))
		return 1;
	pthread_create(&thread, nullptr, waits, nullptr);
	(void)!read(ends[0], &byte, 1);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	sum += result == PTHREAD_CANCELED;
	thrd_create(&other, c11, nullptr);
	thrd_join(other, &status);
	sum += status;
	PERFMON_REGION_END("spawn");
	std::thread([] { PERFMON_REGION_SCOPE("outside"); }).join();
	std::printf("%d\n", sum);
}
END
must "a program with threads compiles" g++ -O1 -pthread "$here/threads.cc" -o "$here/threads" "${library[@]}"
threads() {
	status 0 "$perfmon" run --hooks=threads -o report -f csv -e none ./threads && says out 11
}
# Row: FO-07
must "a program with threads ends as usual" threads
for path in 'spawn;part' 'spawn;part;inner' 'spawn;async' 'spawn;leaves' 'spawn;waits' 'spawn;c11' outside; do
	try "threads: $path" row report "$path" 1
done
nothing_lost() { status 0 "$perfmon" run --hooks=threads -o report -e none ./threads && says report "spawn" && nothing grep "lost:" "$here/report"; }
try "no adoption is lost" nothing_lost
asks() { status 0 "$perfmon" run --hooks=openmp,threads -o report -f csv -e none "$perfmon" info && [ ! -e "$here/asked" ]; }
try "the command itself runs with hooks" asks
