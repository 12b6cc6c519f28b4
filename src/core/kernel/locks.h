/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The locks of the process, and fork(2).
 *
 * A thread that needs several locks takes them in the order of the table below. A fork
 * takes all of them, in this order, with signals blocked. So a thread that does not exist
 * in the child holds none of them, nor a lock of another library that is only taken
 * behind one of them. CONTRIBUTING.md also lists the locks of objects.
 */
#ifndef PM_KERNEL_LOCKS_H
#define PM_KERNEL_LOCKS_H

#include <stdbool.h>
#include <sys/types.h>

#define PM_LOCKS_ALL(X)                                                                  \
	X(PM_LOCK_PERFMON2, "the table of perfmon2 descriptors")                         \
	X(PM_LOCK_REGIONS, "set-up of regions, and what threads share in the profile")   \
	X(PM_LOCK_EVENTS, "the start of libpfm4, which has no lock of its own")          \
	X(PM_LOCK_TOPOLOGY, "pictures of the machine, and every call of hwloc's")        \
	X(PM_LOCK_FORMATS, "the registry of sampling formats")                           \
	X(PM_LOCK_STOPPED, "the table that leads to the session of a stopped thread")    \
	X(PM_LOCK_RECOVERY, "whether the handler of faulting reads is installed")

enum pm_lock_name {
#define PM_LOCK_NAME(name, what) name,
	PM_LOCKS_ALL(PM_LOCK_NAME)
#undef PM_LOCK_NAME
		PM_LOCKS
};

/* Not cancellation points. Not recursive. */
void pm_locks_take(enum pm_lock_name name);
void pm_locks_release(enum pm_lock_name name);

/* Takes the lock for a caller that may be a signal handler. Returns false if the
 * handler would have to wait, or if the interrupted code holds the lock or is about
 * to take it. */
bool pm_locks_try(enum pm_lock_name name);

/* Returns the calling thread's TID, which holds NAME. Seldom makes a system call: glibc notes
 * the holder in the lock. */
pid_t pm_locks_holder(enum pm_lock_name name);

/*
 * Takes the lock for loading a library, since a child that is forked during a load could
 * load none. A fork and other loads wait for it, but no longer than a second, since the
 * loader runs constructors, which may wait for anything. The caller holds no other lock,
 * and passes the result as TAKEN.
 */
bool pm_locks_take_load(void);
void pm_locks_release_load(bool taken);

/*
 * The work of a lock's owner at a fork.
 *
 * `before` runs in the parent, with all locks held. `child` runs in the child, with none
 * held and all signals blocked. PREPARED is false if a signal handler forked that had
 * interrupted a holder of one of the locks. Then no lock was taken, `before` was not
 * called, and the guarded data may be inconsistent.
 */
struct pm_fork_hooks {
	void (*before)(void);
	void (*child)(bool prepared);
};

/* A constructor calls this before there are threads. HOOKS must stay valid. */
void pm_locks_at_fork(enum pm_lock_name name, const struct pm_fork_hooks *hooks);

#endif
