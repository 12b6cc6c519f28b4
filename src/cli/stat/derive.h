/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A result: ratios of counts, and notes. */
#ifndef PM_CLI_STAT_DERIVE_H
#define PM_CLI_STAT_DERIVE_H

#include "cli/stat/count.h"
#include "cli/stat/exact.h"
#include "cli/stat/options.h"

struct stat_result {
	const struct stat_options *options;
	const struct stat_counting *counting;
	const struct stat_exact *exact; /* NULL: the kernel counts */
	const struct stat_cell *cells;
	uint64_t time_ns; /* of an interval: its end since the start; else 0 */
	/* For each run its time, then the estimate of each cell; NAN: none. */
	const double *samples;
	uint32_t runs;
	uint64_t began_realtime_ns;
	struct stat_sum wall_ns, user_ns, system_ns; /* with 0 runs: unknown */
	int exit_status;			     /* -1: no command */
	int signal;				     /* that ended the command, or 0 */
	bool input_lost; /* the first run may have read the input of later ones */
};

/* Returns how much of the time cell C was on the hardware: 0 to 1. */
double stat_coverage(const struct stat_cell *cell);

/* Returns "counted", "multiplexed", "partial", "not counted" or "not supported". */
const char *stat_status_name(enum stat_status status);

/* Returns whether the first thread's counts are known apart from those of the threads
 * that it created. */
bool stat_is_apart(const struct stat_result *result, const struct stat_cell *cell);

/*
 * Sets *CHILDREN to the average count of the created threads and processes. Returns false
 * if it is unknown: the scaling of a multiplexed event uses its time in all threads, and
 * does not say which share is whose.
 */
bool stat_children(const struct stat_result *result, const struct stat_cell *cell,
		   double *children);

/* Gets note NUMBER of a result. Returns false after the last. */
bool stat_note(const struct stat_result *result, uint32_t number, struct pm_diag *note);

/* The ratio of event I's count to another event's. stat_derive() returns false if there
 * is no reliable one. */
struct stat_ratio {
	const char *key;  /* "instructions-per-cycle" */
	const char *text; /* "per cycle" */
	int decimals;
	double value;
};
bool stat_derive(const struct stat_result *result, uint32_t group, uint32_t i,
		 struct stat_ratio *ratio);

/* The content of a row. stat_row() returns false if the row is empty. */
struct stat_row {
	const struct stat_event *event;
	const struct stat_cell *cell;
	uint32_t group, index;		  /* for stat_derive() */
	char group_name[STAT_GROUP_NAME]; /* "" without groups */
};
bool stat_row(const struct stat_result *result, uint32_t group, uint32_t i,
	      struct stat_row *row);

#endif
