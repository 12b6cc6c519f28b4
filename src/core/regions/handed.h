/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Paths that threads hand on: numbers from 1, the same in all threads of the process. The caller
 * holds PM_LOCK_REGIONS. */
#ifndef PM_REGIONS_HANDED_H
#define PM_REGIONS_HANDED_H

#include <stdint.h>

/* A path: REGION, an id, below the path PARENT (0: the top). */
struct pm_handed {
	uint32_t parent, region;
};

/* Returns the number of REGION below PARENT, which is added if it is new; 0 without memory. */
uint32_t pm_handed_get(uint32_t parent, uint32_t region);

/* Returns the path NUMBER, or NULL if there is none. */
const struct pm_handed *pm_handed_at(uint64_t number);

#endif
