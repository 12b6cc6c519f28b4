/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What perfmon/info.h tells, for the command and between the files that find it out. */
#ifndef PM_CORE_INFO_H
#define PM_CORE_INFO_H

#include "core/sysfs.h"
#include "perfmon/info.h"

/*
 * Fills what is found by opening events of PMU, a core PMU that is loaded, on the calling
 * thread: capabilities, counters and widths. Never fails: what is not found stays
 * unknown.
 */
void pm_info_try(const struct pm_sysfs_pmu *pmu, struct perfmon_pmu_info *info);

/* What kernel.perf_event_paranoid at LEVEL lets an unprivileged user do. */
uint32_t pm_info_paranoid_allows(int level);

#endif
