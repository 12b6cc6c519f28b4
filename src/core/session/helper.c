/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The session's helper thread: what it watches, and what it does. */

#include "core/session/calls.h"
#include "core/session/targets/targets.h"
#include "core/topology/topology.h"

/* Has the helper thread, which calls this, run near the CPUs that it serves. */
static void stay_near(struct perfmon_session *session)
{
	const struct pm_session_plan *plan = session->plan;
	struct pm_cpus served = {0}, near = {0};
	struct pm_topology *topology = NULL;
	int err = pm_topology_get(&topology, NULL);

	for (uint32_t t = 0; t < plan->target_count && !err; t++)
		err = pm_cpus_add(&served, (unsigned int)plan->targets[t].cpu);
	if (!err)
		err = pm_placement_near(topology, &served, &near);
	/* It serves from afar as well. */
	if (!err)
		pm_placement_bind_helper(&near);
	pm_cpus_free(&near);
	pm_cpus_free(&served);
	pm_topology_put(topology);
	session->attached->is_near = true;
}

/* Returns whether WATCH_KEY is a process's, whose descriptor says nothing but that it has
 * ended. */
static bool is_process(const struct perfmon_session *session, uint64_t watch_key)
{
	for (uint32_t p = 0; p < session->attached->process_count; p++)
		if (watch_key && session->attached->processes[p].watch_key == watch_key)
			return true;
	return false;
}

/* The helper thread's work: the target with WATCH_KEY has something, or HAS_ENDED. It may
 * have gone since. */
static void serve(struct perfmon_session *session, uint64_t watch_key, bool has_ended)
{
	struct pm_session_plan *plan;

	if (pm_session_enter_aside(session))
		return;
	pm_session_catch_up(session);
	pm_overflow_report_log(session);
	if (session->scope == PERFMON_SCOPE_CPU && !session->attached->is_near &&
	    session->plan->target_count)
		stay_near(session);
	plan = session->plan;
	for (uint32_t t = 0; has_ended && t < plan->target_count; t++)
		if (watch_key && plan->targets[t].watch_key == watch_key)
			plan->targets[t].lost = true;
	if (has_ended || is_process(session, watch_key))
		pm_session_notice_loss(session);
	pm_session_leave(session, 0);
}

int pm_helper_need(struct perfmon_session *session)
{
	struct pm_session_plan *plan = session->plan;
	struct pm_helper *helper = NULL;
	int err;

	if (session->helper)
		return 0;
	err = pm_helper_create(&helper, serve, session);
	for (uint32_t t = 0; t < plan->target_count && !err; t++) {
		struct pm_target *target = &plan->targets[t];

		err = target->records->ring.page
			      ? pm_helper_watch(helper, target->records->ring_fd,
						target->watch_key)
			      : pm_target_watch(session, plan, target, helper);
	}
	for (uint32_t p = 0; p < session->attached->process_count && !err; p++)
		err = pm_process_watch(session, &session->attached->processes[p], helper);
	err = err ?: pm_helper_start(helper);
	if (!err) {
		session->helper = helper;
		return 0;
	}
	for (uint32_t p = 0; p < session->attached->process_count && helper; p++)
		pm_process_unwatch(&session->attached->processes[p], helper);
	pm_helper_forget(helper);
	return pm_diag_set(&session->diag, err,
			   "cannot start the session's helper thread (error %d)", -err);
}

bool pm_helper_has_work(const struct perfmon_session *session)
{
	/* Sets that switch by themselves need somebody who does it. */
	for (uint32_t s = 0; s < session->set_count; s++)
		if (session->set_count > 1 && session->sets[s].flags)
			return true;
	return session->sampling;
}

int pm_session_leave_idle(struct perfmon_session *session, int result)
{
	struct pm_helper *helper = NULL;

	if (!session->sampling && !pm_queue_has_listener(session) &&
	    (session->state == PERFMON_STATE_DETACHED || !pm_helper_has_work(session))) {
		helper = session->helper;
		session->helper = NULL;
	}
	/* Its thread may wait for the lock. */
	result = pm_session_leave(session, result);
	pm_helper_stop(helper);
	pm_helper_forget(helper);
	return result;
}
