/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Detaching a session from all of its targets. */

#include <errno.h>
#include <stdlib.h>

#include "core/api/export.h"
#include "core/session/overflow/overflow.h"
#include "core/session/targets/targets.h"

int pm_attached_create(struct perfmon_session *session)
{
	session->attached = calloc(1, sizeof(*session->attached));
	return session->attached ? 0 : -ENOMEM;
}

void pm_attached_free(struct perfmon_session *session)
{
	if (!session->attached)
		return;
	free(session->attached->processes);
	free(session->attached);
	session->attached = NULL;
}

void pm_session_close_targets(struct perfmon_session *session)
{
	pm_session_disown(session);
	pm_targets_close(session, session->plan, 0);
	pm_processes_prune(session);
}

void pm_session_forget(struct perfmon_session *session)
{
	struct pm_session_plan *plan = session->plan;
	uint32_t t, s;

	for (t = 0; t < plan->target_count; t++) {
		plan->targets[t].probe = NULL; /* its page is not here */
		plan->targets[t].probe_page = NULL;
		if (plan->targets[t].pin)
			pm_instance_forget(plan->targets[t].pin);
		free(plan->targets[t].pin);
		plan->targets[t].pin = NULL;
		for (s = 0; s < plan->part_count; s++)
			pm_instance_forget(plan->targets[t].parts[s].instance);
		pm_ring_forget(&plan->targets[t].records->ring);
	}
	plan->target_count = 0;
	pm_processes_prune(session);
	pm_helper_forget(session->helper);
	session->helper = NULL;
}

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
	session->state = PERFMON_STATE_STOPPED;
	/* What came until now is kept as messages; it enables nothing any more. */
	if (session->rings)
		pm_overflow_drain(session);
	err = pm_session_gather(session);
	session->state = PERFMON_STATE_DETACHED;
	pm_processes_prune(session);
	pm_exclusive_release(session);
	pm_overflow_release(session);
	pm_session_make_views(session);
	return err;
}

PM_EXPORT int perfmon_session_detach(struct perfmon_session *session)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	if (session->state != PERFMON_STATE_DETACHED)
		err = pm_session_detach_all(session);
	if (err)
		pm_session_closed_by_program(session, err);
	return pm_session_leave_idle(session, err);
}
