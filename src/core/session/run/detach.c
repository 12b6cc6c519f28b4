/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A session leaves all of its targets. */
#include "core/session/overflow/overflow.h"
#include "core/session/run/run.h"
#include "core/session/targets/targets.h"

int pm_session_detach_all(struct perfmon_session *session)
{
	struct pm_session_plan *plan = session->plan;
	uint32_t t;
	int err;

	pm_session_disown(session);
	if (session->state == PERFMON_STATE_RUNNING) {
		for (t = 0; t < plan->target_count; t++)
			pm_target_disable(session, &plan->targets[t]);
		pm_session_time_stop(session);
	}
	session->stamp++;
	pm_session_move(session, PM_SESSION_STOP);
	/* Records that came until now become messages; they enable nothing any more. */
	if (session->rings)
		pm_overflow_drain(session);
	err = pm_session_gather(session);
	pm_session_move(session, PM_SESSION_DETACH);
	pm_processes_prune(session);
	pm_exclusive_release(session);
	pm_overflow_release(session);
	pm_session_make_views(session);
	return err;
}
