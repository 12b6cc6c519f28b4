/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/regions/handed.h"

#include <stddef.h>
#include <string.h>

#include "core/kernel/kernel.h"
#include "fastpath/fastpath.h"

#define FIRST_LOG2 8
#define MOST_LOG2  30

/* The paths, by their numbers less 1, and a table of twice as many numbers by hash. Both are one
 * mapping: a signal handler that interrupted malloc may come here. */
static struct pm_handed *paths;
static uint32_t *table;
static uint32_t count, room_log2;

static size_t bytes(uint32_t log2)
{
	return (sizeof(*paths) + 2 * sizeof(*table)) << log2;
}

/* Returns the place in the table of REGION below PARENT, which is 0 if the path is new. */
static uint32_t *place_of(uint32_t parent, uint32_t region)
{
	uint32_t mask = (UINT32_C(2) << room_log2) - 1;
	uint64_t key = ((uint64_t)parent << 32 | region) * PM_KEY;
	uint32_t at = (uint32_t)(key >> 32) & mask;

	while (table[at] && (paths[table[at] - 1].parent != parent ||
			     paths[table[at] - 1].region != region))
		at = (at + 1) & mask;
	return &table[at];
}

static int grow(void)
{
	uint32_t log2 = paths ? room_log2 + 1 : FIRST_LOG2, i;
	struct pm_handed *old = paths;
	void *memory;

	if (log2 > MOST_LOG2 ||
	    pm_kernel_map(&memory, bytes(log2)))
		return -1;
	if (count)
		memcpy(memory, old, count * sizeof(*paths));
	if (old)
		pm_kernel_munmap(old, bytes(room_log2));
	paths = memory;
	table = (uint32_t *)(void *)(paths + (UINT32_C(1) << log2));
	room_log2 = log2;
	for (i = 0; i < count; i++)
		*place_of(paths[i].parent, paths[i].region) = i + 1;
	return 0;
}

uint32_t pm_handed_get(uint32_t parent, uint32_t region)
{
	uint32_t *place;

	if ((!paths || count == UINT32_C(1) << room_log2) && grow())
		return 0;
	place = place_of(parent, region);
	if (!*place) {
		paths[count] = (struct pm_handed){parent, region};
		*place = ++count;
	}
	return *place;
}

const struct pm_handed *pm_handed_at(uint64_t number)
{
	return number && number <= count ? &paths[number - 1] : NULL;
}
