/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a session is attached to. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cpus.h"
#include "core/export.h"
#include "core/kernel.h"
#include "core/servant.h"
#include "core/session_sampling.h"

#define KNOWN_TARGET_FLAGS                                                               \
	(PERFMON_TARGET_CHILDREN | PERFMON_TARGET_APART | PERFMON_TARGET_ON_EXEC)

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

void pm_target_free(const struct pm_plan *plan, struct pm_target *target)
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

int pm_plan_room(struct pm_plan *plan, struct pm_target **out)
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

void pm_target_close(struct perfmon_session *session, struct pm_plan *plan,
		     struct pm_target *target)
{
	uint32_t s;

	pm_overflow_disarm(session, plan, target);
	if (target->witness)
		pm_kernel_munmap(target->witness_page, pm_kernel_page_size());
	target->witness = NULL;
	for (s = 0; s < plan->part_count; s++)
		pm_instance_close(target->parts[s].instance);
}

int pm_target_open(struct perfmon_session *session, struct pm_plan *plan,
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
				     .ring_fd = -1,
				     .parts = target->parts};
	n = pm_overflow_arm(session, plan, target);
	n = n ?: pm_sampling_opened(session, plan, target);
	if (n) {
		pm_target_close(session, plan, target);
		return n;
	}
	plan->target_count++;
	return refused;
}

static void close_from(struct perfmon_session *session, struct pm_plan *plan,
		       uint32_t first)
{
	while (plan->target_count > first)
		pm_target_close(session, plan, &plan->targets[--plan->target_count]);
}

void pm_session_close_targets(struct perfmon_session *session)
{
	pm_session_set_owner(session, 0);
	close_from(session, session->plan, 0);
	pm_processes_prune(session);
}

void pm_session_forget(struct perfmon_session *session)
{
	struct pm_plan *plan = session->plan;
	uint32_t t, s;

	for (t = 0; t < plan->target_count; t++) {
		plan->targets[t].witness = NULL; /* its page is not here */
		for (s = 0; s < plan->part_count; s++)
			pm_instance_forget(plan->targets[t].parts[s].instance);
		pm_ring_forget(&plan->targets[t].ring);
	}
	plan->target_count = 0;
	pm_processes_prune(session);
	pm_servant_forget(session->servant);
	session->servant = NULL;
}

/* Reads targets FIRST to LAST of PLAN. 0, or the first error, with what could be read. */
static int read_range(struct perfmon_session *session, struct pm_plan *plan,
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
static void unsettle(struct pm_plan *plan)
{
	uint32_t t, s;

	for (t = 0; t < plan->target_count; t++) {
		for (s = 0; s < plan->part_count; s++)
			plan->targets[t].parts[s].settled = false;
	}
}

/* Opens all targets of OLD in PLAN. */
static int open_again(struct perfmon_session *session, struct pm_plan *plan,
		      const struct pm_plan *old)
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
			close_from(session, plan, 0);
			return n;
		}
		refused += n;
	}
	return refused;
}

int pm_session_reopen(struct perfmon_session *session, struct pm_plan *plan,
		      struct pm_register *registers, uint32_t count)
{
	struct pm_plan *old = session->plan;
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
static void make_views(struct perfmon_session *session)
{
	struct perfmon_reader *reader = session->reader;
	const struct pm_plan *plan = session->plan;
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
}

void pm_session_adopt_plan(struct perfmon_session *session, struct pm_plan *plan)
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
	make_views(session);
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
	const struct pm_plan *plan = session->plan;
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

int pm_target_disable(struct perfmon_session *session, struct pm_target *target)
{
	const struct pm_plan *plan = session->plan;
	uint32_t s;
	int first = 0;

	if (plan->part_count == 1)
		return pm_instance_disable(target->parts[0].instance);
	for (s = 0; s < plan->part_count; s++) {
		int err = 0;

		if (s == target->active || s >= plan->set_count ||
		    session->flags & PERFMON_SESSION_ROTATE)
			err = pm_instance_disable(target->parts[s].instance);
		first = first ?: err;
	}
	return first;
}

/* --- attach ---------------------------------------------------------------------------
 */

static int check_exec(struct perfmon_session *session,
		      const struct perfmon_target *target, size_t i)
{
	if (!target->id || target->id == pm_kernel_gettid())
		return pm_diag_set(&session->diag, -EINVAL,
				   "target %zu: the exec of the calling thread would end "
				   "the session",
				   i);
	if (session->set_count > 1 && !(session->flags & PERFMON_SESSION_ROTATE))
		return pm_diag_set(&session->diag, -EINVAL,
				   "target %zu: event sets that take turns cannot wait "
				   "for an exec",
				   i);
	return 0;
}

static int check_target(struct perfmon_session *session,
			const struct perfmon_target *target, size_t i)
{
	static const char *const names[] = {"thread", "CPU", "process"};
	bool cpu = target->kind == PERFMON_TARGET_CPU;

	if (target->kind > PERFMON_TARGET_PROCESS)
		return pm_diag_set(&session->diag, -EINVAL,
				   "target %zu: there is no kind %u of targets", i,
				   target->kind);
	if (target->flags & ~KNOWN_TARGET_FLAGS || target->reserved ||
	    (cpu && target->flags))
		return pm_diag_set(&session->diag, -EINVAL,
				   "target %zu: unknown flags 0x%x, or a reserved field "
				   "that is not 0",
				   i, target->flags);
	if (cpu != (session->scope == PERFMON_SCOPE_CPU))
		return pm_diag_set(&session->diag, -EINVAL,
				   "a session of %s scope cannot be attached to a %s",
				   session->scope == PERFMON_SCOPE_CPU ? "CPU" : "thread",
				   names[target->kind]);
	if (target->id < 0)
		return pm_diag_set(&session->diag, -EINVAL, "there is no %s %d",
				   names[target->kind], target->id);
	if (target->kind == PERFMON_TARGET_PROCESS &&
	    target->flags & PERFMON_TARGET_ON_EXEC)
		return pm_diag_set(&session->diag, -EINVAL,
				   "target %zu: a thread can be waited for to execute a "
				   "program, a process cannot",
				   i);
	return target->flags & PERFMON_TARGET_ON_EXEC ? check_exec(session, target, i)
						      : 0;
}

/* What to open for TARGET when thread SELF asks, without its role. */
static struct pm_target asked_for(const struct perfmon_session *session,
				  const struct perfmon_target *target, pid_t self)
{
	bool cpu = target->kind == PERFMON_TARGET_CPU;

	if (target->kind == PERFMON_TARGET_PROCESS)
		return (struct pm_target){.kind = target->kind,
					  .pid = pm_process_id(target->id)};
	return (struct pm_target){.tid = cpu ? -1 : target->id ?: self,
				  .cpu = cpu ? target->id : -1,
				  .kind = target->kind,
				  .active = session->next_set};
}

/* Whether children of a target can be sampled: their events write to the rings of CPUs,
 * which the kernel gives no group's values and no limits. */
static int check_children(struct perfmon_session *session)
{
	const struct pm_plan *plan = session->plan;
	uint32_t s, c;

	for (s = 0; s < plan->set_count; s++) {
		bool values = false;

		for (c = 0; c < plan->sets[s].count; c++)
			values |= !!(plan->sets[s].events[c].attr.sample_type &
				     PERF_SAMPLE_READ);
		if (plan->turns || plan->sets[s].notifies || values)
			return pm_diag_set(
				&session->diag, -EOPNOTSUPP,
				"%s for what a target creates: the kernel has that for "
				"threads alone",
				plan->turns ? "event sets do not switch by themselves"
				: values    ? "samples hold no other counters' values"
					    : "overflows do not notify");
	}
	return 0;
}

static bool writes_records(const struct pm_plan *plan)
{
	uint32_t s;

	for (s = 0; s < plan->part_count; s++) {
		if (plan->sets[s].samples)
			return true;
	}
	return false;
}

/* Opens ASKED, and where children write records, once for each CPU that is online: the
 * kernel has no ring for an event that is inherited and follows a thread everywhere. */
static int open_spread(struct perfmon_session *session, const struct pm_target *asked,
		       pid_t self)
{
	uint32_t before = session->plan->target_count;
	struct pm_target one = *asked;
	struct pm_cpus online = {0};
	int n, refused = 0;

	if (!(asked->flags & PM_OPEN_INHERIT) || !writes_records(session->plan))
		return pm_target_open(session, session->plan, asked, self);
	n = check_children(session);
	n = n ?: pm_cpus_online(&online);
	pm_cpus_each (cpu, &online) {
		if (n < 0)
			break;
		one.cpu = cpu;
		n = pm_target_open(session, session->plan, &one, self);
		one.follows = true;
		/* It may have gone offline meanwhile. */
		if (n == -ENODEV)
			n = 0;
		refused = n > refused ? n : refused;
	}
	pm_cpus_free(&online);
	if (n < 0)
		close_from(session, session->plan, before);
	return n < 0 ? n : refused;
}

static int open_asked(struct perfmon_session *session,
		      const struct perfmon_target *target, pid_t self)
{
	struct pm_target asked = asked_for(session, target, self);
	int refused = 0, n;

	asked.role = PM_ROLE_ALL | PM_ROLE_OWN;
	if (target->flags & PERFMON_TARGET_CHILDREN)
		asked.flags = PM_OPEN_INHERIT;
	if (target->flags & PERFMON_TARGET_ON_EXEC)
		asked.flags |= PM_OPEN_ON_EXEC;
	if (target->flags & PERFMON_TARGET_APART) {
		asked.role = PM_ROLE_ALL;
		refused = open_spread(session, &asked, self);
		asked.role = PM_ROLE_OWN;
		asked.flags &= ~PM_OPEN_INHERIT;
	}
	if (refused < 0)
		return refused;
	n = open_spread(session, &asked, self);
	return n < 0 ? n : refused + n;
}

/* Whether the session is attached to TARGET, as thread SELF sees it: its place, or -1. */
static int find_target(const struct perfmon_session *session,
		       const struct perfmon_target *target, pid_t self)
{
	const struct pm_plan *plan = session->plan;
	struct pm_target asked = asked_for(session, target, self);
	uint32_t t;

	for (t = 0; t < plan->target_count; t++) {
		const struct pm_target *have = &plan->targets[t];

		if (have->kind == asked.kind && have->pid == asked.pid &&
		    (asked.pid || (have->tid == asked.tid &&
				   (have->tid >= 0 || have->cpu == asked.cpu))))
			return (int)t;
	}
	return -1;
}

/* The only target's thread may read by itself, if it is the caller, SELF. */
static void set_owner(struct perfmon_session *session, pid_t self)
{
	const struct pm_plan *plan = session->plan;
	const struct pm_target *target = &plan->targets[0];

	session->owner_tid = 0;
	if (plan->target_count != 1 || session->scope != PERFMON_SCOPE_THREAD ||
	    target->flags & PM_OPEN_INHERIT || target->tid != self)
		return;
	session->owner_tid = self;
	/* Last: from here on the thread reads without the lock. */
	pm_session_set_owner(session, perfmon_arch_thread_pointer());
}

static int open_vector(struct perfmon_session *session,
		       const struct perfmon_target *targets, size_t count, pid_t self)
{
	uint32_t before = session->plan->target_count;
	int refused = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		int n = find_target(session, &targets[i], self) >= 0
				? pm_diag_set(&session->diag, -EEXIST,
					      "target %zu: the session is attached to "
					      "%d already",
					      i, targets[i].id)
			: targets[i].kind == PERFMON_TARGET_PROCESS
				? pm_process_attach(session, &targets[i], self)
				: open_asked(session, &targets[i], self);

		if (n < 0) {
			close_from(session, session->plan, before);
			pm_processes_prune(session);
			return n;
		}
		refused += n;
	}
	return refused;
}

/* Sets that switch by themselves need somebody who does it. */
static bool needs_servant(const struct perfmon_session *session)
{
	uint32_t s;

	for (s = 0; s < session->set_count; s++) {
		if (session->set_count > 1 && session->sets[s].flags)
			return true;
	}
	return session->sampling;
}

static int claim(struct perfmon_session *session, const struct perfmon_target *targets,
		 size_t count, pid_t self)
{
	if (count > 1 || session->plan->target_count)
		return pm_diag_set(&session->diag, -EINVAL,
				   "an exclusive session has one target");
	if (targets[0].kind == PERFMON_TARGET_PROCESS)
		return pm_diag_set(&session->diag, -EINVAL,
				   "an exclusive session has one thread for its target, "
				   "not a process");
	return pm_exclusive_claim(session, targets[0].id ?: self);
}

static int attach(struct perfmon_session *session, const struct perfmon_target *targets,
		  size_t count, bool more)
{
	uintptr_t owner;
	pid_t self;
	size_t i;
	int n = 0;

	for (i = 0; i < count && !n; i++)
		n = check_target(session, &targets[i], i);
	if (n)
		return n;
	pm_session_notice_loss(session);
	if (session->state == PERFMON_DETACHED)
		more = false;
	if (more ? session->state != PERFMON_STOPPED : session->state != PERFMON_DETACHED)
		return pm_diag_set(&session->diag, -EBUSY,
				   more ? "a running session takes no further targets; "
					  "stop it first"
					: "the session is attached already; "
					  "detach it first");
	n = needs_servant(session) ? pm_session_need_servant(session) : 0;
	if (n)
		return n;
	self = pm_kernel_gettid();
	n = session->flags & PERFMON_SESSION_EXCLUSIVE
		    ? claim(session, targets, count, self)
		    : 0;
	if (n)
		return n;
	owner = pm_session_owner(session);
	pm_session_set_owner(session, 0);
	if (!more)
		pm_overflow_prepare(session, session->plan, session->registers,
				    session->count);
	n = open_vector(session, targets, count, self);
	if (n < 0) {
		pm_session_set_owner(session, owner);
		pm_exclusive_release(session);
		return n;
	}
	session->target_lost = false;
	session->is_near = false;
	pm_session_adopt_plan(session, session->plan);
	if (!more)
		pm_session_time_attach(session);
	session->state = PERFMON_STOPPED;
	set_owner(session, self);
	return n;
}

int pm_session_attach_self(struct perfmon_session *session)
{
	struct perfmon_target self = {.kind = PERFMON_TARGET_THREAD};
	int n = attach(session, &self, 1, false);

	return n < 0 ? n : 0;
}

static int attach_vector(struct perfmon_session *session,
			 const struct perfmon_target *targets, size_t size, bool more)
{
	size_t n = size / sizeof(targets[0]);
	int err = pm_session_enter(session);

	if (err)
		return err;
	if (!targets || !n || size % sizeof(targets[0]))
		err = pm_diag_set(&session->diag, -EINVAL,
				  "a vector of %zu bytes is no number of targets", size);
	else if (n > PERFMON_SESSION_TARGETS)
		err = pm_diag_set(&session->diag, -E2BIG, "%zu targets are more than %d",
				  n, PERFMON_SESSION_TARGETS);
	return pm_session_leave(session, err ?: attach(session, targets, n, more));
}

PM_EXPORT int perfmon_session_attach(struct perfmon_session *session,
				     const struct perfmon_target *targets, size_t size)
{
	return attach_vector(session, targets, size, false);
}

PM_EXPORT int perfmon_session_attach_more(struct perfmon_session *session,
					  const struct perfmon_target *targets,
					  size_t size)
{
	return attach_vector(session, targets, size, true);
}

PM_EXPORT int perfmon_session_attach_thread(struct perfmon_session *session, pid_t tid)
{
	struct perfmon_target target = {.kind = PERFMON_TARGET_THREAD, .id = tid};

	return attach_vector(session, &target, sizeof(target), false);
}

PM_EXPORT int perfmon_session_attach_cpu(struct perfmon_session *session, int cpu)
{
	struct perfmon_target target = {.kind = PERFMON_TARGET_CPU, .id = cpu};

	return attach_vector(session, &target, sizeof(target), false);
}

/* --- detach ---------------------------------------------------------------------------
 */

/* Adds what targets FIRST to LAST have counted to the registers' bases. What cannot be
 * read any more counts as it was last known. */
static int fold_range(struct perfmon_session *session, uint32_t first, uint32_t last)
{
	struct pm_plan *plan = session->plan, part_of = *plan;
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
		reg->uncertain |= pm_session_is_uncertain(session);
	}
	for (s = 0; s < session->set_count; s++)
		session->sets[s].active_ns += pm_session_active_ns(session, s);
	session->plan = plan;
	return error;
}

int pm_session_fold(struct perfmon_session *session)
{
	struct pm_plan *plan = session->plan;
	int err;

	if (plan->target_count)
		session->next_set = plan->targets[0].active;
	session->quick_fd = -1;
	err = fold_range(session, 0, plan->target_count);
	pm_session_time_detach(session);
	close_from(session, plan, 0);
	session->stamp++;
	return err;
}

int pm_session_detach_all(struct perfmon_session *session)
{
	struct pm_plan *plan = session->plan;
	uint32_t t;
	int err;

	pm_session_set_owner(session, 0);
	session->owner_tid = 0;
	if (session->state == PERFMON_RUNNING) {
		for (t = 0; t < plan->target_count; t++)
			pm_target_disable(session, &plan->targets[t]);
		pm_session_time_stop(session);
	}
	/* What came until now is kept as messages. */
	if (session->rings)
		pm_overflow_drain(session);
	session->state = PERFMON_STOPPED;
	err = pm_session_fold(session);
	session->state = PERFMON_DETACHED;
	pm_processes_prune(session);
	pm_exclusive_release(session);
	pm_overflow_release(session);
	make_views(session);
	return err;
}

/* Takes target T out of the plan, whose memory stays. */
static void remove_target(struct perfmon_session *session, uint32_t t)
{
	struct pm_plan *plan = session->plan;
	struct pm_target gone = plan->targets[t];

	session->quick_fd = -1;
	fold_range(session, t, t + 1);
	pm_target_close(session, plan, &plan->targets[t]);
	plan->target_count--;
	memmove(&plan->targets[t], &plan->targets[t + 1],
		(plan->target_count - t) * sizeof(plan->targets[0]));
	plan->targets[plan->target_count] = gone;
}

PM_EXPORT int perfmon_session_detach_target(struct perfmon_session *session,
					    const struct perfmon_target *target)
{
	int t, err = pm_session_enter(session);
	pid_t self;

	if (err)
		return err;
	err = target ? check_target(session, target, 0)
		     : pm_diag_set(&session->diag, -EINVAL, "there is no target");
	if (err)
		return pm_session_leave(session, err);
	self = pm_kernel_gettid();
	t = find_target(session, target, self);
	if (t < 0)
		return pm_session_leave(session,
					pm_diag_set(&session->diag, -EINVAL,
						    "the session is not attached to %d",
						    target->id));
	pm_session_set_owner(session, 0);
	for (; t >= 0; t = find_target(session, target, self)) {
		struct pm_plan *plan = session->plan;

		if ((uint32_t)t == 0 && plan->target_count == 1)
			break;
		pm_session_time_target(session, &plan->targets[t]);
		pm_target_disable(session, &plan->targets[t]);
		remove_target(session, (uint32_t)t);
	}
	if (t >= 0) {
		err = pm_session_detach_all(session);
	} else {
		pm_processes_prune(session);
		make_views(session);
		set_owner(session, self);
	}
	session->stamp++;
	return pm_session_leave(session, err);
}

/* --- loss -----------------------------------------------------------------------------
 */

/* The last counter of TARGET that is open and has no mapping: NULL if there is none. (The
 * first may have had one, when its clock was asked for.) */
static const struct pm_counter *any_counter(const struct pm_plan *plan,
					    const struct pm_target *target)
{
	uint32_t s, c;

	for (s = plan->part_count; s-- > 0;) {
		const struct pm_instance *instance = target->parts[s].instance;

		for (c = instance->count; c-- > 0;) {
			if (instance->counters[c].fd >= 0 && !instance->counters[c].page)
				return &instance->counters[c];
		}
	}
	return NULL;
}

/* Maps an event of TARGET, once: the kernel may take a grace period (20 ms) to map again
 * what was unmapped. */
static bool has_witness(const struct pm_plan *plan, struct pm_target *target)
{
	const struct pm_counter *counter;

	if (target->witness)
		return true;
	counter = any_counter(plan, target);
	if (!counter || pm_kernel_mmap(&target->witness_page, pm_kernel_page_size(),
				       PROT_READ, MAP_SHARED, counter->fd, 0))
		return false;
	target->witness = counter;
	return true;
}

/* Whether the thread of TARGET, and all that it created, have ended: a mapped event says
 * so to poll(2), and an event without a mapping says so always (perf_poll()). */
static bool thread_has_ended(const struct perfmon_session *session,
			     struct pm_target *target)
{
	short events = 0;
	uint64_t id;

	/* A poll(2) takes an event's readiness away from whoever waits for it. */
	if (target->ring.page && session->servant)
		return false;
	if (target->ring.page)
		return pm_kernel_poll(target->ring_fd, &events) >= 0 && events & POLLHUP;
	if (!has_witness(session->plan, target))
		return pm_kernel_kill(target->tid, 0) == -ESRCH;
	if (pm_kernel_poll(target->witness->fd, &events) < 0 || !(events & POLLHUP))
		return false;
	/* Not some pipe, in the place of a descriptor that the program closed. */
	return !pm_kernel_ioctl_ptr(target->witness->fd, PERF_EVENT_IOC_ID, &id) &&
	       id == target->witness->id;
}

/* Whether the CPU of TARGET is offline now. */
static bool cpu_is_offline(const struct pm_target *target)
{
	char path[64];
	int64_t online;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", target->cpu);
	return !pm_kernel_file_number(path, &online) && !online;
}

/* How long the kernel may be in noticing that time goes on: a tick of the slowest clock.
 */
#define TICK_NS 20000000

/*
 * Whether an event of TARGET stands still although it is enabled: its CPU went offline,
 * which takes events off it for good, and is back. Reads its enabled time until that
 * moves.
 */
static bool cpu_was_offline(const struct perfmon_session *session,
			    const struct pm_target *target)
{
	const struct pm_plan *plan = session->plan;
	uint32_t s = pm_takes_turns(plan) ? plan->set_count : target->active, c = 0;
	const struct pm_instance *instance = target->parts[s].instance;
	struct pm_reading first, now;
	uint64_t began, ns;

	/* One that overflows may have stopped by itself. */
	if (session->state != PERFMON_RUNNING ||
	    (s < plan->set_count && plan->sets[s].samples))
		return false;
	while (c < instance->count && instance->counters[c].fd < 0)
		c++;
	if (c == instance->count || pm_instance_read_counter(instance, c, &first) ||
	    pm_kernel_clock_ns(CLOCK_MONOTONIC, &began))
		return false;
	do {
		if (pm_instance_read_counter(instance, c, &now) ||
		    now.enabled_ns != first.enabled_ns)
			return false;
	} while (!pm_kernel_clock_ns(CLOCK_MONOTONIC, &ns) && ns - began < TICK_NS);
	return true;
}

void pm_session_notice_loss(struct perfmon_session *session)
{
	struct pm_plan *plan = session->plan;
	uint32_t t;

	if (session->state == PERFMON_DETACHED || pm_session_is_own(session))
		return;
	for (t = 0; t < plan->target_count; t++) {
		struct pm_target *target = &plan->targets[t];

		if (!target->lost)
			target->lost =
				target->tid < 0 ? cpu_is_offline(target) ||
							  cpu_was_offline(session, target)
				: target->pid ? pm_process_has_ended(session, target)
					      : thread_has_ended(session, target);
		if (!target->lost)
			return;
	}
	pm_session_detach_all(session);
	session->target_lost = true;
	pm_overflow_end(session);
}
