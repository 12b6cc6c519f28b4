/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What comes in the middle of a call on a session: overflows, signals, other threads. A
 * hook in a kernel call of the library stands for the moment. */
#include <criterion/criterion.h>
#ifndef STANDIN_CRITERION_H
#include <criterion/hooks.h>
#include <criterion/options.h>
#endif
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/kernel/kernel.h"
#include "core/session/core/core.h"
#include "core/session/overflow/overflow.h"
#include "core/session/overflow/stopped.h"
#include "perfmon/overflow.h"
#include "perfmon/sampling.h"
#include "helpers.h"
#include "session_probe.h"

#define MS UINT64_C(1000000)

/* What a thread does in its next kernel calls: 0 to let them through. */
static __thread int (*midway)(enum pm_kernel_call call);

/* The helper thread stops at a step until it is told to go on to the next: before it
 * waits, with what it has waited for, and with that done. */
enum { AS_IT_LIKES, BEFORE_ITS_WAIT, WITH_ITS_EVENTS, AFTER_ITS_WORK };
static atomic_int helper_step, helper_is_at;

static void help(enum pm_kernel_call call)
{
	int step = atomic_load(&helper_step);

	if (step == AS_IT_LIKES ||
	    call != (step == WITH_ITS_EVENTS ? PM_CALL_FSTAT : PM_CALL_EPOLL_WAIT))
		return;
	atomic_store(&helper_is_at, step);
	WAIT_UNTIL(atomic_load(&helper_step) != step || step == AFTER_ITS_WORK);
}

static void step_helper(int to)
{
	atomic_store(&helper_step, to);
}

static void wait_for_helper(void)
{
	WAIT_UNTIL(atomic_load(&helper_is_at) == atomic_load(&helper_step));
}

static atomic_bool disk_is_full;

static int on_call(enum pm_kernel_call call)
{
	static __thread bool is_helper;

	is_helper |= call == PM_CALL_EPOLL_WAIT;
	if (is_helper)
		help(call);
	if (call == PM_CALL_PWRITE && atomic_load(&disk_is_full))
		return -ENOSPC;
	return midway ? midway(call) : 0;
}

static void set_up(void)
{
	pm_kernel_fault = on_call;
}

TestSuite(midway, .init = set_up, .timeout = 120);

/* The thread sanitizer holds signals back until a call that may wait. */
static void take_signals(void)
{
	let_time_pass_us(1);
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
	OK(session, perfmon_session_write(session, &first, 1, sizeof(first), 0));
	return session;
}

/* --- stopping ----------------------------------------------------------------------- */

static int overflow_once(enum pm_kernel_call call)
{
	if (call != PM_CALL_IOCTL)
		return 0;
	midway = NULL;
	touch(0, 10);
	take_signals();
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
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = overflowing(watch_event(0), 0, 10, 20);

	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
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
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = overflowing(watch_event(0), 0, 10, 20);

	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
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
	work_for_ns(CLOCK_THREAD_CPUTIME_ID, 10 * MS);
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
		OK(session, perfmon_set_create(session, &set, 1, sizeof(set)));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
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

/* --- threads that stop -------------------------------------------------------------- */

/* What has happened: each waits for what the other does. */
enum { NOTHING, READY, HELD, INTERRUPTED, RELEASED, STOPPED, DONE };
static atomic_int phase;

static void wait_for(int what)
{
	WAIT_UNTIL(atomic_load(&phase) >= what);
}

static int be_seen(enum pm_kernel_call call)
{
	if (call == PM_CALL_FUTEX)
		atomic_store(&phase, STOPPED);
	return 0;
}

static int overflow_in_wait(enum pm_kernel_call call)
{
	if (call != PM_CALL_FUTEX)
		return 0;
	midway = NULL;
	touch(0, 10);
	take_signals();
	atomic_store(&phase, INTERRUPTED);
	wait_for(RELEASED);
	midway = be_seen;
	return 0;
}

static int hold(enum pm_kernel_call call)
{
	if (call != PM_CALL_READ)
		return 0;
	midway = NULL;
	atomic_store(&phase, HELD);
	wait_for(INTERRUPTED);
	return 0;
}

struct waiter {
	pthread_t thread;
	pid_t tid;
	atomic_int phase;
	struct perfmon_session *session;
};

static void *wait_in_a_call(void *argument)
{
	struct waiter *self = argument;

	self->tid = own_tid();
	atomic_store(&phase, READY);
	wait_for(HELD);
	midway = overflow_in_wait;
	perfmon_session_counters(self->session);
	midway = NULL;
	atomic_store(&phase, DONE);
	return NULL;
}

/* Row: PM-34: an overflow of a thread that waits for a call of another: the thread itself
 * is stopped, when its own call ends, and not the other, which restarts it. */
Test(midway, the_thread_that_overflowed_is_stopped)
{
	NEEDS_BREAKPOINTS();
	struct waiter waiter = {
		.session = overflowing(watch_event(0), PERFMON_OVERFLOW_NOTIFY, 10, 10)};
	struct perfmon_session *session = waiter.session;

	OK(session, perfmon_overflow_block(session, 0));
	cr_assert_eq(pthread_create(&waiter.thread, NULL, wait_in_a_call, &waiter), 0);
	wait_for(READY);
	OK(session,
	   perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, waiter.tid));
	OK(session, perfmon_session_start(session));
	midway = hold;
	count_of(session, 0);
	cr_assert_null(midway);
	atomic_store(&phase, RELEASED);
	wait_for(STOPPED);
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_MASKED);
	cr_assert_eq(atomic_load(&phase), STOPPED);
	OK(session, perfmon_overflow_restart(session));
	pthread_join(waiter.thread, NULL);
	cr_assert_eq(atomic_load(&phase), DONE);
	perfmon_session_close(session);
}

/* Descriptors whose places in the table collide: each has one slot, also after it has
 * been armed again when the place before is free. */
Test(midway, one_slot_for_each_descriptor)
{
	enum { SLOTS = 1024 };
	struct pm_counter *counter;
	struct pm_instance *instance = calloc(1, pm_instance_size(1));
	struct pm_part part = {.instance = instance};
	struct pm_target target = {.parts = &part};
	struct pm_plan_set set = {.notifies = true};
	struct pm_session_plan plan = {.set_count = 1, .part_count = 1, .sets = &set};
	struct perfmon_session *session = session_with("dummy", 0);

	instance->count = 1;
	counter = &instance->counters[0];
	cr_assert_eq(pm_stopped_watch(session, 5, 0), 0);
	cr_assert_eq(pm_stopped_watch(session, 5 + SLOTS, 0), 0);
	counter->fd = 5;
	pm_stopped_unwatch(&plan, &target);
	cr_assert_eq(pm_stopped_watch(session, 5 + SLOTS, 0), 0);
	counter->fd = 5 + SLOTS;
	pm_stopped_unwatch(&plan, &target);
	for (int fd = 0; fd < SLOTS; fd++)
		cr_assert_eq(pm_stopped_watch(session, fd, 0), 0, "%d", fd);
	cr_assert_eq(pm_stopped_watch(session, SLOTS, 0), -ENOSPC);
	for (counter->fd = 0; counter->fd < SLOTS; counter->fd++)
		pm_stopped_unwatch(&plan, &target);
	perfmon_session_close(session);
	free(instance);
}

/* --- handlers ----------------------------------------------------------------------- */

static struct perfmon_session *first, *second;
static volatile sig_atomic_t firsts, seconds, not_now, wrong;

static void on_first(int signo)
{
	struct perfmon_message message;

	(void)signo;
	firsts++;
	if (perfmon_overflow_read(first, &message, 1, sizeof(message)) == -EAGAIN)
		not_now++;
	if (perfmon_overflow_restart(first))
		wrong++;
}

static void on_second(int signo)
{
	(void)signo;
	seconds++;
	/* Any call on a session that was not interrupted. */
	wrong += perfmon_session_state(second) != PERFMON_STATE_MASKED;
	wrong += perfmon_session_stop(second) != 0;
	wrong += perfmon_session_start(second) != 0;
}

static struct perfmon_session *signalling(unsigned int watched_one, int signo,
					  void (*handler)(int signo))
{
	struct perfmon_session *session =
		overflowing(watch_event(watched_one), PERFMON_OVERFLOW_NOTIFY, 10, 10);

	signal(signo, handler);
	OK(session, perfmon_overflow_signal(session, signo));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	return session;
}

/* Row: PM-32: an overflow while its own thread closes the session: the handler does not
 * wait for what it has interrupted. */
Test(midway, an_overflow_in_the_close)
{
	NEEDS_BREAKPOINTS();
	first = signalling(0, SIGRTMIN + 3, on_first);
	midway = overflow_once;
	perfmon_session_close(first);
	cr_assert_null(midway);
	cr_assert_eq(firsts, 1);
	cr_assert_eq(not_now, 1);
	cr_assert_eq(wrong, 0);
}

static int overflow_both(enum pm_kernel_call call)
{
	if (call != PM_CALL_IOCTL)
		return 0;
	midway = NULL;
	touch(1, 10);
	take_signals();
	touch(0, 10);
	take_signals();
	return 0;
}

/* Row: PM-32: a handler that makes calls on its own session leaves the thread in the call
 * on another that it has interrupted: what that one's handler asks for is done when the
 * call ends. */
Test(midway, handlers_of_two_sessions)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_write far = {.value = -UINT64_C(1000)};

	first = signalling(0, SIGRTMIN + 3, on_first);
	second = signalling(1, SIGRTMIN + 4, on_second);
	midway = overflow_both;
	OK(first, perfmon_session_write(first, &far, 1, sizeof(far), 0));
	cr_assert_null(midway);
	cr_assert_eq(seconds, 1);
	cr_assert_eq(firsts, 1);
	cr_assert_eq(not_now, 1);
	cr_assert_eq(wrong, 0);
	cr_assert_eq(perfmon_session_state(first), PERFMON_STATE_RUNNING);
	cr_assert_eq(perfmon_session_state(second), PERFMON_STATE_RUNNING);
	cr_assert_eq(perfmon_overflow_signal(first, 0), 0);
	cr_assert_eq(perfmon_overflow_signal(second, 0), 0);
	perfmon_session_close(first);
	perfmon_session_close(second);
}

/* As many as can stand on each other: each keeps what is asked of it, and the last is
 * told that there is no room. */
Test(midway, calls_on_each_other)
{
	struct perfmon_session *sessions[PM_BUSY_DEPTH + 2];
	bool asked;
	int i, last = PM_BUSY_DEPTH;

	for (i = 0; i < last + 2; i++)
		sessions[i] = session_with(NULL, 0);
	cr_assert_null(pm_busy_with(NULL));
	for (i = 0; i <= last; i++) {
		cr_assert_null(pm_busy_with(sessions[i]));
		cr_assert_eq(pm_busy_begin(sessions[i]), 0);
		for (int j = 0; j <= i; j++)
			cr_assert_not_null(pm_busy_with(sessions[j]));
	}
	cr_assert_null(pm_busy_with(NULL));
	cr_assert_eq(perfmon_session_state(sessions[last + 1]), -EAGAIN);
	cr_assert_eq(perfmon_session_start(sessions[last + 1]), -EAGAIN);
	for (i = 0; i <= last; i++) {
		*pm_busy_with(sessions[i]) = i % 2;
		/* To stop for: each once, as many as there is room for. */
		cr_assert_eq(pm_busy_stop_later(sessions[i]), i < last);
		cr_assert(!pm_busy_stop_later(sessions[i]));
	}
	for (i = last; i >= 0; i--) {
		asked = pm_busy_end();
		cr_assert_eq(asked, i % 2 != 0, "%d", i);
		cr_assert_null(pm_busy_with(sessions[i]));
		cr_assert_eq(pm_busy_is_under_way(), i > 0, "%d", i);
	}
	cr_assert(pm_busy_forget_stop(sessions[3]));
	cr_assert(!pm_busy_forget_stop(sessions[3]));
	for (i = 1; i < last; i++)
		cr_assert_not_null(pm_busy_take_stop());
	cr_assert_null(pm_busy_take_stop());
	cr_assert(!pm_busy_is_nested());
	for (i = 0; i < last + 2; i++)
		perfmon_session_close(sessions[i]);
}

/* --- the helper thread -------------------------------------------------------------- */

static void *live_until_told(void *argument)
{
	struct waiter *self = argument;

	self->tid = own_tid();
	atomic_store(&self->phase, READY);
	WAIT_UNTIL(atomic_load(&self->phase) == DONE);
	return NULL;
}

static void start_waiter(struct waiter *waiter, void *(*run)(void *argument))
{
	cr_assert_eq(pthread_create(&waiter->thread, NULL, run, waiter), 0);
	WAIT_UNTIL(atomic_load(&waiter->phase) == READY);
}

static void end_waiter(struct waiter *waiter)
{
	atomic_store(&waiter->phase, DONE);
	pthread_join(waiter->thread, NULL);
}

/* Row: PM-06: the end of a target that the helper thread learns of too late, when the
 * session has been attached to another one, with the same descriptor. */
Test(midway, the_end_of_an_earlier_target)
{
	struct perfmon_session *session =
		overflowing("page-faults", PERFMON_OVERFLOW_NOTIFY, 1000, 1000);
	struct waiter gone = {.session = session}, alive = {.session = session};
	struct perfmon_message message;
	struct pollfd event = {.events = POLLIN};

	start_waiter(&gone, live_until_told);
	start_waiter(&alive, live_until_told);
	OK(session, perfmon_overflow_descriptor(session));
	OK(session,
	   perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, gone.tid));
	event.fd = session->plan->targets[0].records->ring_fd;

	step_helper(BEFORE_ITS_WAIT);
	pm_session_wake(session);
	wait_for_helper();
	pm_session_wake(session);
	end_waiter(&gone);
	/* A thread can be joined before it has left its events. */
	while (poll(&event, 1, -1) == 1 && !(event.revents & POLLHUP))
		;
	step_helper(WITH_ITS_EVENTS);
	wait_for_helper();
	OK(session, perfmon_session_detach(session));
	OK(session,
	   perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, alive.tid));
	cr_assert_eq(session->plan->targets[0].records->ring_fd, event.fd);
	step_helper(AFTER_ITS_WORK);
	wait_for_helper();

	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_STOPPED);
	cr_assert_eq(perfmon_overflow_read(session, &message, 1, sizeof(message)),
		     -EAGAIN);
	perfmon_session_close(session);
	end_waiter(&alive);
}

/* Row: HW-10: a log whose last write fails, in the close of its session. */
Test(midway, a_log_that_fails_in_the_close)
{
	struct perfmon_sampling sampling = {.size = sizeof(sampling)};
	struct perfmon_session *session =
		overflowing(watch_event(0), PERFMON_OVERFLOW_SAMPLE, 10, 10);
	FILE *file = tmpfile();

	cr_assert_not_null(file);
	OK(session, perfmon_sampling_set_up(session, &sampling));
	OK(session, perfmon_sampling_log(session, NULL, fileno(file), 0));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	OK(session, perfmon_sampling_log_flush(session));
	touch(0, 100);
	OK(session, perfmon_session_stop(session));
	atomic_store(&disk_is_full, true);
	perfmon_session_close(session);
	fclose(file);
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
