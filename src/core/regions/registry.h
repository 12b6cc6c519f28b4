/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who exists: the names of regions, and the threads that are set up. Names are looked up
 * without a lock while others are added; whatever writes holds PM_LOCK_REGIONS.
 * registry.c is the one file that includes liburcu.
 */
#ifndef PM_REGIONS_REGISTRY_H
#define PM_REGIONS_REGISTRY_H

#include <stddef.h>
#include <stdint.h>

#include "perfmon/profile_layout.h"
#include "perfmon/region.h"

#define PM_REGION_NAME_MAX PERFMON_PROFILE_NAME_MAX
#define PM_REGIONS_MAX	   (1u << 24)

struct pm_thread;

/* 0 or -ENOMEM. Once per process; harmless when repeated. */
int pm_registry_init(void);

/*
 * The region of NAME (its first PM_REGION_NAME_MAX bytes) if it is registered, else NULL.
 * What is returned lives as long as the process and has its key. Lock-free, no system
 * call, no allocation.
 */
struct perfmon_region *pm_registry_find(const char *name);

/* How many regions there are: their ids are 1 to that. Any thread. */
uint32_t pm_registry_count(void);

/* The name of the region with ID; "" if there is none. Under PM_LOCK_REGIONS. */
const char *pm_registry_name(uint32_t id);

/* Registers NAME; NULL without memory. Under PM_LOCK_REGIONS, after pm_registry_find()
 * did not find it under the same lock. Allocates from the kernel, not from malloc. */
struct perfmon_region *pm_registry_add(const char *name);

/* Calls VISIT for every registered region, in the order of ids. Under PM_LOCK_REGIONS. */
void pm_registry_each_region(void (*visit)(const struct perfmon_region *region));

/* A place in the list of threads; part of struct pm_thread. */
struct pm_registry_thread {
	void *links[2];
};

/* Enters or removes a thread. Under PM_LOCK_REGIONS. */
void pm_registry_enter(struct pm_registry_thread *thread);
void pm_registry_leave(struct pm_registry_thread *thread);

/* In a forked child, where the calling thread alone exists: calls VISIT for every thread,
 * after which there is none. */
void pm_registry_forget(void (*visit)(struct pm_registry_thread *thread));

#endif
