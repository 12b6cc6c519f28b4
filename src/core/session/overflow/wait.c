/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads that stop at an overflow until the session is restarted. */
#include "core/session/overflow/notices.h"
#include "core/session/overflow/overflow.h"

void pm_overflow_release(struct perfmon_session *session)
{
	if (!session->overflows->block_signal)
		return;
	__atomic_fetch_add(&session->overflows->block_word, 1, __ATOMIC_RELAXED);
	pm_kernel_futex_wake(&session->overflows->block_word);
}

void pm_wait_let_go(struct perfmon_session *session)
{
	/* Pairs with the load in pm_overflow_close(). */
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
	/* Whoever is in the handler still uses the session. Pairs with pm_wait_let_go(). */
	while (__atomic_load_n(&session->overflows->blocked, __ATOMIC_SEQ_CST))
		pm_kernel_yield();
}
