/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What readings of an event add up to. */
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

/* The standard error of the mean, in per cent of it. */
double stat_sum_spread(const struct stat_sum *sum);

enum stat_status {
	STAT_COUNTED,
	STAT_MULTIPLEXED, /* part of the time: estimated */
	STAT_PARTIAL,	  /* not on all CPUs or threads */
	STAT_NOT_COUNTED, /* the event is open, its count says nothing */
	STAT_NOT_SUPPORTED
};

/* What an event came to, in a group of CPUs. */
struct stat_cell {
	enum stat_status status;
	uint64_t value, enabled_ns, running_ns; /* sums over the runs, unscaled */
	struct stat_sum count;			/* estimates */
	double last;	     /* of these, that of the last run; NAN: it has none */
	struct stat_sum own; /* of the first thread alone, of the runs that tell it */
	bool absent;	     /* it is in another group */
	bool mixed; /* of all and of its own: estimates, whose difference says nothing */
	/* Of one reading. */
	uint32_t good, own_good, starved, refused;
	double now, own_now;
};

static inline bool stat_is_known(const struct stat_cell *cell)
{
	return cell->status < STAT_NOT_COUNTED;
}

/* Adds to CELL what SUM says more than BEFORE. */
void stat_cell_add(struct stat_cell *cell, const struct stat_event *event,
		   const struct pm_cpuwide_sum *sum, const struct pm_reading *before);

/* The same of a session of threads: VALUE, of which OWN is the first one's. */
void stat_cell_take(struct stat_cell *cell, const struct stat_event *event,
		    const struct perfmon_value *value, const struct perfmon_value *own);

/* What has been added to CELL since the last time is one sample. */
void stat_cell_settle(struct stat_cell *cell);

#endif
