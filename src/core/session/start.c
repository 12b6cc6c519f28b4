/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Start and stop. */
#include <errno.h>

#include "core/api/export.h"
#include "core/session/calls.h"

static int must_be_attached(struct perfmon_session *session, const char *what)
{
	if (session->state != PERFMON_STATE_DETACHED)
		return 0;
	return pm_diag_set(
		&session->diag, -EINVAL,
		session->target_lost
			? "the session cannot be %s: its target has ended"
			: "a detached session cannot be %s; attach the session first",
		what);
}

int pm_session_attach_to_start(struct perfmon_session *session)
{
	if (session->state == PERFMON_STATE_DETACHED && !session->target_lost &&
	    session->flags & PERFMON_SESSION_SELF)
		return pm_session_attach_self(session);
	return must_be_attached(session, "started");
}

int pm_session_start(struct perfmon_session *session)
{
	int err;

	pm_session_catch_up(session);
	pm_session_notice_loss(session);
	if (session->state == PERFMON_STATE_RUNNING ||
	    session->state == PERFMON_STATE_MASKED)
		return 0;
	err = pm_session_attach_to_start(session);
	return err ?: pm_session_start_all(session);
}

int pm_session_stop(struct perfmon_session *session)
{
	int err;

	pm_session_notice_loss(session);
	if (session->state == PERFMON_STATE_STOPPED)
		return 0;
	err = must_be_attached(session, "stopped");
	return err ?: pm_session_stop_all(session);
}

/* --- the quick way -------------------------------------------------------------------
 *
 * On the thread attached to, a session whose events are one kernel group starts and stops
 * by one ioctl on its leader, and there is little else to do. (Its readings are never
 * settled: it has one set, and changes of its events leave no such mark.)
 */

/* The slow way says what is wrong. */
static inline bool quick_start(struct perfmon_session *session)
{
	if (session->state == PERFMON_STATE_RUNNING)
		return true;
	if (pm_kernel_ioctl(session->quick_fd, PERF_EVENT_IOC_ENABLE, 0))
		return false;
	session->stamp++;
	session->sets[0].runs++;
	pm_session_move_from(session, PERFMON_STATE_STOPPED, PM_SESSION_START);
	return true;
}

static inline bool quick_stop(struct perfmon_session *session)
{
	if (session->state == PERFMON_STATE_STOPPED)
		return true;
	if (pm_kernel_ioctl(session->quick_fd, PERF_EVENT_IOC_DISABLE, 0))
		return false;
	session->stamp++;
	pm_session_move_from(session, PERFMON_STATE_RUNNING, PM_SESSION_STOP);
	return true;
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
	/* The rest of it is looked at on the slow way alone. */
	session->diag.text[0] = '\0';
	return true;
}

/* Goes on with CALL where that was not possible, or ENTERED is false. Apart from the quick
 * way, which it would cost registers. */
__attribute__((noinline)) static int go_slow(struct perfmon_session *session,
					     bool entered,
					     int (*call)(struct perfmon_session *session))
{
	int err = entered ? 0 : pm_session_enter(session);

	if (err)
		return err;
	pm_diag_clear(&session->diag);
	return pm_session_leave(session, call(session));
}

PM_EXPORT int perfmon_session_start(struct perfmon_session *session)
{
	bool own = enter_own(session);

	if (__builtin_expect(own && session->quick_fd >= 0 && quick_start(session), 1))
		return pm_session_leave_inline(session, 0);
	return go_slow(session, own, pm_session_start);
}

PM_EXPORT int perfmon_session_stop(struct perfmon_session *session)
{
	bool own = enter_own(session);

	if (__builtin_expect(own && session->quick_fd >= 0 && quick_stop(session), 1))
		return pm_session_leave_inline(session, 0);
	return go_slow(session, own, pm_session_stop);
}
