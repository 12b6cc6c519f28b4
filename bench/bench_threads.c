/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cost of a thread: of its first region, compared with the same system calls made by
 * hand; and of beginning, using one region and ending. User and kernel together. */
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"
#include "perfmon/profile_layout.h"

#define COUNTERS 2
#define THREADS	 101

static void one_region(void)
{
	PERFMON_REGION_BEGIN("first");
	PERFMON_REGION_END("first");
}

/* --- by hand ----------------------------------------------------------------------- */

struct by_hand {
	void *page[COUNTERS];
	int fd[COUNTERS];
};

static int open_event(int i, int leader)
{
	static const uint64_t hardware[] = {PERF_COUNT_HW_INSTRUCTIONS,
					    PERF_COUNT_HW_CPU_CYCLES};
	static const uint64_t software[] = {PERF_COUNT_SW_PAGE_FAULTS,
					    PERF_COUNT_SW_TASK_CLOCK};
	struct perf_event_attr attr = {
		.type = bench_counts_instructions() ? PERF_TYPE_HARDWARE
						    : PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = bench_counts_instructions() ? hardware[i] : software[i],
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID |
			       PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = leader < 0,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

#ifdef __aarch64__
	/* User access, and 64 bits where the PMU has them: for cycles. */
	if (bench_counts_instructions())
		attr.config1 = attr.config == PERF_COUNT_HW_CPU_CYCLES ? 3 : 2;
#endif
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, leader,
			    PERF_FLAG_FD_CLOEXEC);
}

/* The system calls of a thread's first region, in their order, where another thread has ended and
 * left its memory; bench_same_calls() checks that. */
static void calls_by_hand(struct by_hand *hand)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t group[3 + 2 * COUNTERS], id;
	sigset_t most, before;
	uint64_t cpus[PERFMON_PROFILE_CPUS_MAX / 64];
	char name[16];
	int i;

	sigfillset(&most);
	sigprocmask(SIG_BLOCK, &most, &before);
	prctl(PR_GET_NAME, name);
	syscall(SYS_sched_getaffinity, 0, sizeof(cpus), cpus);
	for (i = 0; i < COUNTERS; i++)
		hand->fd[i] = open_event(i, i ? hand->fd[0] : -1);
	if (read(hand->fd[0], group, sizeof(group)) != sizeof(group)) {
		bench_say("the events by hand are not those of the library: %s",
			  strerror(errno));
		exit(1);
	}
	for (i = 0; bench_counts_instructions() && i < COUNTERS; i++)
		hand->page[i] = mmap(NULL, page, PROT_READ, MAP_SHARED, hand->fd[i], 0);
	ioctl(hand->fd[0], PERF_EVENT_IOC_ENABLE, 0);
	ioctl(hand->fd[0], PERF_EVENT_IOC_ID, &id);
	if (read(hand->fd[0], group, sizeof(group)) != sizeof(group))
		exit(1);
	sigprocmask(SIG_SETMASK, &before, NULL);
	/* Without pages, each end of the visit reads by a system call. */
	for (i = 0; !bench_counts_instructions() && i < 2; i++) {
		ioctl(hand->fd[0], PERF_EVENT_IOC_ID, &id);
		if (read(hand->fd[0], group, sizeof(group)) != sizeof(group))
			exit(1);
	}
}

static void close_by_hand(struct by_hand *hand)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (int i = COUNTERS - 1; i >= 0; i--) {
		if (hand->page[i])
			munmap(hand->page[i], page);
		close(hand->fd[i]);
	}
}

/*
 * --- comparing the calls -------------------------------------------------------------
 */

static void *start_library(void *unused)
{
	one_region();
	return unused;
}

static void run_in_thread(void *(*function)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, NULL) || pthread_join(thread, NULL)) {
		bench_say("no thread");
		exit(1);
	}
}

/* So that the traced thread is not the first to use a region. */
static void others_first(void)
{
	run_in_thread(start_library);
	run_in_thread(start_library);
	bench_counts_instructions();
}

static void calls_once(void)
{
	struct by_hand hand = {0};

	calls_by_hand(&hand);
}

/* --- the first region --------------------------------------------------------------- */

static double cost_of_first, cost_by_hand;

/* Uses the thread's stack, whose pages are not part of the first region's cost: a thread
 * that does some work has used them already. */
__attribute__((noinline)) static void use_stack(void)
{
	char used[32 << 10];

	memset(used, 1, sizeof(used));
	__asm__ volatile("" ::"r"(used) : "memory");
}

static void *first_in_thread(void *unused)
{
	uint64_t before;

	use_stack();
	before = bench_now_ns();
	one_region();
	cost_of_first = (double)(bench_now_ns() - before);
	return unused;
}

static void *by_hand_in_thread(void *unused)
{
	struct by_hand hand = {0};
	uint64_t before;

	use_stack();
	before = bench_now_ns();
	calls_by_hand(&hand);
	cost_by_hand = (double)(bench_now_ns() - before);
	close_by_hand(&hand);
	return unused;
}

static void first(void)
{
	double library[THREADS], by_hand[THREADS];

	for (int i = 0; i < THREADS; i++) {
		run_in_thread(first_in_thread);
		run_in_thread(by_hand_in_thread);
		library[i] = cost_of_first;
		by_hand[i] = cost_by_hand;
	}
	bench_median(library, THREADS);
	bench_median(by_hand, THREADS);
	bench_print("region.first", library[THREADS / 2] / by_hand[THREADS / 2], "ratio");
	bench_print(bench_counts_instructions() ? "region.first.instructions"
						: "region.first.ns",
		    library[THREADS / 2], bench_unit());
	bench_print(bench_counts_instructions() ? "region.first.by_hand.instructions"
						: "region.first.by_hand.ns",
		    by_hand[THREADS / 2], bench_unit());
}

/*
 * --- begin and end -------------------------------------------------------------------
 */

static void *nothing(void *unused)
{
	return unused;
}

static double come_and_go(void *(*function)(void *))
{
	double cost[THREADS];

	run_in_thread(function);
	for (int i = 0; i < THREADS; i++) {
		uint64_t before = bench_now_ns();

		run_in_thread(function);
		cost[i] = (double)(bench_now_ns() - before);
	}
	return bench_median(cost, THREADS);
}

int main(int argc, char **argv)
{
	static const char software[] = "page-faults,task-clock";
	int err = 0;

	(void)argv;
	if (argc == 1)
		return bench_again("counted", bench_counts_instructions()
						      ? bench_events(COUNTERS)
						      : software);
	err = bench_same_calls("a first region", others_first, one_region, calls_once);
	bench_counts_instructions();
	one_region();
	first();
	bench_print("region.come_and_go", come_and_go(start_library), bench_unit());
	bench_print("thread.come_and_go", come_and_go(nothing), bench_unit());
	return err;
}
