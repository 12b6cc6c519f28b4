/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Overflows of a session's counters: resets, messages, signals, stopped threads. */
#ifndef PM_SESSION_OVERFLOW_OVERFLOW_H
#define PM_SESSION_OVERFLOW_OVERFLOW_H

#include "session/core/core.h"

/* What EVENT of REG has to record at an overflow. */
void pm_overflow_plan(const struct perfmon_session *session,
		      const struct pm_register *reg, struct pm_event *event);

/* Whether somebody may wait for messages. */
bool pm_session_has_listener(const struct perfmon_session *session);

/* Tells, once, that the log cannot be written. */
void pm_overflow_tell_of_log(struct perfmon_session *session);

/* Writes the periods that REGISTERS' values ask for into PLAN's events, before they are
 * opened. PLAN and REGISTERS may be those that the session will have; its own first ones
 * are the same counters. */
void pm_overflow_prepare(const struct perfmon_session *session,
			 struct pm_session_plan *plan,
			 const struct pm_register *registers, uint32_t count);

/* Arms TARGET, just opened: its ring, its signals. 0 or a negative errno. */
int pm_overflow_arm(struct perfmon_session *session, struct pm_session_plan *plan,
		    struct pm_target *target);
void pm_overflow_disarm(struct perfmon_session *session,
			const struct pm_session_plan *plan, struct pm_target *target);

/* Enables the instance of set S, whose notifying counters stop at their next overflow. */
int pm_overflow_enable(struct perfmon_session *session, struct pm_target *target,
		       uint32_t s);

/* Takes all that is in the rings of the targets, or of one, and does what overflows and
 * clocks ask for. The last one leaves there what a log has no room for just now, if it
 * can wait. */
void pm_overflow_drain(struct perfmon_session *session);
void pm_overflow_drain_target(struct perfmon_session *session, struct pm_target *target);
void pm_overflow_drain_pending(struct perfmon_session *session);
static inline bool pm_overflow_pending(const struct perfmon_session *session)
{
	const struct pm_session_plan *plan = session->plan;
	uint32_t t;

	for (t = 0; t < plan->target_count; t++) {
		if (pm_ring_pending(&plan->targets[t].ring) || plan->targets[t].late)
			return true;
	}
	return false;
}

/* -EINVAL with a sentence if VALUE would have register REG sample more often than
 * PERFMON_MIN_PERIOD allows. */
int pm_overflow_check_period(struct perfmon_session *session,
			     const struct pm_register *reg, uint64_t value);

/* Register I has been written to VALUE. */
int pm_overflow_written(struct perfmon_session *session, uint32_t i, uint64_t value);

int pm_overflow_restart(struct perfmon_session *session);

/* Counters that wait for it take their long reset values. */
void pm_overflow_reset_due(struct perfmon_session *session);

/* Makes the queue of messages, unless it is there. */
int pm_session_need_queue(struct perfmon_session *session);

void pm_overflow_free(struct perfmon_session *session);
void pm_overflow_end(struct perfmon_session *session); /* the last target has gone */

/* Threads that wait for a restart may go. */
void pm_overflow_release(struct perfmon_session *session);
/* Does what handlers have ASKED for that interrupted a call, which has ended. */
void pm_overflow_leave(struct perfmon_session *session, struct pm_asked asked);
void pm_overflow_close(struct perfmon_session *session); /* waits for handlers */

/* To be called before events are enabled: opens those of a session anew that breakpoints
 * have stopped for good. 0 or a negative errno with a sentence, and nothing has changed.
 */
int pm_breakpoints_renew(struct perfmon_session *session);

#endif
