/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A table from a pair of numbers, a parent and a region, to a third: how a path is found
 * while a tree grows. */
#ifndef PM_PROFILE_PAIRS_H
#define PM_PROFILE_PAIRS_H

#include <stddef.h>
#include <stdint.h>

struct pm_pairs {	/* all zero: empty */
	uint64_t *keys; /* parent << 32 | region; 0 is free: regions count from 1 */
	uint32_t *numbers;
	size_t count, room; /* a power of two; half of it at most is in use */
};

/* The number of REGION (not 0) below PARENT, which becomes NEXT if there is none yet.
 * -ENOMEM, and nothing is changed then. */
int pm_pairs_get(struct pm_pairs *pairs, uint32_t parent, uint32_t region, uint32_t next,
		 uint32_t *number);

/* The number, or NONE. */
uint32_t pm_pairs_find(const struct pm_pairs *pairs, uint32_t parent, uint32_t region,
		       uint32_t none);

void pm_pairs_free(struct pm_pairs *pairs);

#endif
