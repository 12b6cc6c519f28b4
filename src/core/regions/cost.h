/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What measuring adds for each visit, in time and in counts. */
#ifndef PM_REGIONS_COST_H
#define PM_REGIONS_COST_H

#include <stdbool.h>

#include "perfmon/region.h"

/* Measures it on the calling thread, whose stack is open, with the calls that programs
 * make, and writes it into the plan and its record. Under PM_LOCK_REGIONS. */
void pm_cost_measure(void);

/* Whether REGION comes to the slow path because pm_cost_measure() measures that: all is
 * ready then for the call that follows. */
bool pm_cost_resumes(struct perfmon_region *region);

#endif
