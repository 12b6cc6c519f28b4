/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The example of perfmon/overflow.h, compiled from the comment and run. */
#include <criterion/criterion.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "perfmon/overflow.h"
#include "helpers.h"
#include "session_probe.h"

/* What the example needs around it. */
static void example(struct perfmon_session *session, pid_t tid)
{
#include "overflow_example.inc"
}

struct worker {
	struct perfmon_session *session;
	pthread_t thread;
	pid_t tid;
	int orders[2];
};

static uint64_t overflows(struct perfmon_session *session)
{
	uint64_t count = 0;

	cr_assert_eq(perfmon_overflow_last_reset(session, 0, NULL, &count), 0);
	return count;
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	char byte;

	__atomic_store_n(&worker->tid, own_tid(), __ATOMIC_RELEASE);
	if (read(worker->orders[0], &byte, 1) != 1)
		return NULL;
	/* In a machine whose CPUs run in turns it takes a while until one is heard. */
	for (int i = 0; i < 100 && overflows(worker->session) < 3; i++)
		work_for_ns(CLOCK_THREAD_CPUTIME_ID, 20000000);
	return NULL;
}

static void *begin(void *argument)
{
	struct worker *worker = argument;

	WAIT_UNTIL(perfmon_session_state(worker->session) == PERFMON_STATE_RUNNING);
	cr_assert_eq(write(worker->orders[1], "x", 1), 1);
	return NULL;
}

/* It reports each overflow of a thread that works, and ends with the thread. */
Test(overflow_example, works_as_it_stands, .timeout = 60)
{
	struct perfmon_session *session = session_with("task-clock:u", 0);
	struct worker worker = {.session = session};
	pthread_t starter;

	cr_assert(!pipe(worker.orders));
	cr_assert(!pthread_create(&worker.thread, NULL, work, &worker));
	WAIT_UNTIL(__atomic_load_n(&worker.tid, __ATOMIC_ACQUIRE));
	cr_assert(!pthread_create(&starter, NULL, begin, &worker));
	example(session, worker.tid);
	pthread_join(starter, NULL);
	pthread_join(worker.thread, NULL);
	cr_assert_geq(overflows(session), 3, "%lu overflows",
		      (unsigned long)overflows(session));
	perfmon_session_close(session);
}
