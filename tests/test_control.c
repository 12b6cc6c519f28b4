/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rules of perfctr and hwpmc. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "core/kernel/kernel.h"
#include "perfmon/control.h"
#include "perfmon/overflow.h"
#include "helpers.h"
#include "session_targets.h"
#include "messages.h"

static struct perfmon_session *watching(uint32_t flags)
{
	struct perfmon_session *session = session_with(watch_event(0), flags);
	int n = perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0);

	if (n == -EACCES || n == -EPERM || n == -ENOSPC || n == -EOPNOTSUPP)
		cr_skip_test("%s", session_message_of(session));
	OK(session, n);
	OK(session, perfmon_session_detach(session));
	return session;
}

static int open_calls;

static int count_opens(enum pm_kernel_call call)
{
	open_calls += call == PM_CALL_PERF_EVENT_OPEN;
	return 0;
}

static void forget_hook(void)
{
	pm_kernel_fault = NULL;
}

TestSuite(control, .fini = forget_hook);

/* Row: HW-13: read, write, swap of a value; write while running EBUSY; the rate is
 * changed while stopped. */
Test(control, values_are_swapped)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = watching(0);
	struct perfmon_value values[2] = {
		{.index = 0, .value = 1000},
		{.index = PERFMON_COUNTER_VIRTUAL_TIME, .value = 5}};
	struct perfmon_value bad[2] = {{.index = 0, .value = 7}, {.index = 9}};
	struct perfmon_write write = {.index = 0, .value = 3};
	struct perfmon_overflow rate = {.size = sizeof(rate),
					.short_reset = -(uint64_t)5};
	uint64_t sum = 0;

	/* Detached, stopped and running: what was there comes out, what is given goes
	 * in. */
	cr_assert_eq(perfmon_session_swap(session, values, 1, sizeof(values[0]), 0), 1);
	cr_assert_eq(values[0].value, 0);
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	touch(0, 10);
	values[0].value = 50;
	cr_assert_eq(perfmon_session_swap(session, values,
					  sizeof(values) / sizeof(values[0]),
					  sizeof(values[0]), 0),
		     2);
	cr_assert_eq(values[0].value, 1010);
	cr_assert_gt(values[1].value, 0);
	cr_assert_eq(values[0].index, 0);
	/* No count is lost from one swap to the next. */
	values[0].value = 0;
	OK(session, perfmon_session_swap(session, values, 1, sizeof(values[0]), 0));
	cr_assert_eq(values[0].value, 50);
	for (unsigned int i = 1; i <= 100; i++) {
		touch(0, i);
		values[0].value = 0;
		OK(session,
		   perfmon_session_swap(session, values, 1, sizeof(values[0]), 0));
		sum += values[0].value;
	}
	cr_assert_eq(sum, 5050);

	cr_assert_eq(perfmon_session_swap(session, bad, sizeof(bad) / sizeof(bad[0]),
					  sizeof(bad[0]), 0),
		     -EINVAL);
	cr_assert_eq(bad[0].value, 7, "untouched on failure");
	cr_assert_eq(perfmon_session_swap(session, values, 1, sizeof(values[0]), 0x80),
		     -EINVAL);
	cr_assert_eq(perfmon_session_swap(session, NULL, 1, sizeof(values[0]), 0),
		     -EINVAL);
	cr_assert_eq(perfmon_session_swap(NULL, values, 1, sizeof(values[0]), 0),
		     -EINVAL);

	cr_assert_eq(perfmon_session_write(session, &write, 1, sizeof(write),
					   PERFMON_WRITE_STOPPED),
		     -EBUSY);
	cr_assert_eq(perfmon_session_swap(session, values, 1, sizeof(values[0]),
					  PERFMON_WRITE_STOPPED),
		     -EBUSY);
	cr_assert_eq(perfmon_overflow_program(session, 0, &rate), -EBUSY);
	cr_assert_eq(count_of(session, 0), 0);
	OK(session, perfmon_session_stop(session));
	cr_assert_eq(perfmon_session_write(session, &write, 1, sizeof(write),
					   PERFMON_WRITE_STOPPED),
		     1);
	cr_assert_eq(count_of(session, 0), 3);
	values[0].value = 4;
	cr_assert_eq(perfmon_session_swap(session, values, 1, sizeof(values[0]),
					  PERFMON_WRITE_STOPPED),
		     1);
	cr_assert_eq(values[0].value, 3);
	OK(session, perfmon_overflow_program(session, 0, &rate));
	cr_assert_eq(perfmon_session_write(session, &write, 1, sizeof(write), 2),
		     -EINVAL);
	perfmon_session_close(session);
}

/* Row: HW-05: started unattached, it counts the thread that starts it; but not where its
 * own target has ended. */
Test(control, started_unattached_it_counts_its_own_thread)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session_options cpu = {.size = sizeof(cpu),
					      .scope = PERFMON_SCOPE_CPU,
					      .flags = PERFMON_SESSION_SELF};
	struct perfmon_session *session = watching(PERFMON_SESSION_SELF), *none;
	struct victim victim;

	OK(session, perfmon_session_start(session));
	touch(0, 5);
	OK(session, perfmon_session_stop(session));
	cr_assert_eq(count_of(session, 0), 5);
	OK(session, perfmon_session_detach(session));
	OK(session, perfmon_set_start(session, 0));
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_RUNNING);
	touch(0, 5);
	cr_assert_eq(count_of(session, 0), 10);
	OK(session, perfmon_session_detach(session));

	victim_start(&victim, VICTIM_THREAD);
	OK(session,
	   perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, victim.target.id));
	OK(session, perfmon_session_start(session));
	victim_work(&victim, 3);
	victim_end(&victim);
	wait_for_loss(session);
	cr_assert_eq(perfmon_session_start(session), -EINVAL);
	cr_assert(strstr(session_message_of(session), "ended"));
	cr_assert_eq(count_of(session, 0), 13);
	cr_assert_eq(perfmon_session_create(&none, &cpu, NULL, 0), -EINVAL);
	perfmon_session_close(session);
}

/* Row: PC-04: on oneself or another thread; when one exists EEXIST; a new one is inactive
 * and zero. */
Test(control, a_thread_has_one_exclusive_session)
{
	struct perfmon_session *first = watching(PERFMON_SESSION_EXCLUSIVE);
	struct perfmon_session *second = session_with("dummy", PERFMON_SESSION_EXCLUSIVE);
	struct perfmon_session *free_one = session_with("dummy", 0);
	struct perfmon_target two[2] = {{.id = 0}, {.id = 0}};
	struct victim victim;
	int before, status;
	pid_t child;

	victim_start(&victim, VICTIM_THREAD);
	two[1].id = victim.target.id;
	before = open_descriptors();
	cr_assert_eq(perfmon_session_attach_targets(second, two,
						    sizeof(two) / sizeof(two[0]),
						    sizeof(two[0]), 0),
		     -EINVAL);
	OK(first, perfmon_session_attach(first, PERFMON_TARGET_KIND_THREAD, 0));
	cr_assert_eq(perfmon_session_state(first), PERFMON_STATE_STOPPED,
		     "it is inactive");
	cr_assert_eq(count_of(first, 0), 0);
	cr_assert_eq(perfmon_session_attach(second, PERFMON_TARGET_KIND_THREAD, 0),
		     -EEXIST);
	cr_assert(strstr(session_message_of(second), "exclusive"));
	cr_assert_eq(open_descriptors(), before + 1);
	OK(free_one, perfmon_session_attach(free_one, PERFMON_TARGET_KIND_THREAD, 0));
	OK(second,
	   perfmon_session_attach(second, PERFMON_TARGET_KIND_THREAD, victim.target.id));
	cr_assert_eq(perfmon_session_attach_targets(first, &two[1], 1, sizeof(two[1]),
						    PERFMON_ATTACH_ADD),
		     -EINVAL);
	/* Each way to let go lets the next one in. */
	OK(second, perfmon_session_detach(second));
	OK(first, perfmon_session_detach_target(first, two[0].kind, two[0].id));
	OK(second, perfmon_session_attach(second, PERFMON_TARGET_KIND_THREAD, 0));
	cr_assert_eq(perfmon_session_attach(first, PERFMON_TARGET_KIND_THREAD, 0),
		     -EEXIST);
	perfmon_session_close(second);
	OK(first, perfmon_session_attach(first, PERFMON_TARGET_KIND_THREAD, 0));
	OK(first, perfmon_session_detach(first));
	OK(first,
	   perfmon_session_attach(first, PERFMON_TARGET_KIND_THREAD, victim.target.id));
	victim_end(&victim);
	wait_for_loss(first);
	OK(first, perfmon_session_attach(first, PERFMON_TARGET_KIND_THREAD, 0));

	/* A child has states of its own. */
	child = fork();
	if (!child) {
		struct perfmon_session *own =
			session_with("dummy", PERFMON_SESSION_EXCLUSIVE);
		int n = perfmon_session_attach(own, PERFMON_TARGET_KIND_THREAD, 0);

		perfmon_session_close(own);
		perfmon_session_close(first);
		_exit(n != 0);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0);
	perfmon_session_close(first);
	perfmon_session_close(free_one);
}

static void *attach_own(void *session)
{
	struct perfmon_session *found;

	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_of_thread(0, &found));
	return (void *)(intptr_t)own_tid();
}

/* Its session was not asked for anything since. */
Test(control, a_thread_that_has_ended_has_no_state)
{
	struct perfmon_session *its = session_with("dummy", PERFMON_SESSION_EXCLUSIVE);
	struct perfmon_session *found = NULL;
	pthread_t thread;
	void *tid;

	cr_assert_eq(pthread_create(&thread, NULL, attach_own, its), 0);
	pthread_join(thread, &tid);
	WAIT_UNTIL(perfmon_session_of_thread((pid_t)(intptr_t)tid, &found) == -ENOENT);
	found = NULL;
	cr_assert_eq(perfmon_session_of_thread((pid_t)(intptr_t)tid, &found), -ENOENT);
	cr_assert_null(found);
	perfmon_session_close(its);
}

static void *find_own(void *unused)
{
	struct perfmon_session *found;

	(void)unused;
	return (void *)(intptr_t)perfmon_session_of_thread(0, &found);
}

/* Row: PC-18: opened without being created, the state that a thread has is found; a
 * second one is refused. */
Test(control, the_state_of_a_thread_is_found)
{
	struct perfmon_session *own = session_with("dummy", PERFMON_SESSION_EXCLUSIVE);
	struct perfmon_session *its = session_with("dummy", PERFMON_SESSION_EXCLUSIVE);
	struct perfmon_session *shared = session_with("dummy", 0), *found = NULL;
	struct victim victim;
	pthread_t other;
	void *result;
	int status;
	pid_t child;

	cr_assert_eq(perfmon_session_of_thread(0, &found), -ENOENT);
	victim_start(&victim, VICTIM_THREAD);
	OK(shared, perfmon_session_attach(shared, PERFMON_TARGET_KIND_THREAD, 0));
	cr_assert_eq(perfmon_session_of_thread(0, &found), -ENOENT, "not exclusive");
	OK(own, perfmon_session_attach(own, PERFMON_TARGET_KIND_THREAD, 0));
	OK(its,
	   perfmon_session_attach(its, PERFMON_TARGET_KIND_THREAD, victim.target.id));
	cr_assert_eq(perfmon_session_of_thread(0, &found), 0);
	cr_assert_eq(found, own);
	cr_assert_eq(perfmon_session_of_thread(own_tid(), &found), 0);
	cr_assert_eq(found, own);
	cr_assert_eq(perfmon_session_of_thread(victim.target.id, &found), 0);
	cr_assert_eq(found, its);
	cr_assert_eq(perfmon_session_attach(shared, PERFMON_TARGET_KIND_THREAD, 0),
		     -EBUSY);
	OK(shared, perfmon_session_detach(shared));
	cr_assert_eq(pthread_create(&other, NULL, find_own, NULL), 0);
	pthread_join(other, &result);
	cr_assert_eq((intptr_t)result, -ENOENT);
	cr_assert_eq(perfmon_session_of_thread(-1, &found), -EINVAL);
	cr_assert_eq(perfmon_session_of_thread(0, NULL), -EINVAL);
	child = fork();
	if (!child)
		_exit(perfmon_session_of_thread(0, &found) != -ENOENT);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0, "a child has none of its parent's");
	OK(own, perfmon_session_detach(own));
	found = shared;
	cr_assert_eq(perfmon_session_of_thread(0, &found), -ENOENT);
	cr_assert_eq(found, shared, "untouched");
	victim_end(&victim);
	perfmon_session_close(own);
	perfmon_session_close(its);
	perfmon_session_close(shared);
}

/* Row: PC-05, PC-06, PC-12: stop and sample, update, restart; sums go to zero but for
 * those in the mask; an empty one stops and keeps the sums; the same again opens nothing.
 */
Test(control, a_control_replaces_everything)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = watching(0);
	static const uint32_t keep[] = {1};
	char two[200], swapped[200];
	uint64_t time;

	snprintf(two, sizeof(two), "dummy,%s", watch_event(0));
	snprintf(swapped, sizeof(swapped), "%s,alignment-faults", watch_event(0));
	cr_assert_eq(perfmon_session_control(session, two, NULL, 0), -EINVAL, "detached");
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_control(session, two, NULL, 0));
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_RUNNING);
	cr_assert_eq(perfmon_session_counters(session), 2);
	touch(0, 10);
	cr_assert_eq(count_of(session, 1), 10);

	/* The same again: zeroed, and nothing is opened. */
	pm_kernel_fault = count_opens;
	OK(session, perfmon_session_control(session, two, NULL, 0));
	cr_assert_eq(open_calls, 0);
	cr_assert_eq(count_of(session, 1), 0);
	touch(0, 10);
	OK(session, perfmon_session_control(session, two, keep, 1));
	cr_assert_eq(open_calls, 0);
	touch(0, 10);
	cr_assert_eq(count_of(session, 1), 20);

	/* Other events: counter 1's sum is kept, whatever it counts now. */
	time = count_of(session, PERFMON_COUNTER_VIRTUAL_TIME);
	OK(session, perfmon_session_control(session, swapped, keep, 1));
	cr_assert_eq(open_calls, 2);
	touch(0, 7);
	cr_assert_eq(count_of(session, 0), 7);
	cr_assert_eq(count_of(session, 1), 20);
	cr_assert_gt(count_of(session, PERFMON_COUNTER_VIRTUAL_TIME), time);

	/* Bad ones change nothing. */
	cr_assert_eq(perfmon_session_control(session, "no-such-event", NULL, 0), -EINVAL);
	cr_assert_eq(perfmon_session_control(session, "dummy;dummy", NULL, 0), -EINVAL);
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_RUNNING);
	touch(0, 3);
	cr_assert_eq(count_of(session, 0), 10);

	/* The empty one. */
	OK(session, perfmon_session_control(session, NULL, NULL, 0));
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_STOPPED);
	touch(0, 3);
	cr_assert_eq(count_of(session, 0), 10);
	OK(session, perfmon_session_control(session, "", NULL, 0));
	OK(session, perfmon_session_control(session, watch_event(0), NULL, 0));
	touch(0, 4);
	cr_assert_eq(perfmon_session_counters(session), 1);
	cr_assert_eq(count_of(session, 0), 4);
	OK(session, perfmon_session_detach(session));
	OK(session, perfmon_set_create(session, &(struct perfmon_set){.id = 3}, 1,
				       sizeof(struct perfmon_set)));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	cr_assert_eq(perfmon_session_control(session, "dummy", NULL, 0), -EINVAL);
	cr_assert_eq(count_of(session, 0), 4);
	perfmon_session_close(session);
}

static int refuse(enum pm_kernel_call call)
{
	return call == PM_CALL_PERF_EVENT_OPEN ? -EMFILE : 0;
}

/* What is refused leaves the old events counting. */
Test(control, a_refused_control_changes_nothing)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = watching(0);
	int before;

	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	touch(0, 5);
	before = open_descriptors();
	pm_kernel_fault = refuse;
	cr_assert_eq(perfmon_session_control(session, "dummy", NULL, 0), -EMFILE);
	pm_kernel_fault = NULL;
	cr_assert(strstr(session_message_of(session), "dummy"), "%s",
		  session_message_of(session));
	cr_assert_eq(open_descriptors(), before);
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_RUNNING);
	touch(0, 5);
	cr_assert_eq(count_of(session, 0), 10);
	perfmon_session_close(session);
}

/* Row: PC-07: unlink stops, samples, detaches; repeated it does nothing; the handle stays
 * readable, also after its thread is gone. */
Test(control, unlink_is_detach)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = watching(0);
	struct victim victim;

	victim_start(&victim, VICTIM_THREAD);
	OK(session,
	   perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, victim.target.id));
	OK(session, perfmon_session_control(session, watch_event(0), NULL, 0));
	victim_work(&victim, 6);
	OK(session, perfmon_session_detach(session));
	victim_work(&victim, 6);
	OK(session, perfmon_session_detach(session));
	cr_assert_eq(count_of(session, 0), 6);
	OK(session,
	   perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, victim.target.id));
	OK(session, perfmon_session_start(session));
	victim_work(&victim, 6);
	victim_end(&victim);
	cr_assert_eq(count_of(session, 0), 12);
	OK(session, perfmon_session_detach(session));
	OK(session, perfmon_session_detach(session));
	cr_assert_eq(count_of(session, 0), 12);
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_DETACHED);
	perfmon_session_close(session);
}
