/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One target: its events are enabled and disabled. */
#include "core/session/core/armed.h"

/* --- events that overflow ----------------------------------------------------------- */

/*
 * The kernel begins the period of a software event that is on with its end
 * (perf_swevent_start() leaves period_left at 0, so that the next event overflows): with
 * PAUSE its group is off meanwhile. Not the event alone: Linux 6.12 and later do not put
 * a member on that is enabled while its leader of another software PMU is on
 * (ctx_resched() looks at the member's PMU only).
 */
int pm_arm_begin_period(struct pm_part *part, uint32_t c, bool pause, uint64_t period)
{
	const struct pm_counter *counters = part->instance->counters;
	uint32_t leader = counters[c].leader;
	int err = 0;

	if (pause)
		err = pm_kernel_ioctl(counters[leader].fd, PERF_EVENT_IOC_DISABLE, 0);
	err = err ?: pm_kernel_ioctl_ptr(counters[c].fd, PERF_EVENT_IOC_PERIOD, &period);
	if (!pause || err)
		return err;
	pm_limit_move(&part->arms[leader].limit, PM_LIMIT_RESUME);
	return pm_kernel_ioctl(counters[leader].fd, PERF_EVENT_IOC_ENABLE, 0);
}

/*
 * Linux 6.17 and later stop a breakpoint at its overflow by a mark that enabling it does
 * not take away. A new period does, while it is on, as on the calling thread (for others
 * see breakpoint.c); it begins properly when the breakpoint is enabled once more.
 */
static int revive(struct pm_part *part)
{
	const struct pm_instance *instance = part->instance;
	int err = 0;

	for (uint32_t c = 0; c < instance->count && !err; c++) {
		const struct pm_arm *arm = &part->arms[c];

		if (pm_limit_has_stopped(arm->limit) &&
		    instance->counters[c].event->attr.type == PERF_TYPE_BREAKPOINT)
			err = pm_arm_begin_period(part, c, false, arm->period)
				      ?: pm_arm_begin_period(part, c, true, arm->period);
	}
	return err;
}

/* Counts overflows until the next set's time slice anew. */
static void count_to_switch(struct perfmon_session *session, struct pm_part *part,
			    uint32_t s)
{
	for (uint32_t i = 0; i < session->count; i++) {
		const struct pm_register *reg = &session->registers[i];

		if (reg->set == s && reg->overflow.on)
			part->arms[reg->planned].until_switch =
				reg->overflow.how.switch_count;
	}
}

/* Enables the instance of set S, whose notifying counters stop at their next overflow. */
static int enable_arms(struct perfmon_session *session, struct pm_target *target,
		       uint32_t s)
{
	struct pm_part *part = &target->parts[s];
	struct pm_instance *instance = part->instance;
	uint32_t i, c;
	int err = 0;

	/* Members before their leader: enabling that starts them all. */
	for (i = session->count; i-- > 0 && !err;) {
		const struct pm_register *reg = &session->registers[i];
		struct pm_arm *arm = &part->arms[reg->planned];
		bool is_limited;

		c = reg->planned;
		if (reg->set != s || !reg->overflow.on || instance->counters[c].fd < 0 ||
		    !pm_notifies(reg) || arm->limit == PM_LIMIT_LIMITED ||
		    arm->limit == PM_LIMIT_RESUMED)
			continue;
		/* One that failed half way has its limit already. */
		is_limited = pm_limit_is_started(arm->limit);
		err = pm_kernel_ioctl(instance->counters[c].fd,
				      is_limited ? PERF_EVENT_IOC_ENABLE
						 : PERF_EVENT_IOC_REFRESH,
				      !is_limited);
		if (!err)
			pm_limit_move(&arm->limit, PM_LIMIT_LIMIT);
	}
	count_to_switch(session, part, s);
	for (c = 0; c < instance->count; c++) {
		int failed = 0;

		if (instance->counters[c].fd >= 0 && instance->counters[c].leader == c &&
		    !pm_limit_is_started(part->arms[c].limit))
			failed = pm_kernel_ioctl(instance->counters[c].fd,
						 PERF_EVENT_IOC_ENABLE, 0);
		err = err ?: failed;
	}
	err = err ?: revive(part);
	for (c = 0; c < instance->count && !err; c++)
		pm_limit_move(&part->arms[c].limit, PM_LIMIT_ENABLED);
	return err;
}

/* --- all that is on ------------------------------------------------------------------- */

int pm_target_enable_set(struct perfmon_session *session, struct pm_target *target,
			 uint32_t s)
{
	target->parts[s].settled = false;
	if (session->plan->sets[s].samples)
		return enable_arms(session, target, s);
	return pm_instance_enable(target->parts[s].instance);
}

int pm_target_enable(struct perfmon_session *session, struct pm_target *target)
{
	const struct pm_session_plan *plan = session->plan;
	int first = 0;

	if (target->lost)
		return 0;
	if (target->awaits_exec) {
		target->awaits_exec = false;
		return 0;
	}
	if (plan->part_count > plan->set_count)
		first = pm_instance_enable(target->parts[plan->set_count].instance);
	if (!(session->flags & PERFMON_SESSION_ROTATE))
		return first ?: pm_target_enable_set(session, target, target->active);
	for (uint32_t s = 0; s < plan->set_count; s++) {
		int err = pm_target_enable_set(session, target, s);

		first = first ?: err;
	}
	return first;
}

bool pm_target_is_on(const struct perfmon_session *session,
		     const struct pm_target *target, uint32_t s)
{
	return s == target->active || s >= session->plan->set_count ||
	       session->flags & PERFMON_SESSION_ROTATE;
}

int pm_target_disable(struct perfmon_session *session, struct pm_target *target)
{
	const struct pm_session_plan *plan = session->plan;
	int first = 0;

	if (plan->part_count == 1)
		return pm_instance_disable(target->parts[0].instance);
	for (uint32_t s = 0; s < plan->part_count; s++) {
		int err = 0;

		if (pm_target_is_on(session, target, s))
			err = pm_instance_disable(target->parts[s].instance);
		first = first ?: err;
	}
	return first;
}
