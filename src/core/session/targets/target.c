/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One target: all sets of a plan on a thread or a CPU. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/session/overflow/overflow.h"
#include "core/session/sampling/sampling.h"
#include "core/session/targets/targets.h"

static unsigned int open_flags(const struct perfmon_session *session)
{
	unsigned int flags = 0;

	if (!(session->flags & PERFMON_SESSION_NO_PAGES))
		flags |= PM_OPEN_USER_READ | PM_OPEN_TIME;
	if (session->flags & PERFMON_SESSION_PARTIAL)
		flags |= PM_OPEN_PARTIAL;
	if (session->flags & PERFMON_SESSION_SPLIT)
		flags |= PM_OPEN_SPLIT;
	return flags;
}

void pm_target_close(struct perfmon_session *session, struct pm_session_plan *plan,
		     struct pm_target *target)
{
	pm_overflow_disarm(session, plan, target);
	pm_target_unwatch(session, target);
	pm_instance_free(target->pin);
	target->pin = NULL;
	for (uint32_t s = 0; s < plan->part_count; s++)
		pm_instance_close(target->parts[s].instance);
}

/* Returns whether events of PLAN leave their counts when a thread ends. */
static bool counts_at_exit(const struct pm_session_plan *plan)
{
	for (uint32_t s = 0; s < plan->part_count; s++) {
		for (uint32_t c = 0; c < plan->sets[s].count; c++)
			if (plan->sets[s].events[c].attr.inherit_stat)
				return true;
	}
	return false;
}

/* See struct pm_target: a dummy, which takes no counter and no breakpoint away. */
static int open_pin(struct perfmon_session *session, const struct pm_session_plan *plan,
		    struct pm_target *target, pid_t self)
{
	static char name[] = "dummy", pmu[] = "software", cpus[] = "";
	const struct pm_event dummy = {
		.name = name,
		.label = name,
		.pmu = pmu,
		.cpus = cpus,
		.attr = pm_user_mode_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY),
	};
	int n;

	if (!(target->flags & PM_OPEN_INHERIT) || target->follows ||
	    !counts_at_exit(plan))
		return 0;
	n = pm_instance_new(&target->pin, &dummy, 1,
			    target->tid == self ? 0 : target->tid, -1, 0, &session->diag);
	return n < 0 ? n : 0;
}

int pm_target_open(struct perfmon_session *session, struct pm_session_plan *plan,
		   const struct pm_target *asked, pid_t self)
{
	struct pm_target *target;
	int refused = 0, n = pm_plan_room(plan, &target);

	if (n)
		return pm_diag_set(&session->diag, n, "out of memory");
	for (uint32_t s = 0; s < plan->part_count; s++) {
		const struct pm_plan_set *set = &plan->sets[s];
		struct pm_part *part = &target->parts[s];

		n = pm_instance_open(part->instance, set->events, set->count,
				     asked->tid == self ? 0 : asked->tid, asked->cpu,
				     open_flags(session) | asked->flags, &session->diag);
		if (n < 0) {
			while (s-- > 0)
				pm_instance_close(target->parts[s].instance);
			return n;
		}
		refused += (int)set->count - n;
		memset(part->readings, 0, set->count * sizeof(part->readings[0]));
		memset(part->stamps, 0, set->count * sizeof(part->stamps[0]));
		memset(part->before, 0, set->count * sizeof(part->before[0]));
		part->active_ns = 0;
		part->settled = false;
	}
	*target = (struct pm_target){.tid = asked->tid,
				     .cpu = asked->cpu,
				     .pid = asked->pid,
				     .kind = asked->kind,
				     .flags = asked->flags,
				     .role = asked->role,
				     .follows = asked->follows,
				     .awaits_exec = asked->flags & PM_OPEN_ON_EXEC,
				     .active = asked->active,
				     .chosen = asked->chosen,
				     .parts = target->parts,
				     .records = target->records};
	n = open_pin(session, plan, target, self);
	n = n ?: pm_overflow_arm(session, plan, target);
	n = n ?: pm_target_watch(session, plan, target, session->helper);
	n = n ?: pm_sampling_opened(session, plan, target);
	if (n) {
		pm_target_close(session, plan, target);
		return n;
	}
	plan->target_count++;
	return refused;
}

void pm_targets_close(struct perfmon_session *session, struct pm_session_plan *plan,
		      uint32_t first)
{
	while (plan->target_count > first)
		pm_target_close(session, plan, &plan->targets[--plan->target_count]);
}

void pm_targets_forget(struct pm_session_plan *plan)
{
	for (uint32_t t = 0; t < plan->target_count; t++) {
		struct pm_target *target = &plan->targets[t];

		if (target->pin)
			pm_instance_forget(target->pin);
		free(target->pin);
		for (uint32_t s = 0; s < plan->part_count; s++)
			pm_instance_forget(target->parts[s].instance);
		pm_ring_forget(&target->records->ring);
	}
	plan->target_count = 0;
}

void pm_target_take_out(struct perfmon_session *session, struct pm_session_plan *plan,
			uint32_t t)
{
	struct pm_target gone;

	pm_target_close(session, plan, &plan->targets[t]);
	gone = plan->targets[t];
	plan->target_count--;
	memmove(&plan->targets[t], &plan->targets[t + 1],
		(plan->target_count - t) * sizeof(plan->targets[0]));
	plan->targets[plan->target_count] = gone;
}
