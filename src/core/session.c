/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/export.h"
#include "core/kernel.h"

#define KNOWN_FLAGS                                                                      \
	(PERFMON_SESSION_PARTIAL | PERFMON_SESSION_SPLIT | PERFMON_SESSION_ALL_MODES |   \
	 PERFMON_SESSION_NO_PAGES)

/* --- handles -------------------------------------------------------------------------
 */

static bool is_child(const struct perfmon_session *session)
{
	return !session->reader->session;
}

int pm_session_enter(struct perfmon_session *session)
{
	if (!session || session->magic != PM_SESSION_MAGIC)
		return -EINVAL;
	/* Before the lock, which another thread may have held at the fork. */
	if (is_child(session))
		return -ECHILD;
	pthread_mutex_lock(&session->lock);
	return 0;
}

int pm_session_leave(struct perfmon_session *session, int result)
{
	pthread_mutex_unlock(&session->lock);
	return result;
}

/* Whether the bytes that a newer program has behind SIZE known ones are all zero. */
static bool tail_is_zero(const void *options, size_t known, size_t size)
{
	const unsigned char *byte = options;
	size_t i;

	for (i = known; i < size; i++) {
		if (byte[i])
			return false;
	}
	return true;
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
	int err;

	if (!out)
		return -EINVAL;
	if (options &&
	    (options->size < sizeof(*options) ||
	     !tail_is_zero(options, sizeof(*options), options->size) ||
	     options->flags & ~KNOWN_FLAGS || options->scope > PERFMON_SCOPE_CPU))
		return -EINVAL;
	session = calloc(1, sizeof(*session));
	if (!session)
		return -ENOMEM;
	if (options) {
		session->scope = options->scope;
		session->flags = options->flags;
	}
	session->magic = PM_SESSION_MAGIC;
	session->stamp = 1;
	err = map_reader(session);
	if (!err)
		err = pm_plan_build(NULL, 0, &session->plan);
	if (err) {
		if (session->reader)
			pm_kernel_munmap(session->reader, sizeof(*session->reader));
		free(session);
		return err;
	}
	pthread_mutex_init(&session->lock, NULL);
	*out = session;
	return 0;
}

PM_EXPORT void perfmon_session_close(struct perfmon_session *session)
{
	uint32_t i;

	if (!session || session->magic != PM_SESSION_MAGIC)
		return;
	if (is_child(session)) {
		/* The lock may be held by a thread that the child does not have. */
		for (i = 0; i < session->plan->part_count; i++)
			pm_instance_forget(session->plan->part[i].instance);
		session->plan->part_count = 0;
	} else {
		pthread_mutex_lock(&session->lock);
		session->reader->owner = 0;
		for (i = 0; i < session->plan->part_count; i++)
			pm_instance_close(session->plan->part[i].instance);
		session->plan->part_count = 0;
		pthread_mutex_unlock(&session->lock);
		pthread_mutex_destroy(&session->lock);
	}
	pm_kernel_munmap(session->reader, sizeof(*session->reader));
	pm_registers_free(session->registers, session->count);
	pm_plan_free(session->plan);
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

	return err ?: pm_session_leave(session, (int)session->state);
}

PM_EXPORT int perfmon_session_counters(struct perfmon_session *session)
{
	int err = pm_session_enter(session);

	return err ?: pm_session_leave(session, (int)session->count);
}

/* --- attach and detach -----------------------------------------------------------------
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

int pm_session_open_plan(struct perfmon_session *session, struct pm_plan *plan)
{
	struct pm_part *part = &plan->part[0];
	int n = pm_instance_open(part->instance, plan->events, plan->count, session->tid,
				 session->cpu, open_flags(session), &session->diag);

	if (n < 0)
		return n;
	memset(part->readings, 0, plan->count * sizeof(part->readings[0]));
	memset(part->stamps, 0, plan->count * sizeof(part->stamps[0]));
	plan->part_count = 1;
	return (int)plan->count - n;
}

/* The views of PLAN for the attached thread's own reads. */
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
		if (plan->part_count == 1 && reg->count == 1)
			pm_instance_view(plan->part[0].instance, reg->planned,
					 reg->base.value, &reader->views[i]);
		else
			pm_view_init_none(&reader->views[i]);
	}
}

void pm_session_adopt_plan(struct perfmon_session *session, struct pm_plan *plan)
{
	uint32_t i, e;

	session->plan = plan;
	session->stamp++;
	for (i = 0; i < session->count && plan->part_count; i++) {
		struct pm_register *reg = &session->registers[i];

		reg->error = 0;
		for (e = 0; e < reg->count; e++) {
			const struct pm_counter *counter =
				&plan->part[0].instance->counters[reg->planned + e];

			if (counter->fd < 0 && !reg->error)
				reg->error = counter->error;
			reg->opened |= counter->fd >= 0;
		}
	}
	make_views(session);
}

static int attach(struct perfmon_session *session, pid_t tid, int cpu, uint32_t scope)
{
	int n = pm_session_enter(session);

	if (n)
		return n;
	if (scope != session->scope)
		return pm_session_leave(
			session,
			pm_diag_set(&session->diag, -EINVAL,
				    "a session of %s scope cannot be attached to a %s",
				    session->scope == PERFMON_SCOPE_CPU ? "CPU"
									: "thread",
				    scope == PERFMON_SCOPE_CPU ? "CPU" : "thread"));
	if ((scope == PERFMON_SCOPE_CPU ? cpu : tid) < 0)
		return pm_session_leave(
			session, pm_diag_set(&session->diag, -EINVAL, "there is no %s %d",
					     cpu >= 0 || tid == -1 ? "CPU" : "thread",
					     tid == -1 ? cpu : (int)tid));
	if (session->state != PERFMON_DETACHED)
		return pm_session_leave(session,
					pm_diag_set(&session->diag, -EBUSY,
						    "the session is attached already; "
						    "detach it first"));
	session->tid = tid;
	session->cpu = cpu;
	n = pm_session_open_plan(session, session->plan);
	if (n < 0)
		return pm_session_leave(session, n);
	pm_session_adopt_plan(session, session->plan);
	pm_session_time_attach(session);
	session->state = PERFMON_STOPPED;
	/* Last: from here on the thread reads without the lock. */
	if (scope == PERFMON_SCOPE_THREAD && (!tid || tid == pm_kernel_gettid()))
		session->reader->owner = perfmon_arch_thread_pointer();
	return pm_session_leave(session, n);
}

PM_EXPORT int perfmon_session_attach_thread(struct perfmon_session *session, pid_t tid)
{
	return attach(session, tid < 0 ? -2 : tid, -1, PERFMON_SCOPE_THREAD);
}

PM_EXPORT int perfmon_session_attach_cpu(struct perfmon_session *session, int cpu)
{
	return attach(session, -1, cpu, PERFMON_SCOPE_CPU);
}

int pm_session_fold(struct perfmon_session *session)
{
	struct pm_plan *plan = session->plan;
	uint32_t i, c;
	int first = 0;

	session->stamp++;

	for (i = 0; i < plan->part_count; i++) {
		int err;

		/* What cannot be read any more keeps its last known reading. */
		err = pm_instance_read(plan->part[i].instance, plan->part[i].readings);
		for (c = 0; c < plan->count && !err; c++)
			plan->part[i].stamps[c] = session->stamp;
		if (err && err != -ENODATA && !first)
			first = err;
	}
	pm_session_time_detach(session);
	for (i = 0; i < session->count; i++) {
		struct pm_register *reg = &session->registers[i];

		reg->base = pm_reading_add(reg->base, pm_register_sum(plan, reg));
	}
	for (i = 0; i < plan->part_count; i++)
		pm_instance_close(plan->part[i].instance);
	plan->part_count = 0;
	session->stamp++;
	return first;
}

static int closed_by_program(struct perfmon_session *session, int err)
{
	if (err == -EBADF || err == -ENOTTY || err == -EINVAL)
		return pm_diag_set(
			&session->diag, err,
			"the program has closed file descriptors that belong to the "
			"session; detach and attach it again");
	return pm_diag_set(&session->diag, err, "the kernel refused with error %d", -err);
}

PM_EXPORT int perfmon_session_detach(struct perfmon_session *session)
{
	int err = pm_session_enter(session);
	uint32_t i;

	if (err)
		return err;
	if (session->state == PERFMON_DETACHED)
		return pm_session_leave(session, 0);
	session->reader->owner = 0;
	if (session->state == PERFMON_RUNNING) {
		for (i = 0; i < session->plan->part_count; i++)
			pm_instance_disable(session->plan->part[i].instance);
		pm_session_time_stop(session);
		session->state = PERFMON_STOPPED;
	}
	err = pm_session_fold(session);
	session->state = PERFMON_DETACHED;
	make_views(session);
	if (err)
		closed_by_program(session, err);
	return pm_session_leave(session, err);
}

/* --- start and stop ------------------------------------------------------------------
 */

PM_EXPORT int perfmon_session_start(struct perfmon_session *session)
{
	int err = pm_session_enter(session);
	uint32_t i;

	if (err)
		return err;
	if (session->state == PERFMON_RUNNING)
		return pm_session_leave(session, 0);
	if (session->state == PERFMON_DETACHED)
		return pm_session_leave(
			session, pm_diag_set(&session->diag, -EINVAL,
					     "a detached session cannot be started; "
					     "attach it first"));
	pm_session_time_start(session);
	for (i = 0; i < session->plan->part_count && !err; i++)
		err = pm_instance_enable(session->plan->part[i].instance);
	session->stamp++;
	if (err) {
		for (i = 0; i < session->plan->part_count; i++)
			pm_instance_disable(session->plan->part[i].instance);
		closed_by_program(session, err);
	} else {
		session->state = PERFMON_RUNNING;
	}
	return pm_session_leave(session, err);
}

PM_EXPORT int perfmon_session_stop(struct perfmon_session *session)
{
	int err = pm_session_enter(session);
	uint32_t i;

	if (err)
		return err;
	if (session->state == PERFMON_STOPPED)
		return pm_session_leave(session, 0);
	if (session->state == PERFMON_DETACHED)
		return pm_session_leave(
			session, pm_diag_set(&session->diag, -EINVAL,
					     "a detached session cannot be stopped: it "
					     "does not run"));
	for (i = 0; i < session->plan->part_count; i++) {
		int failed = pm_instance_disable(session->plan->part[i].instance);

		err = err ?: failed;
	}
	pm_session_time_stop(session);
	session->stamp++;
	session->state = PERFMON_STOPPED;
	if (err)
		closed_by_program(session, err);
	return pm_session_leave(session, err);
}
