/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Event sets: a session has one or more, of which one is active at a time, so that it can
 * count more than the hardware holds, or events that do not go together. Set 0 is there
 * from the beginning. Sets have numbers from 0 to 65535, need not follow each other
 * closely, and are switched in rising order, round and round. Each counter belongs to one
 * set. (The model is perfmon2's: its text of 2008, section 10 h.)
 *
 *	perfmon_session_add_events(session, "instructions,cycles;branches,branch-misses");
 *	...
 *	perfmon_session_start(session);
 *	work();
 *	perfmon_set_start(session, 1);
 *	work();
 *
 * A counter's enabled time is how long the session ran, its running time how long its set
 * was active (and the counter on the hardware): value * enabled / running estimates the
 * count over the whole.
 *
 * Common to all calls: what perfmon/session.h says of threads, forked children, errors
 * and the order of checks.
 */
#ifndef PERFMON_SET_H
#define PERFMON_SET_H

#include <perfmon/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Limit: sets of a session. */
#define PERFMON_SESSION_SETS_MAX 256

/* Flags of a set: when the next one has its turn. Without them the program switches. */
#define PERFMON_SET_OVERFLOW_SWITCH 1u /* at the n-th overflow: perfmon/overflow.h */
#define PERFMON_SET_TIME_SWITCH	    2u /* after timeout_ns */
#define PERFMON_SET_STRICT_TIME	    4u /* refuse a time-out that would be rounded */

/* A set as it is made, changed or deleted. */
struct perfmon_set {
	uint16_t id;
	uint16_t reserved;
	uint32_t flags;
	uint64_t timeout_ns; /* in: asked for; out: effective; 0 without TIME_SWITCH */
	uint64_t reserved2[2];
};

/**
 * perfmon_set_create() - makes the sets that the COUNT elements of SETS describe; one that
 * exists takes the new properties and keeps its counters. Allocates, opens nothing.
 *
 * A time-out is CPU time of the thread (of each target by itself), or time of the CPU:
 * the ticks of a clock event that is on with the set, so that a thread that sleeps does
 * not switch. It is rounded up to a multiple of the clock's resolution (10 us, the
 * kernel's least, or its tick where that is coarser), and the effective value is stored
 * in SETS. The switch is made by the session's helper thread, which lags behind the tick
 * by a wake-up; the lag is taken off the set's next turn, so that turns have the right
 * length on average, and active_ns says what really happened.
 *
 * Return: the number of elements, or
 * -EINVAL: also for an unknown flag, a reserved field that is not 0, a time-out
 *	without its flag or above 2^62, one that STRICT_TIME does not let be rounded
 * -E2BIG: also for more than PERFMON_SESSION_SETS_MAX sets
 * -EBUSY: the session is attached
 */
int perfmon_set_create(struct perfmon_session *session, struct perfmon_set *sets,
		       size_t count, size_t element_size);

/**
 * perfmon_set_delete() - deletes the sets whose numbers are in the COUNT elements of SETS
 * (all else in them is ignored), with their counters: the counters behind them move up, so
 * that indices have no gaps. Set 0 can be deleted as any other, but one set always stays.
 *
 * Return: the number of elements, or
 * -EINVAL: also for an unknown set, one named twice, or all there are
 * -EBUSY: the session is attached
 */
int perfmon_set_delete(struct perfmon_session *session, const struct perfmon_set *sets,
		       size_t count, size_t element_size);

/**
 * perfmon_set_add_events() - perfmon_session_add_events() to set ID, for a TEXT without
 * `;`. -EINVAL: no such set.
 */
int perfmon_set_add_events(struct perfmon_session *session, uint16_t id,
			   const char *text);

/**
 * perfmon_set_start() - starts an attached session with set ID, or switches a running one
 * to it. Without it, a session starts with the set that was active last, at first with
 * the lowest. System calls: as perfmon_session_start(), and to switch two more for each
 * target (its counters are stopped and read).
 *
 * 0; -EINVAL: no such set, or the session is detached; else as perfmon_session_start(). A
 * failed switch leaves the session stopped.
 */
int perfmon_set_start(struct perfmon_session *session, uint16_t id);

/* The description of a set. */
struct perfmon_set_info {
	uint16_t id; /* in: which */
	uint16_t reserved;
	uint32_t flags;	     /* out: its properties */
	uint64_t timeout_ns; /* out: the effective one */
	uint64_t runs;	     /* out: times that it became active, on any target */
	/* out: how long it was, over all targets: CPU time of threads, time of CPUs. In the
	 * time between two turns no set is active: the sets' add up to a little less than
	 * PERFMON_COUNTER_VIRTUAL_TIME */
	uint64_t active_ns;
	uint32_t counters;  /* out: how many it has */
	uint32_t is_active; /* out: 1 if it is on now on some target */
	/* out: what was left of the time-out when the set was last active, and is now if
	 * it is: the time after which its clock ticks, on the first target. What is left
	 * is what its next turn has; a new attach begins with the whole. */
	uint64_t left_ns;
	uint64_t reserved2[3]; /* in: 0 */
};

/**
 * perfmon_set_get_info() - fills the COUNT elements of INFO for the sets that they name.
 * In any state; at most one system call for each target and set. A session of one set
 * has no clock of its own: its time is that of its first counter.
 *
 * The number of elements; -EINVAL: also for a reserved field that is not 0, or an unknown
 * set; what reading gives.
 */
int perfmon_set_get_info(struct perfmon_session *session, struct perfmon_set_info *info,
			 size_t count, size_t element_size);

/**
 * perfmon_set_overflowed() - the counters of set ID that have overflowed in its last turn,
 * by rising index: at most ROOM of them in INDICES (NULL with ROOM 0). In any state. No
 * system call but those that notice targets which have gone.
 *
 * How many there are; -EINVAL: no such set.
 */
int perfmon_set_overflowed(struct perfmon_session *session, uint16_t id,
			   uint32_t *indices, size_t room);

/* A count over the whole running time, from the share that the counter's set had. */
struct perfmon_estimate {
	uint32_t index;	   /* in: the counter */
	uint32_t flags;	   /* out */
	double value;	   /* out: value * enabled / running */
	double error;	   /* out: half the width of the 99 % interval around it; infinite
			      with PERFMON_ESTIMATE_NONE and _UNKNOWN */
	double coverage;   /* out: running / enabled, 0 to 1 */
	uint64_t runs;	   /* out: turns of the set that the error is taken from */
	uint64_t reserved; /* in: 0 */
};

/* Flags of an estimate. */
#define PERFMON_ESTIMATE_EXACT 1u /* the counter was on all the time: no error */
#define PERFMON_ESTIMATE_NONE  2u /* it was never on: there is no estimate */
/* Nothing is known of the error: the set had fewer than 3 turns, or turns that the kernel
 * took, or the counter is a breakpoint, which slows its work down while it is counted, and
 * then only, or the turns were all alike and too few to tell whether the time in between
 * was (so always where the counter saw nothing). */
#define PERFMON_ESTIMATE_UNKNOWN 4u

/**
 * perfmon_set_estimate() - estimates what the counters that ESTIMATES name would have
 * counted had they been on all the time that the session ran, since their values were
 * written: from PERFMON_READ_TOTAL, so that neither the written value nor overflows are
 * in it. The error comes from how much the set's turns differ in rate: a ratio
 * estimator, with Student's t for the number of turns (W. G. Cochran, Sampling
 * Techniques, 1977, chapter 6), and from what the mean rate would count between the turns,
 * where no set is active. It is right for work whose phases do not keep step with the
 * turns. System calls as perfmon_session_read().
 *
 * The number of elements; errors as perfmon_session_read().
 */
int perfmon_set_estimate(struct perfmon_session *session,
			 struct perfmon_estimate *estimates, size_t count,
			 size_t element_size);

/** perfmon_set_list() - the numbers of the session's sets in rising order, at most ROOM
 * of them, in IDS (NULL with ROOM 0). How many there are. No system call. */
int perfmon_set_list(struct perfmon_session *session, uint16_t *ids, size_t room);

#ifdef __cplusplus
}
#endif
#endif
