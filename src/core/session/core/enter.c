/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The beginning and the end of calls on a session, and what they say on refusal. */
#include <errno.h>

#include "core/api/export.h"
#include "core/api/message.h"
#include "core/session/core/core.h"

int pm_session_enter_aside(struct perfmon_session *session)
{
	int err;

	if (!session || session->magic != PM_SESSION_MAGIC)
		return -EINVAL;
	/* Before the lock, which another thread may have held at the fork. */
	if (pm_session_is_child(session))
		return pm_diag_set(
			&session->diag, -ECHILD,
			"the session belongs to the process that this one is a "
			"child of; close it here, and create another");
	/* Before the lock: a handler on this thread must not wait for it. */
	err = pm_busy_begin(session);
	if (err)
		return err;
	pm_lock_take(&session->lock);
	return 0;
}

int pm_session_enter(struct perfmon_session *session)
{
	int err = pm_session_enter_aside(session);

	if (!err)
		pm_diag_clear(&session->diag);
	return err;
}

int pm_session_leave(struct perfmon_session *session, int result)
{
	return pm_session_leave_inline(session, result);
}

int pm_session_leave_idle(struct perfmon_session *session, int result)
{
	struct pm_helper *helper = session->hooks->idle_helper(session);

	result = pm_session_leave(session, result);
	pm_helper_stop(helper);
	pm_helper_forget(helper);
	return result;
}

/* --- refusals ----------------------------------------------------------------------- */

int pm_session_explain_struct(struct perfmon_session *session, int err, const char *what,
			      const char *type)
{
	if (err == -EINVAL)
		return pm_diag_set(&session->diag, err,
				   "%s: missing, or .size is too small; set "
				   ".size = sizeof(struct %s)",
				   what, type);
	return pm_diag_set(&session->diag, err,
			   "%s: fields unknown to this version of the library are not "
			   "zero; leave those fields zero",
			   what);
}

int pm_session_closed_by_program(struct perfmon_session *session, int err)
{
	if (err == -EBADF || err == -ENOTTY || err == -EINVAL)
		return pm_diag_set(
			&session->diag, err,
			"the program has closed file descriptors that belong to the "
			"session; detach and attach the session again");
	return pm_diag_set(&session->diag, err, "the kernel returned error %d", -err);
}

int pm_session_must_stand(struct perfmon_session *session, const char *what)
{
	pm_session_notice_loss(session);
	if (session->state != PERFMON_STATE_RUNNING &&
	    session->state != PERFMON_STATE_MASKED)
		return 0;
	return pm_diag_set(
		&session->diag, -EBUSY,
		"cannot change %s of a running session; stop the session first", what);
}

int pm_session_check_stopped(struct perfmon_session *session, uint32_t flags)
{
	if (!(flags & PERFMON_WRITE_STOPPED))
		return 0;
	pm_session_notice_loss(session);
	if (session->state != PERFMON_STATE_RUNNING &&
	    session->state != PERFMON_STATE_MASKED)
		return 0;
	return pm_diag_set(&session->diag, -EBUSY,
			   "cannot write the values of a running session "
			   "(PERFMON_WRITE_STOPPED); stop the session first");
}

/* --- information -------------------------------------------------------------------- */

PM_EXPORT int perfmon_session_message(const struct perfmon_session *session, char *buffer,
				      size_t size)
{
	/* For the lock alone. */
	struct perfmon_session *own = (struct perfmon_session *)(uintptr_t)session;
	int result;

	if (!session || session->magic != PM_SESSION_MAGIC)
		return -EINVAL;
	/* No other thread writes it: it is not in the child, or this one holds the lock. */
	if (pm_session_is_child(session) || pm_busy_with(session))
		return pm_message_copy(session->diag.text, buffer, size);
	result = pm_session_enter_aside(own);
	if (result)
		return result;
	return pm_session_leave(own, pm_message_copy(session->diag.text, buffer, size));
}

PM_EXPORT int perfmon_session_state(struct perfmon_session *session)
{
	int err = pm_session_enter_aside(session);

	if (err)
		return err;
	pm_session_catch_up(session);
	pm_session_notice_loss(session);
	return pm_session_leave(session, (int)session->state);
}

PM_EXPORT int perfmon_session_counters(struct perfmon_session *session)
{
	int err = pm_session_enter_aside(session);

	return err ?: pm_session_leave(session, (int)session->count);
}
