/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The locks that a process has once, and fork(2).
 *
 * The table below is in the order in which a thread that needs several takes them. A fork
 * takes all of them, in this order, with signals blocked: a child finds none of them held
 * by a thread that it does not have, and no other library's lock that is only taken
 * behind one of them. CONTRIBUTING.md has the locks that objects have, too.
 */
#ifndef PM_KERNEL_LOCKS_H
#define PM_KERNEL_LOCKS_H

#include <stdbool.h>

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

/* No cancellation points. Not recursive. */
void pm_locks_take(enum pm_lock_name name);
void pm_locks_release(enum pm_lock_name name);

/* The same for who may be a signal handler: false if it would have to wait there, or if
 * what it has interrupted holds the lock or is about to. */
bool pm_locks_try(enum pm_lock_name name);

/*
 * For who loads a library: a child of a fork in the middle of that could load none. A fork
 * and other loads wait for it, but no longer than a second, since the loader runs
 * constructors, which may wait for anything. To be called with no other lock held; whether
 * it was TAKEN goes back.
 */
bool pm_locks_take_load(void);
void pm_locks_release_load(bool taken);

/*
 * What the owner of a lock does at a fork.
 *
 * `before` runs in the parent, with all locks held. `child` runs in the child, with none
 * held and all signals blocked. PREPARED is false if a signal handler forked that had
 * interrupted a holder of one of the locks: nothing was taken, `before` was not called,
 * and what the locks guard may be in pieces.
 */
struct pm_fork_hooks {
	void (*before)(void);
	void (*child)(bool prepared);
};

/* To be called by a constructor, before there are threads. HOOKS must stay. */
void pm_locks_at_fork(enum pm_lock_name name, const struct pm_fork_hooks *hooks);

#endif
