/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Processes as targets of a session. Each thread that is there at the attach becomes a
 * target of its own (threads.h says how each is found once); those that are created later
 * count through the events of their creators.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/life.h"
#include "core/session/targets/targets.h"
#include "core/session/threads/threads.h"
#include "core/text/grow.h"

/* Linux 6.18 was seen to refuse a member of a group with -ENODEV on threads that have
 * just begun, and to take it the next time. */
#define ATTEMPTS 5

/* --- what /proc says ---------------------------------------------------------------- */

static bool process_is_gone(const struct pm_session_process *process)
{
	struct pm_life life;

	if (pm_life_read(process->pid, &life))
		return pm_kernel_kill(process->pid, 0) == -ESRCH;
	return life.is_over || life.start_ticks != process->start_ticks;
}

static bool thread_is_gone(pid_t tid)
{
	struct pm_life life;

	if (pm_life_read(tid, &life))
		return pm_kernel_kill(tid, 0) == -ESRCH;
	return life.is_dead;
}

/* --- the session's processes -------------------------------------------------------- */

static struct pm_session_process *find_process(const struct perfmon_session *session,
					       pid_t pid)
{
	for (uint32_t p = 0; p < session->attached->process_count; p++)
		if (session->attached->processes[p].pid == pid)
			return &session->attached->processes[p];
	return NULL;
}

static bool has_target(const struct pm_session_plan *plan, pid_t pid)
{
	for (uint32_t t = 0; t < plan->target_count; t++)
		if (plan->targets[t].pid == pid)
			return true;
	return false;
}

int pm_process_watch(struct perfmon_session *session, struct pm_session_process *process,
		     struct pm_helper *helper)
{
	int err;

	if (!helper)
		return 0;
	if (process->fd < 0)
		process->fd = pm_kernel_pidfd_open(process->pid, 0);
	if (process->fd < 0)
		return 0;
	process->watch_key = ++session->watch_keys;
	err = pm_helper_watch(helper, process->fd, process->watch_key);
	if (err) {
		pm_kernel_close(process->fd);
		process->fd = -1;
	}
	return err;
}

void pm_process_unwatch(struct pm_session_process *process, struct pm_helper *helper)
{
	if (process->fd >= 0)
		pm_helper_close(helper, process->fd, process->watch_key);
	process->fd = -1;
}

void pm_processes_prune(struct perfmon_session *session)
{
	struct pm_attached *attached = session->attached;
	uint32_t p = 0;

	while (p < attached->process_count) {
		if (has_target(session->plan, attached->processes[p].pid)) {
			p++;
			continue;
		}
		pm_process_unwatch(&attached->processes[p], session->helper);
		attached->processes[p] = attached->processes[--attached->process_count];
	}
	if (!attached->process_count) {
		free(attached->processes);
		attached->processes = NULL;
	}
}

bool pm_process_has_ended(const struct perfmon_session *session,
			  const struct pm_target *target)
{
	const struct pm_session_process *process = find_process(session, target->pid);

	if (process && !process_is_gone(process))
		return false;
	return !process || !(process->flags & PERFMON_TARGET_CHILDREN) ||
	       thread_is_gone(target->tid);
}

/* --- opening ------------------------------------------------------------------------ */

struct opening {
	struct perfmon_session *session;
	struct pm_session_plan *plan;
	const struct pm_session_process *process;
	pid_t self;
	uint32_t first;	    /* of its targets */
	bool apart;	    /* every event twice: for all, and for the process alone */
	unsigned int alone; /* PM_OPEN_: how to count that alone */
	int refused;	    /* the most counters of a thread */
	struct pm_diag error;
};

/* An event that counts nothing, on the thread TID: a descriptor, or a negative errno. */
static int probe(pid_t tid, bool inherit_thread)
{
	struct perf_event_attr attr =
		pm_user_mode_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	int fd;

	attr.disabled = 1;
	attr.inherit = attr.inherit_thread = inherit_thread;
	fd = pm_kernel_perf_event_open(&attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		pm_kernel_close(fd);
	return fd;
}

/*
 * Returns what ERROR of an event on thread TID means, which has OPEN others open: 0, or
 * why the thread cannot be a target. A thread that ends has no events, whatever the kernel
 * says of them meanwhile (-ENODEV where the leader of a group has gone), and a sum
 * without one that ran short of descriptors would be none, even for a session that goes
 * on without refused events.
 */
static int check_error(const struct opening *opening, int error, uint32_t open, pid_t tid)
{
	if (!error || error == -EMFILE || error == -ENFILE || error == -ENOMEM)
		return error;
	if (error == -ESRCH || probe(tid, false) == -ESRCH)
		return -ESRCH;
	/* The opening tells of child processes. */
	if ((error == -EPERM || error == -EACCES) && !open &&
	    !pm_kernel_is_thread_of(opening->process->pid, tid))
		return error;
	return opening->session->flags & PERFMON_SESSION_PARTIAL ? 0 : error;
}

/* The same for all events of the targets from FIRST on. */
static int check_errors(const struct opening *opening, uint32_t first, pid_t tid)
{
	const struct pm_session_plan *plan = opening->plan;
	uint32_t t, s, c, open = 0;
	int worst = 0;

	for (t = first; t < plan->target_count; t++) {
		for (s = 0; s < plan->part_count; s++) {
			const struct pm_instance *part =
				plan->targets[t].parts[s].instance;

			open += part->open;
			for (c = 0; c < part->count; c++) {
				int error = part->counters[c].error;

				if (error == -EMFILE || error == -ENFILE ||
				    error == -ENOMEM)
					return error;
				if (!worst || error == -ESRCH)
					worst = error ?: worst;
			}
		}
	}
	return check_error(opening, worst, open, tid);
}

static int open_targets(struct opening *opening, pid_t tid)
{
	struct pm_session_plan *plan = opening->plan;
	struct pm_target asked = {.tid = tid,
				  .cpu = -1,
				  .pid = opening->process->pid,
				  .kind = PERFMON_TARGET_KIND_PROCESS,
				  .flags = opening->apart ? PM_OPEN_INHERIT
							  : opening->alone,
				  .role = PM_ROLE_ALL,
				  .active = opening->session->next_set};
	int n, refused;

	if (asked.active >= plan->set_count)
		asked.active = 0;
	if (!opening->apart)
		asked.role |= PM_ROLE_OWN;
	refused = pm_target_open(opening->session, plan, &asked, opening->self);
	if (refused < 0 || !opening->apart ||
	    !pm_kernel_is_thread_of(opening->process->pid, tid))
		return refused;
	asked.role = PM_ROLE_OWN;
	asked.flags = opening->alone;
	n = pm_target_open(opening->session, plan, &asked, opening->self);
	return n < 0 || n > refused ? n : refused;
}

/* One attempt of open_thread(). */
static int try_thread(struct opening *opening, pid_t tid, int *refused)
{
	uint32_t first = opening->plan->target_count;
	int n = open_targets(opening, tid), err;

	*refused = n;
	if (n >= 0)
		err = check_errors(opening, first, tid);
	else
		err = check_error(opening, n, 0, tid) ?: n;
	if (err)
		pm_targets_close(opening->session, opening->plan, first);
	return err;
}

static int open_thread(void *argument, pid_t tid, void **opened, struct pm_diag *diag)
{
	struct opening *opening = argument;
	int refused, tries = ATTEMPTS, err;

	do
		err = try_thread(opening, tid, &refused);
	while (err == -ENODEV && --tries);
	/* A missing ring is the kernel's limit, not an error of the caller. */
	if (err == -EINVAL && pm_plan_writes_records(opening->plan))
		err = diag->error = -EOPNOTSUPP;
	if (err)
		return diag->error == err ? err
					  : pm_diag_set(diag, err, "thread %d: %s", tid,
							strerror(-err));
	if (refused > opening->refused) {
		opening->refused = refused;
		opening->error = *diag;
	}
	*opened = (void *)(intptr_t)tid;
	return 0;
}

static void close_thread(void *argument, void *opened)
{
	struct opening *opening = argument;
	struct pm_session_plan *plan = opening->plan;
	uint32_t t = plan->target_count;

	while (t-- > opening->first)
		if (plan->targets[t].tid == (pid_t)(intptr_t)opened)
			pm_target_take_out(opening->session, plan, t);
}

static const struct perf_event_attr *hardware_of(const struct pm_session_plan *plan)
{
	for (uint32_t s = 0; s < plan->part_count; s++) {
		for (uint32_t c = 0; c < plan->sets[s].count; c++)
			if (plan->sets[s].events[c].hardware)
				return &plan->sets[s].events[c].attr;
	}
	return NULL;
}

static const char *between(const struct pm_diag *diag)
{
	return diag->text[0] ? "; " : "";
}

/* Sentences about what the counts may lack, and marks for the targets. */
static void report_uncertain(struct opening *opening,
			     const struct pm_threads_result *result, bool leaves_out)
{
	struct pm_diag *diag = &opening->session->diag;
	pid_t pid = opening->process->pid;
	bool uncertain = result->uncertain || result->refused || !leaves_out;

	for (uint32_t t = opening->first; t < opening->plan->target_count; t++)
		opening->plan->targets[t].uncertain = uncertain;
	*diag = opening->error;
	if (result->uncertain)
		pm_diag_add(diag,
			    "%s%" PRIu32 " threads of process %d may be counted in part, "
			    "twice or not at all: %s",
			    between(diag), result->uncertain, pid, result->reason);
	if (result->refused)
		pm_diag_add(diag,
			    "%s%" PRIu32 " threads of child processes of process %d are "
			    "not counted: permission denied",
			    between(diag), result->refused, pid);
	if (!leaves_out)
		pm_diag_add(diag,
			    "%snew child processes of process %d are counted, too: this "
			    "kernel cannot exclude child processes (Linux 5.13 "
			    "and later can)",
			    between(diag), pid);
}

static int open_process(struct perfmon_session *session, struct pm_session_plan *plan,
			const struct pm_session_process *process, pid_t self)
{
	bool children = process->flags & PERFMON_TARGET_CHILDREN;
	struct opening opening = {.session = session,
				  .plan = plan,
				  .process = process,
				  .self = self,
				  .first = plan->target_count,
				  .apart = children &&
					   process->flags & PERFMON_TARGET_APART,
				  .alone = PM_OPEN_INHERIT};
	struct pm_threads_request request = {.pid = process->pid,
					     .descendants = children,
					     .hardware = hardware_of(plan),
					     .argument = &opening,
					     .open = open_thread,
					     .close = close_thread};
	struct pm_threads_result result = {0};
	bool leaves_out = true;
	int err;

	if (!children || opening.apart) {
		/* Any other error is that of the events themselves. */
		leaves_out = probe(0, true) != -EINVAL;
		opening.alone |= leaves_out ? PM_OPEN_THREADS : 0;
	}
	if (opening.apart && !leaves_out)
		return pm_diag_set(&session->diag, -EOPNOTSUPP,
				   "this kernel cannot count process %d apart from its "
				   "child processes (Linux 5.13 and later can)",
				   process->pid);
	for (uint32_t s = 0; s < plan->part_count; s++)
		request.descriptors += plan->sets[s].count << opening.apart;
	pm_diag_clear(&session->diag);
	err = pm_threads_process(&request, &result, &session->diag);
	if (err)
		return err;
	report_uncertain(&opening, &result, leaves_out);
	return opening.refused;
}

int pm_process_reopen(struct perfmon_session *session, struct pm_session_plan *plan,
		      pid_t pid, pid_t self)
{
	return open_process(session, plan, find_process(session, pid), self);
}

int pm_process_attach(struct perfmon_session *session,
		      const struct perfmon_target *target, pid_t self)
{
	struct pm_session_process *process;
	struct pm_life life;
	int n, err;

	if (!PM_GROW(session->attached->processes, session->attached->process_count))
		return pm_diag_set(&session->diag, -ENOMEM, "out of memory");
	process = &session->attached->processes[session->attached->process_count];
	*process = (struct pm_session_process){
		.pid = pm_process_id(target->id), .flags = target->flags, .fd = -1};
	/* Before its threads are listed: what is listed is of this process, or it gets
	 * another start time. */
	err = pm_life_read(process->pid, &life);
	if (err == -ENOENT)
		return pm_diag_set(&session->diag, -ESRCH, "there is no process %d",
				   process->pid);
	if (err)
		return pm_diag_set(&session->diag, err,
				   "cannot read when process %d began: %s", process->pid,
				   strerror(-err));
	process->start_ticks = life.start_ticks;
	n = open_process(session, session->plan, process, self);
	if (n < 0)
		return n;
	err = pm_process_watch(session, process, session->helper);
	if (err)
		return pm_diag_set(&session->diag, err,
				   "cannot watch process %d (error %d)", process->pid,
				   -err);
	session->attached->process_count++;
	return n;
}
