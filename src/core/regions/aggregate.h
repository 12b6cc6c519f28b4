/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads that have ended: their nodes are added, path by path, to one record that stands
 * for all that might run on the same CPUs, the aggregate.
 */
#ifndef PM_REGIONS_AGGREGATE_H
#define PM_REGIONS_AGGREGATE_H

#include "core/regions/thread.h"

/*
 * Adds what THREAD's record holds to the aggregate of its CPUs and marks the record
 * unused, or, if there is no memory for that or threads are kept, leaves it as an ended
 * thread's. Takes PM_LOCK_REGIONS; a reader notices by header.aggregate_sequence.
 */
void pm_aggregate_thread(struct pm_thread *thread);

/* Forgets everything, in a forked child. */
void pm_aggregate_forget(void);

#endif
