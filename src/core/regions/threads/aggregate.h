/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sums of ended threads. Their nodes are added, path by path, to one record for all
 * threads that might run on the same CPUs, the aggregate.
 */
#ifndef PM_REGIONS_AGGREGATE_H
#define PM_REGIONS_AGGREGATE_H

#include <stdbool.h>

#include "core/regions/threads/thread.h"

/*
 * Adds THREAD's record to the aggregate of its CPUs and marks the record unused. Without
 * memory for that, or if threads are kept, the record stays as that of an ended thread.
 * If it MAY_HAVE_MOVED the kernel is asked where it may run now. Takes PM_LOCK_REGIONS. A reader
 * detects it by header.aggregate_sequence.
 */
void pm_aggregate_thread(struct pm_thread *thread, bool may_have_moved);

/* Forgets everything, in a forked child. */
void pm_aggregate_forget(void);

#endif
