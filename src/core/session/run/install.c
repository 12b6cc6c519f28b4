/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Another plan in the place of the session's. */
#include <errno.h>
#include <stdlib.h>

#include "core/session/overflow/overflow.h"
#include "core/session/run/run.h"
#include "core/session/sampling/sampling.h"
#include "core/session/targets/targets.h"

int pm_session_gather(struct perfmon_session *session)
{
	struct pm_session_plan *plan = session->plan;
	int err;

	if (plan->target_count)
		session->next_set = plan->targets[0].active;
	session->quick_fd = -1;
	err = pm_session_aggregate(session, 0, plan->target_count);
	pm_session_time_detach(session);
	pm_targets_close(session, plan, 0);
	session->stamp++;
	return err;
}

/* --- another plan ------------------------------------------------------------------- */

/* Opens PLAN on all targets of OLD. 0, or a negative errno with nothing of PLAN open. */
static int open_again(struct perfmon_session *session, struct pm_session_plan *plan,
		      const struct pm_session_plan *old)
{
	pid_t self = pm_kernel_gettid(), asked_before = 0;

	for (uint32_t t = 0; t < old->target_count; t++) {
		struct pm_target asked = old->targets[t];
		int n;

		if (asked.active >= plan->set_count)
			asked.active = 0;
		if (!asked.awaits_exec)
			asked.flags &= ~PM_OPEN_ON_EXEC;
		if (asked.lost || (asked.pid && t && asked.pid == asked_before))
			continue;
		asked_before = asked.pid;
		n = asked.pid ? pm_process_reopen(session, plan, asked.pid, self)
			      : pm_target_open(session, plan, &asked, self);
		if (n < 0) {
			pm_targets_close(session, plan, 0);
			return n;
		}
	}
	return 0;
}

/* Opens all sets of PLAN, which is built of REGISTERS, on the session's targets. 0, or a
 * negative errno with nothing of PLAN open. The session's own plan has been read then. */
static int reopen(struct perfmon_session *session, struct pm_session_plan *plan,
		  struct pm_register *registers, uint32_t count)
{
	struct pm_session_plan *old = session->plan;
	struct pm_register *old_registers = session->registers;
	uint32_t old_count = session->count;
	int err = pm_targets_read(session, old, 0, old->target_count);

	if (err) {
		pm_plan_unsettle(old);
		return pm_session_closed_by_program(session, err);
	}
	pm_overflow_prepare(session, plan, registers, count);
	/* The new targets are armed as their own registers say. */
	session->registers = registers;
	session->count = count;
	err = open_again(session, plan, old);
	session->registers = old_registers;
	session->count = old_count;
	if (err)
		pm_plan_unsettle(old);
	return err;
}

/* Learns from an open TARGET which events of REG it has refused. */
static void note_error(struct pm_register *reg, const struct pm_target *target)
{
	const struct pm_instance *instance = target->parts[reg->set].instance;

	for (uint32_t e = 0; e < reg->count; e++) {
		const struct pm_counter *counter = &instance->counters[reg->planned + e];

		if (!pm_counter_is_open(counter) && !reg->error)
			reg->error = counter->error;
		reg->opened |= pm_counter_is_open(counter);
	}
	if (pm_target_lacks(target, reg))
		reg->value_flags |= PERFMON_VALUE_PARTIAL;
}

/* Learns whether start and stop have their quick way: start.c of the calls. */
static void learn_quick(struct perfmon_session *session)
{
	const struct pm_session_plan *plan = session->plan;
	const struct pm_target *target = &plan->targets[0];
	const struct pm_instance *instance;
	uint32_t c, leaders = 0;

	session->quick_fd = -1;
	if (plan->target_count != 1 || plan->part_count != 1 || plan->sets[0].samples ||
	    target->awaits_exec || session->rings)
		return;
	instance = target->parts[0].instance;
	for (c = 0; c < instance->count; c++) {
		if (instance->counters[c].fd < 0 || instance->counters[c].leader != c)
			continue;
		session->quick_fd = instance->counters[c].fd;
		leaders++;
	}
	if (leaders != 1)
		session->quick_fd = -1;
}

void pm_session_adopt_plan(struct perfmon_session *session, struct pm_session_plan *plan)
{
	session->plan = plan;
	session->stamp++;
	for (uint32_t i = 0; i < session->count && plan->target_count; i++) {
		session->registers[i].error = 0;
		for (uint32_t t = 0; t < plan->target_count; t++)
			note_error(&session->registers[i], &plan->targets[t]);
	}
	learn_quick(session);
	pm_session_make_views(session);
}

/* Builds the plan of REGISTERS and SETS, and opens it on the targets. 0, or a negative errno
 * with a sentence. */
static int make_plan(struct perfmon_session *session, struct pm_register *registers,
		     uint32_t count, const struct pm_set *sets, uint32_t set_count,
		     struct pm_session_plan **plan)
{
	int err = pm_sampling_may_change(session);

	if (err)
		return err;
	if (set_count > PERFMON_SESSION_SETS_MAX)
		return pm_diag_set(&session->diag, -E2BIG,
				   "%u event sets are more than the %d of a session",
				   set_count, PERFMON_SESSION_SETS_MAX);
	if (!registers || !sets ||
	    pm_plan_build(session, registers, count, sets, set_count, plan))
		return pm_diag_set(&session->diag, -ENOMEM, "out of memory");
	return session->state == PERFMON_STATE_DETACHED
		       ? 0
		       : reopen(session, *plan, registers, count);
}

int pm_session_install(struct perfmon_session *session, struct pm_register *registers,
		       uint32_t count, struct pm_set *sets, uint32_t set_count)
{
	struct pm_session_plan *plan = NULL, *old = session->plan;
	struct pm_register *old_registers = session->registers;
	uint32_t i, old_count = session->count;
	struct pm_owner owner = pm_session_owner(session);
	uint16_t next_id = session->sets[session->next_set].id;
	int next, err = make_plan(session, registers, count, sets, set_count, &plan);

	if (err) {
		pm_plan_free(plan);
		pm_registers_free(registers, count);
		if (sets != session->sets)
			free(sets);
		return err;
	}
	if (session->state != PERFMON_STATE_DETACHED) {
		pm_session_disown(session);
		pm_session_gather(session);
		for (i = 0; i < old_count && i < count; i++) {
			registers[i].base = old_registers[i].base;
			registers[i].own_base = old_registers[i].own_base;
			registers[i].total_base = old_registers[i].total_base;
			registers[i].own_total_base = old_registers[i].own_total_base;
			registers[i].value_flags |=
				pm_register_value_flags(&old_registers[i]);
		}
	}
	session->registers = registers;
	session->count = count;
	if (sets != session->sets) {
		free(session->sets);
		session->sets = sets;
		session->set_count = set_count;
		next = pm_session_find_set(session, next_id);
		/* If no set has ever been active, the lowest is the first. */
		session->next_set = next < 0 || !sets[next].runs ? 0 : (uint32_t)next;
	}
	pm_session_adopt_plan(session, plan);
	if (session->state != PERFMON_STATE_DETACHED)
		pm_session_time_attach(session);
	pm_session_set_owner(session, owner);
	pm_registers_free(old_registers, old_count);
	pm_plan_free(old);
	return 0;
}

int pm_session_reinstall(struct perfmon_session *session, struct pm_register *registers)
{
	return pm_session_install(session, registers, session->count, session->sets,
				  session->set_count);
}

int pm_session_replan(struct perfmon_session *session)
{
	return pm_session_reinstall(session, pm_registers_copy(session, 0));
}
