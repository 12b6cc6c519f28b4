/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cost of measuring one visit, in time and in counts. */
#ifndef PM_REGIONS_COST_H
#define PM_REGIONS_COST_H

#include <stdbool.h>

#include "perfmon/region.h"

/* Measures the cost on the calling thread, whose stack is open, with the calls that
 * programs make. Writes it into the plan and its record. The caller holds
 * PM_LOCK_REGIONS. */
void pm_cost_measure(void);

/* Returns whether REGION is in the slow path because pm_cost_measure() measures that.
 * Everything is then ready for the call that follows. */
bool pm_cost_resumes(struct perfmon_region *region);

#endif
