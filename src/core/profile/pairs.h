/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A hash table from a pair of numbers, a parent and a region, to a path's number. It
 * finds a path while a tree grows. */
#ifndef PM_PROFILE_PAIRS_H
#define PM_PROFILE_PAIRS_H

#include <stddef.h>
#include <stdint.h>

struct pm_pair {
	uint64_t key; /* parent << 32 | region; 0 is free: regions count from 1 */
	uint32_t number;
};

struct pm_pairs { /* all zero: empty */
	struct pm_pair *at;
	size_t count, room; /* room is a power of two; at most half of it is in use */
};

/* Gets the number of REGION (not 0) below PARENT; a new pair gets the number NEXT. On
 * -ENOMEM nothing is changed. */
int pm_pairs_get(struct pm_pairs *pairs, uint32_t parent, uint32_t region, uint32_t next,
		 uint32_t *number);

/* Returns the pair's number, or NONE. */
uint32_t pm_pairs_find(const struct pm_pairs *pairs, uint32_t parent, uint32_t region,
		       uint32_t none);

void pm_pairs_free(struct pm_pairs *pairs);

#endif
