/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of the set-up of regions. The caller holds PM_LOCK_REGIONS. */
#ifndef PM_REGIONS_PREPARE_H
#define PM_REGIONS_PREPARE_H

#include "core/regions/threads/state.h"

/* Adds the events and metrics of the groups that OPTIONS name to OPTIONS, and a note for
 * each that is missing. */
void pm_regions_groups(struct pm_options *options);

/* Writes the notes of the run to the profile: those of ENVIRONMENT (PERFMON_NOTE, or NULL), which the
 * program cannot change, and those that the program has given so far. */
void pm_regions_run_notes(const char *environment);

/* Makes the plan of OPTIONS: the events that regions count. A note quotes a text that cannot be used, and
 * the default events replace it. Writes the plan's record and notes into the profile. There is always
 * a plan, perhaps without events. */
void pm_region_plan_make(struct pm_region_plan *plan, const struct pm_options *options);

/* Writes the record of an existing plan into a new profile (a forked child's), after it has opened
 * the events of packages again. */
void pm_region_plan_again(struct pm_region_plan *plan);

/* Turns on the filters of pm_regions.options (PERFMON_ONLY, _SKIP, _DEPTH and _MIN_MEAN), before any
 * region is counted. */
void pm_filter_begin(void);

/* Says in the profile what is left out. */
void pm_filter_note(void);

/* Measures the cost of one visit, in time and in counts, on the calling thread, whose stack is open, with
 * the calls that programs make. Writes it into the plan and its record. */
void pm_cost_measure(void);

/* Returns whether REGION is in the slow path because pm_cost_measure() measures that.
 * Everything is then ready for the call that follows. */
bool pm_cost_resumes(struct perfmon_region *region);

#endif
