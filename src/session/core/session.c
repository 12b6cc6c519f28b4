/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "session/core/core.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "session/sampling/sampling.h"
#include "session/overflow/overflow.h"

#define KNOWN_FLAGS                                                                      \
	(PERFMON_SESSION_PARTIAL | PERFMON_SESSION_SPLIT | PERFMON_SESSION_ALL_MODES |   \
	 PERFMON_SESSION_NO_PAGES | PERFMON_SESSION_ROTATE | THREAD_FLAGS)

/* Those that make no sense for CPUs. */
#define THREAD_FLAGS (PERFMON_SESSION_SELF | PERFMON_SESSION_EXCLUSIVE)

/* --- handles -------------------------------------------------------------------------
 */

static bool is_child(const struct perfmon_session *session)
{
	return !session->reader->session;
}

/* Apart, as all that is rare in the quick way: it would cost registers there. */
__attribute__((noinline)) static void drain_pending(struct perfmon_session *session)
{
	pm_overflow_drain_pending(session);
}

static inline int enter_as_it_is(struct perfmon_session *session)
{
	int err;

	if (!session || session->magic != PM_SESSION_MAGIC)
		return -EINVAL;
	/* Before the lock, which another thread may have held at the fork. */
	if (is_child(session))
		return -ECHILD;
	/* Before the lock: a handler on this thread must not wait for it. */
	err = pm_busy_begin(session);
	if (err)
		return err;
	pm_lock_take(&session->lock);
	return 0;
}

static inline int enter(struct perfmon_session *session)
{
	int err = enter_as_it_is(session);

	if (!err && __builtin_expect(session->rings, 0))
		drain_pending(session);
	return err;
}

/* The same for the thread whose own session it is, false if it is not, or if it is in
 * another call: a child owns nothing, and what waits in rings is left to the slow way. */
static inline bool enter_own(struct perfmon_session *session)
{
	if (!session || session->magic != PM_SESSION_MAGIC || !pm_session_is_own(session))
		return false;
	if (__builtin_expect(pm_busy_is_nested(), 0))
		return false;
	pm_busy_set(session);
	pm_lock_take(&session->lock);
	return true;
}

static inline int leave(struct perfmon_session *session, int result)
{
	pm_lock_release(&session->lock);
	pm_busy_clear();
	if (__builtin_expect(pm_busy.rare, 0))
		pm_overflow_leave(session, pm_busy_end());
	return result;
}

int pm_session_enter(struct perfmon_session *session)
{
	return enter(session);
}

int pm_session_leave(struct perfmon_session *session, int result)
{
	return leave(session, result);
}

int pm_session_explain_struct(struct perfmon_session *session, int err, const char *what,
			      const char *type)
{
	if (err == -EINVAL)
		return pm_diag_set(&session->diag, err,
				   "%s: missing, or smaller than its first version; set "
				   ".size = sizeof(struct %s)",
				   what, type);
	return pm_diag_set(
		&session->diag, err,
		"%s: has fields that this version of the library does not know; "
		"leave them zero",
		what);
}

static int map_reader(struct perfmon_session *session)
{
	void *memory;
	int err =
		pm_kernel_mmap(&memory, sizeof(*session->reader), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (err)
		return err;
	err = pm_kernel_madvise(memory, sizeof(*session->reader), MADV_WIPEONFORK);
	if (err) {
		pm_kernel_munmap(memory, sizeof(*session->reader));
		return err;
	}
	session->reader = memory;
	session->reader->session = session;
	return 0;
}

PM_EXPORT int perfmon_session_create(struct perfmon_session **out,
				     const struct perfmon_session_options *options)
{
	struct perfmon_session *session;
	int err = options ? PM_STRUCT_CHECK(options, perfmon_session_options, flags) : 0;

	if (!out || err)
		return err ?: -EINVAL;
	if (options &&
	    (options->flags & ~KNOWN_FLAGS || options->scope > PERFMON_SCOPE_CPU ||
	     (options->scope == PERFMON_SCOPE_CPU && options->flags & THREAD_FLAGS)))
		return -EINVAL;
	session = calloc(1, sizeof(*session));
	if (!session)
		return -ENOMEM;
	if (options) {
		session->scope = options->scope;
		session->flags = options->flags;
	}
	session->magic = PM_SESSION_MAGIC;
	session->quick_fd = -1;
	session->stamp = 1;
	session->set_count = 1;
	session->sets = calloc(1, sizeof(session->sets[0]));
	err = session->sets ? map_reader(session) : -ENOMEM;
	if (!err)
		err = pm_plan_build(session, NULL, 0, session->sets, 1, &session->plan);
	if (err) {
		if (session->reader)
			pm_kernel_munmap(session->reader, sizeof(*session->reader));
		free(session->sets);
		free(session);
		return err;
	}
	*out = session;
	return 0;
}

PM_EXPORT void perfmon_session_close(struct perfmon_session *session)
{
	bool is_busy;

	if (!session || session->magic != PM_SESSION_MAGIC)
		return;
	if (is_child(session)) {
		/* The lock may be held by a thread that the child does not have. */
		pm_session_forget(session);
		pm_sampling_forget(session);
	} else {
		/* What handlers on this thread ask for from here on is not done. */
		is_busy = !pm_busy_begin(session);
		pm_helper_stop(session->helper);
		pm_lock_take(&session->lock);
		session->closing = true;
		/* What came until now goes to the log. */
		if (session->sampling && session->state != PERFMON_DETACHED)
			pm_session_detach_all(session);
		pm_session_close_targets(session);
		pm_exclusive_release(session);
		pm_overflow_release(session);
		pm_lock_release(&session->lock);
		pm_overflow_close(session);
		/* The log's thread wakes the helper thread, whether that runs or not. */
		pm_sampling_close(session);
		pm_helper_forget(session->helper);
		if (is_busy)
			pm_busy_end();
	}
	pm_overflow_free(session);
	pm_kernel_munmap(session->reader, sizeof(*session->reader));
	pm_registers_free(session->registers, session->count);
	pm_plan_free(session->plan);
	free(session->sets);
	free(session->processes);
	session->magic = 0;
	free(session);
}

PM_EXPORT const char *perfmon_session_message(const struct perfmon_session *session)
{
	return session && session->magic == PM_SESSION_MAGIC ? session->diag.text : "";
}

PM_EXPORT int perfmon_session_state(struct perfmon_session *session)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	pm_session_notice_loss(session);
	return pm_session_leave(session, (int)session->state);
}

PM_EXPORT int perfmon_session_counters(struct perfmon_session *session)
{
	int err = pm_session_enter(session);

	return err ?: pm_session_leave(session, (int)session->count);
}

int pm_session_closed_by_program(struct perfmon_session *session, int err)
{
	if (err == -EBADF || err == -ENOTTY || err == -EINVAL)
		return pm_diag_set(
			&session->diag, err,
			"the program has closed file descriptors that belong to the "
			"session; detach and attach it again");
	return pm_diag_set(&session->diag, err, "the kernel refused with error %d", -err);
}

int pm_session_must_stand(struct perfmon_session *session, const char *what)
{
	pm_session_notice_loss(session);
	if (session->state != PERFMON_RUNNING && session->state != PERFMON_MASKED)
		return 0;
	return pm_diag_set(&session->diag, -EBUSY,
			   "%s of a running session cannot be changed; stop it first",
			   what);
}

/* --- the quick way -------------------------------------------------------------------
 *
 * On the thread attached to, a session whose events are one kernel group starts and stops
 * by one ioctl on its leader, and there is little else to do. (Its readings are never
 * settled: it has one set, and changes of its events leave no such mark.)
 */

void pm_session_learn_quick(struct perfmon_session *session)
{
	const struct pm_session_plan *plan = session->plan;
	const struct pm_target *target = &plan->targets[0];
	const struct pm_instance *instance;
	uint32_t c, leaders = 0;

	session->quick_fd = -1;
	if (plan->target_count != 1 || plan->part_count != 1 || plan->sets[0].samples ||
	    target->awaits_exec || session->queue || session->sampling || session->rings)
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

/* The slow way says what is wrong. */
static inline bool quick_start(struct perfmon_session *session)
{
	if (session->state == PERFMON_RUNNING)
		return true;
	if (pm_kernel_ioctl(session->quick_fd, PERF_EVENT_IOC_ENABLE, 0))
		return false;
	session->stamp++;
	session->sets[0].runs++;
	session->state = PERFMON_RUNNING;
	return true;
}

static inline bool quick_stop(struct perfmon_session *session)
{
	if (session->state == PERFMON_STOPPED)
		return true;
	if (pm_kernel_ioctl(session->quick_fd, PERF_EVENT_IOC_DISABLE, 0))
		return false;
	session->stamp++;
	session->state = PERFMON_STOPPED;
	return true;
}

/* These go on where that was not possible, or ENTERED is false. Apart from the quick way,
 * which they would cost registers. */
__attribute__((noinline)) static int slow_start(struct perfmon_session *session,
						bool entered)
{
	int err = 0;

	if (!entered)
		err = enter(session);
	else if (session->rings)
		drain_pending(session);
	return err ?: leave(session, pm_session_start(session));
}

/* What waits in rings is taken when nothing counts any more. */
__attribute__((noinline)) static int slow_stop(struct perfmon_session *session,
					       bool entered)
{
	int err = entered ? 0 : enter_as_it_is(session);

	return err ?: leave(session, pm_session_stop(session));
}

/* --- start and stop ------------------------------------------------------------------
 */

static int disable_all(struct perfmon_session *session)
{
	struct pm_session_plan *plan = session->plan;
	uint32_t t;
	int first = 0;

	for (t = 0; t < plan->target_count; t++) {
		int err = pm_target_disable(session, &plan->targets[t]);

		first = first ?: err;
	}
	return first;
}

/* What has been disabled is stopped. */
static void set_stopped(struct perfmon_session *session)
{
	if (session->state == PERFMON_RUNNING)
		pm_session_time_stop(session);
	session->stamp++;
	/* Before the last records: what they ask for must enable nothing. */
	session->state = PERFMON_STOPPED;
	if (session->rings)
		pm_overflow_drain(session);
	pm_overflow_release(session);
}

int pm_session_start_all(struct perfmon_session *session)
{
	int err = pm_breakpoints_renew(session);
	struct pm_session_plan *plan = session->plan;
	uint32_t t;

	if (err)
		return err;
	if (session->queue)
		pm_overflow_reset_due(session);
	pm_session_time_start(session);
	for (t = 0; t < plan->target_count && !err; t++)
		err = pm_target_enable(session, &plan->targets[t]);
	session->stamp++;
	if (err) {
		disable_all(session);
		return pm_session_closed_by_program(session, err);
	}
	for (t = 0; t < plan->target_count; t++) {
		session->sets[plan->targets[t].active].runs++;
		plan->targets[t].chosen = false;
	}
	session->state = PERFMON_RUNNING;
	return 0;
}

static int must_be_attached(struct perfmon_session *session, const char *what)
{
	if (session->state != PERFMON_DETACHED)
		return 0;
	return pm_diag_set(&session->diag, -EINVAL,
			   session->target_lost
				   ? "the session cannot be %s: its target has ended"
				   : "a detached session cannot be %s; attach it first",
			   what);
}

static int must_be_attached_to_start(struct perfmon_session *session)
{
	if (session->state == PERFMON_DETACHED && !session->target_lost &&
	    session->flags & PERFMON_SESSION_SELF)
		return pm_session_attach_self(session);
	return must_be_attached(session, "started");
}

int pm_session_start(struct perfmon_session *session)
{
	int err;

	pm_session_notice_loss(session);
	if (session->state == PERFMON_RUNNING || session->state == PERFMON_MASKED)
		return 0;
	err = must_be_attached_to_start(session);
	return err ?: pm_session_start_all(session);
}

PM_EXPORT int perfmon_session_start(struct perfmon_session *session)
{
	bool own = enter_own(session);

	if (__builtin_expect(own && session->quick_fd >= 0 && quick_start(session), 1))
		return leave(session, 0);
	return slow_start(session, own);
}

/* The next start begins with the set at PLACE. */
static void choose_all(struct perfmon_session *session, uint32_t place)
{
	uint32_t t;

	for (t = 0; t < session->plan->target_count; t++)
		pm_target_choose(session, &session->plan->targets[t], place);
	session->next_set = place;
}

static int switch_all(struct perfmon_session *session, uint32_t place)
{
	struct pm_session_plan *plan = session->plan;
	uint32_t t, before = session->next_set;
	int err = 0;

	for (t = 0; t < plan->target_count && !err; t++)
		err = pm_target_switch(session, &plan->targets[t], place);
	session->next_set = place;
	if (!err)
		return 0;
	/* Neither half of one set nor half of another. */
	disable_all(session);
	choose_all(session, before);
	set_stopped(session);
	return pm_session_closed_by_program(session, err);
}

PM_EXPORT int perfmon_set_start(struct perfmon_session *session, uint16_t id)
{
	int place, err = pm_session_enter(session);

	if (err)
		return err;
	pm_session_notice_loss(session);
	err = must_be_attached_to_start(session);
	if (err)
		return pm_session_leave(session, err);
	place = pm_session_find_set(session, id);
	if (place < 0)
		return pm_session_leave(session,
					pm_diag_set(&session->diag, -EINVAL,
						    "there is no event set %u", id));
	if (session->state == PERFMON_RUNNING) {
		err = switch_all(session, (uint32_t)place);
	} else {
		choose_all(session, (uint32_t)place);
		if (session->state == PERFMON_STOPPED)
			err = pm_session_start_all(session);
	}
	return pm_session_leave(session, err);
}

int pm_session_stop_all(struct perfmon_session *session)
{
	int err = 0;

	if (session->state == PERFMON_STOPPED)
		return 0;
	if (session->state == PERFMON_RUNNING)
		err = disable_all(session);
	set_stopped(session);
	return err ? pm_session_closed_by_program(session, err) : 0;
}

int pm_session_stop(struct perfmon_session *session)
{
	int err;

	pm_session_notice_loss(session);
	if (session->state == PERFMON_STOPPED)
		return 0;
	err = must_be_attached(session, "stopped");
	return err ?: pm_session_stop_all(session);
}

PM_EXPORT int perfmon_session_stop(struct perfmon_session *session)
{
	bool own = enter_own(session);

	if (__builtin_expect(own && session->quick_fd >= 0 && quick_stop(session), 1))
		return leave(session, 0);
	return slow_stop(session, own);
}

PM_EXPORT int perfmon_session_detach(struct perfmon_session *session)
{
	int err = pm_session_enter(session);
	struct pm_helper *helper;

	if (err)
		return err;
	if (session->state != PERFMON_DETACHED)
		err = pm_session_detach_all(session);
	if (err)
		pm_session_closed_by_program(session, err);
	helper = pm_session_idle_helper(session);
	err = pm_session_leave(session, err);
	pm_helper_stop(helper);
	pm_helper_forget(helper);
	return err;
}
