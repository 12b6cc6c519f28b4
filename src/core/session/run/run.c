/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All targets: start, stop, restart and detach. */
#include <errno.h>

#include "core/session/overflow/notices.h"
#include "core/session/overflow/overflow.h"
#include "core/session/run/run.h"
#include "core/session/sampling/sampling.h"
#include "core/session/targets/targets.h"

static int disable_all(struct perfmon_session *session)
{
	struct pm_session_plan *plan = session->plan;
	int first = 0;

	for (uint32_t t = 0; t < plan->target_count; t++) {
		int err = pm_target_disable(session, &plan->targets[t]);

		first = first ?: err;
	}
	return first;
}

/* Notes that all targets have been disabled. */
static void set_stopped(struct perfmon_session *session)
{
	if (session->state == PERFMON_STATE_RUNNING)
		pm_session_time_stop(session);
	session->stamp++;
	/* Before the last records: what they ask for must enable nothing. */
	pm_session_move(session, PM_SESSION_STOP);
	pm_overflow_after_stop(session);
}

/* Prepares a stopped session before its targets are enabled. */
static int before_start(struct perfmon_session *session)
{
	int err = pm_sampling_check_start(session);

	err = err ?: pm_breakpoints_renew(session);
	if (!err && session->overflows->queue)
		pm_overflow_reset_due(session);
	return err;
}

int pm_session_start_all(struct perfmon_session *session)
{
	int err = before_start(session);
	struct pm_session_plan *plan = session->plan;

	if (err)
		return err;
	pm_session_time_start(session);
	for (uint32_t t = 0; t < plan->target_count && !err; t++)
		err = pm_target_enable(session, &plan->targets[t]);
	session->stamp++;
	if (err) {
		disable_all(session);
		return pm_session_closed_by_program(session, err);
	}
	for (uint32_t t = 0; t < plan->target_count; t++) {
		session->sets[plan->targets[t].active].runs++;
		plan->targets[t].chosen = false;
	}
	pm_session_move(session, PM_SESSION_START);
	return 0;
}

int pm_session_stop_all(struct perfmon_session *session)
{
	int err = 0;

	if (session->state == PERFMON_STATE_STOPPED)
		return 0;
	if (session->state == PERFMON_STATE_RUNNING)
		err = disable_all(session);
	set_stopped(session);
	return err ? pm_session_closed_by_program(session, err) : 0;
}

int pm_session_restart(struct perfmon_session *session)
{
	struct pm_session_plan *plan;
	int err;

	if (session->state != PERFMON_STATE_MASKED)
		return pm_diag_set(&session->diag, -EBUSY,
				   "the session does not wait for a restart");
	err = pm_breakpoints_renew(session);
	if (err)
		return err;
	plan = session->plan;
	pm_overflow_reset_due(session);
	pm_sampling_restart(session);
	pm_session_time_start(session);
	pm_session_move(session, PM_SESSION_RESTART);
	session->stamp++;
	for (uint32_t t = 0; t < plan->target_count && !err; t++)
		err = pm_target_enable(session, &plan->targets[t]);
	if (!err) {
		for (uint32_t t = 0; t < plan->target_count; t++) {
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

/* --- detach ---------------------------------------------------------------------- */

int pm_session_detach_all(struct perfmon_session *session)
{
	int err;

	pm_session_disown(session);
	if (session->state == PERFMON_STATE_RUNNING)
		disable_all(session);
	set_stopped(session);
	err = pm_session_gather(session);
	pm_session_move(session, PM_SESSION_DETACH);
	pm_processes_prune(session);
	pm_exclusive_release(session);
	pm_session_make_views(session);
	return err;
}
