/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plans are built: registers become events, in sets. */
#include <errno.h>
#include <stdlib.h>

#include "core/session/overflow/overflow.h"
#include "core/session/run/run.h"
#include "core/session/sampling/sampling.h"

/* Group numbers are a list's own: they are made a session's by the first register of each
 * program. */
static uint32_t group_offset(const struct pm_register *registers, uint32_t i)
{
	uint32_t j, offset = 0;

	for (j = 0; j < i; j++) {
		if (registers[j].program == registers[i].program)
			break;
		offset += (uint32_t)registers[j].program->list->group_count;
	}
	return offset;
}

/* The clock of a set: software events that the kernel always has. */
static struct pm_event set_clock(uint32_t scope)
{
	static char name[] = "clock of an event set", pmu[] = "software", none[] = "";
	struct pm_event event = {
		.name = name,
		.label = name,
		.pmu = pmu,
		.cpus = none,
		.unit = "ns",
		.scale = 1,
		.attr = pm_user_mode_attr(PERF_TYPE_SOFTWARE,
					  scope == PERFMON_SCOPE_CPU
						  ? PERF_COUNT_SW_CPU_CLOCK
						  : PERF_COUNT_SW_TASK_CLOCK),
	};

	return event;
}

/* Puts the events of those of REGISTERS into SET that notify, or do not: an event that
 * notifies comes first, so that it leads its group. */
static void plan_registers(struct pm_plan_set *set, const struct perfmon_session *session,
			   struct pm_register *registers, uint32_t count, uint32_t place,
			   bool notify)
{
	for (uint32_t i = 0; i < count; i++) {
		struct pm_register *reg = &registers[i];
		const struct pm_overflow *overflow = &reg->overflow;

		if (reg->set != place ||
		    notify != (overflow->on &&
			       overflow->how.flags & PERFMON_OVERFLOW_NOTIFY))
			continue;
		reg->planned = set->count;
		for (uint32_t e = 0; e < reg->count; e++) {
			struct pm_event *event = &set->events[set->count++];

			*event = *pm_register_event(reg, e);
			event->group += group_offset(registers, i);
			if (overflow->on)
				pm_overflow_plan(session, reg, event);
		}
		set->notifies |= notify;
		set->samples |= overflow->on;
	}
}

static int plan_set(struct pm_plan_set *set, const struct perfmon_session *session,
		    struct pm_register *registers, uint32_t count, uint32_t place,
		    const struct pm_set *props)
{
	uint32_t i, n = 0;

	for (i = 0; i < count; i++)
		n += registers[i].set == place ? registers[i].count : 0;
	set->events = calloc(n + 1, sizeof(set->events[0]));
	if (!set->events)
		return -ENOMEM;
	plan_registers(set, session, registers, count, place, true);
	plan_registers(set, session, registers, count, place, false);
	set->clock = PM_NO_CLOCK;
	if (props->flags & PERFMON_SET_TIME_SWITCH) {
		struct pm_event *event = &set->events[set->count];
		struct pm_permissions have;

		set->clock = set->count++;
		*event = set_clock(session->scope);
		pm_record_plan(event, false);
		event->attr.sample_period = props->timeout_ns;
		/* A tick in the kernel counts, too, where that is allowed. */
		pm_permissions_get(&have);
		event->attr.exclude_kernel = event->attr.exclude_hv =
			!have.perfmon && have.paranoid > 1;
		set->samples = true;
	}
	return 0;
}

/* The event that is on as long as any set is. */
static int plan_whole(struct pm_plan_set *set, const struct perfmon_session *session,
		      bool side_records)
{
	set->events = calloc(1, sizeof(set->events[0]));
	if (!set->events)
		return -ENOMEM;
	set->events[0] = set_clock(session->scope);
	if (side_records) {
		set->events[0].attr.config = PERF_COUNT_SW_DUMMY;
		pm_sampling_plan_side(&set->events[0].attr);
		set->samples = true;
	}
	set->count = 1;
	set->clock = PM_NO_CLOCK;
	return 0;
}

int pm_plan_build(const struct perfmon_session *session, struct pm_register *registers,
		  uint32_t count, const struct pm_set *sets, uint32_t set_count,
		  struct pm_session_plan **out)
{
	struct pm_session_plan *plan = calloc(1, sizeof(*plan));
	bool side_records = session->sampling && session->sampling->side_records;
	struct pm_target *target;
	int err = 0;

	if (!plan)
		return -ENOMEM;
	plan->sets = calloc(set_count + 1, sizeof(plan->sets[0]));
	if (!plan->sets)
		err = -ENOMEM;
	for (uint32_t s = 0; s < set_count && !err; s++) {
		err = plan_set(&plan->sets[s], session, registers, count, s, &sets[s]);
		plan->set_count = plan->part_count = s + 1;
	}
	plan->has_slices = set_count > 1 && !(session->flags & PERFMON_SESSION_ROTATE);
	if (!err && (plan->has_slices || side_records)) {
		err = plan_whole(&plan->sets[set_count], session, side_records);
		plan->part_count++;
	}
	/* So that attaching to one target, as in a hook, allocates nothing. */
	err = err ?: pm_plan_room(plan, &target);
	if (err) {
		pm_plan_free(plan);
		return err;
	}
	*out = plan;
	return 0;
}
