/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The calls on sessions that a thread is in: a signal handler must not wait for the lock
 * of a session that the thread it has interrupted holds or waits for. What it would do is
 * noted instead, and done at that call's end. Nor must a thread stop for one session
 * while it is in a call on another, whose lock it would keep: it stops when no call is
 * under way.
 *
 * A handler may have interrupted a call on another session and make its own, and be
 * interrupted there: these calls stand on each other. All of it is the thread's own, and
 * a handler leaves it as it was, but for what it asks for.
 *
 *	field		written by
 *	session		the call: set before it takes the lock, NULL after it let go
 *	restart		handlers that find the session here; the call takes it away
 *			when `session` does not show it any more
 *	depth, outer	a call that finds another under way: puts that on top of
 *			`outer`, and back when it ends itself
 *	stops, stop	handlers add sessions, with a reference to each (its `blocked`);
 *			the outermost call takes them away at its end
 *	number		whoever attaches a session to this thread, once
 */
#ifndef PM_SESSION_CORE_BUSY_H
#define PM_SESSION_CORE_BUSY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perfmon_session;

#define PM_BUSY_DEPTH 8

/* The number of a thread that has not asked for one. */
#define PM_NO_NUMBER 1

struct pm_busy {
	struct perfmon_session *session;
	union {
		struct {
			bool restart; /* has been asked for */
			bool stops;   /* there may be one in `stop` */
			uint16_t depth;
		};
		uintptr_t rare; /* any of these */
	};
	/* Tells threads apart for ever, as thread pointers do not: a new thread gets the
	 * stack of one that has ended. (No more than 2^32 threads attach themselves.) */
	uint32_t number;
	struct {
		struct perfmon_session *session;
		bool restart;
	} outer[PM_BUSY_DEPTH];
	struct perfmon_session *stop[PM_BUSY_DEPTH];
};

extern __thread struct pm_busy pm_busy __attribute__((tls_model("initial-exec")));

/* The calling thread's number; it gets one if it has none. */
uint32_t pm_busy_number(void);

/* Between steps that a handler on this thread must see in order. */
static inline void pm_busy_step(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Returns whether a call that begins now has interrupted another. */
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
 * Returns at the end whether a restart was asked for meanwhile, which the caller does then. */
int pm_busy_begin(struct perfmon_session *session);
bool pm_busy_end(void);

/* Returns whether a call on any session is under way. */
static inline bool pm_busy_is_under_way(void)
{
	return pm_busy.session || pm_busy.depth;
}

/* Has the calling thread stop for SESSION when no call is under way; from a handler that
 * no other interrupts. False: it will already, or there is no room. */
bool pm_busy_stop_later(struct perfmon_session *session);

/* Takes away a session to stop for, NULL if there is none; or SESSION: whether it was
 * one.
 */
struct perfmon_session *pm_busy_take_stop(void);
bool pm_busy_forget_stop(const struct perfmon_session *session);

/* Returns where to ask the calling thread's call on SESSION (which may be NULL) that is under
 * way for a restart, or NULL if there is none. */
bool *pm_busy_with(const struct perfmon_session *session);

#endif
