/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sums of a node that its own record does not have: those of the nodes below it, and
 * the cost of measuring. */
#ifndef PM_PROFILE_READER_SUMS_H
#define PM_PROFILE_READER_SUMS_H

#include "core/profile/snapshot.h"

/* The quantities of a node: its time, the part of it off the CPU, and its counts. */
enum { PM_READER_TIME, PM_READER_OFF_CPU, PM_READER_COUNTS };

/* One quantity of one node, in nanoseconds or counts of the measured visits. */
struct pm_reader_sum {
	double below; /* in the nodes below it */
	double bias;  /* what measuring added to the inclusive value */
};

/* The sums of the threads of a snapshot, by their numbers in pm_snapshot_thread_at(). */
struct pm_reader_sums {
	uint32_t thread_count;
	struct pm_reader_sum **threads;
};

/* pm_reader_sums_make() - fills SUMS from SNAPSHOT. Returns 0, or -ENOMEM with SUMS empty. */
int pm_reader_sums_make(struct pm_reader_sums *sums, const struct pm_snapshot *snapshot);

/* Frees what SUMS holds, which is then empty. */
void pm_reader_sums_free(struct pm_reader_sums *sums);

/* Returns how many counts each node of THREAD has. */
static inline uint32_t pm_reader_counts(const struct pm_snapshot_thread *thread)
{
	return thread->plan ? thread->plan->counter_count : 0;
}

/* Returns the sum of QUANTITY of node INDEX (from 0) of THREAD, which has number T. */
static inline const struct pm_reader_sum *
pm_reader_sum(const struct pm_reader_sums *sums, const struct pm_snapshot_thread *thread,
	      uint32_t t, uint32_t index, uint32_t quantity)
{
	size_t width = PM_READER_COUNTS + pm_reader_counts(thread);

	return &sums->threads[t][index * width + quantity];
}

#endif
