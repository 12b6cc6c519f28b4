/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masked sessions: what their restart sets back and starts. */
#include <errno.h>

#include "core/api/export.h"
#include "core/session/overflow/notices.h"
#include "core/session/overflow/overflow.h"
#include "core/session/overflow/period.h"
#include "core/session/overflow/queue.h"
#include "core/session/overflow/reset.h"
#include "core/session/overflow/restart.h"
#include "core/session/sampling/sampling.h"

/* Counters that wait for it take their long reset values. */
static void reset_due(struct perfmon_session *session)
{
	struct pm_session_plan *plan = session->plan;
	uint32_t t, i;

	for (t = 0; t < plan->target_count; t++) {
		for (i = 0; i < session->count; i++) {
			struct pm_register *reg = &session->registers[i];
			struct pm_target *target = &plan->targets[t];

			if (!reg->overflow.on ||
			    !pm_period_is_due(pm_arm_of(target, reg)->fit))
				continue;
			pm_overflow_reset(session, target, reg,
					  reg->overflow.how.long_reset);
			pm_overflow_reset_others(session, target, reg, NULL, NULL);
		}
		pm_period_settle(session, &plan->targets[t]);
	}
}

int pm_overflow_before_start(struct perfmon_session *session)
{
	int err = pm_sampling_check_start(session);

	err = err ?: pm_breakpoints_renew(session);
	if (!err && session->overflows->queue)
		reset_due(session);
	return err;
}

int pm_overflow_restart(struct perfmon_session *session)
{
	struct pm_session_plan *plan;
	uint32_t t;
	int err;

	if (session->state != PERFMON_STATE_MASKED)
		return pm_diag_set(&session->diag, -EBUSY,
				   "the session does not wait for a restart");
	err = pm_breakpoints_renew(session);
	if (err)
		return err;
	plan = session->plan;
	reset_due(session);
	pm_sampling_restart(session);
	pm_session_time_start(session);
	session->state = PERFMON_STATE_RUNNING;
	session->stamp++;
	for (t = 0; t < plan->target_count && !err; t++)
		err = pm_target_enable(session, &plan->targets[t]);
	if (!err) {
		for (t = 0; t < plan->target_count; t++) {
			session->sets[plan->targets[t].active].runs +=
				plan->targets[t].chosen;
			plan->targets[t].chosen = false;
		}
		pm_overflow_release(session);
		return 0;
	}
	/* As a failed start. */
	pm_session_stop_all(session);
	return pm_session_closed_by_program(session, err);
}

PM_EXPORT int perfmon_overflow_restart(struct perfmon_session *session)
{
	struct pm_asked *asked = pm_busy_with(session);
	int err;

	if (asked) {
		asked->restart = true;
		return 0;
	}
	err = pm_session_enter(session);
	if (err)
		return err;
	pm_session_catch_up(session);
	return pm_session_leave(session, pm_overflow_restart(session));
}

/* --- the end of a session's targets ------------------------------------------------- */

void pm_overflow_end(struct perfmon_session *session)
{
	const struct perfmon_message message = {.type = PERFMON_MESSAGE_TYPE_END};

	if (session->overflows->queue)
		pm_queue_push(session, &message);
	pm_overflow_release(session);
}
