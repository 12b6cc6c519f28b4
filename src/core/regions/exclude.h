/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where counts are exact, what the slow path executes is taken out of all visits that are
 * open: the first visit of a path, or of a place in the code, counts what all others do.
 *
 * The slow path reads the counters where it begins and where it hands the call back, and
 * moves what BEGINs have read by the difference. What lies around these reads, the call
 * that came to the slow path above all, is constant. pm_exclude_learn() is told by how much.
 */
#ifndef PM_REGIONS_EXCLUDE_H
#define PM_REGIONS_EXCLUDE_H

#include <stdbool.h>

#include "fastpath/fastpath.h"

enum pm_excluded {
	PM_EXCLUDED_BEGIN,
	PM_EXCLUDED_STEP, /* of BEGIN, one */
	PM_EXCLUDED_END,
	PM_EXCLUDED_KINDS
};

/* The counters where the slow path began. */
struct pm_exclude {
	uint64_t raw[PERFMON_PROFILE_COUNTERS_MAX];
	bool known;
	uint32_t steps; /* over occupied entries, to find that a path is missing */
};

/* Whether counts are exact. Before any region is counted. */
void pm_exclude_enable(bool exact);
bool pm_exclude_is_on(void);

void pm_exclude_begin(const struct pm_thread_block *block, struct pm_exclude *exclude);
/* Nothing may be left to do but the call that this came from, of KIND: of the visit in
 * FRAME. */
void pm_exclude_end(const struct pm_thread_block *block, const struct pm_exclude *exclude,
		    enum pm_excluded kind, struct pm_frame *frame);

/* What pm_exclude_end() took away last, of counter I. */
uint64_t pm_exclude_last(uint32_t i);

/* Around what is taken away, counter I counts OWN in the visit itself and OUTER in those
 * around it. */
void pm_exclude_learn(enum pm_excluded kind, uint32_t i, uint64_t own, uint64_t outer);

#endif
