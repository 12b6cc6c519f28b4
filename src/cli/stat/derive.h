/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A result: what counts say together, and the notes that go with it. */
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
	/* Of each run its time, and then the estimate of each cell; NAN: it has none. */
	const double *samples;
	uint32_t runs;
	uint64_t began_realtime_ns;
	struct stat_sum wall_ns, user_ns, system_ns; /* runs of 0: not known */
	int exit_status;			     /* -1: no command */
	int signal;				     /* that ended it, or 0 */
	bool input_lost; /* the first run may have read what later ones wanted */
};

/* How much of the time cell C was on the hardware: 0 to 1. */
double stat_coverage(const struct stat_cell *cell);

/* "counted", "multiplexed", "partial", "not counted" or "not supported". */
const char *stat_status_name(enum stat_status status);

/* Whether it can be told what the first thread counted, and what those that it
 * created. */
bool stat_is_apart(const struct stat_result *result, const struct stat_cell *cell);

/* What created threads and processes counted, on average; false if nobody knows: a
 * multiplexed event is scaled by its share of the time in all threads, which tells neither
 * the first one's share nor theirs. */
bool stat_children(const struct stat_result *result, const struct stat_cell *cell,
		   double *children);

/* The sentences that go with a result. False after the last. */
bool stat_note(const struct stat_result *result, uint32_t number, struct pm_diag *note);

/* What the count of event I says together with another's; false if nothing that can be
 * relied upon. */
struct stat_ratio {
	const char *key;  /* "instructions-per-cycle" */
	const char *text; /* "per cycle" */
	int decimals;
	double value;
};
bool stat_derive(const struct stat_result *result, uint32_t group, uint32_t i,
		 struct stat_ratio *ratio);

/* What stands in a row; false: nothing does. */
struct stat_row {
	const struct stat_event *event;
	const struct stat_cell *cell;
	uint32_t group, index;		  /* for stat_derive() */
	char group_name[STAT_GROUP_NAME]; /* "" if there are no groups */
};
bool stat_row(const struct stat_result *result, uint32_t group, uint32_t i,
	      struct stat_row *row);

#endif
