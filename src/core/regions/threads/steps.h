/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Steps of a loop (PERFMON_STEPS): at the BEGIN of some visits of a path a mark is made of what its node
 * has so far. Two marks tell what the visits between them took, and END needs no change. There is a mark
 * at each of the first visits, then at each second, fourth and so on, so that memory grows with the
 * logarithm of visits. The first thread that visits a path has its marks.
 */
#ifndef PM_REGIONS_STEPS_H
#define PM_REGIONS_STEPS_H

#include "core/regions/threads/thread.h"
#include "fastpath/fastpath.h"

/* Gives ENTRY, a new path of THREAD, steps if its region is called so and no thread has them. The caller
 * holds PM_LOCK_REGIONS. */
void pm_steps_add(struct pm_thread *thread, struct pm_path_entry *entry);

/* Makes the mark of ENTRY's path that is due, before its visit at FRAME. Takes PM_LOCK_REGIONS for more
 * room if it is free. The stack is closed. */
void pm_steps_mark(struct pm_path_entry *entry, struct pm_frame *frame);

/* Makes the last marks of THREAD, which ends: the calling one. */
void pm_steps_end(const struct pm_thread *thread);

/* Forgets all of them, in a forked child. */
void pm_steps_forget(void);

#endif
