/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmon run and stat count by the names of groups (-g) and of metrics (-M): the expressions
 * that the installed perf prints for this CPU, and those of files in the form in which vendors
 * publish them. These become formulas of doc/metrics.md, which the reports calculate, and the
 * events that they need.
 *
 * Must hold: a metric is refused as a whole, with a sentence that names the event, if one
 * event of it is missing.
 */
#ifndef PM_CLI_METRICS_NAMED_H
#define PM_CLI_METRICS_NAMED_H

#include <stdbool.h>

#include "cli/common/common.h"

struct cli_named_wish {
	const char *events;  /* also count these, as the user wrote them; NULL: none */
	const char *groups;  /* NULL: none */
	const char *metrics; /* NULL: none */
	bool exact;	     /* the tool of exact/ counts */
	bool cpus;	     /* CPUs are counted, not threads */
	unsigned int most;   /* events that can be counted at a time; 0: any number */
};

struct cli_named {
	char *events; /* for PERFMON_EVENTS; NULL: the wish names none, the default is counted */
	char *formulas; /* of doc/metrics.md, for PERFMON_METRICS; NULL: none */
};
void cli_named_free(struct cli_named *named);

/* For `take` of an option whose list of names is given once. `to` is a const char **. */
int cli_named_take(const char *command, const struct cli_option *option,
		   const char *text);

/* Finds the events and the formulas of a WISH. Prints what is missing. Returns 0, or the
 * exit status after a message of SUBCOMMAND. Free NAMED in either case. */
int cli_named_find(const char *subcommand, const struct cli_named_wish *wish,
		   struct cli_named *named);

/*
 * metrics.c: finds NAMES: "NAME,NAME", of perf's metrics or, behind "@FILE:", of a file's. Runs
 * perf, reads the file, and opens each event on the calling thread. CPUS: the events will count
 * CPUs, so those of a package can be counted. Returns 0, or the exit status after a message of
 * SUBCOMMAND. Free METRICS in either case.
 */
int cli_metrics_find(const char *subcommand, const char *names, bool cpus,
		     struct cli_named *metrics);

#endif
