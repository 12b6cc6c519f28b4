/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Event sets that take turns by themselves, and what is estimated from their shares. */
#include <criterion/criterion.h>
#ifndef STANDIN_CRITERION_H
#include <criterion/hooks.h>
#include <criterion/options.h>
#endif
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/kernel/kernel.h"
#include "perfmon/overflow.h"
#include "helpers.h"
#include "session_probe.h"
#include "messages.h"

#define MS UINT64_C(1000000)

static struct perfmon_set_info info_of(struct perfmon_session *session, uint16_t id)
{
	struct perfmon_set_info info = {.id = id};

	OK(session, perfmon_set_get_info(session, &info, 1, sizeof(info)));
	return info;
}

/* Touches variable 0 until this thread has run for NS; how often. */
static uint64_t touch_for(uint64_t ns)
{
	uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns, times = 0;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) {
		touch(0, 1);
		spin(20000);
		times++;
	}
	return times;
}

/* A session on EVENTS whose sets 0 to COUNT - 1 switch after TIMEOUT. */
static struct perfmon_session *switching(const char *events, uint16_t count,
					 uint64_t timeout_ns)
{
	struct perfmon_session *session = session_with(events, 0);
	uint16_t i;

	for (i = 0; i < count; i++) {
		struct perfmon_set set = {.id = i,
					  .flags = PERFMON_SET_TIME_SWITCH,
					  .timeout_ns = timeout_ns};

		OK(session, perfmon_set_create(session, &set, 1, sizeof(set)));
	}
	return session;
}

/* Row: MU-03, MU-04: time-outs are rounded, and the effective one is returned; or
 * refused, if asked for. The caller asks no clock for its resolution. */
Test(switching, timeouts_are_rounded)
{
	struct perfmon_session *session = session_with("dummy;dummy", 0);
	struct perfmon_set set = {
		.id = 1, .flags = PERFMON_SET_TIME_SWITCH, .timeout_ns = 1000001};
	uint64_t effective;

	OK(session, perfmon_set_create(session, &set, 1, sizeof(set)));
	effective = set.timeout_ns;
	cr_assert_gt(effective, 1000001);
	cr_assert_eq(info_of(session, 1).timeout_ns, effective);
	set.flags |= PERFMON_SET_STRICT_TIME;
	OK(session, perfmon_set_create(session, &set, 1, sizeof(set)));
	set.timeout_ns++;
	cr_assert_eq(perfmon_set_create(session, &set, 1, sizeof(set)), -EINVAL);
	cr_assert(strstr(session_message_of(session), "multiple"));
	cr_assert_eq(info_of(session, 1).timeout_ns, effective);
	set.timeout_ns = 0;
	cr_assert_eq(perfmon_set_create(session, &set, 1, sizeof(set)), -EINVAL);
	set.timeout_ns = UINT64_MAX;
	cr_assert_eq(perfmon_set_create(session, &set, 1, sizeof(set)), -EINVAL);
	perfmon_session_close(session);
}

/* Row: PM-49: what is left of a time-out is told, as well as the whole. */
Test(switching, what_is_left_of_a_timeout)
{
	const uint64_t timeout = 1000 * MS;
	struct perfmon_session *session = switching("dummy;dummy", 2, timeout);
	struct perfmon_set_info first;
	uint64_t left;

	cr_assert_eq(info_of(session, 0).left_ns, timeout);
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	cr_assert_eq(info_of(session, 0).left_ns, timeout);
	OK(session, perfmon_session_start(session));
	touch_for(30 * MS);
	first = info_of(session, 0);
	cr_assert(first.is_active);
	/* The set's own clock and that of the whole start and stop one after the
	 * other. */
	cr_assert_leq(first.left_ns, timeout - 25 * MS, "%" PRIu64, first.left_ns);
	cr_assert_geq(first.left_ns, timeout - info_of(session, 0).active_ns - MS);
	cr_assert_eq(info_of(session, 1).left_ns, timeout, "it was never active");
	OK(session, perfmon_set_start(session, 1));
	left = info_of(session, 0).left_ns;
	cr_assert_leq(left, first.left_ns);
	touch_for(5 * MS);
	cr_assert_eq(info_of(session, 0).left_ns, left, "it stands still");
	cr_assert_eq(info_of(session, 0).timeout_ns, timeout);
	OK(session, perfmon_session_detach(session));
	cr_assert_eq(info_of(session, 0).left_ns, left, "as it was when last active");
	cr_assert_lt(info_of(session, 1).left_ns, timeout);
	perfmon_session_close(session);
}

/* Row: PM-42, PM-45: CPU time switches, sleep does not; durations do not
 * overlap. */
Test(switching, by_the_threads_own_time)
{
	NEEDS_BREAKPOINTS();
	char events[200];
	struct perfmon_session *session;
	uint64_t touched = 0, first, second, runs, active = 0;

	snprintf(events, sizeof(events), "%s;%s", watch_event(0), watch_event(0));
	session = switching(events, 2, 2 * MS);
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	/* How soon the helper thread has a CPU is the machine's business. */
	do {
		touched += touch_for(20 * MS);
		runs = info_of(session, 0).runs + info_of(session, 1).runs;
	} while (runs < 4);
	let_time_pass_ms(100);
	cr_assert_leq(info_of(session, 0).runs + info_of(session, 1).runs, runs + 2,
		      "a sleeping thread does not switch");
	OK(session, perfmon_session_stop(session));
	first = count_of(session, 0);
	second = count_of(session, 1);
	cr_assert(first && second);
	cr_assert_leq(first + second, touched, "each is counted in one set at most");
	for (uint16_t i = 0; i < 2; i++)
		active += info_of(session, i).active_ns;
	/* An overlap would be a slice's. Some microseconds more were seen on a busy machine. */
	cr_assert_lt(active, count_of(session, PERFMON_COUNTER_VIRTUAL_TIME) + 2 * MS);
	perfmon_session_close(session);
}

static int fail_thread(enum pm_kernel_call call)
{
	return call == PM_CALL_THREAD_START ? -EAGAIN : 0;
}

/* The helper thread that makes the switches is there while the session is
 * attached, and its descriptors with it; not if attaching fails. */
Test(switching, detached_holds_no_descriptor)
{
	struct perfmon_target self = {.kind = PERFMON_TARGET_KIND_THREAD};
	struct perfmon_session *session = switching("dummy;dummy", 2, 2 * MS);
	int before = open_descriptors(), n;

	cr_assert_eq(
		perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0x3fffffff),
		-ESRCH);
	cr_assert_eq(open_descriptors(), before);
	pm_kernel_fault = fail_thread;
	cr_assert_eq(perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0),
		     -EAGAIN);
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_DETACHED);
	cr_assert_eq(open_descriptors(), before);
	pm_kernel_fault = NULL;
	for (int i = 0; i < 3; i++) {
		OK(session,
		   perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
		OK(session, perfmon_session_start(session));
		spin(20000);
		OK(session,
		   i ? perfmon_session_detach(session)
		     : perfmon_session_detach_target(session, self.kind, self.id));
		cr_assert_eq(open_descriptors(), before);
	}
	/* What was asked for is there until the end. */
	n = perfmon_overflow_descriptor(session);
	OK(session, n);
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_detach(session));
	cr_assert_eq(open_descriptors(), before + 3);
	cr_assert_eq(perfmon_overflow_descriptor(session), n);
	perfmon_session_close(session);
	cr_assert_eq(open_descriptors(), before);
}

/* Row: PM-44: both kinds of switching in one set: whichever comes first. */
Test(switching, by_time_and_overflow)
{
	NEEDS_BREAKPOINTS();
	char events[200];
	struct perfmon_session *session;
	struct perfmon_overflow overflow = {.size = sizeof(overflow),
					    .flags = PERFMON_OVERFLOW_SWITCH,
					    .short_reset = -UINT64_C(10),
					    .switch_count = 1};
	struct perfmon_write first = {.index = 0, .value = -UINT64_C(10)};
	struct perfmon_set both = {.id = 0,
				   .flags = PERFMON_SET_TIME_SWITCH |
					    PERFMON_SET_OVERFLOW_SWITCH,
				   .timeout_ns = 3 * MS};

	snprintf(events, sizeof(events), "%s;dummy", watch_event(0));
	session = session_with(events, 0);
	OK(session, perfmon_set_create(session, &both, 1, sizeof(both)));
	OK(session, perfmon_overflow_program(session, 0, &overflow));
	OK(session, perfmon_session_write(session, &first, 1, sizeof(first), 0));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	touch(0, 10);
	cr_assert(info_of(session, 1).is_active, "the overflow came first");
	OK(session, perfmon_set_start(session, 0));
	for (uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + 20 * MS;
	     now_ns(CLOCK_THREAD_CPUTIME_ID) < end;)
		spin(20000);
	cr_assert(info_of(session, 1).is_active, "the time came first");
	cr_assert_eq(info_of(session, 1).runs, 2);
	perfmon_session_close(session);
}

/* Turns that saw nothing do not say that there was nothing in between. */
Test(switching, an_estimate_of_what_was_never_seen_has_no_error)
{
	struct perfmon_session *session = session_with("major-faults:u;dummy", 0);
	struct perfmon_estimate estimate = {.index = 0};

	OK(session, perfmon_set_estimate(session, &estimate, 1, sizeof(estimate)));
	cr_assert_eq(estimate.flags, PERFMON_ESTIMATE_NONE);
	cr_assert_eq(estimate.error, INFINITY);
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	for (int i = 0; i < 8; i++) {
		OK(session, perfmon_set_start(session, 0));
		work_for_ns(CLOCK_THREAD_CPUTIME_ID, MS);
		OK(session, perfmon_set_start(session, 1));
		work_for_ns(CLOCK_THREAD_CPUTIME_ID, MS);
	}
	OK(session, perfmon_session_stop(session));
	OK(session, perfmon_set_estimate(session, &estimate, 1, sizeof(estimate)));
	cr_assert_geq(estimate.runs, 3);
	cr_assert_eq(estimate.value, 0);
	cr_assert_eq(estimate.flags, PERFMON_ESTIMATE_UNKNOWN);
	cr_assert_eq(estimate.error, INFINITY);
	perfmon_session_close(session);
}

/* Page faults are cheap beside breakpoints, whose cost would slow the work down just
 * while they are counted. */
static void fault(char *page)
{
	madvise(page, 4096, MADV_DONTNEED);
	*(volatile char *)page = 1;
}

static char *new_page(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
}

/* Has faults on PAGE until this thread has run for NS; how many. */
static unsigned int fault_for(char *page, uint64_t ns)
{
	uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
	unsigned int times = 0;

	for (; now_ns(CLOCK_THREAD_CPUTIME_ID) < end; times++)
		fault(page);
	return times;
}

/* Row: PM-46: an estimate says how far it may be off. */
Test(switching, estimates_have_an_error)
{
	struct perfmon_session *session = switching("page-faults;page-faults", 2, MS);
	struct perfmon_estimate estimate = {.index = 0}, bad = {.index = 9};
	char *page = new_page();

	cr_assert_eq(perfmon_set_estimate(session, &bad, 1, sizeof(bad)), -EINVAL);
	OK(session, perfmon_set_estimate(session, &estimate, 1, sizeof(estimate)));
	cr_assert_eq(estimate.flags, PERFMON_ESTIMATE_NONE);
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	while (info_of(session, 0).runs < 2)
		fault_for(page, MS);
	OK(session, perfmon_set_estimate(session, &estimate, 1, sizeof(estimate)));
	cr_assert_eq(estimate.flags, PERFMON_ESTIMATE_UNKNOWN);
	while (estimate.runs < 6) {
		fault_for(page, MS / 2);
		OK(session,
		   perfmon_set_estimate(session, &estimate, 1, sizeof(estimate)));
		cr_assert_eq(estimate.flags,
			     estimate.runs < 3 ? PERFMON_ESTIMATE_UNKNOWN : 0, "%u",
			     (unsigned int)estimate.runs);
	}
	OK(session, perfmon_session_stop(session));
	OK(session, perfmon_set_estimate(session, &estimate, 1, sizeof(estimate)));
	cr_assert_eq(estimate.flags, 0);
	cr_assert_geq(estimate.runs, 6);
	cr_assert(estimate.coverage > 0 && estimate.coverage < 1);
	cr_assert_gt(estimate.value, (double)count_of(session, 0));
	cr_assert_gt(estimate.error, 0);
	perfmon_session_close(session);
}

/* A breakpoint slows its work down while it is counted, and only then: no share of the
 * time is that of the work. */
Test(switching, estimates_of_breakpoints_have_no_error)
{
	struct perfmon_estimate estimates[2] = {{.index = 0}, {.index = 1}};
	struct perfmon_session *session;
	char events[200], *page = new_page();

	snprintf(events, sizeof(events), "%s;page-faults", watch_event(0));
	session = session_with(events, 0);
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	for (uint16_t i = 0; i < 12; i++) {
		touch(0, 100);
		for (uint16_t k = 0; k <= i; k++)
			fault(page);
		OK(session, perfmon_set_start(session, (i + 1) % 2));
	}
	OK(session, perfmon_session_stop(session));
	OK(session, perfmon_set_estimate(session, estimates, 2, sizeof(estimates[0])));
	cr_assert_eq(estimates[0].flags, PERFMON_ESTIMATE_UNKNOWN);
	cr_assert_neq(estimates[1].flags, PERFMON_ESTIMATE_UNKNOWN);
	perfmon_session_close(session);
	munmap(page, 4096);
}

static void fault_free(uint64_t ns)
{
	uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static char *page_between;
static unsigned int faults_between;

/* Works between the two calls that disable a set and enable the next. */
static int work_between(enum pm_kernel_call call)
{
	static unsigned int ioctls;

	if (call == PM_CALL_IOCTL && ++ioctls == 2) {
		pm_kernel_fault = NULL;
		faults_between += fault_for(page_between, MS);
		fault_free(2 * MS);
		ioctls = 0;
	}
	return 0;
}

/* What no set counted is in no set's active time, and an estimate does not pretend to know
 * it. */
Test(switching, what_no_set_counted_is_no_sets_time)
{
	struct perfmon_estimate estimates[2] = {{.index = 0}, {.index = 1}};
	struct perfmon_session *session = session_with("page-faults;page-faults", 0);
	uint64_t active = 0, faults = 0, between = 0, now;

	page_between = new_page();
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	for (uint16_t i = 0; i < 16; i++) {
		faults += fault_for(page_between, 3 * MS);
		now = now_ns(CLOCK_THREAD_CPUTIME_ID);
		pm_kernel_fault = work_between;
		OK(session, perfmon_set_start(session, (i + 1) % 2));
		cr_assert(!pm_kernel_fault);
		between += now_ns(CLOCK_THREAD_CPUTIME_ID) - now;
	}
	OK(session, perfmon_session_stop(session));
	for (uint16_t i = 0; i < 2; i++) {
		struct perfmon_value value = value_of(session, i);

		cr_assert_eq(value.running_ns, info_of(session, i).active_ns);
		cr_assert(value.status & PERFMON_VALUE_MULTIPLEXED);
		active += value.running_ns;
	}
	/* Not all of it is between: the set that ends is on a little longer. */
	cr_assert_leq(active + between * 3 / 4,
		      count_of(session, PERFMON_COUNTER_VIRTUAL_TIME));
	OK(session, perfmon_set_estimate(session, estimates, 2, sizeof(estimates[0])));
	faults += faults_between;
	for (int i = 0; i < 2; i++) {
		cr_log_info("%.0f of %.0f, +- %.0f", estimates[i].value, (double)faults,
			    estimates[i].error);
		cr_assert_eq(estimates[i].flags, 0);
		cr_assert_leq(fabs(estimates[i].value - (double)faults),
			      estimates[i].error);
	}
	perfmon_session_close(session);
}

static bool can_count(const char *events)
{
	struct perfmon_session *session = session_with(events, 0);
	int err = perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0);

	perfmon_session_close(session);
	return !err;
}

static bool has_hardware(void)
{
	return can_count("instructions:u,cycles:u");
}

static bool may_count_the_kernel(void)
{
	return can_count("instructions:k");
}

static void work(char *page, unsigned int faults, unsigned int loops)
{
	while (faults--)
		fault(page);
	for (volatile unsigned int i = 0; i < loops; i++)
		;
}

static const char eight[] =
	"instructions:u;instructions:k;instructions:uk;cycles:u;cycles:k;cycles:uk;"
	"page-faults;minor-faults";
/* Their truth, for which a machine needs few counters: four beside the sets' one. What
 * both modes count is the sum of two. */
static const char truths[] =
	"instructions:u,instructions:k,cycles:u,cycles:k,page-faults,minor-faults";
static const unsigned int truth_of[8] = {1, 2, 1 | 2, 4, 8, 4 | 8, 16, 32};

/* The sum of the counters of MASK, which have counted all the time, or the test ends. */
static double total_of(struct perfmon_session *truth, unsigned int mask)
{
	double sum = 0;

	for (uint32_t i = 0; i < 32; i++) {
		struct perfmon_value value = {.index = i};

		if (!(mask >> i & 1))
			continue;
		cr_assert_eq(perfmon_session_read(truth, &value, 1, sizeof(value), 0), 1,
			     "%s", session_message_of(truth));
		if (value.status & PERFMON_VALUE_MULTIPLEXED)
			cr_skip_test("this machine cannot count five hardware events "
				     "at once");
		sum += (double)value.value;
	}
	return sum;
}

/* Row: PM-46: eight sets of different events on steady work estimate each true total, as
 * a second session counts it all the time, within 2 %. */
Test(switching, eight_sets_of_steady_work)
{
	struct perfmon_session *session, *truth;
	char *page = new_page();

	if (!has_hardware())
		cr_skip_test("no PMU here: runs in the guest");
	if (!may_count_the_kernel())
		cr_skip_test("the kernel's events are not for this user: "
			     "kernel.perf_event_paranoid is above 1");
	session = switching(eight, 8, 5 * MS);
	truth = session_with(truths, 0);
	OK(truth, perfmon_session_attach(truth, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	/* What the machine still prints of the tests before would slow the first slice. */
	for (int i = 0; i < 5000; i++)
		work(page, 1, 300);
	OK(session, perfmon_session_start(session));
	OK(truth, perfmon_session_start(truth));
	while (info_of(session, 7).runs < 6)
		for (int i = 0; i < 1000; i++)
			work(page, 1, 300);
	OK(truth, perfmon_session_stop(truth));
	OK(session, perfmon_session_stop(session));
	for (uint32_t i = 0; i < 8; i++) {
		struct perfmon_estimate estimate = {.index = i};
		double total = total_of(truth, truth_of[i]);

		OK(session,
		   perfmon_set_estimate(session, &estimate, 1, sizeof(estimate)));
		cr_assert_eq(estimate.flags, 0);
		cr_log_info("set %u: %.0f of %.0f, +- %.0f", i, estimate.value, total,
			    estimate.error);
		cr_assert(estimate.value > 0.98 * total && estimate.value < 1.02 * total,
			  "set %u: estimated %.0f, in truth %.0f", i, estimate.value,
			  total);
	}
	perfmon_session_close(session);
	perfmon_session_close(truth);
}

/* Row: PM-46: on bursty work the 99 % interval covers the truth. */
Test(switching, intervals_cover_bursty_work)
{
	struct perfmon_session *session, *truth = session_with("page-faults", 0);
	unsigned int covered = 0, runs = 0;
	double width = 0;
	char *page = new_page();
	uint64_t seed = 1;

	if (!has_hardware())
		cr_skip_test("no PMU here: runs in the guest");
	OK(truth, perfmon_session_attach(truth, PERFMON_TARGET_KIND_THREAD, 0));
	for (; runs < 100; runs++) {
		struct perfmon_estimate estimate = {.index = 0};
		double total;

		session = switching("page-faults;instructions;cycles", 3, MS);
		OK(session,
		   perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
		OK(session, perfmon_session_start(session));
		OK(truth, perfmon_session_start(truth));
		total = -(double)count_of(truth, 0);
		while (info_of(session, 0).runs < 8) {
			for (int i = 0; i < 50; i++) {
				seed = seed * UINT64_C(6364136223846793005) + 1442695041;
				work(page, (unsigned int)(seed >> 40) % 16,
				     (unsigned int)(seed >> 50) % 16384);
			}
		}
		OK(truth, perfmon_session_stop(truth));
		OK(session, perfmon_session_stop(session));
		total += (double)count_of(truth, 0);
		OK(session,
		   perfmon_set_estimate(session, &estimate, 1, sizeof(estimate)));
		covered += estimate.value - estimate.error <= total &&
			   total <= estimate.value + estimate.error;
		width += estimate.error / total;
		if (runs < 5)
			cr_log_info("%.0f of %.0f, +- %.0f", estimate.value, total,
				    estimate.error);
		perfmon_session_close(session);
	}
	cr_log_info("%u of %u covered, by +- %.2f", covered, runs, width / runs);
	cr_assert_geq(covered, 95);
	/* An interval that is too wide would cover all. */
	cr_assert_lt(width / runs, 0.3);
	perfmon_session_close(truth);
}

/* Row: PM-46: so it does for events of user mode, whose slices lose time to the switches, and the
 * sets' times add up to no more than the session's. */
Test(switching, intervals_hold_with_unlike_slices)
{
	struct perfmon_session *session, *truth = session_with("instructions:uD", 0);
	unsigned int held = 0, runs = 0, sampled = 0;
	double width = 0;

	if (!has_hardware())
		cr_skip_test("no PMU here: runs in the guest");
	OK(truth, perfmon_session_attach(truth, PERFMON_TARGET_KIND_THREAD, 0));
	for (; runs < 40; runs++) {
		uint64_t running = 0, enabled = 0;
		double total;

		session =
			switching("instructions:u;instructions:u;instructions:u", 3, MS);
		OK(session,
		   perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
		total = -(double)count_of(truth, 0);
		OK(truth, perfmon_session_start(truth));
		OK(session, perfmon_session_start(session));
		work_for_ns(CLOCK_THREAD_CPUTIME_ID, 60 * MS);
		OK(session, perfmon_session_stop(session));
		OK(truth, perfmon_session_stop(truth));
		total += (double)count_of(truth, 0);
		for (uint32_t i = 0; i < 3; i++) {
			struct perfmon_estimate estimate = {.index = i};
			struct perfmon_value value = value_of(session, i);

			OK(session,
			   perfmon_set_estimate(session, &estimate, 1, sizeof(estimate)));
			held += fabs(estimate.value - total) <= estimate.error;
			/* Few slices: the helper had no processor meanwhile. */
			if (estimate.runs >= 10) {
				width += estimate.error / total;
				sampled++;
			}
			running += value.running_ns;
			enabled = value.enabled_ns;
			if (runs < 3)
				cr_log_info("%.0f of %.0f, +- %.0f, %llu slices",
					    estimate.value, total, estimate.error,
					    (unsigned long long)estimate.runs);
		}
		cr_expect_leq(running, enabled, "%llu of %llu",
			      (unsigned long long)running, (unsigned long long)enabled);
		perfmon_session_close(session);
	}
	cr_log_info("%u of %u held, %u of many slices, +- %.4f", held, 3 * runs, sampled,
		    width / sampled);
	cr_assert_geq(held, 3 * runs * 95 / 100);
	if (sampled)
		cr_assert_lt(width / sampled, 0.1);
	perfmon_session_close(truth);
}

#ifndef STANDIN_CRITERION_H
/* One at a time: they take the CPU's time from each other, and tell what it was spent
 * on. */
ReportHook(PRE_ALL)(struct criterion_test_set *tests)
{
	(void)tests;
	criterion_options.jobs = 1;
}
#endif
