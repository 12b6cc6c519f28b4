/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cost of an overflow with notification, which a signal handler records and restarts
 * after, by the library and by hand: from the overflow to counting again, user and kernel
 * together.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <perfmon/overflow.h>
#include <perfmon/session.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"
#include "../tests/messages.h"

#define OVERFLOWS 400
#define ROUNDS	  5

static struct perfmon_session *session;
static volatile sig_atomic_t notified;
static uint64_t period;

static void must(int result, const char *what)
{
	if (result >= 0)
		return;
	bench_say("%s: %s", what,
		  session ? session_message_of(session) : strerror(errno));
	exit(1);
}

static void work_through(void)
{
	notified = 0;
	while (notified < OVERFLOWS)
		for (volatile int i = 0; i < 100; i++)
			;
}

/* --- the library -------------------------------------------------------------------- */

static void on_overflow(int signo)
{
	struct perfmon_message message;

	(void)signo;
	notified += perfmon_overflow_read(session, &message, 1, sizeof(message)) == 1;
	perfmon_overflow_restart(session);
}

static void prepare(void)
{
	struct perfmon_overflow overflow = {.size = sizeof(overflow),
					    .flags = PERFMON_OVERFLOW_NOTIFY,
					    .long_reset = -period};
	struct perfmon_write first = {.value = -period};

	must(perfmon_session_create(&session, NULL, NULL, 0), "perfmon_session_create");
	must(perfmon_session_add_events(session, "cycles:u"),
	     "perfmon_session_add_events");
	must(perfmon_overflow_program(session, 0, &overflow), "perfmon_overflow_program");
	must(perfmon_session_write(session, &first, 1, sizeof(first), 0),
	     "perfmon_session_write");
	must(perfmon_overflow_signal(session, SIGUSR1), "perfmon_overflow_signal");
	signal(SIGUSR1, on_overflow);
}

static double of_the_library(void)
{
	uint64_t begin;

	must(perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0),
	     "perfmon_session_attach");
	must(perfmon_session_start(session), "perfmon_session_start");
	begin = bench_now_ns();
	work_through();
	begin = bench_now_ns() - begin;
	must(perfmon_session_detach(session), "perfmon_session_detach");
	return (double)begin / OVERFLOWS - (double)period;
}

/* --- by hand ------------------------------------------------------------------------ */

static int event;
static struct perf_event_mmap_page *page;

static void on_overflow_by_hand(int signo)
{
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);

	(void)signo;
	notified += head != page->data_tail;
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
	ioctl(event, PERF_EVENT_IOC_REFRESH, 1);
}

static double of_the_hand(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = period,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.wakeup_events = 1,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = gettid()};
	size_t size = 2 * (size_t)sysconf(_SC_PAGESIZE);
	uint64_t begin;

	event = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	must(event, "an event by hand");
	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
	must(page == MAP_FAILED ? -1 : 0, "its ring");
	must(fcntl(event, F_SETOWN_EX, &owner), "F_SETOWN_EX");
	must(fcntl(event, F_SETSIG, SIGUSR2), "F_SETSIG");
	must(fcntl(event, F_SETFL, O_ASYNC), "O_ASYNC");
	signal(SIGUSR2, on_overflow_by_hand);
	ioctl(event, PERF_EVENT_IOC_REFRESH, 1);
	begin = bench_now_ns();
	work_through();
	begin = bench_now_ns() - begin;
	munmap(page, size);
	close(event);
	return (double)begin / OVERFLOWS - (double)period;
}

int main(void)
{
	double library[ROUNDS], hand[ROUNDS], ratio[ROUNDS];

	/* Where costs are instructions: the overflows of cycles. */
	if (!bench_counts_instructions()) {
		bench_say("notifications are measured where there are counters");
		return 0;
	}
	period = 20000;
	prepare();
	for (int i = 0; i < ROUNDS; i++) {
		library[i] = of_the_library();
		hand[i] = of_the_hand();
		ratio[i] = library[i] / hand[i];
	}
	bench_print("notify.signal", bench_median(ratio, ROUNDS), "ratio");
	bench_print("notify.signal.library", bench_median(library, ROUNDS), bench_unit());
	bench_print("notify.signal.by_hand", bench_median(hand, ROUNDS), bench_unit());
	perfmon_session_close(session);
	return 0;
}
