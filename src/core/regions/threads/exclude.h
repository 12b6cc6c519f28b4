/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The work of the slow path is excluded from all open visits. So the first visit of a path,
 * or of a place in the code, counts as all others.
 *
 * The slow path reads the counters and the clock at its begin and at its end, and moves the
 * values of open BEGINs by the difference. Counters that are read by calls are not excluded,
 * and neither is a part in which a page changed. The work around these reads, mainly the call
 * that led to the slow path, is constant. pm_exclude_learn() sets that constant for counters
 * that count the same work alike, as those of instructions do: first visits then count as others
 * do, to a few instructions, and with exact counts to the instruction.
 */
#ifndef PM_REGIONS_EXCLUDE_H
#define PM_REGIONS_EXCLUDE_H

#include <stdbool.h>

#include "fastpath/fastpath.h"

enum pm_excluded {
	PM_EXCLUDED_BEGIN,
	PM_EXCLUDED_STEP, /* of BEGIN, one step of the search */
	PM_EXCLUDED_END,
	PM_EXCLUDED_QUANTITY, /* nothing is learned of it */
	PM_EXCLUDED_KINDS
};

/* The counters at the begin of the slow path. */
struct pm_exclude {
	uint64_t raw[PERFMON_PROFILE_COUNTERS_MAX];
	uint64_t ticks;
	bool known;
	/* number of other entries that were searched before a path was found missing */
	uint32_t steps;
};

void pm_exclude_begin(const struct pm_thread_block *block, struct pm_exclude *exclude);
/* Ends the exclusion. Only the call of KIND, from which this came, may follow; FRAME has
 * its visit. */
void pm_exclude_end(const struct pm_thread_block *block, const struct pm_exclude *exclude,
		    enum pm_excluded kind, struct pm_frame *frame);

/* Returns how much pm_exclude_end() excluded last, of counter I. */
uint64_t pm_exclude_last(uint32_t i);

/* Sets how much counter I counts around the excluded part: OWN in the visit itself, OUTER
 * in the visits around it. */
void pm_exclude_learn(enum pm_excluded kind, uint32_t i, uint64_t own, uint64_t outer);
/* Sets it to 0 if another visit, with what was learned, has OWN left or another OUTER: the
 * counter does not count the same work alike, as that of cycles, or something came between.
 * Confirmed parts stay as they are. */
void pm_exclude_confirm(enum pm_excluded kind, uint32_t i, uint64_t own, uint64_t outer);
/* Returns whether that has happened since this was last asked. */
bool pm_exclude_missed(void);
/* Sets to 0 all that has not been confirmed. */
void pm_exclude_drop(void);

#endif
