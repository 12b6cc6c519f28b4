/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's periods, and where the values of counters pass 2^64: see period.c. */
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

#endif
