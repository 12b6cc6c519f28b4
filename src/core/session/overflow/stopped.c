/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which session an event's signal is for, and who sends it; threads that wait for its
 * restart. */
#include "core/session/overflow/stopped.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "core/kernel/locks.h"
#include "core/session/overflow/notices.h"
#include "core/session/overflow/overflow.h"
#include "core/session/overflow/period.h"

#define ENTRIES 1024

static struct pm_stopped entries[ENTRIES];

/* A child has none of the sessions, and none of the threads that were in a handler. */
static void in_child(bool prepared)
{
	if (prepared)
		memset(entries, 0, sizeof(entries));
}

__attribute__((constructor)) static void handle_forks(void)
{
	static const struct pm_fork_hooks hooks = {.child = in_child};

	pm_locks_at_fork(PM_LOCK_STOPPED, &hooks);
}

/* The first entry from the place of FD on that holds NUMBER. */
static struct pm_stopped *entry_with(int fd, int number)
{
	for (uint32_t i = 0; i < ENTRIES; i++) {
		struct pm_stopped *entry = &entries[((uint32_t)fd + i) % ENTRIES];

		if (__atomic_load_n(&entry->fd, __ATOMIC_SEQ_CST) == number)
			return entry;
	}
	return NULL;
}

struct pm_stopped *pm_stopped_find(int fd)
{
	return entry_with(fd, fd + 1);
}

static void wait_for_users(struct pm_stopped *entry)
{
	/* Pairs with the handlers: see stopped.h. */
	__atomic_store_n(&entry->session, NULL, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&entry->users, __ATOMIC_SEQ_CST))
		pm_kernel_yield();
}

int pm_stopped_watch(struct perfmon_session *session, int fd, uint32_t index)
{
	const struct pm_register *reg = &session->registers[index];
	struct pm_stopped *entry;

	pm_locks_take(PM_LOCK_STOPPED);
	/* One that it has may stand behind a free one. */
	entry = pm_stopped_find(fd) ?: entry_with(fd, 0);
	if (entry) {
		session->overflows->in_table = true;
		wait_for_users(entry);
		/* No handler finds it: FD is not in it, or not armed yet. */
		entry->info = (struct perfmon_overflow_signal){
			.size = sizeof(entry->info),
			.session = session,
			.index = index,
			.set = session->sets[reg->set].id,
			.event_id = reg->overflow.how.event_id};
		entry->handler = session->overflows->handler;
		__atomic_store_n(&entry->session, session, __ATOMIC_SEQ_CST);
		__atomic_store_n(&entry->fd, fd + 1, __ATOMIC_SEQ_CST);
	}
	pm_locks_release(PM_LOCK_STOPPED);
	return entry ? 0 : -ENOSPC;
}

static void forget_entry(int fd)
{
	struct pm_stopped *entry;

	pm_locks_take(PM_LOCK_STOPPED);
	entry = pm_stopped_find(fd);
	if (entry) {
		__atomic_store_n(&entry->fd, 0, __ATOMIC_SEQ_CST);
		wait_for_users(entry);
	}
	pm_locks_release(PM_LOCK_STOPPED);
}

void pm_stopped_unwatch(const struct pm_session_plan *plan, struct pm_target *target)
{
	for (uint32_t s = 0; s < plan->set_count; s++) {
		const struct pm_instance *instance = target->parts[s].instance;

		for (uint32_t c = 0; c < instance->count && plan->sets[s].notifies; c++)
			if (instance->counters[c].fd >= 0)
				forget_entry(instance->counters[c].fd);
	}
}

/* --- signals ------------------------------------------------------------------------ */

/* Has the kernel send the session's signal to the thread of TARGET for counter C. */
static int arm_signal(const struct pm_target *target, const struct pm_counter *counter,
		      int signo)
{
	struct f_owner_ex owner = {.type = F_OWNER_TID,
				   .pid = target->tid ?: pm_kernel_gettid()};
	int flags = pm_kernel_fcntl(counter->fd, F_GETFL, 0), err;

	if (flags < 0)
		return flags;
	if (!signo)
		return pm_kernel_fcntl(counter->fd, F_SETFL, flags & ~O_ASYNC);
	err = pm_kernel_fcntl(counter->fd, F_SETOWN_EX, (long)&owner);
	err = err ?: pm_kernel_fcntl(counter->fd, F_SETSIG, signo);
	return err ?: pm_kernel_fcntl(counter->fd, F_SETFL, flags | O_ASYNC);
}

int pm_overflow_arm_signals(struct perfmon_session *session, struct pm_target *target)
{
	int signo = session->overflows->block_signal ?: session->overflows->signal,
	    err = 0;

	for (uint32_t i = 0; i < session->count && !err; i++) {
		const struct pm_register *reg = &session->registers[i];
		const struct pm_counter *counter =
			&target->parts[reg->set].instance->counters[reg->planned];

		if (!reg->overflow.on || counter->fd < 0 || !pm_notifies(reg))
			continue;
		err = arm_signal(target, counter, signo);
		if (!err &&
		    (session->overflows->block_signal || session->overflows->handler))
			err = pm_stopped_watch(session, counter->fd, i);
	}
	return err;
}

/* --- threads that wait for a restart --------------------------------------------- */

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

void pm_overflow_close(struct perfmon_session *session)
{
	/* The calling thread itself, in this very call. */
	if (pm_busy_forget_stop(session))
		pm_wait_let_go(session);
	/* Whoever is in the handler still uses the session. Pairs with pm_wait_let_go(). */
	while (__atomic_load_n(&session->overflows->blocked, __ATOMIC_SEQ_CST))
		pm_kernel_yield();
}
