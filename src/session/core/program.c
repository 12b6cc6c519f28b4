/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a session counts: texts become programs, programs registers, registers a plan. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "counters/counters.h"
#include "session/overflow/overflow.h"
#include "session/sampling/sampling.h"

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

/* The doubts about REG's value that stay when it counts another event: one that was never
 * open leaves no value. */
static uint32_t doubts_of(const struct pm_register *reg)
{
	return reg->opened ? reg->doubts : reg->doubts & ~PERFMON_VALUE_PARTIAL;
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
	reg->doubts = doubts_of(reg);
	reg->opened = false;
	reg->error = 0;
	reg->turns = (struct pm_turns){0};
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

void pm_register_drop(struct pm_register *reg)
{
	program_put(reg->program);
	reg->program = NULL;
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

			*event = *register_event(reg, e);
			event->group += group_offset(registers, i);
			if (overflow->on) {
				pm_overflow_plan(session, reg, event);
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
static int plan_whole(struct pm_plan_set *set, uint32_t scope, bool side_records)
{
	set->events = calloc(1, sizeof(set->events[0]));
	if (!set->events)
		return -ENOMEM;
	set->events[0] = set_clock(scope);
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
	plan->turns = set_count > 1 && !(session->flags & PERFMON_SESSION_ROTATE);
	if (!err && (plan->turns || side_records)) {
		err = plan_whole(&plan->sets[set_count], session->scope, side_records);
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
		pm_target_free(plan, &plan->targets[i]);
	for (i = 0; i < plan->part_count; i++)
		free(plan->sets[i].events);
	free(plan->targets);
	free(plan->sets);
	free(plan);
}

/*
 * Puts REGISTERS and SETS in the place of the session's. An attached session opens them
 * before it lets go of the old ones, so that a refusal changes nothing. Takes both over
 * on success only; SETS may be the session's own. The first registers of both are the
 * same, unless the session is detached.
 */
int pm_session_install(struct perfmon_session *session, struct pm_register *registers,
		       uint32_t count, struct pm_set *sets, uint32_t set_count)
{
	struct pm_session_plan *plan, *old = session->plan;
	struct pm_register *old_registers = session->registers;
	uint32_t i, old_count = session->count;
	struct pm_owner owner = pm_session_owner(session);
	uint16_t next_id = session->sets[session->next_set].id;
	int n = 0, next;

	if (session->sampling && session->sampling->log)
		return pm_diag_set(
			&session->diag, -EBUSY,
			"the events of a session with a log cannot be changed; "
			"close the log first");
	n = pm_plan_build(session, registers, count, sets, set_count, &plan);
	if (n)
		return pm_diag_set(&session->diag, n, "out of memory");
	if (session->state != PERFMON_DETACHED) {
		n = pm_session_reopen(session, plan, registers, count);
		if (n < 0) {
			pm_plan_free(plan);
			return n;
		}
		pm_session_disown(session);
		pm_session_gather(session);
		for (i = 0; i < old_count && i < count; i++) {
			registers[i].base = old_registers[i].base;
			registers[i].own_base = old_registers[i].own_base;
			registers[i].doubts |= doubts_of(&old_registers[i]);
		}
	}
	session->registers = registers;
	session->count = count;
	if (sets != session->sets) {
		free(session->sets);
		session->sets = sets;
		session->set_count = set_count;
		next = pm_session_find_set(session, next_id);
		/* Of sets that have never been active, the lowest is the first. */
		session->next_set = next < 0 || !sets[next].runs ? 0 : (uint32_t)next;
	}
	pm_session_adopt_plan(session, plan);
	if (session->state != PERFMON_DETACHED)
		pm_session_time_attach(session);
	pm_session_set_owner(session, owner);
	pm_registers_free(old_registers, old_count);
	pm_plan_free(old);
	return n;
}

int pm_session_reinstall(struct perfmon_session *session, struct pm_register *registers)
{
	int n = pm_session_install(session, registers, session->count, session->sets,
				   session->set_count);

	if (n < 0)
		pm_registers_free(registers, session->count);
	return n < 0 ? n : 0;
}

/* A copy of the session's registers with room for MORE, which holds references. */
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

/* --- calls ---------------------------------------------------------------------------
 */

/* No set in particular: a text's own numbers. */
#define ANY_SET UINT32_MAX

/* The set for the events of SET, as a text counts them: set ID itself, or with ANY_SET
 * that of the same number. -EINVAL, -EBUSY: it is not there, and cannot be made now. */
static int set_for(struct perfmon_session *session, uint32_t set, uint32_t id)
{
	id = id == ANY_SET ? set : id;
	if (pm_session_find_set(session, (uint16_t)id) >= 0)
		return (int)id;
	if (session->state == PERFMON_DETACHED)
		return (int)id;
	return pm_diag_set(&session->diag, -EBUSY,
			   "event set %u cannot be made while the session is attached; "
			   "detach it first",
			   id);
}

/* Whether the events of PROGRAM have room, and a set each. */
static int check_added(struct perfmon_session *session, const char *text,
		       const struct pm_program *program, uint32_t id)
{
	const struct pm_event_list *list = program->list;
	uint32_t s;
	int err = 0;

	if (id != ANY_SET && list->set_count > 1)
		return pm_diag_set(&session->diag, -EINVAL,
				   "'%s' has %zu event sets; set %u is one", text,
				   list->set_count, id);
	if (id != ANY_SET && pm_session_find_set(session, (uint16_t)id) < 0)
		return pm_diag_set(&session->diag, -EINVAL, "there is no event set %u",
				   id);
	if (list->logical_count > PERFMON_SESSION_COUNTERS - session->count)
		return pm_diag_set(&session->diag, -E2BIG,
				   "a session has at most %d counters",
				   PERFMON_SESSION_COUNTERS);
	if (list->set_count > PERFMON_SESSION_SETS)
		return pm_diag_set(&session->diag, -E2BIG,
				   "%zu event sets are more than the %d of a session",
				   list->set_count, PERFMON_SESSION_SETS);
	for (s = 0; s < list->set_count && err >= 0; s++)
		err = set_for(session, s, id);
	return err < 0 ? err : 0;
}

/* The set of logical event NUMBER, as the text counts them. */
static uint32_t set_of(const struct pm_event_list *list, uint32_t number)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		if (list->events[i].logical == number)
			return list->events[i].set;
	}
	return 0;
}

static int add_program(struct perfmon_session *session, struct pm_program *program,
		       uint32_t id)
{
	const struct pm_event_list *list = program->list;
	uint32_t i, s, first = session->count, more = (uint32_t)list->logical_count;
	struct pm_register *registers = pm_registers_copy(session, more);
	struct pm_set *sets = pm_sets_copy(session, list->set_count);
	uint32_t set_count = session->set_count;
	int err = -ENOMEM;

	if (!registers || !sets) {
		pm_diag_set(&session->diag, err, "out of memory");
		goto fail;
	}
	for (s = 0; s < list->set_count && id == ANY_SET; s++)
		pm_sets_insert(sets, &set_count, (uint16_t)s, registers, first);
	for (i = 0; i < more; i++) {
		uint16_t number = (uint16_t)(id == ANY_SET ? set_of(list, i) : id);

		register_bind(&registers[first + i], program, i);
		registers[first + i].set =
			pm_sets_insert(sets, &set_count, number, registers, first);
	}
	if (set_count == session->set_count) {
		free(sets);
		sets = session->sets;
	}
	err = pm_session_install(session, registers, first + more, sets, set_count);
	if (err >= 0)
		return (int)first;
fail:
	if (registers)
		pm_registers_free(registers, first + more);
	if (sets != session->sets)
		free(sets);
	return err;
}

static int add(struct perfmon_session *session, const char *text, uint32_t id)
{
	struct pm_program *program = NULL;
	int err = pm_session_enter(session);

	if (err)
		return err;
	if (!text)
		return pm_session_leave(session,
					pm_diag_set(&session->diag, -EINVAL,
						    "there is no text of events"));
	err = pm_session_must_stand(session, "the events");
	err = err ?: program_parse(session, text, &program);
	if (err)
		return pm_session_leave(session, err);
	program->references = 1;
	err = check_added(session, text, program, id);
	err = err ?: add_program(session, program, id);
	program_put(program);
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

/* Whether the registers count, in this order, what PROGRAM says. */
static bool same_list(const struct perfmon_session *session,
		      const struct pm_program *program)
{
	const struct pm_event_list *list = program->list;
	uint32_t i, e;

	if (list->logical_count != session->count)
		return false;
	for (i = 0; i < list->count; i++) {
		const struct pm_event *new = &list->events[i], *old;
		const struct pm_register *reg = &session->registers[new->logical];

		/* The events of one number stand together. */
		for (e = 0; e < i && list->events[i - e - 1].logical == new->logical;)
			e++;
		if (e >= reg->count)
			return false;
		old = register_event(reg, e);
		if (old->in_explicit_group || new->in_explicit_group ||
		    memcmp(&old->attr, &new->attr, sizeof(old->attr)) != 0)
			return false;
	}
	return true;
}

static int replace(struct perfmon_session *session, struct pm_program *program)
{
	uint32_t i, count = (uint32_t)program->list->logical_count;
	struct pm_register *registers = calloc(count + 1, sizeof(registers[0]));
	int n;

	if (!registers)
		return pm_diag_set(&session->diag, -ENOMEM, "out of memory");
	for (i = 0; i < count; i++)
		register_bind(&registers[i], program, i);
	n = pm_session_install(session, registers, count, session->sets,
			       session->set_count);
	if (n < 0)
		pm_registers_free(registers, count);
	return n < 0 ? n : 0;
}

int pm_session_replace(struct perfmon_session *session, const char *text)
{
	struct pm_program *program = NULL;
	int err = program_parse(session, text, &program);

	if (err)
		return err;
	program->references = 1;
	if (program->list->set_count > 1)
		err = pm_diag_set(&session->diag, -EINVAL,
				  "'%s' has %zu event sets; a control has one", text,
				  program->list->set_count);
	else if (program->list->logical_count > PERFMON_SESSION_COUNTERS)
		err = pm_diag_set(&session->diag, -E2BIG,
				  "a session has at most %d counters",
				  PERFMON_SESSION_COUNTERS);
	if (!err) {
		pm_session_stop_all(session);
		err = same_list(session, program) ? 0 : replace(session, program);
	}
	program_put(program);
	return err;
}

static int program_one(struct perfmon_session *session, uint32_t index, const char *text)
{
	struct pm_program *program = NULL;
	struct pm_register *registers;
	int err = pm_session_must_stand(session, "the events");

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
	registers = pm_registers_copy(session, 0);
	if (!registers) {
		err = pm_diag_set(&session->diag, -ENOMEM, "out of memory");
		goto out;
	}
	program_put(registers[index].program);
	register_bind(&registers[index], program, 0);
	err = pm_session_install(session, registers, session->count, session->sets,
				 session->set_count);
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

	if (err)
		return err;
	err = PM_STRUCT_CHECK(info, perfmon_counter_info, reserved);
	if (err)
		return pm_session_leave(
			session, pm_session_explain_struct(session, err,
							   "information on a counter",
							   "perfmon_counter_info"));
	if (index >= session->count)
		return pm_session_leave(session,
					pm_diag_set(&session->diag, -EINVAL,
						    "there is no counter %u", index));
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
	if (session->plan->target_count) {
		const struct pm_instance *instance =
			session->plan->targets[0].parts[reg->set].instance;
		const struct pm_counter *counter = &instance->counters[reg->planned];
		uint32_t i;

		found.page_error = counter->page_error;
		found.user_read = counter->user_read &&
				  pm_session_owner(session).pointer &&
				  pm_instance_user_access();
		if (counter->page) {
			const volatile struct perf_event_mmap_page *page = counter->page;
			uint32_t hardware = page->index;

			found.width_bits = page->pmc_width;
			found.hardware_counter = hardware ? (int64_t)hardware - 1 : -1;
		}
		for (i = 0; i < session->count; i++) {
			if (session->registers[i].set == reg->set &&
			    session->registers[i].planned <= counter->leader)
				found.leader = i;
		}
	}
	pm_struct_fill(info, &found, sizeof(found));
	return pm_session_leave(session, 0);
}
