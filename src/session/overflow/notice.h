/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What overflows lead to: resets, messages, signals, stopped threads. */
#ifndef PM_SESSION_OVERFLOW_NOTICE_H
#define PM_SESSION_OVERFLOW_NOTICE_H

#include "session/core/core.h"

#define PM_QUEUE_MESSAGES 1024

/* The messages that wait, first come first served. */
struct pm_overflow_queue {
	uint32_t first;
	uint32_t count;
	bool lost;	/* the next one says that some before it were */
	int descriptor; /* eventfd: readable while count > 0; -1: not asked for */
	struct perfmon_message messages[PM_QUEUE_MESSAGES];
};

/* Whether somebody may wait for messages. */
static inline bool pm_session_has_listener(const struct perfmon_session *session)
{
	return session->queue && session->queue->descriptor >= 0;
}

/* What EVENT needs in a plan to overflow, as HOW says (NULL: no more than that). */
void pm_overflow_plan(struct pm_event *event, const struct perfmon_overflow *how);

/* How the records of all rings of sessions are laid out. */
const struct perf_event_attr *pm_overflow_attr(void);

/* perf_event_open(2) refuses periods with the highest bit. */
#define PM_LONGEST_PERIOD INT64_MAX

/* The period after which a counter of VALUE passes 2^64. */
uint64_t pm_period_for(uint64_t value);

/* Whether the kernel counts EVENT in software, the debug registers included. */
bool pm_is_software(const struct pm_event *event);

/* Whether EVENT is time, whose periods are a timer's. */
bool pm_is_clock(const struct pm_event *event);

/* Gives counter C of PART a new PERIOD, which begins now; PAUSE: its group is on. */
int pm_overflow_begin_period(struct pm_part *part, uint32_t c, bool pause,
			     uint64_t period);

/* Takes notice of a record of REG on TARGET: whether its value has passed 2^64. */
bool pm_period_record(struct perfmon_session *session, struct pm_target *target,
		      struct pm_register *reg, const struct pm_place *place);

/* Sets REG back to RESET after its overflow on TARGET. */
void pm_overflow_reset(struct perfmon_session *session, struct pm_target *target,
		       struct pm_register *reg, uint64_t reset);

/* Sets the counters back that go with an overflow of OF: to their short reset values
 * where SAMPLE has it, whose record stands at PLACE. NULL: to their long ones, now. */
void pm_overflow_reset_others(struct perfmon_session *session, struct pm_target *target,
			      const struct pm_register *of,
			      const struct perfmon_sample *sample,
			      const struct pm_place *place);

/* Takes notice of overflows of REG, after a reset, that its last record stands for, too.
 */
void pm_period_pass(struct perfmon_session *session, struct pm_target *target,
		    struct pm_register *reg);

/* Whether events of TARGET need another period, or a look at what they have counted;
 * whether they must be off for it; and does it, when its ring is empty. */
bool pm_period_is_stale(const struct perfmon_session *session,
			const struct pm_target *target);
bool pm_period_needs_pause(const struct perfmon_session *session,
			   const struct pm_target *target);
int pm_period_settle(struct perfmon_session *session, struct pm_target *target);

/* Counts N overflows of REG on TARGET; the next set may have its turn. */
void pm_overflow_count(struct perfmon_session *session, struct pm_target *target,
		       struct pm_register *reg, uint64_t n);

/* (Re-)arms the signals of TARGET's notifying counters. */
int pm_overflow_arm_signals(struct perfmon_session *session, struct pm_target *target);

/* The library's handlers know of overflows of event FD, which is counter INDEX of SESSION;
 * of those of TARGET they do no more. */
int pm_notice_watch(struct perfmon_session *session, int fd, uint32_t index);
void pm_notice_unwatch(const struct pm_session_plan *plan, struct pm_target *target);

#endif
