/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cold half of regions, beyond what fastpath/region.h declares. */
#ifndef PM_REGIONS_CALLS_H
#define PM_REGIONS_CALLS_H

#include "fastpath/fastpath.h"

/* Writes the name of a registered region into the profile. Under pm_process_lock. */
void pm_region_record_name(const struct perfmon_region *region);

/* The region called NAME, registered if it is new; NULL without memory. Takes
 * pm_process_lock for a new one. */
struct perfmon_region *pm_region_of_name(const char *name);

/* What an empty region counts: measured on the calling thread, whose gate is open, with
 * the calls that programs make, and written into the plan's record. */
void pm_region_measure_bias(void);

#endif
