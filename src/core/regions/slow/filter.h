/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Visits that are left out on request: PERFMON_ONLY, _SKIP, _DEPTH and _MIN_MEAN. */
#ifndef PM_REGIONS_FILTER_H
#define PM_REGIONS_FILTER_H

/* Turns on the filters of pm_regions.options, before any region is counted. */
void pm_filter_begin(void);

/* Says in the profile what is left out. The caller holds PM_LOCK_REGIONS. */
void pm_filter_note(void);

#endif
