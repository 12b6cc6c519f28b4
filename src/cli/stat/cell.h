/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sum of an event's readings. */
#ifndef PM_CLI_STAT_CELL_H
#define PM_CLI_STAT_CELL_H

#include "cli/stat/events.h"
#include "core/cpuwide/cpuwide.h"
#include "perfmon/session.h"

/* A sample of estimates, one for each run. */
struct stat_sum {
	uint64_t runs;
	double mean, squares, min, max;
};

void stat_sum_add(struct stat_sum *sum, double value);

/* Returns the standard error of the mean, in percent of the mean. */
double stat_sum_spread(const struct stat_sum *sum);

enum stat_status {
	STAT_COUNTED,
	STAT_MULTIPLEXED, /* part of the time: estimated */
	STAT_PARTIAL,	  /* not on all CPUs or threads */
	STAT_NOT_COUNTED, /* the event is open, but its count means nothing */
	STAT_NOT_SUPPORTED
};

/* The result of an event in a group of CPUs. */
struct stat_cell {
	enum stat_status status;
	uint64_t value, enabled_ns, running_ns; /* sums over the runs, unscaled */
	struct stat_sum count;			/* estimates */
	double last;	     /* the estimate of the last run; NAN: it has none */
	struct stat_sum own; /* of the first thread alone, of the runs that know it */
	bool absent;	     /* counted in another group */
	bool mixed; /* one of both, all and own, is an estimate: their difference means nothing */
	/* Counts of the present run. */
	uint32_t good, own_good, starved, refused;
	double now, own_now;
};

static inline bool stat_is_known(const struct stat_cell *cell)
{
	return cell->status < STAT_NOT_COUNTED;
}

/* Adds the difference between SUM and BEFORE to CELL. */
void stat_cell_add(struct stat_cell *cell, const struct stat_event *event,
		   const struct pm_cpuwide_sum *sum, const struct pm_reading *before);

/* Does the same for a session of threads: VALUE, of which OWN is the first thread's. */
void stat_cell_take(struct stat_cell *cell, const struct stat_event *event,
		    const struct perfmon_value *value, const struct perfmon_value *own);

/* Ends a run: its readings become one sample. */
void stat_cell_end_run(struct stat_cell *cell);

#endif
