/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What perfmon/info.h tells, for the command and between the files that find it out. */
#ifndef PM_INFO_INFO_H
#define PM_INFO_INFO_H

#include <linux/perf_event.h>

#include "core/events/events.h"
#include "perfmon/info.h"

/* More counters than any PMU has, and the most that count one event alone. */
#define PM_INFO_COUNTERS 64
#define PM_INFO_FIXED	 3

/* What was opened to find out. */
struct pm_info_found {
	int error; /* negative errno of the event that counts anywhere */
	struct perf_event_attr filler;
	int fixed_count;
	struct perf_event_attr fixed[PM_INFO_FIXED];
	const char *fixed_names[PM_INFO_FIXED];
};

/*
 * Fills what is found by opening events of PMU, a core PMU that is loaded, on the calling
 * thread: capabilities, counters and widths. Never fails: what is not found stays
 * unknown.
 */
void pm_info_try(const struct pm_sysfs_pmu *pmu, struct perfmon_pmu_info *info,
		 struct pm_info_found *found);

/* Opens an event on the calling thread, waiting to be started if it LEADS. */
int pm_info_open(const struct perf_event_attr *from, int group, bool leads);

/* The bits of config1 by which the term NAME of PMU asks for something. */
uint64_t pm_info_term_bits(const struct pm_sysfs_pmu *pmu, const char *name);

/* What kernel.perf_event_paranoid at LEVEL lets an unprivileged user do. */
uint32_t pm_info_paranoid_allows(int level);

#endif
