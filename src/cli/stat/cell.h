/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The events that are counted, and the sums of their readings. */
#ifndef PM_CLI_STAT_CELL_H
#define PM_CLI_STAT_CELL_H

#include "core/events/events.h"
#include "core/text/diag.h"
#include "perfmon/session.h"

/* --- events ------------------------------------------------------------------------- */

/* An event as the user wrote it. */
struct stat_event {
	const char *label;
	const struct pm_event *event; /* the first of its kernel events */
	bool partly;		      /* could not be opened on some targets */
	bool hidden;		      /* not requested by the user, and not there */
	int error;		      /* the negative errno of opening it, or 0 */
	char *why;		      /* the message about the error */
};

struct stat_events {
	const char *text;
	bool chosen;	/* by the user */
	bool user_only; /* the kernel's activity may not be counted */
	struct pm_event_list *list;
	uint32_t count;
	struct stat_event *events;
};

/*
 * Resolves TEXT (NULL: the machine's defaults, for threads or CPUS). Events without
 * modifiers count in all modes, or in user mode with USER_ONLY. Returns 0, or a negative
 * errno with a message.
 */
int stat_events_learn(struct stat_events *events, const char *text, bool cpus,
		      bool user_only, struct pm_diag *diag);
void stat_events_forget(struct stat_events *events);

/* --- sums --------------------------------------------------------------------------- */

/* A sample of estimates, one for each run. */
struct stat_sum {
	uint64_t runs;
	double mean, squares, min, max;
};

void stat_sum_add(struct stat_sum *sum, double value);

/* Returns the standard error of the mean, in percent of the mean. */
double stat_sum_spread(const struct stat_sum *sum);

/* The states of a count, which are those of perfmon/value.h. */
enum stat_status {
	STAT_COUNTED,
	STAT_MULTIPLEXED, /* part of the time: estimated */
	STAT_PARTIAL,	  /* not on all CPUs or threads */
	STAT_NOT_COUNTED, /* the event is open, but its count means nothing */
	STAT_NEVER_OPENED
};

/* Returns "counted", ... as the documents list them. */
const char *stat_status_name(enum stat_status status);

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

/* Adds VALUE, of which OWN is the first thread's. */
void stat_cell_take(struct stat_cell *cell, const struct stat_event *event,
		    const struct perfmon_value *value, const struct perfmon_value *own);

/* Ends a run: its readings become one sample. */
void stat_cell_end_run(struct stat_cell *cell);

#endif
