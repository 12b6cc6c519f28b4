/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sessions, or counters on CPUs, and their readings. */
#ifndef PM_CLI_STAT_COUNT_H
#define PM_CLI_STAT_COUNT_H

#include "cli/stat/place.h"

struct stat_counting {
	struct stat_events events;
	struct stat_place *place; /* NULL: threads */
	struct perfmon_session *session;
	/* Its counters at the last reading, and now. */
	struct perfmon_value *before, *own_before, *now, *own_now;
	bool apart;
	bool split;	/* every event is in a group of its own */
	bool processes; /* the targets are processes */
	bool uncertain; /* some of their threads may be missing */
	struct pm_diag why_uncertain;
	bool explained; /* the message about a refused event has been printed */
	struct pm_diag diag;
};

/* Finds EVENTS (NULL: the machine's defaults), on PLACE (NULL: threads) by LEVEL (NULL:
 * the sum). Returns 0, or a negative errno with a message in the diag. */
int stat_counting_init(struct stat_counting *counting, const char *events,
		       const char *place, const char *level);
void stat_counting_free(struct stat_counting *counting);

/* Returns the number of groups. Results have a cell for each event in each group. */
uint32_t stat_counting_groups(const struct stat_counting *counting);
size_t stat_counting_cells(const struct stat_counting *counting);

/*
 * Opens the events on TARGETS (none: on the place) and starts them. If needed, opens
 * less: only user mode, or not all events, or, unless NEEDED, none. Returns 0, or a
 * negative errno with a message in the diag.
 */
int stat_counting_start(struct stat_counting *counting,
			const struct perfmon_target *targets, uint32_t target_count,
			bool apart, bool needed);
bool stat_counting_is_over(struct stat_counting *counting); /* no target is left */

/* Adds the counts since the last call, or SINCE_START, to CELLS. */
int stat_counting_read(struct stat_counting *counting, struct stat_cell *cells,
		       bool since_start);

/* Stops counting. The counts can be read until the end. */
void stat_counting_stop(struct stat_counting *counting);
void stat_counting_end(struct stat_counting *counting);

#endif
