/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When a profile and its threads began, how long they have lasted, and how they stand. */
#ifndef PM_REPORT_TIMES_H
#define PM_REPORT_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/profile/profile.h"

/* Writes "2026-01-31T12:00:00Z", or "2026-01-31 12:00:00 UTC" for people; "" for 0. */
void pm_report_date(char *buffer, size_t size, uint64_t realtime_ns, bool iso);

/* Returns true if the process's end is known, or it still runs. Otherwise the next two times
 * are lower bounds. */
bool pm_report_time_is_known(const struct pm_snapshot *snapshot);
/* Return how long the profile has been gathered, and how long THREAD has lived, in ns. */
double pm_report_duration(const struct pm_snapshot *snapshot);
double pm_report_lifetime(const struct pm_snapshot *snapshot,
			  const struct pm_snapshot_thread *thread);

/* Returns "live", "ended" or "folded". */
const char *pm_report_thread_state(const struct pm_snapshot_thread *thread);

#endif
