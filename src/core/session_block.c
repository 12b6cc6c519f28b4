/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Signals at overflows, and threads that stop there: a signal of the library's own comes
 * to the thread that overflowed, and its handler waits until the session is restarted.
 *
 * From the event's descriptor, which the signal brings, a table leads to the session:
 *
 *   field     writer                     reader
 *   fd        whoever arms, with `lock`  the handler
 *   session   the same                   the handler, between its moves of `users`
 *   users     the handler                whoever disarms: waits for 0 before the session
 *                                        may go
 *
 * All of them sequentially consistent: a handler that is not counted in `users` sees that
 * the session has gone.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>

#include "core/export.h"
#include "core/kernel.h"
#include "core/session_notice.h"

#define SLOTS 1024

static struct slot {
	int fd; /* plus one; 0: free */
	struct perfmon_session *session;
	uint32_t users;
} slots[SLOTS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The first slot from the place of FD on that holds NUMBER. */
static struct slot *slot_with(int fd, int number)
{
	uint32_t i;

	for (i = 0; i < SLOTS; i++) {
		struct slot *slot = &slots[((uint32_t)fd + i) % SLOTS];

		if (__atomic_load_n(&slot->fd, __ATOMIC_SEQ_CST) == number)
			return slot;
	}
	return NULL;
}

static struct slot *find_slot(int fd)
{
	return slot_with(fd, fd + 1);
}

static struct slot *free_slot(int fd)
{
	return slot_with(fd, 0);
}

int pm_notice_block_on(struct perfmon_session *session, int fd)
{
	struct slot *slot;

	pthread_mutex_lock(&lock);
	/* One that it has may stand behind a free one. */
	slot = find_slot(fd) ?: free_slot(fd);
	if (slot) {
		__atomic_store_n(&slot->session, session, __ATOMIC_SEQ_CST);
		__atomic_store_n(&slot->fd, fd + 1, __ATOMIC_SEQ_CST);
	}
	pthread_mutex_unlock(&lock);
	return slot ? 0 : -ENOSPC;
}

static void forget_slot(int fd)
{
	struct slot *slot;

	pthread_mutex_lock(&lock);
	slot = find_slot(fd);
	if (slot) {
		__atomic_store_n(&slot->session, NULL, __ATOMIC_SEQ_CST);
		__atomic_store_n(&slot->fd, 0, __ATOMIC_SEQ_CST);
		while (__atomic_load_n(&slot->users, __ATOMIC_SEQ_CST))
			pm_kernel_yield();
	}
	pthread_mutex_unlock(&lock);
}

void pm_notice_unblock(const struct pm_plan *plan, struct pm_target *target)
{
	uint32_t s, c;

	for (s = 0; s < plan->set_count; s++) {
		const struct pm_instance *instance = target->parts[s].instance;

		for (c = 0; c < instance->count && plan->sets[s].notifies; c++) {
			if (instance->counters[c].fd >= 0)
				forget_slot(instance->counters[c].fd);
		}
	}
}

/* --- waiting ---------------------------------------------------------------------------
 */

/* With the lock, which is let go of meanwhile. */
static void wait_for_restart(struct perfmon_session *session)
{
	while (session->state == PERFMON_MASKED && !session->closing) {
		uint32_t word = __atomic_load_n(&session->block_word, __ATOMIC_RELAXED);

		pm_session_leave(session, 0);
		/* Wakes at once if the word has moved on since. */
		pm_kernel_futex_wait(&session->block_word, word);
		if (pm_session_enter(session))
			return;
	}
}

void pm_overflow_release(struct perfmon_session *session)
{
	if (!session->block_signal)
		return;
	__atomic_fetch_add(&session->block_word, 1, __ATOMIC_RELAXED);
	pm_kernel_futex_wake(&session->block_word);
}

static void stop_here(struct perfmon_session *session)
{
	if (pm_session_enter(session))
		return;
	wait_for_restart(session);
	pm_session_leave(session, 0);
}

static void on_overflow(int signo, siginfo_t *info, void *context)
{
	struct perfmon_session *session = NULL;
	struct slot *slot = find_slot(info->si_fd);
	struct pm_asked *asked;
	struct pm_quiet quiet;

	(void)signo;
	(void)context;
	if (!slot)
		return;
	pm_kernel_quiet_begin(&quiet);
	__atomic_fetch_add(&slot->users, 1, __ATOMIC_SEQ_CST);
	session = __atomic_load_n(&slot->session, __ATOMIC_SEQ_CST);
	if (session)
		__atomic_fetch_add(&session->blocked, 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_sub(&slot->users, 1, __ATOMIC_SEQ_CST);
	asked = pm_busy_with(session);
	if (asked)
		asked->block = true;
	else if (session)
		stop_here(session);
	if (session)
		__atomic_fetch_sub(&session->blocked, 1, __ATOMIC_SEQ_CST);
	pm_kernel_quiet_end(&quiet);
}

void pm_overflow_close(struct perfmon_session *session)
{
	/* Whoever is in the handler still uses the session. */
	while (__atomic_load_n(&session->blocked, __ATOMIC_SEQ_CST))
		pm_kernel_yield();
}

void pm_overflow_leave(struct perfmon_session *session, struct pm_asked asked)
{
	if (asked.restart && !pm_session_enter(session)) {
		if (session->state == PERFMON_MASKED)
			pm_overflow_restart(session);
		pm_session_leave(session, 0);
	}
	if (asked.block)
		stop_here(session);
}

/* --- asking for it ---------------------------------------------------------------------
 */

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

static int signal_targets(struct perfmon_session *session, int signo)
{
	struct pm_plan *plan = session->plan;
	int old = session->signal, err = 0;
	uint32_t t;

	for (t = 0; t < plan->target_count; t++) {
		pid_t tid = plan->targets[t].tid;

		if (signo && tid && !pm_kernel_is_own_thread(tid))
			return pm_diag_set(&session->diag, -EOPNOTSUPP,
					   "thread %d is of another process: signals are "
					   "for the program's own threads",
					   tid);
	}
	session->signal = signo;
	for (t = 0; t < plan->target_count && !err; t++)
		err = pm_overflow_arm_signals(session, &plan->targets[t]);
	if (err) {
		session->signal = old;
		/* As far as they can be: all as before. */
		for (t = 0; t < plan->target_count; t++)
			pm_overflow_arm_signals(session, &plan->targets[t]);
		pm_diag_set(&session->diag, err, "an event takes no signal %d (error %d)",
			    signo, -err);
	}
	return err;
}

PM_EXPORT int perfmon_overflow_signal(struct perfmon_session *session, int signo)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	err = check_signal(session, signo);
	return pm_session_leave(session, err ?: signal_targets(session, signo));
}

static bool is_free(int signo)
{
	struct sigaction action;

	return !pm_kernel_sigaction(signo, NULL, &action) &&
	       ((action.sa_flags & SA_SIGINFO && action.sa_sigaction == on_overflow) ||
		(!(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_DFL));
}

static int take_signal(struct perfmon_session *session, int signo)
{
	struct sigaction action = {.sa_sigaction = on_overflow,
				   .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
	int number = signo ?: SIGRTMAX, err;

	while (!signo && number > SIGRTMIN && !is_free(number))
		number--;
	if (!is_free(number))
		return pm_diag_set(&session->diag, -EBUSY,
				   signo ? "signal %d has a handler of the program"
					 : "no real-time signal is free: signal %d and "
					   "all above have handlers",
				   number);
	sigfillset(&action.sa_mask);
	err = pm_kernel_sigaction(number, &action, NULL);
	if (err)
		return pm_diag_set(&session->diag, err,
				   "the library cannot take signal %d (error %d)", number,
				   -err);
	session->block_signal = number;
	return 0;
}

PM_EXPORT int perfmon_overflow_block(struct perfmon_session *session, int signo)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	err = check_signal(session, signo);
	pm_session_notice_loss(session);
	if (!err && session->state != PERFMON_DETACHED)
		err = pm_diag_set(
			&session->diag, -EBUSY,
			"threads to be stopped are chosen before the session is "
			"attached; detach it first");
	return pm_session_leave(session, err ?: take_signal(session, signo));
}
