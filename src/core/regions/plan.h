/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which events regions count, and their record in the profile. */
#ifndef PM_REGIONS_PLAN_H
#define PM_REGIONS_PLAN_H

#include "core/regions/state.h"

/* Makes the plan of OPTIONS: a text that cannot be used is quoted in a note, and what the
 * machine has stands in for it. Writes the plan's record and notes into the profile (under
 * PM_LOCK_REGIONS). Always leaves a plan, with no events at worst. */
void pm_region_plan_make(struct pm_region_plan *plan, const struct pm_options *options);

/* Writes the record of a plan that exists into a new profile (a forked child's). */
void pm_region_plan_record(struct pm_region_plan *plan);

#endif
