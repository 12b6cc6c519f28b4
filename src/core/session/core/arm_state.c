/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables of arm_state.h, and moves that cannot happen. */
#include "core/session/core/arm_state.h"

#include "core/session/core/state.h"

uint32_t pm_session_impossible;

void pm_session_move_refused(void)
{
	__atomic_fetch_add(&pm_session_impossible, 1, __ATOMIC_RELAXED);
}

enum pm_period_state pm_period_after(enum pm_period_state state,
				     enum pm_period_event event)
{
	enum {
		FITS = PM_PERIOD_FITS,
		STALE = PM_PERIOD_STALE,
		MOVED = PM_PERIOD_MOVED,
		DUE = PM_PERIOD_DUE,
		DUE_MOVED = PM_PERIOD_DUE_MOVED,
		NEVER = PM_PERIOD_STATES
	};
	/* clang-format off */
	static const uint8_t after[PM_PERIOD_EVENTS][PM_PERIOD_STATES] = {
		[PM_PERIOD_OPENED_DUE]	= {DUE_MOVED, NEVER, NEVER,	NEVER,	   NEVER},
		[PM_PERIOD_WRITTEN]	= {FITS,      FITS,  FITS,	FITS,	   FITS},
		[PM_PERIOD_SET_BACK]	= {MOVED,     MOVED, MOVED,	DUE_MOVED, DUE_MOVED},
		[PM_PERIOD_MET]		= {NEVER,     NEVER, STALE,	NEVER,	   DUE},
		[PM_PERIOD_NOTIFIED]	= {DUE,	      DUE,   DUE_MOVED, DUE,	   DUE_MOVED},
		[PM_PERIOD_RESET_FITS]	= {FITS,      FITS,  FITS,	FITS,	   FITS},
		[PM_PERIOD_RESET_STALE] = {STALE,     STALE, STALE,	STALE,	   STALE},
		[PM_PERIOD_SETTLED]	= {NEVER,     FITS,  FITS,	NEVER,	   NEVER},
	};
	/* clang-format on */

	return after[event][state];
}

enum pm_limit_state pm_limit_after(enum pm_limit_state state, enum pm_limit_event event)
{
	enum {
		FREE = PM_LIMIT_FREE,
		STARTED = PM_LIMIT_STARTED,
		LIMITED = PM_LIMIT_LIMITED,
		RESUMED = PM_LIMIT_RESUMED,
		STOPPED = PM_LIMIT_STOPPED,
		RESTARTED = PM_LIMIT_RESTARTED,
		NEVER = PM_LIMIT_STATES
	};
	/* clang-format off */
	static const uint8_t after[PM_LIMIT_EVENTS][PM_LIMIT_STATES] = {
		[PM_LIMIT_LIMIT]    = {STARTED, STARTED, NEVER,	  NEVER,   RESTARTED, RESTARTED},
		[PM_LIMIT_ENABLED]  = {FREE,	LIMITED, LIMITED, LIMITED, NEVER,     LIMITED},
		[PM_LIMIT_RESUME]   = {FREE,	STARTED, RESUMED, RESUMED, STOPPED,   RESTARTED},
		[PM_LIMIT_OVERFLOW] = {STOPPED, STOPPED, STOPPED, STOPPED, STOPPED,   STOPPED},
	};
	/* clang-format on */

	return after[event][state];
}

void pm_period_move(enum pm_period_state *state, enum pm_period_event event)
{
	enum pm_period_state after = pm_period_after(*state, event);

	if (after == PM_PERIOD_STATES)
		pm_session_move_refused();
	else
		*state = after;
}

void pm_limit_move(enum pm_limit_state *state, enum pm_limit_event event)
{
	enum pm_limit_state after = pm_limit_after(*state, event);

	if (after == PM_LIMIT_STATES)
		pm_session_move_refused();
	else
		*state = after;
}
