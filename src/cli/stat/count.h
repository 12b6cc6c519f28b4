/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The session of threads, or the counters on CPUs, and their readings. */
#ifndef PM_CLI_STAT_COUNT_H
#define PM_CLI_STAT_COUNT_H

#include "cli/stat/cell.h"
#include "cli/stat/packages.h"
#include "core/cpuwide/cpuwide.h"

struct stat_counting {
	struct stat_events events;
	bool apart; /* the first thread has counts of its own */
	bool split; /* every event is in a group of its own */
	/* Results have a cell for each event in each group: one group for threads and for
	 * the sum over CPUs. */
	uint32_t group_count;
	/* Threads are counted by: */
	struct perfmon_session *session;
	bool uncertain; /* some of a process's threads may be missing */
	struct pm_diag why_uncertain;
	struct stat_packages packages; /* beside the session */
	/* CPUs are counted by these, in groups of a level of the machine: */
	struct pm_placement *placement; /* NULL: threads are counted */
	struct pm_cpuwide *cpuwide;
	bool grouped;
	enum pm_level level;
	uint32_t *groups; /* their logical numbers */
	/* The readings of each cell: the last ones, and these; also the first thread's. */
	struct perfmon_value *before, *own_before, *now, *own_now;
	bool explained; /* the message about a refused event has been printed */
	struct pm_diag diag;
};

/* Finds EVENTS (NULL: the machine's defaults), on PLACE (perfmon/placement.h; NULL:
 * threads) by LEVEL (NULL: the sum). Returns 0, or a negative errno with a message in the
 * diag. */
int stat_counting_init(struct stat_counting *counting, const char *events,
		       const char *place, const char *level);
void stat_counting_free(struct stat_counting *counting);

/* Returns the number of cells. */
size_t stat_counting_cells(const struct stat_counting *counting);

/* Makes a group's name: "package:0", "" for the sum, "all" if it cannot be divided. */
#define STAT_GROUP_NAME 32
void stat_counting_group_name(const struct stat_counting *counting, uint32_t group,
			      char name[STAT_GROUP_NAME]);

/*
 * Opens the events on TARGETS (none: on the place) and starts them. If needed, opens
 * less: only user mode, or not all events, or, unless NEEDED, none. Returns 0, or a
 * negative errno with a message in the diag.
 */
int stat_counting_start(struct stat_counting *counting,
			const struct perfmon_target *targets, uint32_t target_count,
			bool needed);
bool stat_counting_is_over(struct stat_counting *counting); /* no target is left */

/* Adds the counts since the last call, or SINCE_START, to CELLS. */
int stat_counting_read(struct stat_counting *counting, struct stat_cell *cells,
		       bool since_start);

/* Stops counting. The counts can be read until the end. */
void stat_counting_stop(struct stat_counting *counting);
void stat_counting_end(struct stat_counting *counting);

#endif
