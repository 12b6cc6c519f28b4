/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cost of starting, stopping, attaching and detaching a session of four counters,
 * compared with the same system calls made by hand. For start and stop this is the cost
 * in user mode beside the calls, and the whole cost, as for PAPI; for attach and detach,
 * user and kernel together.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <perfmon/session.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"
#include "../tests/messages.h"

#define COUNTERS 4
#define ROUNDS	 801

static struct perfmon_session *session;
static int by_hand[COUNTERS];

static void must(int result, const char *what)
{
	if (result >= 0)
		return;
	bench_say("%s: %s", what,
		  session ? session_message_of(session) : strerror(errno));
	exit(1);
}

/* --- by hand ------------------------------------------------------------------------ */

static int open_event(int i, int leader)
{
	/* The events of bench_events(4). */
	static const struct {
		uint32_t type;
		uint64_t config;
	} hardware[] = {{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
			{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
			{PERF_TYPE_RAW, 0x008},
			{PERF_TYPE_RAW, 0x011}},
	  software[] = {{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
			{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
			{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
			{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY}};
	struct perf_event_attr attr = {
		.type = bench_counts_instructions() ? hardware[i].type : software[i].type,
		.size = sizeof(attr),
		.config = bench_counts_instructions() ? hardware[i].config
						      : software[i].config,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID |
			       PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = leader < 0,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

#ifdef __aarch64__
	/* User access, with the width that the library requests on a PMU of 32 bits. */
	if (bench_counts_instructions())
		attr.config1 = 2;
#endif
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, leader,
			    PERF_FLAG_FD_CLOEXEC);
}

/* The kernel's part costs more if it must keep pages up to date. */
static void map_by_hand(void *page[COUNTERS], int n)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);

	for (int i = 0; i < n; i++)
		page[i] = mmap(NULL, size, PROT_READ, MAP_SHARED, by_hand[i], 0);
}

static void open_by_hand(void)
{
	for (int i = 0; i < COUNTERS; i++) {
		by_hand[i] = open_event(i, i ? by_hand[0] : -1);
		must(by_hand[i], "an event by hand");
	}
}

static void close_by_hand(void)
{
	for (int i = COUNTERS - 1; i >= 0; i--)
		close(by_hand[i]);
}

static void enable_by_hand(void)
{
	ioctl(by_hand[0], PERF_EVENT_IOC_ENABLE, 0);
}

static void disable_by_hand(void)
{
	ioctl(by_hand[0], PERF_EVENT_IOC_DISABLE, 0);
}

/* The system calls of attaching to the own thread and detaching, in their order;
 * bench_same_calls() checks that. */
static void attach_detach_by_hand(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t group[3 + 2 * COUNTERS], id;
	int pages = bench_counts_instructions() ? COUNTERS : 1;
	void *page[COUNTERS];

	syscall(SYS_gettid);
	open_by_hand();
	must((int)read(by_hand[0], group, sizeof(group)), "a group by hand");
	map_by_hand(page, pages);
	/* A page without a clock is not kept. */
	if (!bench_counts_instructions())
		munmap(page[0], size);
	ioctl(by_hand[0], PERF_EVENT_IOC_ID, &id);
	must((int)read(by_hand[0], group, sizeof(group)), "a group by hand");
	for (int i = 0; i < COUNTERS; i++) {
		if (bench_counts_instructions())
			munmap(page[i], size);
		if (i)
			continue;
		ioctl(by_hand[0], PERF_EVENT_IOC_ID, &id);
		ioctl(by_hand[0], PERF_EVENT_IOC_DISABLE, 0);
	}
	for (int i = COUNTERS - 1; i >= 0; i--) {
		ioctl(by_hand[i], PERF_EVENT_IOC_ID, &id);
		close(by_hand[i]);
	}
}

/* --- the library -------------------------------------------------------------------- */

static void start(void)
{
	perfmon_session_start(session);
}

static void stop(void)
{
	perfmon_session_stop(session);
}

static void attach_detach(void)
{
	perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0);
	perfmon_session_detach(session);
}

/* --- costs -------------------------------------------------------------------------- */

static void nothing(void)
{
	__asm__ volatile("" ::: "memory");
}

/* Returns the mean of the middle half: the clock is coarse, and ticks of the kernel come
 * between. */
static double middle(double *values, int n)
{
	double sum = 0;

	bench_median(values, n); /* sorts them */
	for (int i = n / 4; i < n - n / 4; i++)
		sum += values[i];
	return sum / (n - n / 4 - n / 4);
}

/* Measures the costs of A and of B, which alternate, by the meter NOW. */
static void costs(uint64_t (*now)(void), void (*a)(void), void (*b)(void), double *of_a,
		  double *of_b)
{
	static double values[2][ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t t0 = now(), t1, t2;

		a();
		t1 = now();
		b();
		t2 = now();
		values[0][i] = (double)(t1 - t0);
		values[1][i] = (double)(t2 - t1);
	}
	*of_a = middle(values[0], ROUNDS);
	*of_b = middle(values[1], ROUNDS);
}

static void prepare(void)
{
	static const char software[] = "page-faults,task-clock,cpu-clock,dummy";

	must(perfmon_session_create(&session, NULL, NULL, 0), "perfmon_session_create");
	must(perfmon_session_add_events(session, bench_counts_instructions()
							 ? bench_events(COUNTERS)
							 : software),
	     "perfmon_session_add_events");
	/* The first call learns things that later ones know. */
	attach_detach();
}

int main(void)
{
	void *page[COUNTERS];
	double started, stopped, all_started, all_stopped, enabled, disabled, attached,
		hand;
	int err;

	bench_counts_instructions(); /* binds to a CPU */
	prepare();
	must(perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0),
	     "perfmon_session_attach");
	costs(bench_user_now, nothing, nothing, &started, &stopped);
	costs(bench_user_now, start, stop, &started, &stopped);
	costs(bench_now_ns, start, stop, &all_started, &all_stopped);
	must(perfmon_session_detach(session), "perfmon_session_detach");
	open_by_hand();
	if (bench_counts_instructions())
		map_by_hand(page, COUNTERS);
	costs(bench_user_now, enable_by_hand, disable_by_hand, &enabled, &disabled);
	close_by_hand();
	bench_print("session.start.4", started - enabled, bench_unit());
	bench_print("session.stop.4", stopped - disabled, bench_unit());
	bench_print("session.start_stop.4", all_started + all_stopped, bench_unit());
	bench_print("session.start.4.by_hand", enabled, bench_unit());
	bench_print("session.stop.4.by_hand", disabled, bench_unit());

	err = bench_same_calls("attaching and detaching", prepare, attach_detach,
			       attach_detach_by_hand);
	costs(bench_now_ns, attach_detach, attach_detach_by_hand, &attached, &hand);
	bench_print("session.attach_detach.4", attached / hand, "ratio");
	bench_print(bench_counts_instructions() ? "session.attach_detach.4.instructions"
						: "session.attach_detach.4.ns",
		    attached, bench_unit());
	perfmon_session_close(session);
	return err;
}
