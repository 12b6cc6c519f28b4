/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a session is attached to. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "session/sampling/sampling.h"
#include "session/overflow/overflow.h"

/* --- memory --------------------------------------------------------------------------
 */

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

void pm_target_free(const struct pm_session_plan *plan, struct pm_target *target)
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
	target->parts = NULL;
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
		if (!target->parts)
			return -ENOMEM;
		for (s = 0; s < plan->part_count; s++) {
			if (part_init(&target->parts[s], plan->sets[s].count)) {
				pm_target_free(plan, target);
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

/* --- open and close ------------------------------------------------------------------
 */

static unsigned int open_flags(const struct perfmon_session *session)
{
	unsigned int flags = 0;

	if (!(session->flags & PERFMON_SESSION_NO_PAGES))
		flags |= PM_OPEN_USER_READ | PM_OPEN_TIME;
	if (session->flags & PERFMON_SESSION_PARTIAL)
		flags |= PM_OPEN_PARTIAL;
	if (session->flags & PERFMON_SESSION_SPLIT)
		flags |= PM_OPEN_SPLIT;
	return flags;
}

void pm_target_close(struct perfmon_session *session, struct pm_session_plan *plan,
		     struct pm_target *target)
{
	uint32_t s;

	pm_overflow_disarm(session, plan, target);
	pm_target_unwatch(session, target);
	if (target->pin)
		pm_instance_close(target->pin);
	free(target->pin);
	target->pin = NULL;
	for (s = 0; s < plan->part_count; s++)
		pm_instance_close(target->parts[s].instance);
}

/* Whether events of PLAN leave their counts when a thread ends. */
static bool counts_at_exit(const struct pm_session_plan *plan)
{
	uint32_t s, c;

	for (s = 0; s < plan->part_count; s++) {
		for (c = 0; c < plan->sets[s].count; c++) {
			if (plan->sets[s].events[c].attr.inherit_stat)
				return true;
		}
	}
	return false;
}

/* See struct pm_target: a dummy, which takes no counter and no breakpoint away. */
static int open_pin(struct perfmon_session *session, const struct pm_session_plan *plan,
		    struct pm_target *target, pid_t self)
{
	static char name[] = "dummy", pmu[] = "software", cpus[] = "";
	static const struct pm_event dummy = {
		.name = name,
		.label = name,
		.pmu = pmu,
		.cpus = cpus,
		.attr = {.type = PERF_TYPE_SOFTWARE,
			 .config = PERF_COUNT_SW_DUMMY,
			 .exclude_kernel = 1,
			 .exclude_hv = 1},
	};
	int n;

	if (!(target->flags & PM_OPEN_INHERIT) || target->follows ||
	    !counts_at_exit(plan))
		return 0;
	target->pin = calloc(1, pm_instance_size(1));
	if (!target->pin)
		return pm_diag_set(&session->diag, -ENOMEM, "out of memory");
	n = pm_instance_open(target->pin, &dummy, 1,
			     target->tid == self ? 0 : target->tid, -1, 0,
			     &session->diag);
	return n < 0 ? n : 0;
}

int pm_target_open(struct perfmon_session *session, struct pm_session_plan *plan,
		   const struct pm_target *asked, pid_t self)
{
	struct pm_target *target;
	uint32_t s;
	int refused = 0, n = pm_plan_room(plan, &target);

	if (n)
		return pm_diag_set(&session->diag, n, "out of memory");
	for (s = 0; s < plan->part_count; s++) {
		const struct pm_plan_set *set = &plan->sets[s];
		struct pm_part *part = &target->parts[s];

		n = pm_instance_open(part->instance, set->events, set->count,
				     asked->tid == self ? 0 : asked->tid, asked->cpu,
				     open_flags(session) | asked->flags, &session->diag);
		if (n < 0) {
			while (s-- > 0)
				pm_instance_close(target->parts[s].instance);
			return n;
		}
		refused += (int)set->count - n;
		memset(part->readings, 0, set->count * sizeof(part->readings[0]));
		memset(part->stamps, 0, set->count * sizeof(part->stamps[0]));
		memset(part->before, 0, set->count * sizeof(part->before[0]));
		part->active_ns = 0;
		part->settled = false;
	}
	*target = (struct pm_target){.tid = asked->tid,
				     .cpu = asked->cpu,
				     .pid = asked->pid,
				     .kind = asked->kind,
				     .flags = asked->flags,
				     .role = asked->role,
				     .follows = asked->follows,
				     .awaits_exec = asked->flags & PM_OPEN_ON_EXEC,
				     .active = asked->active,
				     .chosen = asked->chosen,
				     .ring_fd = -1,
				     .parts = target->parts};
	n = open_pin(session, plan, target, self);
	n = n ?: pm_overflow_arm(session, plan, target);
	n = n ?: pm_target_watch(session, plan, target, session->helper);
	n = n ?: pm_sampling_opened(session, plan, target);
	if (n) {
		pm_target_close(session, plan, target);
		return n;
	}
	plan->target_count++;
	return refused;
}

void pm_targets_close(struct perfmon_session *session, struct pm_session_plan *plan,
		      uint32_t first)
{
	while (plan->target_count > first)
		pm_target_close(session, plan, &plan->targets[--plan->target_count]);
}

void pm_session_close_targets(struct perfmon_session *session)
{
	pm_session_disown(session);
	pm_targets_close(session, session->plan, 0);
	pm_processes_prune(session);
}

void pm_session_forget(struct perfmon_session *session)
{
	struct pm_session_plan *plan = session->plan;
	uint32_t t, s;

	for (t = 0; t < plan->target_count; t++) {
		plan->targets[t].probe = NULL; /* its page is not here */
		plan->targets[t].probe_page = NULL;
		if (plan->targets[t].pin)
			pm_instance_forget(plan->targets[t].pin);
		free(plan->targets[t].pin);
		plan->targets[t].pin = NULL;
		for (s = 0; s < plan->part_count; s++)
			pm_instance_forget(plan->targets[t].parts[s].instance);
		pm_ring_forget(&plan->targets[t].ring);
	}
	plan->target_count = 0;
	/* First: what it watches is the parent's, too. */
	pm_helper_forget(session->helper);
	session->helper = NULL;
	pm_processes_prune(session);
}

/* Reads targets FIRST to LAST of PLAN. 0, or the first error, with what could be read. */
static int read_range(struct perfmon_session *session, struct pm_session_plan *plan,
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
			part->settled = !err && session->state == PERFMON_STOPPED;
			if (err && err != -ENODATA && !error)
				error = err;
		}
	}
	return error;
}

/* Of a plan that goes on: its readings are those of a moment. */
static void unsettle(struct pm_session_plan *plan)
{
	uint32_t t, s;

	for (t = 0; t < plan->target_count; t++) {
		for (s = 0; s < plan->part_count; s++)
			plan->targets[t].parts[s].settled = false;
	}
}

/* Opens all targets of OLD in PLAN. */
static int open_again(struct perfmon_session *session, struct pm_session_plan *plan,
		      const struct pm_session_plan *old)
{
	pid_t self = pm_kernel_gettid(), asked_before = 0;
	uint32_t t;
	int refused = 0;

	for (t = 0; t < old->target_count; t++) {
		struct pm_target asked = old->targets[t];
		int n = 0;

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
		refused += n;
	}
	return refused;
}

int pm_session_reopen(struct perfmon_session *session, struct pm_session_plan *plan,
		      struct pm_register *registers, uint32_t count)
{
	struct pm_session_plan *old = session->plan;
	struct pm_register *old_registers = session->registers;
	uint32_t old_count = session->count;
	int n = read_range(session, old, 0, old->target_count);

	if (n) {
		unsettle(old);
		return pm_session_closed_by_program(session, n);
	}
	pm_overflow_prepare(session, plan, registers, count);
	/* What is opened is armed as its own registers say. */
	session->registers = registers;
	session->count = count;
	n = open_again(session, plan, old);
	session->registers = old_registers;
	session->count = old_count;
	if (n < 0)
		unsettle(old);
	return n;
}

/* The views for the attached thread's own reads. */
void pm_session_make_views(struct perfmon_session *session)
{
	struct perfmon_reader *reader = session->reader;
	const struct pm_session_plan *plan = session->plan;
	uint32_t i;

	reader->count = session->count;
	for (i = 0; i < session->count; i++) {
		const struct pm_register *reg = &session->registers[i];

		/* Of several core PMUs only one has the counter on the hardware: their
		 * sum is no single page's. */
		if (plan->target_count == 1 && reg->count == 1)
			pm_instance_view(plan->targets[0].parts[reg->set].instance,
					 reg->planned, reg->base.value,
					 &reader->views[i]);
		else
			pm_view_init_none(&reader->views[i]);
	}
}

/* What the opening of a target says of register REG. */
static void learn_refusal(struct pm_register *reg, const struct pm_target *target)
{
	const struct pm_instance *instance = target->parts[reg->set].instance;
	uint32_t e;

	for (e = 0; e < reg->count; e++) {
		const struct pm_counter *counter = &instance->counters[reg->planned + e];

		if (counter->fd < 0 && !reg->error)
			reg->error = counter->error;
		reg->opened |= counter->fd >= 0;
	}
	if (pm_target_lacks(target, reg))
		reg->doubts |= PERFMON_VALUE_PARTIAL;
}

void pm_session_adopt_plan(struct perfmon_session *session, struct pm_session_plan *plan)
{
	uint32_t i, t;

	session->plan = plan;
	session->stamp++;
	for (i = 0; i < session->count && plan->target_count; i++) {
		session->registers[i].error = 0;
		for (t = 0; t < plan->target_count; t++)
			learn_refusal(&session->registers[i], &plan->targets[t]);
	}
	pm_session_learn_quick(session);
	pm_session_make_views(session);
}

/* --- start and stop ------------------------------------------------------------------
 */

int pm_target_turn(struct perfmon_session *session, struct pm_target *target)
{
	struct pm_part *part = &target->parts[target->active];

	part->settled = false;
	if (session->plan->sets[target->active].samples)
		return pm_overflow_enable(session, target, target->active);
	return pm_instance_enable(part->instance);
}

int pm_target_enable(struct perfmon_session *session, struct pm_target *target)
{
	const struct pm_session_plan *plan = session->plan;
	uint32_t s;
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
		return first ?: pm_target_turn(session, target);
	for (s = 0; s < plan->set_count; s++) {
		int err = plan->sets[s].samples
				  ? pm_overflow_enable(session, target, s)
				  : pm_instance_enable(target->parts[s].instance);

		target->parts[s].settled = false;
		first = first ?: err;
	}
	return first;
}

/* Whether set or part S of TARGET is on while the session runs. */
static bool is_on(const struct perfmon_session *session, const struct pm_target *target,
		  uint32_t s)
{
	return s == target->active || s >= session->plan->set_count ||
	       session->flags & PERFMON_SESSION_ROTATE;
}

bool pm_target_pause(struct perfmon_session *session, struct pm_target *target)
{
	if (session->state != PERFMON_RUNNING || target->lost || target->paused ||
	    target->awaits_exec)
		return false;
	pm_target_disable(session, target);
	target->paused = true;
	return true;
}

void pm_target_resume(struct perfmon_session *session, struct pm_target *target)
{
	const struct pm_session_plan *plan = session->plan;
	uint32_t s, c;

	target->paused = false;
	if (session->state != PERFMON_RUNNING)
		return;
	for (s = 0; s < plan->part_count; s++) {
		if (!is_on(session, target, s))
			continue;
		for (c = 0; c < plan->sets[s].count; c++)
			target->parts[s].arms[c].resumed = true;
		pm_instance_enable(target->parts[s].instance);
	}
}

int pm_target_disable(struct perfmon_session *session, struct pm_target *target)
{
	const struct pm_session_plan *plan = session->plan;
	uint32_t s;
	int first = 0;

	if (plan->part_count == 1)
		return pm_instance_disable(target->parts[0].instance);
	for (s = 0; s < plan->part_count; s++) {
		int err = 0;

		if (is_on(session, target, s))
			err = pm_instance_disable(target->parts[s].instance);
		first = first ?: err;
	}
	return first;
}

/* --- detach ---------------------------------------------------------------------------
 */

/* Adds what targets FIRST to LAST have counted to the registers' bases. What cannot be
 * read any more counts as it was last known. */
static int aggregate_range(struct perfmon_session *session, uint32_t first, uint32_t last)
{
	struct pm_session_plan *plan = session->plan, part_of = *plan;
	uint32_t s, i;
	int error = read_range(session, plan, first, last);

	part_of.targets += first;
	part_of.target_count = last - first;
	session->plan = &part_of;
	for (i = 0; i < session->count; i++) {
		struct pm_register *reg = &session->registers[i];

		reg->base = pm_reading_add(reg->base,
					   pm_register_sum(session, reg, PM_ROLE_ALL));
		reg->own_base = pm_reading_add(
			reg->own_base, pm_register_sum(session, reg, PM_ROLE_OWN));
		if (pm_session_is_uncertain(session))
			reg->doubts |= PERFMON_VALUE_UNCERTAIN;
	}
	for (s = 0; s < session->set_count; s++) {
		session->sets[s].active_ns += pm_session_active_ns(session, s);
		session->sets[s].used_ns = pm_set_used_ns(session, s);
	}
	session->plan = plan;
	return error;
}

int pm_session_gather(struct perfmon_session *session)
{
	struct pm_session_plan *plan = session->plan;
	int err;

	if (plan->target_count)
		session->next_set = plan->targets[0].active;
	session->quick_fd = -1;
	err = aggregate_range(session, 0, plan->target_count);
	pm_session_time_detach(session);
	pm_targets_close(session, plan, 0);
	session->stamp++;
	return err;
}

int pm_session_detach_all(struct perfmon_session *session)
{
	struct pm_session_plan *plan = session->plan;
	uint32_t t;
	int err;

	pm_session_disown(session);
	if (session->state == PERFMON_RUNNING) {
		for (t = 0; t < plan->target_count; t++)
			pm_target_disable(session, &plan->targets[t]);
		pm_session_time_stop(session);
	}
	session->stamp++;
	session->state = PERFMON_STOPPED;
	/* What came until now is kept as messages; it enables nothing any more. */
	if (session->rings)
		pm_overflow_drain(session);
	err = pm_session_gather(session);
	session->state = PERFMON_DETACHED;
	pm_processes_prune(session);
	pm_exclusive_release(session);
	pm_overflow_release(session);
	pm_session_make_views(session);
	return err;
}

/* Takes target T out of the plan, whose memory stays. */
void pm_target_remove(struct perfmon_session *session, uint32_t t)
{
	struct pm_session_plan *plan = session->plan;
	struct pm_target gone = plan->targets[t];

	session->quick_fd = -1;
	aggregate_range(session, t, t + 1);
	pm_target_close(session, plan, &plan->targets[t]);
	plan->target_count--;
	memmove(&plan->targets[t], &plan->targets[t + 1],
		(plan->target_count - t) * sizeof(plan->targets[0]));
	plan->targets[plan->target_count] = gone;
}
