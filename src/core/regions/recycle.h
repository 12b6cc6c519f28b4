/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records of the profile whose threads have ended: their memory serves the threads that
 * come. So memory grows with paths, not with the number of threads that there ever were.
 */
#ifndef PM_REGIONS_RECYCLE_H
#define PM_REGIONS_RECYCLE_H

#include "core/profile/profile.h"

/*
 * Brackets what a reader must not see half of: records that are added up, or that become
 * another thread's. A reader notices by header.aggregate_sequence and begins again. May be
 * nested. Under PM_LOCK_REGIONS.
 */
void pm_recycle_sequence_open(void);
void pm_recycle_sequence_close(void);

/*
 * Records of threads and of nodes whose memory can serve again. Taking gives NULL if
 * there is none that fits. A thread is zeroed but for its lead; nodes hold what they held:
 * who was reading them notices by the sequence. Under PM_LOCK_REGIONS.
 */
void pm_recycle_thread(struct perfmon_profile_thread *record);
struct perfmon_profile_thread *pm_recycle_take_thread(void);
struct perfmon_profile_nodes *pm_recycle_take_nodes(uint32_t capacity,
						    uint32_t node_size);

/* Zeroes what readers may look at, word by word. */
void pm_recycle_wipe(void *from, void *to);

/* Forgets everything, in a forked child. */
void pm_recycle_forget(void);

#endif
