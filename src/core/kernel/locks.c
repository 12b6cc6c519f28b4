/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/kernel/locks.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "core/kernel/handler.h"
#include "core/kernel/kernel.h"

static struct {
	pthread_mutex_t mutex;
	const struct pm_fork_hooks *hooks;
} locks[PM_LOCKS] = {
#define PM_LOCK_NEW(name, what) [name] = {.mutex = PTHREAD_MUTEX_INITIALIZER},
	PM_LOCKS_ALL(PM_LOCK_NEW)
#undef PM_LOCK_NEW
};

/* The locks that the calling thread holds or is about to take. A handler that interrupts
 * the thread must not wait for them. */
static __thread unsigned int held;

/* The mask of the forking thread, while all locks are held. */
static sigset_t fork_mask;

/* The number of forks of this thread that could not be prepared. */
static __thread unsigned int unprepared;

static void mark(enum pm_lock_name name)
{
	held |= 1u << name;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void unmark(enum pm_lock_name name)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	held &= ~(1u << name);
}

void pm_locks_take(enum pm_lock_name name)
{
	mark(name);
	pthread_mutex_lock(&locks[name].mutex);
}

void pm_locks_release(enum pm_lock_name name)
{
	pthread_mutex_unlock(&locks[name].mutex);
	unmark(name);
}

bool pm_locks_try(enum pm_lock_name name)
{
	if (held & 1u << name)
		return false;
	mark(name);
	if (!pthread_mutex_trylock(&locks[name].mutex))
		return true;
	if (pm_in_signal_handler()) {
		unmark(name);
		return false;
	}
	pthread_mutex_lock(&locks[name].mutex);
	return true;
}

pid_t pm_locks_holder(enum pm_lock_name name)
{
#ifdef __GLIBC__
	/* 0: the lock was elided */
	pid_t tid = locks[name].mutex.__data.__owner;

	if (tid > 0)
		return tid;
#else
	(void)name;
#endif
	return pm_kernel_gettid();
}

void pm_locks_at_fork(enum pm_lock_name name, const struct pm_fork_hooks *hooks)
{
	locks[name].hooks = hooks;
}

/* --- loading libraries -------------------------------------------------------------- */

static pthread_mutex_t loads = PTHREAD_MUTEX_INITIALIZER;
static __thread bool loads_here;
static bool fork_has_loads;

bool pm_locks_take_load(void)
{
	struct timespec until;
	uint64_t ns = 0;

	loads_here = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	pm_kernel_clock_ns(CLOCK_REALTIME, &ns);
	until.tv_sec = (time_t)(ns / 1000000000u) + 1;
	until.tv_nsec = (long)(ns % 1000000000u);
	return !pthread_mutex_timedlock(&loads, &until);
}

void pm_locks_release_load(bool taken)
{
	if (taken)
		pthread_mutex_unlock(&loads);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	loads_here = false;
}

static void before_fork(void)
{
	bool has_loads;
	sigset_t mask;

	if (held || loads_here) {
		unprepared++;
		return;
	}
	/* This comes before the locks: a thread that loads a library may wait for a
	 * constructor that waits for them. */
	has_loads = pm_locks_take_load();
	pm_kernel_signals_block(&mask);
	for (int i = 0; i < PM_LOCKS; i++)
		pm_locks_take(i);
	fork_mask = mask;
	fork_has_loads = has_loads;
	for (int i = 0; i < PM_LOCKS; i++)
		if (locks[i].hooks && locks[i].hooks->before)
			locks[i].hooks->before();
}

/* Releases the locks if before_fork() took them for the fork that ends here, and returns
 * whether it did. *MASK gets the signal mask to restore. */
static bool give_back(sigset_t *mask)
{
	bool has_loads;

	if (unprepared) {
		unprepared--;
		return false;
	}
	*mask = fork_mask;
	has_loads = fork_has_loads;
	for (int i = PM_LOCKS; i-- > 0;)
		pm_locks_release(i);
	pm_locks_release_load(has_loads);
	return true;
}

static void after_fork_parent(void)
{
	sigset_t mask;

	if (give_back(&mask))
		pm_kernel_signals_restore(&mask);
}

static void after_fork_child(void)
{
	sigset_t mask;
	bool prepared = give_back(&mask);

	/* The holder is a thread of the parent, for which the fork waited too long. */
	if (!loads_here && !(prepared && fork_has_loads))
		loads = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	for (int i = 0; i < PM_LOCKS; i++)
		if (locks[i].hooks && locks[i].hooks->child)
			locks[i].hooks->child(prepared);
	if (prepared)
		pm_kernel_signals_restore(&mask);
}

/*
 * Registers before the program's own handlers, if possible. The locks of the handlers
 * that are registered first are taken last, as by a thread that holds a lock of the
 * program when it calls the library.
 */
__attribute__((constructor)) static void handle_forks(void)
{
	pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}
