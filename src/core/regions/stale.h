/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What frames of open visits keep of the counters. */
#ifndef PM_REGIONS_STALE_H
#define PM_REGIONS_STALE_H

#include "fastpath/fastpath.h"

/*
 * Saves the values of the views that END will need into the frames up to TOP that began
 * in the current epoch, and advances the epoch. This must come before any view is
 * refreshed.
 */
void pm_stale_save(struct pm_thread_block *block, struct pm_frame *top);

#endif
