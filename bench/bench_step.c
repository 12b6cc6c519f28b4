/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The instructions of the warm paths on x86-64, counted by single-stepping (ptrace(2)).
 * The counters are those of a fake PMU; the tracer emulates the rdpmc. */
#include <perfmon/inline.h>
#include <perfmon/quantity.h>
#include <perfmon/session.h>
#include <perfmon/task.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "fake_pmu.h"

#define REPEAT 16
#define RUNS   5 /* the first of them takes the slow path */

static const struct perfmon_reader *reader;

__attribute__((noinline)) static void empty(int n)
{
	for (int i = 0; i < n; i++)
		__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void pairs(int n)
{
	for (int i = 0; i < n; i++) {
		PERFMON_REGION_BEGIN("pair");
		PERFMON_REGION_END("pair");
	}
}

/* A task with one visit open waits and goes on. Its first call, in the stepped child, begins it. */
__attribute__((noinline)) static void suspensions(int n)
{
	static struct perfmon_task task;

	if (!task.id) {
		perfmon_task_begin(&task);
		PERFMON_REGION_BEGIN("visit");
	}
	for (int i = 0; i < n; i++) {
		perfmon_task_suspend(&task);
		perfmon_task_resume(&task);
	}
}

/* A quantity of the innermost visit, which the first call begins. */
__attribute__((noinline)) static void additions(int n)
{
	static bool begun;

	if (!begun) {
		begun = true;
		PERFMON_REGION_BEGIN("add");
	}
	for (int i = 0; i < n; i++)
		PERFMON_REGION_ADD("bytes", "B", 24);
}

__attribute__((noinline)) static void timestamps(int n)
{
	for (int i = 0; i < n; i++) {
		uint64_t a = perfmon_arch_timestamp(), b;

		__asm__ volatile("" ::"r"(a) : "memory");
		b = perfmon_arch_timestamp();
		__asm__ volatile("" ::"r"(b) : "memory");
	}
}

__attribute__((noinline)) static void inline_1(int n)
{
	const struct perfmon_reader *from = reader;
	uint64_t value = 0;

	for (int i = 0; i < n; i++) {
		perfmon_reader_read(from, 0, &value);
		__asm__ volatile("" ::"r"(value) : "memory");
	}
}

__attribute__((noinline)) static void inline_4(int n)
{
	const struct perfmon_reader *from = reader;
	uint64_t values[4];

	for (int i = 0; i < n; i++) {
		perfmon_reader_read_all(from, values);
		__asm__ volatile("" ::"r"(values) : "memory");
	}
}

__attribute__((noinline)) static void call_1(int n)
{
	const struct perfmon_reader *from = reader;
	uint64_t value;

	for (int i = 0; i < n; i++)
		perfmon_reader_read_call(from, 0, &value);
}

__attribute__((noinline)) static void call_4(int n)
{
	const struct perfmon_reader *from = reader;
	uint64_t values[4];

	for (int i = 0; i < n; i++)
		perfmon_reader_read_all_call(from, values);
}

/* --- stepping ----------------------------------------------------------------------- */

#define MARK() __asm__ volatile("int3" ::: "memory")

/* In the traced child: each run is between two marks. */
static void run_marked(bench_work *work)
{
	cpu_set_t one;

	/* A visit that ends on another CPU takes another path. */
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	work(REPEAT);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	for (int i = 0; i < RUNS; i++) {
		int n = i & 1 ? 2 * REPEAT : REPEAT;

		MARK();
		(i > 2 ? empty : work)(n);
		MARK();
	}
	_exit(0);
}

/* Makes CHILD read VALUE from a counter into edx:eax, by an instruction of two bytes. */
static void give(pid_t child, struct user_regs_struct *registers, uint64_t value)
{
	registers->rax = (uint32_t)value;
	registers->rdx = value >> 32;
	registers->rip += 2;
	ptrace(PTRACE_SETREGS, child, NULL, registers);
}

#define RDTSC 0x310f

/*
 * Makes CHILD execute one instruction. Returns whether it was at a mark; *GONE says that
 * it has ended. Its time passes as slowly as if it ran by itself, so no visit is the
 * longest so far.
 */
static bool step(pid_t child, bool *gone)
{
	static uint64_t counter = 1u << 20, time;
	struct user_regs_struct registers;
	int status;
	long code;

	ptrace(PTRACE_GETREGS, child, NULL, &registers);
	code = ptrace(PTRACE_PEEKTEXT, child, (void *)registers.rip, NULL);
	if ((code & 0xffff) == FAKE_PMU_RDPMC || (code & 0xffff) == RDTSC) {
		if (!time)
			time = perfmon_arch_timestamp();
		give(child, &registers,
		     (code & 0xffff) == RDTSC ? (time += 100) : ++counter);
		return false;
	}
	ptrace(PTRACE_SINGLESTEP, child, NULL, NULL);
	*gone = waitpid(child, &status, 0) != child || !WIFSTOPPED(status);
	return (code & 0xff) == 0xcc;
}

/* Steps CHILD to the end of each run, and counts each run's instructions without the
 * marks. */
static bool count_runs(pid_t child, int counts[RUNS])
{
	int status, run;

	waitpid(child, &status, 0); /* the SIGSTOP */
	for (run = 0; run < RUNS; run++) {
		bool gone = false;

		ptrace(PTRACE_CONT, child, NULL, NULL);
		waitpid(child, &status, 0);
		if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
			return false;
		for (counts[run] = 0; !step(child, &gone) && !gone; counts[run]++)
			;
		if (gone)
			return false;
	}
	return true;
}

static void print_steps(const char *name, bench_work *work)
{
	int counts[RUNS];
	pid_t child = fork();
	bool counted;

	if (!child)
		run_marked(work);
	counted = count_runs(child, counts);
	ptrace(PTRACE_KILL, child, NULL, NULL);
	waitpid(child, NULL, 0);
	if (!counted) {
		bench_say("%s: the stepped program stopped otherwise", name);
		return;
	}
	bench_print(name,
		    (double)((counts[1] - counts[2]) - (counts[3] - counts[4])) / REPEAT,
		    "instructions");
}

/* --- the stepped code --------------------------------------------------------------- */

/* Makes a reader as a session does: a child could not use its parent's. */
static void make_reader(uint32_t count)
{
	static struct perfmon_reader made;
	static struct perf_event_mmap_page page = {.lock = 2, .index = 1};

	made.count = count;
	made.owner = perfmon_arch_thread_pointer();
	for (uint32_t i = 0; i < count; i++) {
		made.views[i].page = &page;
		made.views[i].lock_index = perfmon_view_lock_index(&page);
		made.views[i].value_handle = perfmon_arch_value_handle(1, 48);
		made.views[i].handle = perfmon_arch_counter_handle(1);
		made.views[i].shift = 16;
	}
	reader = &made;
}

static int mode(const char *name)
{
	char pair[] = "region.step.pair.0";
	char suspend[] = "region.step.suspend.0";

	fake_pmu_start();
	if (!strcmp(name, "reads")) {
		print_steps("timestamp.step.pair", timestamps);
		make_reader(1);
		print_steps("read.step.inline.1", inline_1);
		print_steps("read.step.call.1", call_1);
		make_reader(4);
		print_steps("read.step.inline.4", inline_4);
		print_steps("read.step.call.4", call_4);
	} else if (!strcmp(name, "disarmed")) {
		perfmon_region_disarm();
		print_steps("region.step.disarmed", pairs);
	} else {
		pair[sizeof(pair) - 2] = name[0];
		print_steps(pair, pairs);
		suspend[sizeof(suspend) - 2] = name[0];
		print_steps(suspend, suspensions);
		if (name[0] == '0')
			print_steps("region.step.add", additions);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const events[] = {"none", "instructions",
					     "instructions,cycles",
					     "instructions,cycles,branches,cache-misses"};
	static const char *const counters[] = {"0", "1", "2", "4"};
	int worst = 0;

	if (argc > 1)
		return mode(argv[1]);
	for (int i = 0; i < 4; i++)
		worst |= bench_again(counters[i], events[i]);
	worst |= bench_again("disarmed", "none");
	return worst | bench_again("reads", "none");
}
