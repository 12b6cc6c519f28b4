/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of a session. pm_session_move_from() of core.h alone changes it. A dash stands
 * for what cannot happen.
 *
 *	event		DETACHED  STOPPED   RUNNING  MASKED
 *	ATTACH		STOPPED	  STOPPED   -	     -
 *	START		-	  RUNNING   -	     -
 *	OVERFLOW	-	  -	    MASKED   -
 *	RESTART		-	  -	    -	     RUNNING
 *	STOP		-	  STOPPED   STOPPED  STOPPED
 *	DETACH		-	  DETACHED  -	     -
 *
 * A session that loses its last target, or is detached while it runs, stops first: what its
 * rings hold is taken when nothing counts any more.
 */
#ifndef PM_SESSION_CORE_STATE_H
#define PM_SESSION_CORE_STATE_H

#include <stdint.h>

#include "perfmon/session.h"

#define PM_SESSION_STATES (PERFMON_STATE_MASKED + 1)

enum pm_session_event {
	PM_SESSION_ATTACH, /* the targets are open; more of them of a session that has some */
	PM_SESSION_START,    /* they are enabled */
	PM_SESSION_OVERFLOW, /* a counter that notifies has overflowed: they are disabled */
	PM_SESSION_RESTART, /* the counters have their long resets */
	PM_SESSION_STOP,    /* the targets are disabled */
	PM_SESSION_DETACH,  /* they are closed */
	PM_SESSION_EVENTS
};

/* Returns what STATE becomes by EVENT, or PM_SESSION_STATES where that cannot happen. With
 * constants the compiler finds it: start and stop pay for a store alone. */
static inline unsigned int pm_session_after(unsigned int state,
					    enum pm_session_event event)
{
	enum {
		DETACHED = PERFMON_STATE_DETACHED,
		STOPPED = PERFMON_STATE_STOPPED,
		RUNNING = PERFMON_STATE_RUNNING,
		MASKED = PERFMON_STATE_MASKED,
		NEVER = PM_SESSION_STATES
	};
	/* clang-format off */
	static const uint8_t after[PM_SESSION_EVENTS][PM_SESSION_STATES] = {
		[PM_SESSION_ATTACH]	= {STOPPED, STOPPED,  NEVER,   NEVER},
		[PM_SESSION_START]	= {NEVER,   RUNNING,  NEVER,   NEVER},
		[PM_SESSION_OVERFLOW]	= {NEVER,   NEVER,    MASKED,  NEVER},
		[PM_SESSION_RESTART]	= {NEVER,   NEVER,    NEVER,   RUNNING},
		[PM_SESSION_STOP]	= {NEVER,   STOPPED,  STOPPED, STOPPED},
		[PM_SESSION_DETACH]	= {NEVER,   DETACHED, NEVER,   NEVER},
	};
	/* clang-format on */

	return after[event][state];
}

/* Counts a move, of a session or an armed counter, that cannot happen. */
void pm_session_move_refused(void);

/* For tests: how often that happened in this process. */
extern uint32_t pm_session_impossible;

#endif
