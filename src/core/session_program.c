/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a session counts: texts become programs, programs registers, registers a plan. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/export.h"
#include "core/session.h"

/* --- programs --------------------------------------------------------------------------
 */

static void program_put(struct pm_program *program)
{
	if (program && !--program->references) {
		pm_events_free(program->list);
		free(program);
	}
}

static int program_parse(struct perfmon_session *session, const char *text,
			 struct pm_program **out)
{
	unsigned int flags =
		session->flags & PERFMON_SESSION_ALL_MODES ? 0 : PM_EVENTS_USER_ONLY;
	struct pm_program *program = calloc(1, sizeof(*program));
	int err;

	if (!program)
		return pm_diag_set(&session->diag, -ENOMEM, "out of memory");
	err = pm_events_parse(text, flags, &program->list, &session->diag);
	if (!err && program->list->set_count > 1)
		err = pm_diag_set(&session->diag, -EOPNOTSUPP,
				  "'%s' has %zu event sets; a session has one", text,
				  program->list->set_count);
	else if (!err && !program->list->logical_count)
		err = pm_diag_set(&session->diag, -EINVAL, "'%s' names no event", text);
	if (err) {
		pm_events_free(program->list);
		free(program);
		return err;
	}
	*out = program;
	return 0;
}

/* Register REG counts logical event NUMBER of PROGRAM from now on. */
static void register_bind(struct pm_register *reg, struct pm_program *program,
			  uint32_t number)
{
	const struct pm_event_list *list = program->list;
	size_t i;

	reg->program = program;
	reg->first = 0;
	reg->count = 0;
	reg->opened = false;
	reg->error = 0;
	program->references++;
	for (i = 0; i < list->count; i++) {
		if (list->events[i].logical != number)
			continue;
		if (!reg->count)
			reg->first = (uint32_t)i;
		reg->count++;
	}
}

static struct pm_event *register_event(const struct pm_register *reg, uint32_t e)
{
	return &reg->program->list->events[reg->first + e];
}

void pm_registers_free(struct pm_register *registers, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		program_put(registers[i].program);
	free(registers);
}

/* --- plans ---------------------------------------------------------------------------
 */

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

int pm_plan_build(struct pm_register *registers, uint32_t count, struct pm_plan **out)
{
	struct pm_plan *plan = calloc(1, sizeof(*plan));
	struct pm_part *part;
	uint32_t i, e, n = 0;

	if (!plan)
		return -ENOMEM;
	part = &plan->part[0];
	for (i = 0; i < count; i++)
		n += registers[i].count;
	plan->count = n;
	plan->events = calloc(n + 1, sizeof(plan->events[0]));
	part->instance = calloc(1, pm_instance_size(n));
	part->readings = calloc(n + 1, sizeof(part->readings[0]));
	part->stamps = calloc(n + 1, sizeof(part->stamps[0]));
	if (!plan->events || !part->instance || !part->readings || !part->stamps) {
		pm_plan_free(plan);
		return -ENOMEM;
	}
	for (i = 0, n = 0; i < count; i++) {
		registers[i].planned = n;
		for (e = 0; e < registers[i].count; e++, n++) {
			plan->events[n] = *register_event(&registers[i], e);
			plan->events[n].group += group_offset(registers, i);
		}
	}
	*out = plan;
	return 0;
}

void pm_plan_free(struct pm_plan *plan)
{
	if (!plan)
		return;
	free(plan->part[0].stamps);
	free(plan->part[0].readings);
	free(plan->part[0].instance);
	free(plan->events);
	free(plan);
}

/*
 * Puts REGISTERS in the place of the session's. An attached session opens them before it
 * lets go of the old ones, so that a refusal changes nothing. Takes over REGISTERS on
 * success only.
 */
static int install(struct perfmon_session *session, struct pm_register *registers,
		   uint32_t count)
{
	struct pm_plan *plan, *old = session->plan;
	struct pm_register *old_registers = session->registers;
	uint32_t i, old_count = session->count;
	uintptr_t owner = session->reader->owner;
	int n = 0;

	n = pm_plan_build(registers, count, &plan);
	if (n)
		return pm_diag_set(&session->diag, n, "out of memory");
	if (session->state != PERFMON_DETACHED) {
		n = pm_session_open_plan(session, plan);
		if (n < 0) {
			pm_plan_free(plan);
			return n;
		}
		session->reader->owner = 0;
		pm_session_fold(session);
		for (i = 0; i < old_count && i < count; i++)
			registers[i].base = old_registers[i].base;
	}
	session->registers = registers;
	session->count = count;
	pm_session_adopt_plan(session, plan);
	if (session->state != PERFMON_DETACHED)
		pm_session_time_attach(session);
	session->reader->owner = owner;
	pm_registers_free(old_registers, old_count);
	pm_plan_free(old);
	return n;
}

/* A copy of the session's registers with room for MORE, which holds references. */
static struct pm_register *copy_registers(const struct perfmon_session *session,
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

/* --- calls ---------------------------------------------------------------------------
 */

static int may_program(struct perfmon_session *session)
{
	if (session->state == PERFMON_RUNNING)
		return pm_diag_set(
			&session->diag, -EBUSY,
			"the events of a running session cannot be changed; stop "
			"it first");
	return 0;
}

static int add(struct perfmon_session *session, const char *text)
{
	struct pm_register *registers;
	struct pm_program *program = NULL;
	uint32_t i, more, first = session->count;
	int err = may_program(session);

	err = err ?: program_parse(session, text, &program);
	if (err)
		return err;
	if (program->list->logical_count > PERFMON_SESSION_COUNTERS - first) {
		err = pm_diag_set(&session->diag, -E2BIG,
				  "a session has at most %d counters",
				  PERFMON_SESSION_COUNTERS);
		goto out;
	}
	more = (uint32_t)program->list->logical_count;
	registers = copy_registers(session, more);
	if (!registers) {
		err = pm_diag_set(&session->diag, -ENOMEM, "out of memory");
		goto out;
	}
	program->references++;
	for (i = 0; i < more; i++)
		register_bind(&registers[first + i], program, i);
	program_put(program);
	program = NULL;
	err = install(session, registers, first + more);
	if (err < 0) {
		pm_registers_free(registers, first + more);
		return err;
	}
	return (int)first;
out:
	program->references = 1;
	program_put(program);
	return err;
}

PM_EXPORT int perfmon_session_add_events(struct perfmon_session *session,
					 const char *text)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	if (!text)
		return pm_session_leave(session,
					pm_diag_set(&session->diag, -EINVAL,
						    "there is no text of events"));
	return pm_session_leave(session, add(session, text));
}

/* Whether REG counts already what PROGRAM says, or what TEXT does word for word. */
static bool is_programmed(const struct pm_register *reg, const char *text)
{
	return !strcmp(register_event(reg, 0)->label, text);
}

static bool same_program(const struct pm_register *reg, const struct pm_program *program)
{
	uint32_t e;

	if (reg->count != program->list->count)
		return false;
	for (e = 0; e < reg->count; e++) {
		const struct pm_event *old = register_event(reg, e);
		const struct pm_event *new = &program->list->events[e];

		if (old->in_explicit_group ||
		    memcmp(&old->attr, &new->attr, sizeof(old->attr)) != 0)
			return false;
	}
	return true;
}

static int program_one(struct perfmon_session *session, uint32_t index, const char *text)
{
	struct pm_program *program = NULL;
	struct pm_register *registers;
	int err = may_program(session);

	if (err)
		return err;
	if (index >= session->count)
		return pm_diag_set(&session->diag, -EINVAL,
				   "there is no counter %u: the session has %u", index,
				   session->count);
	if (is_programmed(&session->registers[index], text))
		return 0;
	err = program_parse(session, text, &program);
	if (err)
		return err;
	program->references = 1;
	if (program->list->logical_count != 1) {
		err = pm_diag_set(&session->diag, -EINVAL,
				  "'%s' names %zu events; a counter has one", text,
				  program->list->logical_count);
		goto out;
	}
	if (same_program(&session->registers[index], program))
		goto out;
	registers = copy_registers(session, 0);
	if (!registers) {
		err = pm_diag_set(&session->diag, -ENOMEM, "out of memory");
		goto out;
	}
	program_put(registers[index].program);
	register_bind(&registers[index], program, 0);
	err = install(session, registers, session->count);
	if (err < 0)
		pm_registers_free(registers, session->count);
out:
	program_put(program);
	return err < 0 ? err : 0;
}

PM_EXPORT int perfmon_session_program(struct perfmon_session *session, uint32_t index,
				      const char *text)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	if (!text)
		return pm_session_leave(session,
					pm_diag_set(&session->diag, -EINVAL,
						    "there is no text of an event"));
	return pm_session_leave(session, program_one(session, index, text));
}

PM_EXPORT int perfmon_session_counter_info(struct perfmon_session *session,
					   uint32_t index,
					   struct perfmon_counter_info *info)
{
	struct perfmon_counter_info found = {.size = sizeof(found),
					     .hardware_counter = -1};
	const struct pm_register *reg;
	const struct pm_event *event;
	int err = pm_session_enter(session);
	size_t size;

	if (err)
		return err;
	if (!info || info->size < sizeof(found) || index >= session->count)
		return pm_session_leave(session,
					pm_diag_set(&session->diag, -EINVAL,
						    "there is no counter %u, or no "
						    "room for what is known of it",
						    index));
	reg = &session->registers[index];
	event = register_event(reg, 0);
	found.name = reg->count > 1 ? event->label : event->name;
	found.unit = event->unit;
	found.scale = event->scale;
	found.type = event->attr.type;
	found.config = event->attr.config;
	found.config1 = event->attr.config1;
	found.config2 = event->attr.config2;
	found.events = reg->count;
	found.leader = index;
	found.error = reg->error;
	if (session->plan->part_count) {
		const struct pm_instance *instance = session->plan->part[0].instance;
		const struct pm_counter *counter = &instance->counters[reg->planned];
		uint32_t i;

		found.page_error = counter->page_error;
		found.user_read = counter->user_read && session->reader->owner;
		if (counter->page) {
			const volatile struct perf_event_mmap_page *page = counter->page;
			uint32_t hardware = page->index;

			found.width_bits = page->pmc_width;
			found.hardware_counter = hardware ? (int64_t)hardware - 1 : -1;
		}
		for (i = 0; i < session->count; i++) {
			if (session->registers[i].planned <= counter->leader)
				found.leader = i;
		}
	}
	size = info->size;
	memset(info, 0, size);
	*info = found;
	info->size = size;
	return pm_session_leave(session, 0);
}
