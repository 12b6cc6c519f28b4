/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How an event that overflows is armed on one target. */
#ifndef PM_SESSION_CORE_ARMED_H
#define PM_SESSION_CORE_ARMED_H

#include "core/session/core/core.h"
#include "core/session/core/arm_state.h"

/* A record in the ring: where it stands, and the instruction that it names. */
struct pm_place {
	uint64_t start, end;
	uint64_t ip;
};

/* See period.c for the places. */
struct pm_arm {
	enum pm_period_state fit;
	enum pm_limit_state limit;
	uint64_t period;  /* that the kernel has */
	uint32_t records; /* that have come with it */
	uint32_t coarser; /* how much longer the shortest period is, as a power of two */
	bool late;	  /* its records may come behind `next` */
	uint64_t at, next, from;
	struct pm_place moved_by; /* the record of the overflow that has set it back */
	uint64_t until_switch;	  /* overflows until the next set's time slice */
};

/* The records of a target's events, and how far the library has looked at them. */
struct pm_target_records {
	struct pm_ring ring;	/* of all its events; page NULL: none writes records */
	int ring_fd;		/* the event that it is mapped from */
	bool paused;		/* the target is off while a call looks at it */
	uint64_t paused_at;	/* since then, by pm_target_time() */
	uint32_t paused_set;	/* that was active then */
	bool unsure;		/* records may be missing since its arms were settled */
	bool late;		/* one of its arms is, or stale: calls look at them */
	uint64_t reported_lost; /* lost records that the kernel has reported since then */
};

static inline struct pm_arm *pm_arm_of(const struct pm_target *target,
				       const struct pm_register *reg)
{
	return &target->parts[reg->set].arms[reg->planned];
}

static inline bool pm_notifies(const struct pm_register *reg)
{
	return reg->overflow.how.flags & PERFMON_OVERFLOW_NOTIFY;
}

/* Gives counter C of PART a new PERIOD, which begins now; PAUSE: its group is on. */
int pm_arm_begin_period(struct pm_part *part, uint32_t c, bool pause, uint64_t period);

#endif
