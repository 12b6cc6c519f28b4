/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts of targets are added to the registers. */
#include <errno.h>

#include "core/session/core/core.h"

int pm_targets_read(struct perfmon_session *session, struct pm_session_plan *plan,
		    uint32_t first, uint32_t last)
{
	uint32_t t, s, c;
	int error = 0;

	session->stamp++;
	for (t = first; t < last; t++) {
		for (s = 0; s < plan->part_count; s++) {
			struct pm_part *part = &plan->targets[t].parts[s];
			int err;

			if (part->settled)
				continue;
			err = pm_instance_read(part->instance, part->readings);
			for (c = 0; c < plan->sets[s].count && !err; c++)
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
	uint32_t t, s;

	for (t = 0; t < plan->target_count; t++) {
		for (s = 0; s < plan->part_count; s++)
			plan->targets[t].parts[s].settled = false;
	}
}

int pm_session_aggregate(struct perfmon_session *session, uint32_t first, uint32_t last)
{
	struct pm_session_plan *plan = session->plan, part_of = *plan;
	uint32_t s, i;
	int error = pm_targets_read(session, plan, first, last);

	part_of.targets += first;
	part_of.target_count = last - first;
	session->plan = &part_of;
	for (i = 0; i < session->count; i++) {
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
	for (s = 0; s < session->set_count; s++) {
		session->sets[s].active_ns += pm_session_active_ns(session, s);
		session->sets[s].used_ns = pm_set_used_ns(session, s);
	}
	session->plan = plan;
	return error;
}
