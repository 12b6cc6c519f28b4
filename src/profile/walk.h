/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The walk over a profile's records, from which a snapshot is made. Inside of
 * snapshot*.c only. What returns int gives 0 or -ENOMEM; what does not hold is a problem
 * of the snapshot.
 */
#ifndef PM_PROFILE_WALK_H
#define PM_PROFILE_WALK_H

#include <string.h>

#include "profile/snapshot.h"

struct pm_walk_list {
	uint64_t *at; /* offsets, rising */
	size_t count, room;
};

/* One walk over the records. */
struct pm_walk {
	const unsigned char *base;
	size_t size;
	unsigned int flags;		     /* PM_SNAPSHOT_STILL, PM_SNAPSHOT_FOREIGN */
	const struct pm_snapshot_file *file; /* NULL: BASE is the profile itself */
	unsigned int *tries; /* that are left, at nodes that do not hold still */
	uint64_t next;	     /* first byte that has not been looked at */
	bool blocked;	     /* a bad record: what follows cannot be found */
	struct pm_walk_list regions, notes, plans, threads, nodes;
	uint64_t machine; /* offset of the first record of that, 0 */
	struct pm_snapshot *s;
};

static inline uint64_t pm_walk_word(const unsigned char *from)
{
	return __atomic_load_n((const uint64_t *)(const void *)from, __ATOMIC_RELAXED);
}

/* Copies SIZE bytes, a multiple of 8, each word once: what is checked is what is used. */
static inline void pm_walk_copy(void *to, const unsigned char *from, size_t size)
{
	for (size_t i = 0; i < size; i += 8) {
		uint64_t word = pm_walk_word(from + i);

		memcpy((unsigned char *)to + i, &word, 8);
	}
}

/* Finds the records between walk->next and the profile's end as it is now. */
int pm_walk_find(struct pm_walk *walk);

bool pm_walk_has(const struct pm_walk_list *list, uint64_t at);

/* The size of the record at AT, which pm_walk_find() has found; 0 if it is wrong by now. */
uint64_t pm_walk_record_size(const struct pm_walk *walk, uint64_t at);

/*
 * How many different events a snapshot of SIZE bytes with PATHS may have: those of one
 * plan always. Reports have a value for each event in each path. What counts in a node
 * takes 24 bytes of the profile, so that a program whose paths all have all events stays
 * below; but who wishes could write paths and events that have nothing to do with each
 * other, and their product is the square of the size.
 */
#define PM_WALK_EVENTS 512
static inline uint32_t pm_walk_events_most(uint64_t size, uint64_t paths)
{
	uint64_t most = (size / 16 + (UINT64_C(128) << 10)) / (paths + 1);

	return most > PM_WALK_EVENTS		 ? PM_WALK_EVENTS
	       : most < PERFMON_PROFILE_COUNTERS ? PERFMON_PROFILE_COUNTERS
						 : (uint32_t)most;
}

/* What the records found so far say, into the snapshot. */
int pm_walk_notes(struct pm_walk *walk);
int pm_walk_regions(struct pm_walk *walk);
int pm_walk_plans(struct pm_walk *walk);
void pm_walk_machine(struct pm_walk *walk);

#endif
