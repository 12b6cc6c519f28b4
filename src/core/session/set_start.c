/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The set that the program starts. */
#include <errno.h>

#include "core/api/export.h"
#include "core/session/calls.h"
#include "core/session/sets/sets.h"

/* The next start begins with the set at PLACE. */
static void choose_all(struct perfmon_session *session, uint32_t place)
{
	uint32_t t;

	for (t = 0; t < session->plan->target_count; t++)
		pm_target_choose(session, &session->plan->targets[t], place);
	session->next_set = place;
}

static int switch_all(struct perfmon_session *session, uint32_t place)
{
	struct pm_session_plan *plan = session->plan;
	uint32_t t, before = session->next_set;
	int err = 0;

	for (t = 0; t < plan->target_count && !err; t++)
		err = pm_target_switch(session, &plan->targets[t], place);
	session->next_set = place;
	if (!err)
		return 0;
	/* Neither half of one set nor half of another. */
	pm_session_stop_all(session);
	choose_all(session, before);
	return pm_session_closed_by_program(session, err);
}

PM_EXPORT int perfmon_set_start(struct perfmon_session *session, uint16_t id)
{
	int place, err = pm_session_enter(session);

	if (err)
		return err;
	pm_session_catch_up(session);
	pm_session_notice_loss(session);
	err = pm_session_attach_to_start(session);
	if (err)
		return pm_session_leave(session, err);
	place = pm_session_find_set(session, id);
	if (place < 0)
		return pm_session_leave(session,
					pm_diag_set(&session->diag, -EINVAL,
						    "there is no event set %u", id));
	if (session->state == PERFMON_STATE_RUNNING) {
		err = switch_all(session, (uint32_t)place);
	} else {
		choose_all(session, (uint32_t)place);
		if (session->state == PERFMON_STATE_STOPPED)
			err = pm_session_start_all(session);
	}
	return pm_session_leave(session, err);
}
