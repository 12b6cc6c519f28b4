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

/* Returns the sums of the threads of SNAPSHOT by their numbers in pm_snapshot_thread_at(), with NULL
 * behind them. NULL without memory. */
struct pm_reader_sum **pm_reader_sums_make(const struct pm_snapshot *snapshot);
void pm_reader_sums_free(struct pm_reader_sum **sums); /* NULL is accepted */

/* Returns how many counts each node of THREAD has. */
static inline uint32_t pm_reader_counts(const struct pm_snapshot_thread *thread)
{
	return thread->plan ? thread->plan->counter_count : 0;
}

/* Returns the sum of QUANTITY of node INDEX (from 0) of THREAD, which has number T. */
static inline const struct pm_reader_sum *
pm_reader_sum(struct pm_reader_sum *const *sums, const struct pm_snapshot_thread *thread,
	      uint32_t t, uint32_t index, uint32_t quantity)
{
	size_t width = PM_READER_COUNTS + pm_reader_counts(thread);

	return &sums[t][index * width + quantity];
}

#endif
