/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Metrics by name (-M): the expressions that the installed perf prints for this CPU, and
 * those of files in the form in which vendors publish them. They become formulas of
 * doc/metrics.md, which the reports calculate, and the events that these need.
 *
 * Must hold: a metric is refused as a whole, with a sentence that names the event, if one
 * event of it is missing.
 */
#ifndef PM_CLI_METRICS_METRICS_H
#define PM_CLI_METRICS_METRICS_H

#include <stdbool.h>

struct cli_metrics {
	char *events; /* for PERFMON_EVENTS; NULL if the metrics are constants */
	char *text;   /* the formulas, for PERFMON_METRICS */
};

/*
 * cli_metrics_find() - finds NAMES: "NAME,NAME", of perf's metrics or, behind "@FILE:", of
 * a file's. Runs perf, reads the file, and opens each event on the calling thread. CPUS:
 * the events will count CPUs, so those of a package can be counted. Returns 0, or the
 * exit status after a message of SUBCOMMAND. Free the metrics in either case.
 */
int cli_metrics_find(const char *subcommand, const char *names, bool cpus,
		     struct cli_metrics *metrics);
void cli_metrics_free(struct cli_metrics *metrics);

#endif
