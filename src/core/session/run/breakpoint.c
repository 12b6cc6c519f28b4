/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Breakpoints that have stopped themselves at an overflow. Linux 6.17 and later mark them
 * as stopped, and enabling does not take the mark away (hw.state, in hw_breakpoint_stop()
 * and _add()). A new period does, while the breakpoint is on: on the calling thread and
 * on CPUs that is so once it is enabled (revive() in arm.c). On another
 * thread nobody knows: there the session's events are opened anew before they are
 * enabled.
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>

#include "core/kernel/handler.h"
#include "core/session/core/armed.h"
#include "core/session/run/run.h"

/* --- whether this kernel does that -------------------------------------------------- */

/* Stops a breakpoint of the calling thread at its overflow, enables it and has it
 * overflow again. */
static bool counts_after_stop(int fd, volatile uint64_t *watched)
{
	uint64_t count[3];

	if (pm_kernel_ioctl(fd, PERF_EVENT_IOC_REFRESH, 1))
		return false;
	*watched = 1;
	if (pm_kernel_ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		return false;
	*watched = 2;
	return pm_kernel_read(fd, count, sizeof(count)) > 0 && count[0] == 2;
}

/* Found by trying, once; if it cannot be tried, the mark stays. */
static bool mark_stays(void)
{
	enum { UNKNOWN, STAYS, GOES };
	static uint32_t known;
	uint32_t found = __atomic_load_n(&known, __ATOMIC_RELAXED);
	volatile uint64_t watched = 0;
	struct perf_event_attr attr = pm_user_mode_attr(PERF_TYPE_BREAKPOINT, 0);
	int fd;

	if (found != UNKNOWN)
		return found == STAYS;
	attr.bp_type = HW_BREAKPOINT_W;
	attr.bp_addr = (uintptr_t)&watched;
	attr.bp_len = sizeof(watched);
	attr.sample_period = 1;
	attr.disabled = 1;
	fd = pm_kernel_perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return true;
	found = counts_after_stop(fd, &watched) ? GOES : STAYS;
	pm_kernel_close(fd);
	__atomic_store_n(&known, found, __ATOMIC_RELAXED);
	return found == STAYS;
}

/* --- opening anew ------------------------------------------------------------------- */

/* A register whose breakpoint has stopped TARGET, or NULL. */
static const struct pm_register *stopped_by(const struct perfmon_session *session,
					    const struct pm_target *target)
{
	for (uint32_t i = 0; i < session->count; i++) {
		const struct pm_register *reg = &session->registers[i];
		const struct pm_part *part = &target->parts[reg->set];
		const struct pm_counter *counter =
			&part->instance->counters[reg->planned];

		if (pm_limit_has_stopped(part->arms[reg->planned].limit) &&
		    counter->fd >= 0 && counter->event->attr.type == PERF_TYPE_BREAKPOINT)
			return reg;
	}
	return NULL;
}

/* A target, not the calling thread, that a breakpoint has stopped; NULL if there is
 * none. */
static const struct pm_target *find_stopped(const struct perfmon_session *session)
{
	const struct pm_session_plan *plan = session->plan;

	for (uint32_t t = 0; t < plan->target_count; t++) {
		const struct pm_target *target = &plan->targets[t];

		if (target->tid > 0 && !target->lost && stopped_by(session, target) &&
		    target->tid != pm_kernel_gettid())
			return target;
	}
	return NULL;
}

/* Returns whether the attached thread may be reading pages that would go. */
static bool is_read_elsewhere(const struct perfmon_session *session)
{
	if (!pm_session_owner(session).pointer || pm_session_is_own(session))
		return false;
	for (uint32_t i = 0; i < session->count; i++) {
		const struct pm_register *reg = &session->registers[i];

		if (session->plan->targets[0]
			    .parts[reg->set]
			    .instance->counters[reg->planned]
			    .user_read)
			return true;
	}
	return false;
}

int pm_breakpoints_renew(struct perfmon_session *session)
{
	const struct pm_target *target;
	struct pm_diag why;
	pid_t tid;
	int err;

	if (!session->rings)
		return 0;
	target = find_stopped(session);
	if (!target || !mark_stays())
		return 0;
	if (is_read_elsewhere(session) || pm_in_signal_handler())
		return pm_diag_set(&session->diag, -EOPNOTSUPP,
				   "a breakpoint stopped thread %d; on this kernel only "
				   "the same thread can restart the session",
				   target->tid);
	tid = target->tid;
	err = pm_session_replan(session);
	if (!err)
		return 0;
	why = session->diag;
	return pm_diag_set(&session->diag, err,
			   "a breakpoint stopped thread %d, and cannot be opened again "
			   "for the restart: %s",
			   tid, why.text);
}
