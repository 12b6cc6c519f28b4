/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads that have ended: their nodes are added, path by path, to one record that stands
 * for all that might run on the same CPUs, and their memory serves the threads that come.
 * So memory grows with paths, not with the number of threads that there ever were.
 */
#ifndef PM_REGIONS_AGGREGATE_H
#define PM_REGIONS_AGGREGATE_H

#include "regions/thread.h"

/*
 * Adds what THREAD's record holds to the folded record of its CPUs and marks the record
 * unused, or, if there is no memory for that or threads are kept, leaves it as an ended
 * thread's. Takes pm_process_lock; a reader notices by header.fold_sequence.
 */
void pm_aggregate_thread(struct pm_thread *thread);

/*
 * Records of threads and of nodes whose memory can serve again. Taking gives NULL if
 * there is none that fits. A thread is zeroed but for its lead; nodes hold what they held:
 * who was reading them notices by the fold. Under pm_process_lock.
 */
void pm_aggregate_recycle(struct perfmon_profile_thread *record);
struct perfmon_profile_thread *pm_aggregate_take_thread(void);
struct perfmon_profile_nodes *pm_aggregate_take_nodes(uint32_t capacity,
						      uint32_t node_size);

/* Forgets everything, in a forked child. */
void pm_aggregate_forget(void);

#endif
