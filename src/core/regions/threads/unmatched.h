/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ENDs without a BEGIN, and their places. */
#ifndef PM_REGIONS_UNMATCHED_H
#define PM_REGIONS_UNMATCHED_H

#include "fastpath/fastpath.h"

/*
 * Counts an END of NAME (NULL: nothing is counted) inside the visits of BLOCK (NULL: the
 * thread has begun no region) up to FRAME. The first PERFMON_PROFILE_UNMATCHED_MAX kinds
 * are distinguished. Takes PM_LOCK_REGIONS if it is free. Otherwise only the thread's
 * record counts it.
 */
void pm_unmatched_count(const char *name, const struct pm_thread_block *block,
			const struct pm_frame *frame);

/* Forgets the profile, in a forked child, which has another one. */
void pm_unmatched_forget(void);

#endif
