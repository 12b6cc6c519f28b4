/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of an armed counter: one that overflows, on one of its targets. Two things
 * change independently of each other, so there are two machines, each with one function
 * of transition. A dash stands for what cannot happen.
 *
 * Periods: what the period that the kernel has says of the counter's value.
 *
 *	FITS		the kernel's next record comes where the value passes 2^64
 *	STALE		it does not: the kernel has to get the period that is left
 *	MOVED		the same, and another counter's overflow has set the value back:
 *			records from before say nothing of it
 *	DUE		it has overflowed, and waits for its long reset
 *	DUE_MOVED	it waits for its long reset, which is not one from its overflow
 *			here: another counter's has set it back since, or it overflowed
 *			on another target, which is gone
 *
 *	event		FITS	   STALE  MOVED	     DUE	DUE_MOVED
 *	OPENED_DUE	DUE_MOVED  -	  -	     -		-
 *	WRITTEN		FITS	   FITS	  FITS	     FITS	FITS
 *	SET_BACK	MOVED	   MOVED  MOVED	     DUE_MOVED	DUE_MOVED
 *	MET		-	   -	  STALE	     -		DUE
 *	NOTIFIED	DUE	   DUE	  DUE_MOVED  DUE	DUE_MOVED
 *	RESET_FITS	FITS	   FITS	  FITS	     FITS	FITS
 *	RESET_STALE	STALE	   STALE  STALE	     STALE	STALE
 *	SETTLED		-	   FITS	  FITS	     -		-
 *
 * Limits: whether the event stops itself at its next overflow, as those of counters that
 * notify do. All others stay FREE.
 *
 *	FREE		it has no limit
 *	STARTED		it has one, from an enabling that is not complete
 *	LIMITED		its next overflow stops it
 *	RESUMED		the same, but its group was enabled again since, perhaps after
 *			its overflow: it may count although it has stopped
 *	STOPPED		it has stopped itself, and counts no more
 *	RESTARTED	as STARTED, of one that had stopped: breakpoints are not revived
 *
 *	event		FREE	 STARTED  LIMITED  RESUMED  STOPPED    RESTARTED
 *	LIMIT		STARTED	 STARTED  -	   -	    RESTARTED  RESTARTED
 *	ENABLED		FREE	 LIMITED  LIMITED  LIMITED  -	       LIMITED
 *	RESUME		FREE	 STARTED  RESUMED  RESUMED  STOPPED    RESTARTED
 *	OVERFLOW	STOPPED	 STOPPED  STOPPED  STOPPED  STOPPED    STOPPED
 *
 * An event is FREE and overflows where the exec of its thread has enabled it.
 */
#ifndef PM_SESSION_CORE_ARM_STATE_H
#define PM_SESSION_CORE_ARM_STATE_H

#include <stdbool.h>

/* The states of zeroed memory come first. */
enum pm_period_state {
	PM_PERIOD_FITS,
	PM_PERIOD_STALE,
	PM_PERIOD_MOVED,
	PM_PERIOD_DUE,
	PM_PERIOD_DUE_MOVED,
	PM_PERIOD_STATES
};

enum pm_period_event {
	PM_PERIOD_OPENED_DUE, /* on a target, while the counter waits for its long reset */
	PM_PERIOD_WRITTEN,    /* by the program; the kernel has the period */
	PM_PERIOD_SET_BACK,   /* by another counter's overflow */
	PM_PERIOD_MET,	      /* it was set back at the instruction of its own overflow */
	PM_PERIOD_NOTIFIED,   /* its overflow has masked the session */
	PM_PERIOD_RESET_FITS,  /* its own reset leaves what the kernel has */
	PM_PERIOD_RESET_STALE, /* its own reset leaves another period */
	PM_PERIOD_SETTLED,     /* the kernel has what is left, or has no event any more */
	PM_PERIOD_EVENTS
};

enum pm_limit_state {
	PM_LIMIT_FREE,
	PM_LIMIT_STARTED,
	PM_LIMIT_LIMITED,
	PM_LIMIT_RESUMED,
	PM_LIMIT_STOPPED,
	PM_LIMIT_RESTARTED,
	PM_LIMIT_STATES
};

enum pm_limit_event {
	PM_LIMIT_LIMIT,	   /* the kernel is told to stop it at its next overflow */
	PM_LIMIT_ENABLED,  /* the enabling of its set is complete */
	PM_LIMIT_RESUME,   /* its group has been off for a moment */
	PM_LIMIT_OVERFLOW, /* that stops it */
	PM_LIMIT_EVENTS
};

/* Returns what STATE becomes by EVENT, or _STATES where that cannot happen. */
enum pm_period_state pm_period_after(enum pm_period_state state,
				     enum pm_period_event event);
enum pm_limit_state pm_limit_after(enum pm_limit_state state, enum pm_limit_event event);

/* Moves *STATE on by EVENT; what cannot happen leaves it and is counted. */
void pm_period_move(enum pm_period_state *state, enum pm_period_event event);
void pm_limit_move(enum pm_limit_state *state, enum pm_limit_event event);

static inline bool pm_period_is_due(enum pm_period_state state)
{
	return state == PM_PERIOD_DUE || state == PM_PERIOD_DUE_MOVED;
}

static inline bool pm_period_is_moved(enum pm_period_state state)
{
	return state == PM_PERIOD_MOVED || state == PM_PERIOD_DUE_MOVED;
}

/* Returns whether the kernel has to get another period. */
static inline bool pm_period_is_stale(enum pm_period_state state)
{
	return state == PM_PERIOD_STALE || state == PM_PERIOD_MOVED;
}

/* Returns whether an enabling that is under way has given a limit. */
static inline bool pm_limit_is_started(enum pm_limit_state state)
{
	return state == PM_LIMIT_STARTED || state == PM_LIMIT_RESTARTED;
}

/* Returns whether the event has stopped itself and has not been revived since. */
static inline bool pm_limit_has_stopped(enum pm_limit_state state)
{
	return state == PM_LIMIT_STOPPED || state == PM_LIMIT_RESTARTED;
}

#endif
