/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The targets of a session, for tests that go through all kinds of them. Each does a
 * given amount of work on request. */
#ifndef TESTS_SESSION_TARGETS_H
#define TESTS_SESSION_TARGETS_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helpers.h"
#include "session_probe.h"
#include "messages.h"

enum victim_kind {
	VICTIM_OWN,	 /* the calling thread */
	VICTIM_CHILDREN, /* the same with its descendants, which do the work */
	VICTIM_THREAD,	 /* another thread */
	VICTIM_PROCESS,	 /* another process */
	VICTIM_CPU	 /* CPU 0, whose work is passing time */
};

struct victim {
	enum victim_kind kind;
	struct perfmon_target target;
	pthread_t thread;
	pid_t process;
	int socket; /* carries a number of touches, and sends it back when they are done */
	int far;    /* the other end, used by a thread */
};

static inline void victim_serve(int socket)
{
	uint32_t times;
	pid_t tid = own_tid();

	if (write(socket, &tid, sizeof(tid)) != sizeof(tid))
		return;
	while (read(socket, &times, sizeof(times)) == sizeof(times)) {
		touch(0, times);
		if (write(socket, &times, sizeof(times)) != sizeof(times))
			return;
	}
}

static inline void *victim_thread(void *argument)
{
	victim_serve(((struct victim *)argument)->far);
	return NULL;
}

static inline void victim_start(struct victim *victim, enum victim_kind kind)
{
	int ends[2];

	*victim = (struct victim){.kind = kind, .socket = -1, .far = -1};
	victim->target.kind =
		kind == VICTIM_CPU ? PERFMON_TARGET_KIND_CPU : PERFMON_TARGET_KIND_THREAD;
	victim->target.flags = kind == VICTIM_CHILDREN ? PERFMON_TARGET_CHILDREN : 0;
	if (kind != VICTIM_THREAD && kind != VICTIM_PROCESS)
		return;
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	victim->socket = ends[0];
	if (kind == VICTIM_THREAD) {
		victim->far = ends[1];
		cr_assert_eq(pthread_create(&victim->thread, NULL, victim_thread, victim),
			     0);
	} else {
		victim->process = fork();
		if (!victim->process) {
			close(ends[0]);
			victim_serve(ends[1]);
			_exit(0);
		}
		close(ends[1]);
	}
	cr_assert_eq(read(victim->socket, &victim->target.id, sizeof(pid_t)),
		     (ssize_t)sizeof(pid_t));
}

static inline void *victim_child(void *argument)
{
	touch(0, *(unsigned int *)argument);
	return NULL;
}

static inline void victim_work(struct victim *victim, unsigned int times)
{

	switch (victim->kind) {
	case VICTIM_OWN:
		touch(0, times);
		break;
	case VICTIM_CHILDREN:
		in_thread(victim_child, &times);
		break;
	case VICTIM_CPU:
		work_for_ns(CLOCK_MONOTONIC, 20000);
		break;
	default:
		cr_assert_eq(write(victim->socket, &times, sizeof(times)),
			     (ssize_t)sizeof(times));
		cr_assert_eq(read(victim->socket, &times, sizeof(times)),
			     (ssize_t)sizeof(times));
	}
}

/* Ends a thread by itself, a process by a signal. */
static inline void victim_end(struct victim *victim)
{
	if (victim->kind == VICTIM_THREAD) {
		shutdown(victim->socket, SHUT_RDWR);
		pthread_join(victim->thread, NULL);
		close(victim->far);
	} else if (victim->kind == VICTIM_PROCESS) {
		kill(victim->process, SIGKILL);
		waitpid(victim->process, NULL, 0);
	}
	if (victim->socket >= 0)
		close(victim->socket);
	victim->socket = -1;
}

/* Returns two sets, each with an event that counts the work of VICTIM. */
static inline const char *victim_events(const struct victim *victim)
{
	static char text[256];

	if (victim->kind == VICTIM_CPU)
		return "cpu-clock,dummy;cpu-clock";
	snprintf(text, sizeof(text), "%s,dummy;%s", watch_event(0), watch_event(0));
	return text;
}

static inline struct perfmon_session *victim_session(const struct victim *victim)
{
	struct perfmon_session_options options = {
		.size = sizeof(options),
		.scope = victim->kind == VICTIM_CPU ? PERFMON_SCOPE_CPU
						    : PERFMON_SCOPE_THREAD};
	struct perfmon_session *session;

	cr_assert_eq(perfmon_session_create(&session, &options, NULL, 0), 0);
	OK(session, perfmon_session_add_events(session, victim_events(victim)));
	return session;
}

/*
 * Keeps the events open on the caller, so that the kernel need not patch itself each time
 * that the first is opened and the last closed. Skips the test if they cannot be opened.
 */
static inline struct perfmon_session *victim_keeper(const struct victim *victim)
{
	struct perfmon_session *session = victim_session(victim);
	struct perfmon_session *again;
	int n = perfmon_session_attach_targets(session, &victim->target, 1,
					       sizeof(victim->target), 0);

	if (n == -EACCES || n == -EPERM || n == -ENOSPC || n == -EOPNOTSUPP)
		cr_skip_test("%s", session_message_of(session));
	OK(session, n);
	perfmon_session_close(session);
	again = session_with("dummy", 0);
	OK(again, perfmon_session_attach(again, PERFMON_TARGET_KIND_THREAD, 0));
	return again;
}

/* Returns the sum of all counters of SESSION, which count only the work. */
static inline uint64_t total_of(struct perfmon_session *session)
{
	struct perfmon_value values[16];
	uint64_t sum = 0;
	int i, n = perfmon_session_read(session, values,
					sizeof(values) / sizeof(values[0]),
					sizeof(values[0]), PERFMON_READ_ALL);

	cr_assert_geq(n, 0, "%s", session_message_of(session));
	for (i = 0; i < n; i++)
		sum += values[i].value;
	return sum;
}

#endif
