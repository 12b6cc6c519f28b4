/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the values of counters are set back. */
#ifndef PM_SESSION_OVERFLOW_RESET_H
#define PM_SESSION_OVERFLOW_RESET_H

#include "core/session/core/armed.h"

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
