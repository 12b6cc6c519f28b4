/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Signals at overflows, and threads that stop there: a signal of the library's own comes
 * to the thread that overflowed, and its handler waits until the session is restarted, or
 * calls the program's with what has overflowed.
 */
#include <errno.h>
#include <signal.h>

#include "core/api/export.h"
#include "core/session/calls.h"
#include "core/session/overflow/notices.h"
#include "core/session/overflow/stopped.h"

static void on_overflow(int signo, siginfo_t *info, void *context)
{
	struct perfmon_session *session = NULL;
	struct pm_stopped *entry = pm_stopped_find(info->si_fd);
	bool later = false;
	struct pm_quiet quiet;

	(void)signo;
	(void)context;
	if (!entry)
		return;
	pm_kernel_quiet_begin(&quiet);
	/* Both counts pair with whoever disarms (stopped.h) and closes (pm_overflow_close()). */
	__atomic_fetch_add(&entry->users, 1, __ATOMIC_SEQ_CST);
	session = __atomic_load_n(&entry->session, __ATOMIC_SEQ_CST);
	if (session)
		__atomic_fetch_add(&session->overflows->blocked, 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_sub(&entry->users, 1, __ATOMIC_SEQ_CST);
	if (session && pm_busy_is_under_way())
		later = pm_busy_stop_later(session);
	else if (session)
		pm_wait_for_restart(session);
	if (session && !later)
		pm_wait_let_go(session);
	pm_kernel_quiet_end(&quiet);
}

/* Has the program's own handler called, with what has overflowed in its siginfo. */
static void on_signal(int signo, siginfo_t *info, void *context)
{
	void (*handler)(int, siginfo_t *, void *) = NULL;
	struct pm_stopped *entry = pm_stopped_find(info->si_fd);
	struct perfmon_overflow_signal overflow;
	siginfo_t passed = {.si_signo = signo, .si_code = PERFMON_OVERFLOW_SI_CODE};

	if (!entry)
		return;
	__atomic_fetch_add(&entry->users, 1, __ATOMIC_SEQ_CST);
	/* It may have become another event's. Pairs with pm_stopped_watch(): see stopped.h. */
	if (__atomic_load_n(&entry->session, __ATOMIC_SEQ_CST) &&
	    __atomic_load_n(&entry->fd, __ATOMIC_SEQ_CST) == info->si_fd + 1) {
		overflow = entry->info;
		handler = entry->handler;
	}
	__atomic_fetch_sub(&entry->users, 1, __ATOMIC_SEQ_CST);
	passed.si_value.sival_ptr = &overflow;
	if (handler)
		handler(signo, &passed, context);
}

/* --- asking for it ------------------------------------------------------------------ */

static int check_signal(struct perfmon_session *session, int signo)
{
	if (signo < 0 || signo > SIGRTMAX)
		return pm_diag_set(&session->diag, -EINVAL, "there is no signal %d",
				   signo);
	if (session->scope == PERFMON_SCOPE_CPU)
		return pm_diag_set(&session->diag, -EINVAL,
				   "a session of CPU scope has no thread to signal");
	return 0;
}

static int signal_targets(struct perfmon_session *session, int signo,
			  void (*handler)(int, siginfo_t *, void *))
{
	struct pm_session_plan *plan = session->plan;
	void (*old_handler)(int, siginfo_t *, void *) = session->overflows->handler;
	int old = session->overflows->signal, err = 0;

	for (uint32_t t = 0; t < plan->target_count; t++) {
		pid_t tid = plan->targets[t].tid;

		if (signo && tid && !pm_kernel_is_own_thread(tid))
			return pm_diag_set(
				&session->diag, -EOPNOTSUPP,
				"thread %d belongs to another process: signals work only "
				"for the program's own threads",
				tid);
	}
	session->overflows->signal = signo;
	session->overflows->handler = handler;
	for (uint32_t t = 0; t < plan->target_count && !err; t++)
		err = pm_overflow_arm_signals(session, &plan->targets[t]);
	if (err) {
		session->overflows->signal = old;
		session->overflows->handler = old_handler;
		/* As far as they can be: all as before. */
		for (uint32_t t = 0; t < plan->target_count; t++)
			pm_overflow_arm_signals(session, &plan->targets[t]);
		pm_diag_set(&session->diag, err,
			    "cannot set signal %d for an event (error %d)", signo, -err);
	}
	return err;
}

PM_EXPORT int perfmon_overflow_signal(struct perfmon_session *session, int signo)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	err = check_signal(session, signo);
	return pm_session_leave(session, err ?: signal_targets(session, signo, NULL));
}

static bool is_ours(const struct sigaction *action)
{
	return action->sa_flags & SA_SIGINFO &&
	       (action->sa_sigaction == on_overflow || action->sa_sigaction == on_signal);
}

static bool is_free(int signo, const struct sigaction *wanted)
{
	struct sigaction action;

	return !pm_kernel_sigaction(signo, NULL, &action) &&
	       (is_ours(&action) ? action.sa_sigaction == wanted->sa_sigaction
				 : !(action.sa_flags & SA_SIGINFO) &&
					   action.sa_handler == SIG_DFL);
}

static int install(struct perfmon_session *session, int signo,
		   const struct sigaction *action)
{
	int err = pm_kernel_sigaction(signo, action, NULL);

	return err ? pm_diag_set(&session->diag, err,
				 "the library cannot take signal %d (error %d)", signo,
				 -err)
		   : 0;
}

PM_EXPORT int perfmon_overflow_handler(struct perfmon_session *session, int signo,
				       void (*handler)(int signo, siginfo_t *info,
						       void *context))
{
	struct sigaction action = {.sa_sigaction = on_signal,
				   .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
	int err = pm_session_enter(session);

	if (err)
		return err;
	err = check_signal(session, signo);
	if (!err && (!signo || !handler))
		err = pm_diag_set(&session->diag, -EINVAL, "there is no %s",
				  signo ? "handler" : "signal 0");
	if (!err && !is_free(signo, &action))
		err = pm_diag_set(&session->diag, -EBUSY, "signal %d has another handler",
				  signo);
	err = err ?: install(session, signo, &action);
	return pm_session_leave(session, err ?: signal_targets(session, signo, handler));
}

static int take_signal(struct perfmon_session *session, int signo)
{
	struct sigaction action = {.sa_sigaction = on_overflow,
				   .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
	int number = signo ?: SIGRTMAX, err;

	while (!signo && number > SIGRTMIN && !is_free(number, &action))
		number--;
	if (!is_free(number, &action))
		return pm_diag_set(&session->diag, -EBUSY,
				   signo ? "signal %d has a handler of the program"
					 : "no real-time signal is free: signal %d and "
					   "all above have handlers",
				   number);
	sigfillset(&action.sa_mask);
	err = install(session, number, &action);
	if (!err)
		session->overflows->block_signal = number;
	return err;
}

PM_EXPORT int perfmon_overflow_block(struct perfmon_session *session, int signo)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	err = check_signal(session, signo);
	pm_session_notice_loss(session);
	if (!err && session->state != PERFMON_STATE_DETACHED)
		err = pm_diag_set(&session->diag, -EBUSY,
				  "choose the threads to stop before attaching the "
				  "session; detach the session first");
	return pm_session_leave(session, err ?: take_signal(session, signo));
}
