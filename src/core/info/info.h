/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The information of perfmon/info.h, for the command and the files of this room. */
#ifndef PM_INFO_INFO_H
#define PM_INFO_INFO_H

#include <linux/perf_event.h>

#include "core/events/events.h"
#include "perfmon/info.h"

/* No PMU has more counters, or more that count one event alone. */
#define PM_INFO_COUNTERS 64
#define PM_INFO_FIXED	 3

/*
 * Fills the capabilities, counters and widths of PMU, a loaded core PMU, by opening
 * events on the calling thread. Never fails: unknown facts stay unknown.
 */
void pm_info_try(const struct pm_sysfs_pmu *pmu, struct perfmon_pmu_info *info);

/* Opens an event on the calling thread, disabled if it LEADS. */
int pm_info_open(const struct perf_event_attr *from, int group, bool leads);

/* Returns what kernel.perf_event_paranoid at LEVEL permits an unprivileged user. */
uint32_t pm_info_paranoid_allows(int level);

#endif
