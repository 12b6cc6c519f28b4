/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A session's memory of its targets; all of them are closed. */
#include <errno.h>
#include <stdlib.h>

#include "core/session/core/armed.h"
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
