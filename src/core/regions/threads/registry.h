/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names of regions. They are found without a lock while others are added. A writer holds
 * PM_LOCK_REGIONS. Only registry.c uses liburcu's table. */
#ifndef PM_REGIONS_REGISTRY_H
#define PM_REGIONS_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmon/profile_layout.h"
#include "perfmon/region.h"

#define PM_REGION_NAME_MAX PERFMON_PROFILE_NAME_MAX

/* Returns 0 or -ENOMEM. It works once per process; further calls do no harm. */
int pm_registry_init(void);

/*
 * Returns the region of NAME (its first PM_REGION_NAME_MAX bytes) if it is registered,
 * else NULL. The region lives as long as the process and has its key. Lock-free, no
 * system call, no allocation.
 */
struct perfmon_region *pm_registry_find(const char *name);

/* Returns the number of regions, whose ids are 1 to that. Any thread. */
uint32_t pm_registry_count(void);

/* Returns the name of the region with ID, or "" if there is none. The caller holds
 * PM_LOCK_REGIONS. */
const char *pm_registry_name(uint32_t id);

/* Registers NAME; if it is LEFT_OUT, with PM_KEY_LEFT_OUT. NULL without memory. The caller holds PM_LOCK_REGIONS, and
 * pm_registry_find() has not found NAME under it. Allocates from the kernel, not from
 * malloc. */
struct perfmon_region *pm_registry_add(const char *name, bool left_out);

/* Where the code of a region is. */
struct pm_registry_code {
	uint64_t offset;
	const char *build_id; /* hexadecimal digits, or "" */
	const char *path;     /* "": in several places */
};

/* Sets the code of the region with ID. False: there is no memory. The caller holds PM_LOCK_REGIONS. */
bool pm_registry_set_code(uint32_t id, const struct pm_registry_code *code);

/* Returns it, or NULL if it was not set. The caller holds PM_LOCK_REGIONS. */
const struct pm_registry_code *pm_registry_code(uint32_t id);

/* Calls VISIT for every registered region, in the order of ids. The caller holds
 * PM_LOCK_REGIONS. */
void pm_registry_each_region(void (*visit)(const struct perfmon_region *region));

#endif
