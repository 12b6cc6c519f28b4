/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The events that regions count, and their record in the profile. */
#ifndef PM_REGIONS_PLAN_H
#define PM_REGIONS_PLAN_H

#include "core/regions/threads/state.h"

/* Makes the plan of OPTIONS. A note quotes a text that cannot be used, and the default
 * events replace it. Writes the plan's record and notes into the profile. There is always
 * a plan, perhaps without events. The caller holds PM_LOCK_REGIONS. */
void pm_region_plan_make(struct pm_region_plan *plan, const struct pm_options *options);

/* Writes the record of an existing plan into a new profile (a forked child's), after it has opened
 * the events of packages again. */
void pm_region_plan_again(struct pm_region_plan *plan);

#endif
