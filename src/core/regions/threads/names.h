/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Regions by name: their keys, and their records in the profile. */
#ifndef PM_REGIONS_NAMES_H
#define PM_REGIONS_NAMES_H

#include <stdbool.h>

#include "core/regions/threads/registry.h"
#include "fastpath/fastpath.h"

/* Returns the region's id from its key. */
static inline uint32_t pm_region_id(uint64_t region_key)
{
	return (uint32_t)(region_key * PM_KEY_INVERSE);
}

/* Returns the node's number from a path key. */
static inline uint32_t pm_path_number(uint64_t path_key)
{
	return (uint32_t)(path_key * PM_KEY_INVERSE >> 32);
}

/* Writes the name of a registered region into the profile, or counts one that is left out. The
 * caller holds PM_LOCK_REGIONS. */
void pm_region_record_name(const struct perfmon_region *region);

/* Writes CODE of the region with ID into the profile, unless it is NULL. Returns 0 or -ENOMEM. The caller holds
 * PM_LOCK_REGIONS. */
int pm_region_record_code(uint32_t id, const struct pm_registry_code *code);

/* Returns the region called NAME, registered if it is new; NULL without a name or memory. Takes
 * PM_LOCK_REGIONS for a new one. If it is not FILTERED, as a quantity, no filter leaves it out. */
struct perfmon_region *pm_region_of_name(const char *name, bool filtered);

/* Returns whether a region of KEY is registered. A program may pass any KEY. No id has
 * the key PERFMON_REGION_KEY_QUIET_. */
bool pm_region_is_registered(uint64_t key);

/* Notes whether a region of NAME and KEY asks for a report, if it is not registered. */
void pm_region_note_use(const char *name, uint64_t key);

/* Returns REGION's name, or NULL if it has none or is an object of a later API
 * version. */
const char *pm_region_name(const struct perfmon_region *region);

/* Returns REGION's key; 0 if its name is not registered. */
uint64_t pm_region_known_key(struct perfmon_region *region);

#endif
