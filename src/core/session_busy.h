/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The calls on sessions that a thread is in: a signal handler must not wait for the lock
 * of a session that the thread it has interrupted holds or waits for. What it would do is
 * noted instead, and done at that call's end.
 *
 * A handler may have interrupted a call on another session and make its own, and be
 * interrupted there: these calls stand on each other. All of it is the thread's own, and
 * a handler leaves it as it was, but for what it asks for.
 *
 *	field		written by
 *	session		the call: set before it takes the lock, NULL after it let go
 *	asked		handlers that find the session here; the call takes it away
 *			when `session` does not show it any more
 *	depth, outer	a call that finds another under way: puts that on top of
 *			`outer`, and back when it ends itself
 */
#ifndef PM_CORE_SESSION_BUSY_H
#define PM_CORE_SESSION_BUSY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perfmon_session;

#define PM_BUSY_DEPTH 8

struct pm_asked {
	bool restart;
	bool block;
};

struct pm_busy {
	struct perfmon_session *session;
	union {
		struct {
			struct pm_asked asked;
			uint16_t depth;
		};
		uintptr_t rare; /* any of these */
	};
	struct {
		struct perfmon_session *session;
		struct pm_asked asked;
	} outer[PM_BUSY_DEPTH];
};

extern __thread struct pm_busy pm_busy __attribute__((tls_model("initial-exec")));

/* Between steps that a handler on this thread must see in order. */
static inline void pm_busy_step(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Whether a call that begins now has interrupted another. */
static inline bool pm_busy_is_nested(void)
{
	/* One branch: this is on the quick way of start and stop. */
	return ((uintptr_t)pm_busy.session | pm_busy.rare) != 0;
}

/* A call on SESSION begins that has interrupted none, and ends. */
static inline void pm_busy_set(struct perfmon_session *session)
{
	pm_busy.session = session;
	pm_busy_step();
}
static inline void pm_busy_clear(void)
{
	pm_busy_step();
	pm_busy.session = NULL;
	pm_busy_step();
}

/* The same for one that may have. -EAGAIN: PM_BUSY_DEPTH stand on each other already.
 * What was asked for meanwhile is to be done then. */
int pm_busy_begin(struct perfmon_session *session);
struct pm_asked pm_busy_end(void);

/* What can be asked of the calling thread's call on SESSION (which may be NULL) that is
 * under way, NULL if there is none. */
struct pm_asked *pm_busy_with(const struct perfmon_session *session);

#endif
