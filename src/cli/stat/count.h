/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sessions, or counters on CPUs, and what they read. */
#ifndef PM_CLI_STAT_COUNT_H
#define PM_CLI_STAT_COUNT_H

#include "cli/stat/place.h"

struct stat_counting {
	struct stat_events events;
	struct stat_place *place; /* NULL: threads */
	struct perfmon_session *session;
	/* Its counters as last read, and now. */
	struct perfmon_value *before, *own_before, *now, *own_now;
	bool apart;
	bool split;	      /* every event on its own */
	bool processes;	      /* the targets are */
	bool uncertain;	      /* some of their threads may be missing */
	struct pm_diag doubt; /* ... and why */
	bool explained;	      /* why what was refused was refused */
	struct pm_diag diag;
};

/* Finds out what EVENTS (NULL: what the machine has) means, on PLACE (NULL: threads) by
 * LEVEL (NULL: the sum). 0; a negative errno with the sentence in the diag. */
int stat_counting_init(struct stat_counting *counting, const char *events,
		       const char *place, const char *level);
void stat_counting_free(struct stat_counting *counting);

/* Its results have a cell for each event in each group. */
uint32_t stat_counting_groups(const struct stat_counting *counting);
size_t stat_counting_cells(const struct stat_counting *counting);

/* Opens the events on TARGETS (none: on the place) and starts them. With less, if need
 * be: in user mode, or without some; unless NEEDED, without all. 0; a negative errno with
 * the sentence in the diag. */
int stat_counting_start(struct stat_counting *counting,
			const struct perfmon_target *targets, uint32_t target_count,
			bool apart, bool needed);
bool stat_counting_is_over(struct stat_counting *counting); /* no target is left */

/* Adds what was counted since the last call, or SINCE_START, to CELLS. */
int stat_counting_read(struct stat_counting *counting, struct stat_cell *cells,
		       bool since_start);

/* No more is counted; what was can still be read, until the end. */
void stat_counting_stop(struct stat_counting *counting);
void stat_counting_end(struct stat_counting *counting);

#endif
