/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Readings of targets, and the times that belong to them. */
#include "core/session/core/collect.h"

#include <errno.h>

uint64_t pm_span_end(struct pm_span *span)
{
	span->sum +=
		span->enabled_ns > span->running_ns ? span->enabled_ns : span->running_ns;
	span->enabled_ns = span->running_ns = 0;
	return span->sum;
}

void pm_span_add(struct pm_span *span, const struct pm_target *target,
		 uint64_t enabled_ns, uint64_t running_ns)
{
	if (!target->follows)
		pm_span_end(span);
	if (enabled_ns > span->enabled_ns)
		span->enabled_ns = enabled_ns;
	span->running_ns += running_ns;
}

struct pm_reading pm_register_on(const struct pm_session_plan *plan,
				 const struct pm_target *target,
				 const struct pm_register *reg,
				 const struct pm_reading *readings)
{
	struct pm_reading sum = {0};
	uint32_t e, c;

	/* On hybrid CPUs one event of a counter runs at a time: their running times add up,
	 * over one enabled time. */
	for (e = 0; e < reg->count; e++) {
		const struct pm_reading *reading = &readings[reg->planned + e];

		sum.value += reading->value;
		sum.running_ns += reading->running_ns;
		if (reading->enabled_ns > sum.enabled_ns)
			sum.enabled_ns = reading->enabled_ns;
	}
	if (!plan->has_slices)
		return sum;
	c = pm_set_clock(plan, target, reg->set);
	if (c != PM_NO_CLOCK && sum.enabled_ns)
		sum.running_ns =
			(uint64_t)((double)sum.running_ns / (double)sum.enabled_ns *
				   (double)readings[c].enabled_ns);
	sum.enabled_ns = pm_whole_ns(plan, target);
	return sum;
}

struct pm_reading pm_register_sum(const struct perfmon_session *session,
				  const struct pm_register *reg, unsigned int role)
{
	const struct pm_session_plan *plan = session->plan;
	struct pm_reading sum = {0};
	struct pm_span span = {0};

	for (uint32_t t = 0; t < plan->target_count; t++) {
		const struct pm_target *target = &plan->targets[t];
		struct pm_reading own;

		if (!(target->role & role))
			continue;
		own = pm_register_on(plan, target, reg, target->parts[reg->set].readings);
		pm_span_add(&span, target, own.enabled_ns, own.running_ns);
		sum.value += own.value;
		sum.running_ns += own.running_ns;
	}
	sum.enabled_ns = pm_span_end(&span);
	return sum;
}

bool pm_target_lacks(const struct pm_target *target, const struct pm_register *reg)
{
	const struct pm_instance *instance = target->parts[reg->set].instance;
	uint32_t e, open = 0;

	for (e = 0; e < reg->count; e++)
		open += pm_counter_is_open(&instance->counters[reg->planned + e]);
	/* A CPU has one of several core PMUs, a thread visits them all. */
	return target->cpu < 0 ? open < reg->count : !open;
}

bool pm_register_is_partial(const struct perfmon_session *session,
			    const struct pm_register *reg)
{
	const struct pm_session_plan *plan = session->plan;

	for (uint32_t t = 0; t < plan->target_count; t++)
		if (pm_target_lacks(&plan->targets[t], reg))
			return true;
	return false;
}

bool pm_session_is_uncertain(const struct perfmon_session *session)
{
	const struct pm_session_plan *plan = session->plan;

	for (uint32_t t = 0; t < plan->target_count; t++)
		if (plan->targets[t].uncertain)
			return true;
	return false;
}

int pm_part_refresh(struct perfmon_session *session, struct pm_target *target, uint32_t s,
		    uint32_t c, bool *syscall)
{
	struct pm_part *part = &target->parts[s];
	const struct pm_instance *instance = part->instance;
	int err;

	if (part->settled || !pm_counter_is_open(&instance->counters[c]) ||
	    part->stamps[c] == session->stamp)
		return 0;
	*syscall = !instance->exact;
	err = pm_instance_read_group(instance, c, part->readings);
	if (err)
		return err;
	for (uint32_t j = 0; j < instance->count; j++) {
		if (pm_counter_is_open(&instance->counters[j]) &&
		    (j == c ||
		     (instance->counters[j].leader == instance->counters[c].leader &&
		      !(instance->flags & PM_OPEN_INHERIT))))
			part->stamps[j] = session->stamp;
	}
	return 0;
}

/* Reads the clock of set S, and that of the whole. */
static int refresh_clocks(struct perfmon_session *session, struct pm_target *target,
			  uint32_t s, bool *syscall)
{
	const struct pm_session_plan *plan = session->plan;
	uint32_t c = pm_set_clock(plan, target, s), whole;
	int err = 0;

	if (c != PM_NO_CLOCK)
		err = pm_part_refresh(session, target, s, c, syscall);
	if (err && err != -ENODATA)
		return err;
	c = pm_clock_of(plan, target, &whole);
	return c == PM_NO_CLOCK ? 0 : pm_part_refresh(session, target, whole, c, syscall);
}

int pm_register_read(struct perfmon_session *session, struct pm_register *reg,
		     bool *syscall)
{
	struct pm_session_plan *plan = session->plan;
	int result = 0;

	for (uint32_t t = 0; t < plan->target_count; t++) {
		struct pm_target *target = &plan->targets[t];
		int err = 0;

		for (uint32_t e = 0; e < reg->count; e++) {
			err = pm_part_refresh(session, target, reg->set, reg->planned + e,
					      syscall);
			if (err && err != -ENODATA)
				return err;
			result = result ?: err;
		}
		if (plan->has_slices)
			err = refresh_clocks(session, target, reg->set, syscall);
		if (err && err != -ENODATA)
			return err;
	}
	reg->now = pm_register_sum(session, reg, PM_ROLE_ALL);
	return result;
}

uint32_t pm_clock_of(const struct pm_session_plan *plan, const struct pm_target *target,
		     uint32_t *s)
{
	const struct pm_instance *instance;
	uint32_t i, found = PM_NO_CLOCK;

	*s = plan->has_slices ? plan->set_count : 0;
	instance = target->parts[*s].instance;
	for (i = 0; i < instance->count; i++) {
		if (!pm_counter_is_open(&instance->counters[i]))
			continue;
		/* The best: its clock may spare the system call. */
		if (instance->counters[i].page)
			return i;
		if (found == PM_NO_CLOCK)
			found = i;
	}
	return found;
}

uint32_t pm_set_clock(const struct pm_session_plan *plan, const struct pm_target *target,
		      uint32_t s)
{
	const struct pm_instance *instance = target->parts[s].instance;
	uint32_t c = plan->sets[s].clock;

	if (c != PM_NO_CLOCK && pm_counter_is_open(&instance->counters[c]))
		return c;
	for (c = 0; c < instance->count; c++)
		if (pm_counter_is_open(&instance->counters[c]))
			return c;
	return PM_NO_CLOCK;
}

/* The clocks of sets that are not active stand still. */
int pm_session_read_clocks(struct perfmon_session *session)
{
	struct pm_session_plan *plan = session->plan;
	bool syscall;
	int err = 0;

	if (session->state == PERFMON_STATE_RUNNING)
		session->stamp++;
	for (uint32_t t = 0; t < plan->target_count && (!err || err == -ENODATA); t++)
		err = refresh_clocks(session, &plan->targets[t], plan->targets[t].active,
				     &syscall);
	return err && err != -ENODATA ? err : 0;
}

uint64_t pm_session_active_ns(const struct perfmon_session *session, uint32_t place)
{
	const struct pm_session_plan *plan = session->plan;
	struct pm_span span = {0};
	uint32_t t, s;

	for (t = 0; t < plan->target_count; t++) {
		const struct pm_target *target = &plan->targets[t];
		uint32_t clock = pm_clock_of(plan, target, &s);
		const struct pm_reading *reading = &target->parts[s].readings[clock];
		uint64_t active_ns;

		if (!(target->role & PM_ROLE_ALL) || clock == PM_NO_CLOCK)
			continue;
		if (!plan->has_slices) {
			pm_span_add(&span, target, reading->enabled_ns,
				    reading->running_ns);
			continue;
		}
		clock = pm_set_clock(plan, target, place);
		active_ns = target->parts[place].active_ns;
		if (clock != PM_NO_CLOCK)
			active_ns = target->parts[place].readings[clock].enabled_ns;
		else if (target->active == place)
			active_ns += pm_whole_ns(plan, target) - target->since_ns;
		pm_span_add(&span, target, active_ns, 0);
	}
	return pm_span_end(&span);
}

uint64_t pm_set_used_ns(const struct perfmon_session *session, uint32_t place)
{
	const struct pm_session_plan *plan = session->plan;
	const struct pm_set *set = &session->sets[place];
	uint32_t clock = plan->sets[place].clock;

	if (!set->timeout_ns)
		return 0;
	if (!plan->target_count)
		return set->used_ns;
	/* The clock's count is its set's time, and it ticks at multiples of the time-out:
	 * the kernel keeps what is left of a period while an event is off. */
	return clock == PM_NO_CLOCK
		       ? 0
		       : plan->targets[0].parts[place].readings[clock].value %
				 set->timeout_ns;
}

/* --- what targets have counted goes to the registers ----------------------------- */

int pm_targets_read(struct perfmon_session *session, struct pm_session_plan *plan,
		    uint32_t first, uint32_t last)
{
	int error = 0;

	session->stamp++;
	for (uint32_t t = first; t < last; t++) {
		for (uint32_t s = 0; s < plan->part_count; s++) {
			struct pm_part *part = &plan->targets[t].parts[s];
			int err;

			if (part->settled)
				continue;
			err = pm_instance_read(part->instance, part->readings);
			for (uint32_t c = 0; c < plan->sets[s].count && !err; c++)
				part->stamps[c] = session->stamp;
			part->settled = !err && session->state == PERFMON_STATE_STOPPED;
			if (err && err != -ENODATA && !error)
				error = err;
		}
	}
	return error;
}

void pm_plan_unsettle(struct pm_session_plan *plan)
{
	for (uint32_t t = 0; t < plan->target_count; t++)
		for (uint32_t s = 0; s < plan->part_count; s++)
			plan->targets[t].parts[s].settled = false;
}

int pm_session_aggregate(struct perfmon_session *session, uint32_t first, uint32_t last)
{
	struct pm_session_plan *plan = session->plan, part_of = *plan;
	int error = pm_targets_read(session, plan, first, last);

	part_of.targets += first;
	part_of.target_count = last - first;
	session->plan = &part_of;
	for (uint32_t i = 0; i < session->count; i++) {
		struct pm_register *reg = &session->registers[i];
		struct pm_reading all = pm_register_sum(session, reg, PM_ROLE_ALL);
		struct pm_reading own = pm_register_sum(session, reg, PM_ROLE_OWN);

		reg->base = pm_reading_add(reg->base, all);
		reg->own_base = pm_reading_add(reg->own_base, own);
		reg->total_base += all.value;
		reg->own_total_base += own.value;
		if (pm_session_is_uncertain(session))
			reg->value_flags |= PERFMON_VALUE_UNCERTAIN;
	}
	for (uint32_t s = 0; s < session->set_count; s++) {
		session->sets[s].active_ns += pm_session_active_ns(session, s);
		session->sets[s].used_ns = pm_set_used_ns(session, s);
	}
	session->plan = plan;
	return error;
}
