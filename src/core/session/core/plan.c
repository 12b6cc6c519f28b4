/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Texts become programs, programs registers, registers a plan. */

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
	program->references = 1;
	err = pm_events_parse(text, flags, &program->list, &session->diag);
	if (!err && !program->list->logical_count)
		err = pm_diag_set(&session->diag, -EINVAL, "'%s' names no event", text);
	if (err)
		pm_program_put(program);
	else
		*out = program;
	return err;
}

uint32_t pm_register_value_flags(const struct pm_register *reg)
{
	return reg->opened ? reg->value_flags : reg->value_flags & ~PERFMON_VALUE_PARTIAL;
}

void pm_register_bind(struct pm_register *reg, struct pm_program *program,
		      uint32_t number)
{
	const struct pm_event_list *list = program->list;

	reg->program = program;
	reg->first = 0;
	reg->count = 0;
	reg->value_flags = pm_register_value_flags(reg);
	reg->opened = false;
	reg->error = 0;
	reg->slices = (struct pm_slices){0};
	program->references++;
	for (size_t i = 0; i < list->count; i++) {
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

void pm_registers_free(struct pm_register *registers, uint32_t count)
{
	for (uint32_t i = 0; registers && i < count; i++)
		pm_program_put(registers[i].program);
	free(registers);
}

struct pm_register *pm_registers_copy(const struct perfmon_session *session,
				      uint32_t more)
{
	struct pm_register *copy = calloc(session->count + more + 1, sizeof(copy[0]));

	for (uint32_t i = 0; copy && i < session->count; i++) {
		copy[i] = session->registers[i];
		copy[i].program->references++;
	}
	return copy;
}

/* --- sets --------------------------------------------------------------------------- */

int pm_session_find_set(const struct perfmon_session *session, uint16_t id)
{
	for (uint32_t s = 0; s < session->set_count; s++)
		if (session->sets[s].id == id)
			return (int)s;
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

/* Returns false without memory. */
static bool part_init(struct pm_part *part, uint32_t count)
{
	part->instance = calloc(1, pm_instance_size(count));
	part->readings = calloc(count + 1, sizeof(part->readings[0]));
	part->stamps = calloc(count + 1, sizeof(part->stamps[0]));
	part->arms = calloc(count + 1, sizeof(part->arms[0]));
	part->before = calloc(count + 1, sizeof(part->before[0]));
	return part->instance && part->readings && part->stamps && part->arms &&
	       part->before;
}

static void target_free(const struct pm_session_plan *plan, struct pm_target *target)
{
	for (uint32_t s = 0; target->parts && s < plan->part_count; s++) {
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
	bool failed;

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
		failed = !target->parts || !target->records;
		for (uint32_t s = 0; s < plan->part_count && !failed; s++)
			failed = !part_init(&target->parts[s], plan->sets[s].count);
		if (failed) {
			target_free(plan, target);
			return -ENOMEM;
		}
	}
	*out = target;
	return 0;
}

bool pm_plan_writes_records(const struct pm_session_plan *plan)
{
	for (uint32_t s = 0; s < plan->part_count; s++)
		if (plan->sets[s].samples)
			return true;
	return false;
}

/* --- plans -------------------------------------------------------------------------- */

void pm_plan_free(struct pm_session_plan *plan)
{
	if (!plan)
		return;
	for (uint32_t i = 0; i < plan->target_room; i++)
		target_free(plan, &plan->targets[i]);
	for (uint32_t i = 0; i < plan->part_count; i++)
		free(plan->sets[i].events);
	free(plan->targets);
	free(plan->sets);
	free(plan);
}

/* --- records ------------------------------------------------------------------------ */

const struct perf_event_attr *pm_record_attr(void)
{
	/* Not PERF_SAMPLE_PERIOD: with it a software event overflows at every single event
	 * (perf_swevent_event() in the kernel's events/core.c). */
	static const struct perf_event_attr attr = {
		.size = sizeof(attr),
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.sample_id_all = 1};

	return &attr;
}

void pm_record_plan(struct pm_event *event, bool values)
{
	event->attr.sample_period = PM_LONGEST_PERIOD;
	event->attr.sample_type = pm_record_attr()->sample_type;
	event->attr.sample_id_all = 1;
	event->attr.wakeup_events = 1;
	if (!values)
		return;
	event->attr.sample_type |= PERF_SAMPLE_READ;
	/* As instances read their groups. */
	event->attr.read_format = PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
				  PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_GROUP;
}
