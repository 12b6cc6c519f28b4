/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The calls that say what a session counts. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/api/export.h"
#include "core/session/calls.h"

/* No set in particular: a text's own numbers. */
#define ANY_SET UINT32_MAX

/* The set for the events of SET, as a text counts them: set ID itself, or with ANY_SET
 * that of the same number. -EINVAL, -EBUSY: it is not there, and cannot be made now. */
static int set_for(struct perfmon_session *session, uint32_t set, uint32_t id)
{
	id = id == ANY_SET ? set : id;
	if (pm_session_find_set(session, (uint16_t)id) >= 0)
		return (int)id;
	if (session->state == PERFMON_STATE_DETACHED)
		return (int)id;
	return pm_diag_set(&session->diag, -EBUSY,
			   "cannot create event set %u while the session is attached; "
			   "detach the session first",
			   id);
}

/* Checks that the events of PROGRAM have room, and a set each. */
static int check_added(struct perfmon_session *session, const char *text,
		       const struct pm_program *program, uint32_t id)
{
	const struct pm_event_list *list = program->list;
	int err = 0;

	if (id != ANY_SET && list->set_count > 1)
		return pm_diag_set(&session->diag, -EINVAL,
				   "'%s' has %zu event sets; set %u takes one", text,
				   list->set_count, id);
	if (id != ANY_SET && pm_session_find_set(session, (uint16_t)id) < 0)
		return pm_diag_set(&session->diag, -EINVAL, "there is no event set %u",
				   id);
	if (list->logical_count > PERFMON_SESSION_COUNTERS_MAX - session->count)
		return pm_diag_set(&session->diag, -E2BIG,
				   "a session has at most %d counters",
				   PERFMON_SESSION_COUNTERS_MAX);
	if (list->set_count > PERFMON_SESSION_SETS_MAX)
		return pm_diag_set(&session->diag, -E2BIG,
				   "%zu event sets are more than the %d of a session",
				   list->set_count, PERFMON_SESSION_SETS_MAX);
	for (uint32_t s = 0; s < list->set_count && err >= 0; s++)
		err = set_for(session, s, id);
	return err < 0 ? err : 0;
}

static int add_program(struct perfmon_session *session, struct pm_program *program,
		       uint32_t id)
{
	const struct pm_event_list *list = program->list;
	uint32_t i, s, first = session->count, more = (uint32_t)list->logical_count;
	struct pm_register *registers = pm_registers_copy(session, more);
	struct pm_set *sets = pm_sets_copy(session, list->set_count);
	uint32_t set_count = session->set_count;
	bool copied = registers && sets;

	for (s = 0; copied && s < list->set_count && id == ANY_SET; s++)
		pm_sets_insert(sets, &set_count, (uint16_t)s, registers, first);
	for (i = 0; copied && i < more; i++) {
		struct pm_register *reg = &registers[first + i];
		uint32_t number;

		pm_register_bind(reg, program, i);
		number = id == ANY_SET ? pm_register_event(reg, 0)->set : id;
		reg->set = pm_sets_insert(sets, &set_count, (uint16_t)number, registers,
					  first);
	}
	if (copied && set_count == session->set_count) {
		free(sets);
		sets = session->sets;
	}
	return pm_session_install(session, registers, first + more, sets, set_count)
		       ?: (int)first;
}

static int add(struct perfmon_session *session, const char *text, uint32_t id)
{
	struct pm_program *program = NULL;
	int err = pm_session_enter(session);

	if (err)
		return err;
	err = text ? pm_session_must_stand(session, "the events")
		   : pm_diag_set(&session->diag, -EINVAL, "the text of events is NULL");
	err = err ?: pm_program_parse(session, text, &program);
	err = err ?: check_added(session, text, program, id);
	err = err ?: add_program(session, program, id);
	pm_program_put(program);
	return pm_session_leave(session, err);
}

PM_EXPORT int perfmon_session_add_events(struct perfmon_session *session,
					 const char *text)
{
	return add(session, text, ANY_SET);
}

PM_EXPORT int perfmon_set_add_events(struct perfmon_session *session, uint16_t id,
				     const char *text)
{
	return add(session, text, id);
}

/* Returns whether the registers from FIRST on count, in this order, what LIST says. */
static bool same_list(const struct pm_register *first, const struct pm_event_list *list)
{
	uint32_t i, e;

	for (i = 0; i < list->count; i++) {
		const struct pm_event *new = &list->events[i], *old;
		const struct pm_register *reg = &first[new->logical];

		/* The events of one number stand together. */
		for (e = 0; e < i && list->events[i - e - 1].logical == new->logical;)
			e++;
		if (e >= reg->count)
			return false;
		old = pm_register_event(reg, e);
		/* A group of one event is no other than the event. */
		if (old->in_explicit_group ||
		    (new->in_explicit_group && list->logical_count > 1) ||
		    memcmp(&old->attr, &new->attr, sizeof(old->attr)) != 0)
			return false;
	}
	return true;
}

static int replace(struct perfmon_session *session, struct pm_program *program)
{
	uint32_t i, count = (uint32_t)program->list->logical_count;
	struct pm_register *registers = calloc(count + 1, sizeof(registers[0]));

	for (i = 0; registers && i < count; i++)
		pm_register_bind(&registers[i], program, i);
	return pm_session_install(session, registers, count, session->sets,
				  session->set_count);
}

int pm_session_replace(struct perfmon_session *session, const char *text)
{
	struct pm_program *program = NULL;
	int err = pm_program_parse(session, text, &program);

	if (err)
		return err;
	if (program->list->set_count > 1)
		err = pm_diag_set(&session->diag, -EINVAL,
				  "'%s' has %zu event sets; a control has one", text,
				  program->list->set_count);
	else if (program->list->logical_count > PERFMON_SESSION_COUNTERS_MAX)
		err = pm_diag_set(&session->diag, -E2BIG,
				  "a session has at most %d counters",
				  PERFMON_SESSION_COUNTERS_MAX);
	if (!err && (program->list->logical_count != session->count ||
		     !same_list(session->registers, program->list)))
		err = replace(session, program);
	pm_program_put(program);
	return err;
}

static int program_one(struct perfmon_session *session, uint32_t index, const char *text)
{
	struct pm_program *program = NULL;
	struct pm_register *reg, *registers;
	int err = text ? pm_session_must_stand(session, "the events")
		       : pm_diag_set(&session->diag, -EINVAL,
				     "the text of the event is NULL");

	if (err)
		return err;
	if (index >= session->count)
		return pm_diag_set(&session->diag, -EINVAL,
				   "there is no counter %u: the session has %u", index,
				   session->count);
	reg = &session->registers[index];
	if (!strcmp(pm_register_event(reg, 0)->label, text))
		return 0;
	err = pm_program_parse(session, text, &program);
	if (err)
		return err;
	if (program->list->logical_count != 1) {
		err = pm_diag_set(&session->diag, -EINVAL,
				  "'%s' names %zu events; a counter has one", text,
				  program->list->logical_count);
	} else if (reg->count != program->list->count || !same_list(reg, program->list)) {
		registers = pm_registers_copy(session, 0);
		if (registers) {
			pm_program_put(registers[index].program);
			pm_register_bind(&registers[index], program, 0);
		}
		err = pm_session_reinstall(session, registers);
	}
	pm_program_put(program);
	return err;
}

PM_EXPORT int perfmon_session_program(struct perfmon_session *session, uint32_t index,
				      const char *text)
{
	int err = pm_session_enter(session);

	return err ?: pm_session_leave(session, program_one(session, index, text));
}
