/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/session/overflow/wait.h"

#include "core/session/overflow/notices.h"
#include "core/session/overflow/overflow.h"

/* With the lock, which is let go of meanwhile. */
static void wait_while_masked(struct perfmon_session *session)
{
	while (session->state == PERFMON_STATE_MASKED && !session->overflows->closing) {
		uint32_t word = __atomic_load_n(&session->overflows->block_word,
						__ATOMIC_RELAXED);

		pm_session_leave(session, 0);
		/* Wakes at once if the word has moved on since. */
		pm_kernel_futex_wait(&session->overflows->block_word, word);
		if (pm_session_enter_aside(session))
			return;
	}
}

void pm_overflow_release(struct perfmon_session *session)
{
	if (!session->overflows->block_signal)
		return;
	__atomic_fetch_add(&session->overflows->block_word, 1, __ATOMIC_RELAXED);
	pm_kernel_futex_wake(&session->overflows->block_word);
}

void pm_wait_for_restart(struct perfmon_session *session)
{
	if (pm_session_enter_aside(session))
		return;
	/* The record of the overflow masks the session. */
	pm_session_catch_up(session);
	wait_while_masked(session);
	pm_session_leave(session, 0);
}

void pm_wait_let_go(struct perfmon_session *session)
{
	__atomic_fetch_sub(&session->overflows->blocked, 1, __ATOMIC_SEQ_CST);
}

void pm_overflow_let_go(struct perfmon_session *session)
{
	session->overflows->closing = true;
	pm_overflow_release(session);
}

void pm_overflow_close(struct perfmon_session *session)
{
	/* The calling thread itself, in this very call. */
	if (pm_busy_forget_stop(session))
		pm_wait_let_go(session);
	/* Whoever is in the handler still uses the session. */
	while (__atomic_load_n(&session->overflows->blocked, __ATOMIC_SEQ_CST))
		pm_kernel_yield();
}
