/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The beginning and the end of calls on a session. At its end a call does what handlers have
 * asked for that interrupted it: a restart, or waiting for one, which are calls themselves.
 */
#include <errno.h>

#include "core/session/calls.h"
#include "core/session/overflow/notices.h"

int pm_session_enter_aside(struct perfmon_session *session)
{
	int err;

	if (!session || session->magic != PM_SESSION_MAGIC)
		return -EINVAL;
	/* Before the lock, which another thread may have held at the fork. */
	if (pm_session_is_child(session))
		return pm_diag_set(&session->diag, -ECHILD,
				   "the session belongs to the process that this one is "
				   "a child of; close it here, and create another");
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

/* --- what handlers asked for -------------------------------------------------------- */

void pm_wait_for_restart(struct perfmon_session *session)
{
	if (pm_session_enter_aside(session))
		return;
	/* The record of the overflow masks the session. */
	pm_session_catch_up(session);
	while (session->state == PERFMON_STATE_MASKED && !session->overflows->closing) {
		uint32_t word = __atomic_load_n(&session->overflows->block_word,
						__ATOMIC_RELAXED);

		pm_session_leave(session, 0);
		/* Wakes at once if the word has moved on since. */
		pm_kernel_futex_wait(&session->overflows->block_word, word);
		if (pm_session_enter_aside(session))
			return;
	}
	pm_session_leave(session, 0);
}

void pm_session_do_asked(struct perfmon_session *session, bool restart)
{
	if (restart && !pm_session_enter_aside(session)) {
		pm_session_catch_up(session);
		if (session->state == PERFMON_STATE_MASKED)
			pm_session_restart(session);
		pm_session_leave(session, 0);
	}
	while (pm_busy.stops && !pm_busy_is_under_way()) {
		struct perfmon_session *other = pm_busy_take_stop();

		if (!other)
			break;
		pm_wait_for_restart(other);
		pm_wait_let_go(other);
	}
}
