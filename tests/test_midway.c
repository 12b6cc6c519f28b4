/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What comes in the middle of a call on a session: overflows, signals, other threads. A
 * hook in a kernel call of the library stands for the moment. */
#include <criterion/criterion.h>
#ifndef STANDIN_CRITERION_H
#include <criterion/hooks.h>
#include <criterion/options.h>
#endif
#include <time.h>
#include <unistd.h>

#include "core/kernel.h"
#include "perfmon/overflow.h"
#include "session_probe.h"

#define MS UINT64_C(1000000)

/* What a thread does in its next kernel calls: 0 to let them through. */
static __thread int (*midway)(enum pm_kernel_call call);

static int on_call(enum pm_kernel_call call)
{
	return midway ? midway(call) : 0;
}

static void set_up(void)
{
	pm_kernel_fault = on_call;
}

TestSuite(midway, .init = set_up, .timeout = 120);

static void spin_for(uint64_t ns)
{
	struct timespec t;
	uint64_t end = 0, now;

	do {
		/* In user mode: an unprivileged clock does not tick in the kernel. */
		for (volatile int i = 0; i < 20000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now = (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
		end = end ?: now + ns;
	} while (now < end);
}

/* A session on EVENT whose counter 0 overflows after PERIOD, and after NEXT then. */
static struct perfmon_session *overflowing(const char *event, uint32_t flags,
					   uint64_t period, uint64_t next)
{
	struct perfmon_session *session = session_with(event, 0);
	struct perfmon_overflow overflow = {.size = sizeof(overflow),
					    .flags = flags,
					    .long_reset = -next,
					    .short_reset = -next};
	struct perfmon_write first = {.value = -period};

	OK(session, perfmon_overflow_program(session, 0, &overflow));
	OK(session, perfmon_session_write(session, &first, sizeof(first)));
	return session;
}

/* --- stopping --------------------------------------------------------------------------
 */

static int overflow_once(enum pm_kernel_call call)
{
	if (call != PM_CALL_IOCTL)
		return 0;
	midway = NULL;
	touch(0, 10);
	return 0;
}

static int touch_at_reads(enum pm_kernel_call call)
{
	if (call == PM_CALL_READ)
		touch(0, 7);
	return 0;
}

static int overflow_then_touch_at_reads(enum pm_kernel_call call)
{
	if (overflow_once(call) || midway)
		return 0;
	midway = touch_at_reads;
	return 0;
}

/* Row: PM-22, MU-03: an overflow that a stop finds, and that asks for another period,
 * starts nothing again. */
Test(midway, an_overflow_before_the_stop)
{
	struct perfmon_session *session = overflowing(watch_event(0), 0, 10, 20);

	OK(session, perfmon_session_attach_thread(session, 0));
	OK(session, perfmon_session_start(session));
	midway = overflow_once;
	OK(session, perfmon_session_stop(session));
	cr_assert_null(midway);
	touch(0, 5);
	OK(session, perfmon_session_start(session));
	OK(session, perfmon_session_stop(session));
	cr_assert_eq(count_of(session, 0), -UINT64_C(20));
	perfmon_session_close(session);
}

/* The same for a detach. */
Test(midway, an_overflow_before_the_detach)
{
	struct perfmon_session *session = overflowing(watch_event(0), 0, 10, 20);

	OK(session, perfmon_session_attach_thread(session, 0));
	OK(session, perfmon_session_start(session));
	midway = overflow_then_touch_at_reads;
	OK(session, perfmon_session_detach(session));
	cr_assert_eq(midway, touch_at_reads);
	midway = NULL;
	cr_assert_eq(count_of(session, 0), -UINT64_C(20));
	perfmon_session_close(session);
}

static int spin_once(enum pm_kernel_call call)
{
	if (call != PM_CALL_IOCTL)
		return 0;
	midway = NULL;
	spin_for(10 * MS);
	return 0;
}

/* Row: PM-42: a switch that is due before the stop does not start the next set. */
Test(midway, a_switch_before_the_stop)
{
	char events[200];
	struct perfmon_session *session;
	struct perfmon_set set = {.flags = PERFMON_SET_TIME_SWITCH, .timeout_ns = MS};
	uint64_t before;

	snprintf(events, sizeof(events), "%s;%s", watch_event(0), watch_event(0));
	session = session_with(events, 0);
	for (set.id = 0; set.id < 2; set.id++)
		OK(session, perfmon_set_create(session, &set, sizeof(set)));
	OK(session, perfmon_session_attach_thread(session, 0));
	for (int i = 0; i < 3; i++) {
		OK(session, perfmon_session_start(session));
		midway = spin_once;
		OK(session, perfmon_session_stop(session));
		cr_assert_null(midway);
		before = count_of(session, 0) + count_of(session, 1);
		touch(0, 5);
		OK(session, perfmon_session_start(session));
		OK(session, perfmon_session_stop(session));
		cr_assert_eq(count_of(session, 0) + count_of(session, 1), before);
	}
	perfmon_session_close(session);
}

#ifndef STANDIN_CRITERION_H
/* One at a time: they take the CPU's time from each other, and tell what it was spent on.
 */
ReportHook(PRE_ALL)(struct criterion_test_set *tests)
{
	(void)tests;
	criterion_options.jobs = 1;
}
#endif
