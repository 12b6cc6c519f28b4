/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The threads that an overflow stops: a signal brings the event's descriptor, from which a
 * table leads to the session:
 *
 *   field     writer                     reader
 *   fd        whoever arms, locked       the handlers
 *   session   the same                   the handlers, between their moves of `users`
 *   info,     the same, before `session` the same, after `session`
 *   handler
 *   users     the handler                whoever disarms: waits for 0 before the session
 *                                        may go
 *
 * Locked by PM_LOCK_STOPPED. All of them are sequentially consistent: a handler that is not
 * counted in `users` sees that the session has gone. So a handler's move of `users` and its load
 * of `session` pair with the store of `session` and the load of `users` in wait_for_users(). Its
 * load of `fd` pairs with the store after those of `info`, `handler` and `session`.
 */
#ifndef PM_SESSION_OVERFLOW_STOPPED_H
#define PM_SESSION_OVERFLOW_STOPPED_H

#include <signal.h>

#include "core/session/core/core.h"

struct pm_stopped {
	int fd; /* plus one; 0: free */
	struct perfmon_session *session;
	uint32_t users;
	struct perfmon_overflow_signal info;
	void (*handler)(int signo, siginfo_t *info, void *context);
};

/* Returns the entry of event FD, NULL if it has none. Async-signal-safe. */
struct pm_stopped *pm_stopped_find(int fd);

/* The library's handlers know of overflows of event FD, which is counter INDEX of SESSION;
 * of those of TARGET they do no more. */
int pm_stopped_watch(struct perfmon_session *session, int fd, uint32_t index);
void pm_stopped_unwatch(const struct pm_session_plan *plan, struct pm_target *target);

/* (Re-)arms the signals of TARGET's notifying counters. */
int pm_overflow_arm_signals(struct perfmon_session *session, struct pm_target *target);

#endif
