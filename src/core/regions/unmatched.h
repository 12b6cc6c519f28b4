/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which ENDs came without a BEGIN, and where. */
#ifndef PM_REGIONS_UNMATCHED_H
#define PM_REGIONS_UNMATCHED_H

#include "fastpath/fastpath.h"

/*
 * Counts an END of NAME (NULL: nothing is counted) inside the visits of BLOCK (NULL: no region
 * was begun in the thread) up to FRAME. The first PERFMON_PROFILE_UNMATCHED_MAX kinds are told
 * apart. Takes PM_LOCK_REGIONS if it is free, and is not counted if not: the record of the
 * thread counts all.
 */
void pm_unmatched_count(const char *name, const struct pm_thread_block *block,
			const struct pm_frame *frame);

/* In a forked child, whose profile is another. */
void pm_unmatched_forget(void);

#endif
