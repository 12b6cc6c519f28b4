/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a session counts: texts become programs, programs registers, registers a plan. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/session/core/armed.h"

void pm_program_put(struct pm_program *program)
{
	if (program && !--program->references) {
		pm_events_free(program->list);
		free(program);
	}
}

int pm_program_parse(struct perfmon_session *session, const char *text,
		     struct pm_program **out)
{
	unsigned int flags =
		session->flags & PERFMON_SESSION_ALL_MODES ? 0 : PM_EVENTS_USER_ONLY;
	struct pm_program *program = calloc(1, sizeof(*program));
	int err;

	if (!program)
		return pm_diag_set(&session->diag, -ENOMEM, "out of memory");
	err = pm_events_parse(text, flags, &program->list, &session->diag);
	if (!err && !program->list->logical_count)
		err = pm_diag_set(&session->diag, -EINVAL, "'%s' names no event", text);
	if (err) {
		pm_events_free(program->list);
		free(program);
		return err;
	}
	*out = program;
	return 0;
}

uint32_t pm_register_doubts(const struct pm_register *reg)
{
	return reg->opened ? reg->doubts : reg->doubts & ~PERFMON_VALUE_PARTIAL;
}

void pm_register_bind(struct pm_register *reg, struct pm_program *program,
		      uint32_t number)
{
	const struct pm_event_list *list = program->list;
	size_t i;

	reg->program = program;
	reg->first = 0;
	reg->count = 0;
	reg->doubts = pm_register_doubts(reg);
	reg->opened = false;
	reg->error = 0;
	reg->slices = (struct pm_slices){0};
	program->references++;
	for (i = 0; i < list->count; i++) {
		if (list->events[i].logical != number)
			continue;
		if (!reg->count)
			reg->first = (uint32_t)i;
		reg->count++;
	}
}

struct pm_event *pm_register_event(const struct pm_register *reg, uint32_t e)
{
	return &reg->program->list->events[reg->first + e];
}

void pm_register_drop(struct pm_register *reg)
{
	pm_program_put(reg->program);
	reg->program = NULL;
}

void pm_registers_free(struct pm_register *registers, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		pm_program_put(registers[i].program);
	free(registers);
}

struct pm_register *pm_registers_copy(const struct perfmon_session *session,
				      uint32_t more)
{
	struct pm_register *copy = calloc(session->count + more + 1, sizeof(copy[0]));
	uint32_t i;

	for (i = 0; copy && i < session->count; i++) {
		copy[i] = session->registers[i];
		copy[i].program->references++;
	}
	return copy;
}

/* --- sets --------------------------------------------------------------------------- */

int pm_session_find_set(const struct perfmon_session *session, uint16_t id)
{
	uint32_t s;

	for (s = 0; s < session->set_count; s++) {
		if (session->sets[s].id == id)
			return (int)s;
	}
	return -1;
}

struct pm_set *pm_sets_copy(const struct perfmon_session *session, size_t more)
{
	struct pm_set *copy = calloc(session->set_count + more, sizeof(copy[0]));

	if (copy)
		memcpy(copy, session->sets, session->set_count * sizeof(copy[0]));
	return copy;
}

uint32_t pm_sets_insert(struct pm_set *sets, uint32_t *count, uint16_t id,
			struct pm_register *registers, uint32_t register_count)
{
	uint32_t s = 0, i;

	while (s < *count && sets[s].id < id)
		s++;
	if (s < *count && sets[s].id == id)
		return s;
	memmove(&sets[s + 1], &sets[s], (*count - s) * sizeof(sets[0]));
	sets[s] = (struct pm_set){.id = id};
	(*count)++;
	for (i = 0; i < register_count; i++)
		registers[i].set += registers[i].set >= s;
	return s;
}

/* --- memory of targets -------------------------------------------------------------- */

static int part_init(struct pm_part *part, uint32_t count)
{
	part->instance = calloc(1, pm_instance_size(count));
	part->readings = calloc(count + 1, sizeof(part->readings[0]));
	part->stamps = calloc(count + 1, sizeof(part->stamps[0]));
	part->arms = calloc(count + 1, sizeof(part->arms[0]));
	part->before = calloc(count + 1, sizeof(part->before[0]));
	return part->instance && part->readings && part->stamps && part->arms &&
			       part->before
		       ? 0
		       : -ENOMEM;
}

static void target_free(const struct pm_session_plan *plan, struct pm_target *target)
{
	uint32_t s;

	for (s = 0; target->parts && s < plan->part_count; s++) {
		free(target->parts[s].before);
		free(target->parts[s].arms);
		free(target->parts[s].stamps);
		free(target->parts[s].readings);
		free(target->parts[s].instance);
	}
	free(target->parts);
	free(target->records);
	target->parts = NULL;
	target->records = NULL;
}

int pm_plan_room(struct pm_session_plan *plan, struct pm_target **out)
{
	struct pm_target *target;
	uint32_t s;

	if (plan->target_count == plan->target_room) {
		uint32_t room = plan->target_room ? 2 * plan->target_room : 1;
		struct pm_target *larger =
			realloc(plan->targets, room * sizeof(larger[0]));

		if (!larger)
			return -ENOMEM;
		memset(larger + plan->target_room, 0,
		       (room - plan->target_room) * sizeof(larger[0]));
		plan->targets = larger;
		plan->target_room = room;
	}
	target = &plan->targets[plan->target_count];
	if (!target->parts) {
		target->parts = calloc(plan->part_count, sizeof(target->parts[0]));
		target->records = calloc(1, sizeof(*target->records));
		if (!target->parts || !target->records) {
			target_free(plan, target);
			return -ENOMEM;
		}
		for (s = 0; s < plan->part_count; s++) {
			if (part_init(&target->parts[s], plan->sets[s].count)) {
				target_free(plan, target);
				return -ENOMEM;
			}
		}
	}
	*out = target;
	return 0;
}

bool pm_plan_writes_records(const struct pm_session_plan *plan)
{
	uint32_t s;

	for (s = 0; s < plan->part_count; s++) {
		if (plan->sets[s].samples)
			return true;
	}
	return false;
}

/* --- plans -------------------------------------------------------------------------- */

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
		.attr = {.type = PERF_TYPE_SOFTWARE,
			 .size = sizeof(event.attr),
			 .config = scope == PERFMON_SCOPE_CPU ? PERF_COUNT_SW_CPU_CLOCK
							      : PERF_COUNT_SW_TASK_CLOCK,
			 .exclude_kernel = 1,
			 .exclude_hv = 1},
	};

	return event;
}

/* Puts the events of those of REGISTERS into SET that notify, or do not: an event that
 * notifies comes first, so that it leads its group. */
static void plan_registers(struct pm_plan_set *set, const struct perfmon_session *session,
			   struct pm_register *registers, uint32_t count, uint32_t place,
			   bool notify)
{
	uint32_t i, e;

	for (i = 0; i < count; i++) {
		struct pm_register *reg = &registers[i];
		const struct pm_overflow *overflow = &reg->overflow;

		if (reg->set != place ||
		    notify != (overflow->on &&
			       overflow->how.flags & PERFMON_OVERFLOW_NOTIFY))
			continue;
		reg->planned = set->count;
		for (e = 0; e < reg->count; e++) {
			struct pm_event *event = &set->events[set->count++];

			*event = *pm_register_event(reg, e);
			event->group += group_offset(registers, i);
			if (overflow->on) {
				session->hooks->plan_event(session, reg, event);
			}
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
		session->hooks->plan_side(&set->events[0].attr);
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
	bool side_records = session->hooks->wants_side_records(session);
	struct pm_target *target;
	uint32_t s;
	int err = 0;

	if (!plan)
		return -ENOMEM;
	plan->sets = calloc(set_count + 1, sizeof(plan->sets[0]));
	if (!plan->sets)
		err = -ENOMEM;
	for (s = 0; s < set_count && !err; s++) {
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

void pm_plan_free(struct pm_session_plan *plan)
{
	uint32_t i;

	if (!plan)
		return;
	for (i = 0; i < plan->target_room; i++)
		target_free(plan, &plan->targets[i]);
	for (i = 0; i < plan->part_count; i++)
		free(plan->sets[i].events);
	free(plan->targets);
	free(plan->sets);
	free(plan);
}
