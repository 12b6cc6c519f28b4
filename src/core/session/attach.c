/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attaching a session, and detaching it from one of its targets. */
#include <errno.h>

#include "core/api/export.h"
#include "core/kernel/life.h"
#include "core/session/calls.h"
#include "core/session/targets/targets.h"
#include "core/topology/topology.h"

#define KNOWN_TARGET_FLAGS                                                               \
	(PERFMON_TARGET_CHILDREN | PERFMON_TARGET_APART | PERFMON_TARGET_ON_EXEC)

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
				   "target %zu: event sets that are switched cannot wait "
				   "for an exec",
				   i);
	return 0;
}

static int check_target(struct perfmon_session *session,
			const struct perfmon_target *target, size_t i)
{
	static const char *const names[] = {"thread", "CPU", "process"};
	bool cpu = target->kind == PERFMON_TARGET_KIND_CPU;

	if (target->kind > PERFMON_TARGET_KIND_PROCESS)
		return pm_diag_set(&session->diag, -EINVAL,
				   "target %zu: unknown kind %u of target", i,
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
	if (target->kind == PERFMON_TARGET_KIND_PROCESS &&
	    target->flags & PERFMON_TARGET_ON_EXEC)
		return pm_diag_set(&session->diag, -EINVAL,
				   "target %zu: a thread can be waited for to execute a "
				   "program, a process cannot",
				   i);
	return target->flags & PERFMON_TARGET_ON_EXEC ? check_exec(session, target, i)
						      : 0;
}

/* Returns what to open for TARGET when thread SELF asks, without its role. */
static struct pm_target asked_for(const struct perfmon_session *session,
				  const struct perfmon_target *target, pid_t self)
{
	bool cpu = target->kind == PERFMON_TARGET_KIND_CPU;

	if (target->kind == PERFMON_TARGET_KIND_PROCESS)
		return (struct pm_target){.kind = target->kind,
					  .pid = pm_process_id(target->id)};
	return (struct pm_target){.tid = cpu ? -1 : target->id ?: self,
				  .cpu = cpu ? target->id : -1,
				  .kind = target->kind,
				  .active = session->next_set};
}

/* Checks that children of a target can be sampled: their events write to the rings of
 * CPUs, which the kernel gives no group's values and no limits. */
static int check_children(struct perfmon_session *session)
{
	const struct pm_session_plan *plan = session->plan;

	for (uint32_t s = 0; s < plan->set_count; s++) {
		bool values = false;

		for (uint32_t c = 0; c < plan->sets[s].count; c++)
			values |= !!(plan->sets[s].events[c].attr.sample_type &
				     PERF_SAMPLE_READ);
		if (plan->has_slices || plan->sets[s].notifies || values)
			return pm_diag_set(
				&session->diag, -EOPNOTSUPP,
				"%s in children of a target: the kernel supports only "
				"the target itself",
				plan->has_slices
					? "event sets do not switch by themselves"
				: values ? "samples hold no other counters' values, and "
					   "set none back"
					 : "overflows do not notify");
	}
	return 0;
}

/* Opens ASKED, and where children write records, once for each CPU that is online: the
 * kernel has no ring for an event that is inherited and follows a thread everywhere. */
static int open_on_cpus(struct perfmon_session *session, const struct pm_target *asked,
			pid_t self)
{
	uint32_t before = session->plan->target_count;
	struct pm_target one = *asked;
	struct pm_cpus online = {0};
	int n, refused = 0;

	if (!(asked->flags & PM_OPEN_INHERIT) || !pm_plan_writes_records(session->plan))
		return pm_target_open(session, session->plan, asked, self);
	n = check_children(session);
	n = n ?: pm_cpus_online(&online);
	pm_cpus_each (cpu, &online) {
		if (n < 0)
			break;
		one.cpu = (int)cpu;
		n = pm_target_open(session, session->plan, &one, self);
		one.follows = true;
		/* It may have gone offline meanwhile. */
		if (n == -ENODEV)
			n = 0;
		refused = n > refused ? n : refused;
	}
	pm_cpus_free(&online);
	if (n < 0)
		pm_targets_close(session, session->plan, before);
	return n < 0 ? n : refused;
}

/* The kernel says this of what is opened: to be asked of a session without counters. */
static int check_existence(struct perfmon_session *session, const struct pm_target *asked)
{
	struct pm_cpus online = {0};
	int err;

	if (asked->cpu < 0)
		return pm_kernel_kill(asked->tid, 0) == -ESRCH
			       ? pm_diag_set(&session->diag, -ESRCH,
					     "there is no thread %d", asked->tid)
			       : 0;
	err = pm_cpus_online(&online);
	if (!err && !pm_cpus_has(&online, asked->cpu))
		err = pm_diag_set(&session->diag, -ENODEV, "CPU %d is not online",
				  asked->cpu);
	pm_cpus_free(&online);
	return err;
}

static int open_asked(struct perfmon_session *session,
		      const struct perfmon_target *target, pid_t self)
{
	struct pm_target asked = asked_for(session, target, self);
	int refused = session->count ? 0 : check_existence(session, &asked), n;

	if (refused)
		return refused;
	asked.role = PM_ROLE_ALL | PM_ROLE_OWN;
	if (target->flags & PERFMON_TARGET_CHILDREN)
		asked.flags = PM_OPEN_INHERIT;
	if (target->flags & PERFMON_TARGET_ON_EXEC)
		asked.flags |= PM_OPEN_ON_EXEC;
	if (target->flags & PERFMON_TARGET_APART) {
		asked.role = PM_ROLE_ALL;
		refused = open_on_cpus(session, &asked, self);
		asked.role = PM_ROLE_OWN;
		asked.flags &= ~PM_OPEN_INHERIT;
	}
	if (refused < 0)
		return refused;
	n = open_on_cpus(session, &asked, self);
	return n < 0 ? n : refused + n;
}

/* Returns the place of TARGET among those that the session is attached to, as thread SELF
 * sees it, or -1. */
static int find_target(const struct perfmon_session *session,
		       const struct perfmon_target *target, pid_t self)
{
	const struct pm_session_plan *plan = session->plan;
	struct pm_target asked = asked_for(session, target, self);

	for (uint32_t t = 0; t < plan->target_count; t++) {
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
	const struct pm_session_plan *plan = session->plan;
	const struct pm_target *target = &plan->targets[0];

	if (plan->target_count != 1 || session->scope != PERFMON_SCOPE_THREAD ||
	    target->flags & PM_OPEN_INHERIT || target->tid != self ||
	    target->role != (PM_ROLE_ALL | PM_ROLE_OWN))
		return;
	/* Last: from here on the thread reads without the lock. */
	pm_session_set_owner(session, (struct pm_owner){perfmon_arch_thread_pointer(),
							pm_busy_number()});
}

/* Opens the targets, and has somebody look after them. */
static int open_all(struct perfmon_session *session, const void *targets, size_t count,
		    size_t element_size, pid_t self)
{
	uint32_t before = session->plan->target_count;
	int refused = 0, n = 0;

	for (size_t i = 0; i < count && n >= 0; i++) {
		const struct perfmon_target *target =
			pm_vector_at(targets, i, element_size);

		n = find_target(session, target, self) >= 0
			    ? pm_diag_set(&session->diag, -EEXIST,
					  "target %zu: the session is attached to "
					  "%d already",
					  i, target->id)
		    : target->kind == PERFMON_TARGET_KIND_PROCESS
			    ? pm_process_attach(session, target, self)
			    : open_asked(session, target, self);
		refused += n;
	}
	if (n >= 0 && pm_helper_has_work(session))
		n = pm_helper_need(session);
	if (n >= 0)
		return refused;
	pm_targets_close(session, session->plan, before);
	pm_processes_prune(session);
	return n;
}

static int claim(struct perfmon_session *session, const struct perfmon_target *first,
		 size_t count, pid_t self)
{
	if (count > 1 || session->plan->target_count)
		return pm_diag_set(&session->diag, -EINVAL,
				   "an exclusive session has one target");
	if (first->kind == PERFMON_TARGET_KIND_PROCESS)
		return pm_diag_set(&session->diag, -EINVAL,
				   "an exclusive session has one thread for its target, "
				   "not a process");
	return pm_exclusive_claim(session, first->id ?: self);
}

static int attach(struct perfmon_session *session, const void *targets, size_t count,
		  size_t element_size, bool more)
{
	struct pm_owner owner;
	pid_t self;
	int n = 0;

	for (size_t i = 0; i < count && !n; i++)
		n = check_target(session, pm_vector_at(targets, i, element_size), i);
	if (n)
		return n;
	pm_session_notice_loss(session);
	if (session->state == PERFMON_STATE_DETACHED)
		more = false;
	if (more ? session->state != PERFMON_STATE_STOPPED
		 : session->state != PERFMON_STATE_DETACHED)
		return pm_diag_set(&session->diag, -EBUSY,
				   more ? "a running session takes no further targets; "
					  "stop the session first"
					: "the session is attached already; "
					  "detach the session first");
	self = pm_kernel_gettid();
	n = session->flags & PERFMON_SESSION_EXCLUSIVE
		    ? claim(session, targets, count, self)
		    : 0;
	if (n)
		return n;
	owner = pm_session_owner(session);
	pm_session_disown(session);
	if (!more)
		pm_overflow_prepare(session, session->plan, session->registers,
				    session->count);
	n = open_all(session, targets, count, element_size, self);
	if (n < 0) {
		pm_session_set_owner(session, owner);
		pm_exclusive_release(session);
		return n;
	}
	session->target_lost = false;
	session->attached->is_near = false;
	pm_session_adopt_plan(session, session->plan);
	if (!more)
		pm_session_time_attach(session);
	pm_session_move(session, PM_SESSION_ATTACH);
	set_owner(session, self);
	return n;
}

int pm_session_attach_self(struct perfmon_session *session)
{
	struct perfmon_target self = {.kind = PERFMON_TARGET_KIND_THREAD};
	int n = attach(session, &self, 1, sizeof(self), false);

	return n < 0 ? n : 0;
}

PM_EXPORT int perfmon_session_attach(struct perfmon_session *session, uint32_t kind,
				     int32_t id)
{
	struct perfmon_target target = {.kind = kind, .id = id};
	int err = pm_session_enter(session);

	return err
		       ?: pm_session_leave(session, attach(session, &target, 1,
							   sizeof(target), false));
}

PM_EXPORT int perfmon_session_attach_targets(struct perfmon_session *session,
					     const struct perfmon_target *targets,
					     size_t count, size_t element_size,
					     uint32_t flags)
{
	int n = pm_session_enter(session);

	if (n)
		return n;
	n = count > PERFMON_SESSION_TARGETS_MAX
		    ? pm_diag_set(&session->diag, -E2BIG, "%zu targets are more than %d",
				  count, PERFMON_SESSION_TARGETS_MAX)
		    : pm_session_check_vector(
			      session, targets, count, PERFMON_SESSION_TARGETS_MAX,
			      element_size, PM_VECTOR_IN,
			      PM_STRUCT_FIRST(perfmon_target, 16), sizeof(*targets));
	if (!n && flags & ~PERFMON_ATTACH_ADD)
		n = pm_diag_set(&session->diag, -EINVAL, "unknown flags 0x%x", flags);
	if (!n)
		n = attach(session, targets, count, element_size,
			   flags & PERFMON_ATTACH_ADD);
	return pm_session_leave(session, n);
}

/* --- detach ------------------------------------------------------------------------- */

PM_EXPORT int perfmon_session_detach(struct perfmon_session *session)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	if (session->state != PERFMON_STATE_DETACHED)
		err = pm_session_detach_all(session);
	if (err)
		pm_session_closed_by_program(session, err);
	return pm_session_leave_idle(session, err);
}

PM_EXPORT int perfmon_session_detach_target(struct perfmon_session *session,
					    uint32_t kind, int32_t id)
{
	struct perfmon_target target = {.kind = kind, .id = id};
	int t, err = pm_session_enter(session);
	pid_t self;

	if (err)
		return err;
	err = check_target(session, &target, 0);
	if (err)
		return pm_session_leave(session, err);
	self = pm_kernel_gettid();
	t = find_target(session, &target, self);
	if (t < 0)
		return pm_session_leave(
			session, pm_diag_set(&session->diag, -EINVAL,
					     "the session is not attached to %d", id));
	pm_session_disown(session);
	for (; t >= 0; t = find_target(session, &target, self)) {
		struct pm_session_plan *plan = session->plan;

		if ((uint32_t)t == 0 && plan->target_count == 1)
			break;
		pm_session_time_target(session, &plan->targets[t]);
		pm_target_disable(session, &plan->targets[t]);
		/* Records that came until now count, but enable nothing any more. */
		plan->targets[t].lost = true;
		pm_overflow_drain_target(session, &plan->targets[t]);
		session->quick_fd = -1;
		pm_session_aggregate(session, (uint32_t)t, (uint32_t)t + 1);
		pm_target_take_out(session, plan, (uint32_t)t);
	}
	if (t >= 0) {
		err = pm_session_detach_all(session);
	} else {
		pm_processes_prune(session);
		pm_session_make_views(session);
		set_owner(session, self);
	}
	session->stamp++;
	return pm_session_leave_idle(session, err);
}
