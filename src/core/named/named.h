/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Groups of events by name (FLOPS, MEM, ...): the metrics of each, and the events that
 * they need on a family of CPUs. tables/ has a file for each family, whose text is part of
 * the library. doc/metrics.md has its form.
 *
 * Must hold: a metric is only offered if each event of it can be opened here.
 */
#ifndef PM_NAMED_NAMED_H
#define PM_NAMED_NAMED_H

#include <stdbool.h>
#include <stdint.h>

#include "core/events/events.h"
#include "core/text/diag.h"
#include "core/topology/topology.h"

struct pm_named_metric {
	char *name;    /* "GFLOP/s [GFLOP/s]": what stands before the '=' of a formula */
	char *formula; /* with the names that reports give to the events */
	char *events;  /* for PERFMON_EVENTS, with commas between */
	char *missing; /* the event that is not here; NULL: all are */
	char *why;     /* ... and why it is not */
};

struct pm_named_group {
	char *name;
	char *question; /* that it answers */
	uint32_t count;
	struct pm_named_metric *metrics;
};

struct pm_named_groups {
	char *family; /* whose table was used */
	uint32_t count;
	struct pm_named_group *groups;
};

/* pm_named_find() looks for these. */
struct pm_named_request {
	const char *names; /* "FLOPS,MEM", without regard to case; NULL: all groups */
	bool exact;	   /* of what is counted by translation */
	const struct pm_cpu_kinds *kinds; /* NULL: those of this machine */
};

/*
 * pm_named_find() - finds groups, and opens each of their events once on the calling
 * thread. Loads libpfm4 (see pm_library_need()). Returns 0, -EINVAL for a name of no group,
 * or -ENOMEM, with a message in DIAG; *OUT is untouched then. The caller frees *OUT by
 * pm_named_free(). Any thread.
 */
int pm_named_find(const struct pm_named_request *request, struct pm_named_groups **out,
		  struct pm_diag *diag);
void pm_named_free(struct pm_named_groups *groups); /* NULL is accepted */

/*
 * pm_named_join() - makes the texts of all metrics that can be counted. Each metric that
 * cannot, or group without one that can, is NOTEd with the event that is missing. Returns
 * 0; -ENOENT if no metric is left, when DIAG says what has been noted first; or -ENOMEM. The
 * caller frees *EVENTS and *METRICS, which are NULL after a failure.
 */
int pm_named_join(const struct pm_named_groups *groups, char **events, char **metrics,
		  void (*note)(void *argument, const char *sentence), void *argument,
		  struct pm_diag *diag);

/* Adds EVENTS, of pm_named_join(), to the events *TO (NULL: none): to the first set of these, and each that
 * this does not have. Returns 0, or -ENOMEM, when *TO stays as it is. The caller frees *TO. */
int pm_named_add_events(char **to, const char *events);

/* Returns whether LIST, a text for PERFMON_EVENTS or NULL, has EVENT between its commas
 * outside of "pmu/.../". */
bool pm_named_has_event(const char *list, const char *event);

/* Tries to open EVENT on the calling thread. An event that is counted for CPUs, or in a
 * group alone, is left to whoever counts it. Returns 0, or a negative errno with a
 * message. */
int pm_named_try(const struct pm_event *event, struct pm_diag *diag);

#endif
