/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who exists: the names of regions, and the threads that are set up. Readers walk both
 * under RCU, without a lock, while threads come and go; writers hold pm_process_lock.
 * The one file that includes liburcu (flavour bp: no thread has to register).
 */
#ifndef PM_CORE_REGISTRY_H
#define PM_CORE_REGISTRY_H

#include <stddef.h>
#include <stdint.h>

#include "perfmon/profile.h"
#include "perfmon/region.h"

#define PM_REGION_NAME_MAX PERFMON_PROFILE_NAME
#define PM_REGIONS_MAX	   (1u << 24)

struct pm_thread;

/* 0 or -ENOMEM. Once per process; harmless when repeated. */
int pm_registry_init(void);

/*
 * The region of NAME (its first PM_REGION_NAME_MAX bytes) if it is registered, else NULL.
 * What is returned lives as long as the process and has its key. Lock-free, no system
 * call; may register the thread with RCU at its first use, which allocates.
 */
struct perfmon_region *pm_registry_find(const char *name);

/* Registers NAME; NULL without memory. Under pm_process_lock, after pm_registry_find()
 * did not find it under the same lock. Allocates from the kernel, not from malloc. */
struct perfmon_region *pm_registry_add(const char *name);

/* Calls VISIT for every registered region, in the order of ids. Under pm_process_lock. */
void pm_registry_each_region(void (*visit)(const struct perfmon_region *region));

/* A place in the list of threads; part of struct pm_thread. */
struct pm_registry_thread {
	void *links[2];
};

/* Enters or removes a thread. Under pm_process_lock. */
void pm_registry_enter(struct pm_registry_thread *thread);
void pm_registry_leave(struct pm_registry_thread *thread);

/* Waits until no walk that could have seen a removed thread is under way. Not under
 * pm_process_lock; not inside a walk. */
void pm_registry_wait(void);

/* Calls VISIT for every thread, while others come and go; what is visited stays whole
 * until the walk ends. Stops at a non-zero return, and returns it. */
int pm_registry_walk(int (*visit)(struct pm_registry_thread *thread, void *argument),
		     void *argument);

/* Around fork(2), in this order: prepare under pm_process_lock, then one of the others.
 * In the child the list of threads is empty afterwards; VISIT is called for each thread
 * that was in it (only the calling one exists there). */
void pm_registry_fork_prepare(void);
void pm_registry_fork_parent(void);
void pm_registry_fork_child(void (*visit)(struct pm_registry_thread *thread));

#endif
