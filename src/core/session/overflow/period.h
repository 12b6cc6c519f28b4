/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's periods, and where the values of counters pass 2^64: see period.c; and how
 * values are set back: see reset.c. */
#ifndef PM_SESSION_OVERFLOW_PERIOD_H
#define PM_SESSION_OVERFLOW_PERIOD_H

#include "core/session/core/armed.h"

/* Takes notice of a record of REG on TARGET: whether its value has passed 2^64. */
bool pm_period_record(struct perfmon_session *session, struct pm_target *target,
		      struct pm_register *reg, const struct pm_place *place);

/* Takes notice of overflows of REG, after a reset, that its last record stands for,
 * too. */
void pm_period_pass(struct perfmon_session *session, struct pm_target *target,
		    struct pm_register *reg);

/* Returns whether events of TARGET need another period, or a look at what they have counted;
 * returns whether they must be off for it; and does it, when the ring is empty. */
bool pm_period_needs_care(const struct perfmon_session *session,
			  const struct pm_target *target);
bool pm_period_needs_pause(const struct perfmon_session *session,
			   const struct pm_target *target);
int pm_period_finish(struct perfmon_session *session, struct pm_target *target);

/* The kernel held the group of COUNTER of SET back until its next tick, since it overflowed too
 * often: what hardware would have counted is missing, what software counts went on. */
void pm_period_throttled(struct perfmon_session *session, const struct pm_target *target,
			 uint32_t set, uint32_t counter);

/* Counts N overflows of REG on TARGET; the next set may have its time slice. */
void pm_overflow_count(struct perfmon_session *session, struct pm_target *target,
		       struct pm_register *reg, uint64_t n);

/* Returns whether REG waits for its long reset on a target of PLAN. */
bool pm_period_is_due_on(const struct pm_session_plan *plan,
			 const struct pm_register *reg);

/* --- reset.c ------------------------------------------------------------------------ */

/* The period after which a counter of VALUE passes 2^64. */
static inline uint64_t pm_period_for(uint64_t value)
{
	uint64_t period = -value;

	return !period || period > PM_LONGEST_PERIOD ? PM_LONGEST_PERIOD : period;
}

static inline bool pm_reset_is_random(const struct pm_register *reg)
{
	return reg->overflow.how.flags & PERFMON_OVERFLOW_RANDOM &&
	       reg->overflow.how.random_mask;
}

/* Returns whether REG is open on TARGET. */
static inline bool pm_arm_is_open(const struct pm_target *target,
				  const struct pm_register *reg)
{
	return target->parts[reg->set].instance->counters[reg->planned].fd >= 0;
}

/* Returns the value that REG is set back to next: RESET with its random part. */
uint64_t pm_reset_next(struct pm_register *reg, uint64_t reset);

/* Moves the value of REG by MORE. */
void pm_reset_move_value(struct perfmon_session *session, struct pm_register *reg,
			 uint64_t more);

/* An EVENT of REG on TARGET by which the kernel may have to get another period. Who takes
 * records while another thread counts may leave that to it: its next call looks. */
void pm_reset_event(struct pm_target *target, const struct pm_register *reg,
		    enum pm_period_event event);

/* REG has been reset on TARGET, or its overflows have passed. */
void pm_reset_settled(struct pm_target *target, const struct pm_register *reg);

/* Sets REG to VALUE where TARGET had counted COUNT, or has by now (NULL). */
void pm_reset_to(struct perfmon_session *session, struct pm_target *target,
		 struct pm_register *reg, uint64_t value, const uint64_t *count);

/* Sets REG back to RESET after its overflow on TARGET. */
void pm_overflow_reset(struct perfmon_session *session, struct pm_target *target,
		       struct pm_register *reg, uint64_t reset);

/* Sets the counters back that go with an overflow of OF: to their short reset values
 * where SAMPLE has it, whose record stands at PLACE. NULL: to their long ones, now. */
void pm_overflow_reset_others(struct perfmon_session *session, struct pm_target *target,
			      const struct pm_register *of,
			      const struct perfmon_sample *sample,
			      const struct pm_place *place);

#endif
