/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Signals at overflows, and threads that stop there: a signal of the library's own comes
 * to the thread that overflowed, and its handler waits until the session is restarted, or
 * calls the program's with what has overflowed.
 *
 * From the event's descriptor, which the signal brings, a table leads to the session:
 *
 *   field     writer                     reader
 *   fd        whoever arms, locked       the handlers
 *   session   the same                   the handlers, between their moves of `users`
 *   told,     the same, before `session` the same, after `session`
 *   handler
 *   users     the handler                whoever disarms: waits for 0 before the session
 *                                        may go
 *
 * Locked by PM_LOCK_STOPPED. All of them sequentially consistent: a handler that is not
 * counted in `users` sees that the session has gone.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>

#include "os/os.h"
#include "session/overflow/notice.h"

#define SLOTS 1024

static struct slot {
	int fd; /* plus one; 0: free */
	struct perfmon_session *session;
	uint32_t users;
	struct perfmon_overflow_signal told;
	void (*handler)(int signo, siginfo_t *info, void *context);
} slots[SLOTS];

/* A child has none of the sessions, and none of the threads that were in a handler. */
static void in_child(bool prepared)
{
	if (prepared)
		memset(slots, 0, sizeof(slots));
}

__attribute__((constructor)) static void handle_forks(void)
{
	static const struct pm_fork_hooks hooks = {.child = in_child};

	pm_locks_at_fork(PM_LOCK_STOPPED, &hooks);
}

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

/* Of a slot that no handler is to find: FD is not in it, or not armed yet. */
static void fill_slot(struct slot *slot, struct perfmon_session *session, uint32_t index)
{
	const struct pm_register *reg = &session->registers[index];

	slot->told =
		(struct perfmon_overflow_signal){.size = sizeof(slot->told),
						 .session = session,
						 .index = index,
						 .set = session->sets[reg->set].id,
						 .event_id = reg->overflow.how.event_id};
	slot->told.counters[index / 64] = UINT64_C(1) << (index % 64);
	slot->handler = session->handler;
}

static void wait_for_users(struct slot *slot)
{
	__atomic_store_n(&slot->session, NULL, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&slot->users, __ATOMIC_SEQ_CST))
		pm_kernel_yield();
}

int pm_notice_watch(struct perfmon_session *session, int fd, uint32_t index)
{
	struct slot *slot;

	pm_locks_take(PM_LOCK_STOPPED);
	/* One that it has may stand behind a free one. */
	slot = find_slot(fd) ?: free_slot(fd);
	if (slot) {
		session->has_slots = true;
		wait_for_users(slot);
		fill_slot(slot, session, index);
		__atomic_store_n(&slot->session, session, __ATOMIC_SEQ_CST);
		__atomic_store_n(&slot->fd, fd + 1, __ATOMIC_SEQ_CST);
	}
	pm_locks_release(PM_LOCK_STOPPED);
	return slot ? 0 : -ENOSPC;
}

static void forget_slot(int fd)
{
	struct slot *slot;

	pm_locks_take(PM_LOCK_STOPPED);
	slot = find_slot(fd);
	if (slot) {
		__atomic_store_n(&slot->fd, 0, __ATOMIC_SEQ_CST);
		wait_for_users(slot);
	}
	pm_locks_release(PM_LOCK_STOPPED);
}

void pm_notice_unwatch(const struct pm_session_plan *plan, struct pm_target *target)
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

/* SESSION, counted in its `blocked`, may be closed. */
static void let_go(struct perfmon_session *session)
{
	__atomic_fetch_sub(&session->blocked, 1, __ATOMIC_SEQ_CST);
}

static void on_overflow(int signo, siginfo_t *info, void *context)
{
	struct perfmon_session *session = NULL;
	struct slot *slot = find_slot(info->si_fd);
	bool later = false;
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
	if (session && pm_busy_is_under_way())
		later = pm_busy_stop_later(session);
	else if (session)
		stop_here(session);
	if (session && !later)
		let_go(session);
	pm_kernel_quiet_end(&quiet);
}

void pm_overflow_close(struct perfmon_session *session)
{
	/* The calling thread itself, in this very call. */
	if (pm_busy_forget_stop(session))
		let_go(session);
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
	while (pm_busy.stops && !pm_busy_is_under_way()) {
		struct perfmon_session *other = pm_busy_take_stop();

		if (!other)
			break;
		stop_here(other);
		let_go(other);
	}
}

/* Has the program's own handler called, with what has overflowed in its siginfo. */
static void on_signal(int signo, siginfo_t *info, void *context)
{
	void (*handler)(int, siginfo_t *, void *) = NULL;
	struct slot *slot = find_slot(info->si_fd);
	struct perfmon_overflow_signal told;
	siginfo_t told_by = {.si_signo = signo, .si_code = PERFMON_SI_OVERFLOW};

	if (!slot)
		return;
	__atomic_fetch_add(&slot->users, 1, __ATOMIC_SEQ_CST);
	/* It may have become another event's. */
	if (__atomic_load_n(&slot->session, __ATOMIC_SEQ_CST) &&
	    __atomic_load_n(&slot->fd, __ATOMIC_SEQ_CST) == info->si_fd + 1) {
		told = slot->told;
		handler = slot->handler;
	}
	__atomic_fetch_sub(&slot->users, 1, __ATOMIC_SEQ_CST);
	told_by.si_value.sival_ptr = &told;
	if (handler)
		handler(signo, &told_by, context);
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

static int signal_targets(struct perfmon_session *session, int signo,
			  void (*handler)(int, siginfo_t *, void *))
{
	struct pm_session_plan *plan = session->plan;
	void (*old_handler)(int, siginfo_t *, void *) = session->handler;
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
	session->handler = handler;
	for (t = 0; t < plan->target_count && !err; t++)
		err = pm_overflow_arm_signals(session, &plan->targets[t]);
	if (err) {
		session->signal = old;
		session->handler = old_handler;
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
		session->block_signal = number;
	return err;
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
