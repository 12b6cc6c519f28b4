/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A snapshot: one consistent copy of a profile, taken while its threads run on. What
 * reports, lookups and comparisons work on.
 */
#ifndef PM_CORE_SNAPSHOT_H
#define PM_CORE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/diag.h"
#include "perfmon/profile.h"

struct pm_snapshot_thread {
	struct perfmon_profile_thread record;
	uint32_t node_count; /* nodes copied */
	size_t node_size;
	unsigned char *nodes; /* node number n (from 1) at (n - 1) * node_size */
	uint32_t torn;	      /* nodes whose writer did not hold still, or died inside */
};

struct pm_snapshot {
	struct perfmon_profile_header header;
	uint64_t taken_ticks; /* when, in the profile's clock */
	uint32_t region_count;
	char **regions; /* names by id; regions[0] is "" */
	uint32_t note_count;
	char **notes;
	uint32_t counter_count; /* of the newest plan */
	struct perfmon_profile_counter *counters;
	uint32_t generation;
	uint32_t thread_count;
	struct pm_snapshot_thread *threads; /* live, kept and folded ones; not unused ones */
	bool partial;			    /* memory or records were missing: see diag */
};

/*
 * Copies the profile that stands at BASE, SIZE bytes of it readable. The contents are
 * not trusted: offsets, sizes, counts and names are checked, and what does not hold gives
 * a clear sentence in DIAG and either -EINVAL (not a profile, or a newer version) or a
 * partial snapshot. 0 or a negative errno; free with pm_snapshot_free().
 */
int pm_snapshot_take(const void *base, size_t size, struct pm_snapshot **out,
		     struct pm_diag *diag);
void pm_snapshot_free(struct pm_snapshot *snapshot); /* NULL is accepted */

static inline struct perfmon_profile_node *
pm_snapshot_node(const struct pm_snapshot_thread *thread, uint32_t number)
{
	return (struct perfmon_profile_node *)(thread->nodes +
					       (size_t)(number - 1) * thread->node_size);
}

/* Nanoseconds that TICKS of the profile's clock are. */
double pm_snapshot_ns(const struct pm_snapshot *snapshot, double ticks);

#endif
