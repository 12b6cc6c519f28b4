/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Recycles records of the profile whose threads have ended: new threads use their memory.
 * So memory grows with paths, not with the number of threads over time.
 */
#ifndef PM_REGIONS_RECYCLE_H
#define PM_REGIONS_RECYCLE_H

#include "core/profile/profile.h"

/*
 * Brackets changes that a reader must not see halfway: records that are summed, or that
 * become another thread's. A reader detects it by header.aggregate_sequence and starts
 * again. May be nested. The caller holds PM_LOCK_REGIONS.
 */
void pm_recycle_sequence_open(void);
void pm_recycle_sequence_close(void);

/*
 * Keep the records of threads and nodes whose memory can be used again. Taking returns
 * NULL if none fits. A thread's record is zeroed except its lead. Nodes keep their
 * content: a reader detects the change by the sequence. The caller holds PM_LOCK_REGIONS.
 */
void pm_recycle_thread(struct perfmon_profile_thread *record);
struct perfmon_profile_thread *pm_recycle_take_thread(void);
struct perfmon_profile_nodes *pm_recycle_take_nodes(uint32_t capacity,
						    uint32_t node_size);

/* Zeroes memory that readers may be reading, word by word. */
void pm_recycle_wipe(void *from, void *to);

/* Forgets everything, in a forked child. */
void pm_recycle_forget(void);

#endif
