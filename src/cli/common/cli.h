/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the subcommands of perfmon share. */
#ifndef PM_CLI_COMMON_CLI_H
#define PM_CLI_COMMON_CLI_H

struct pm_metrics;

/* Exit statuses: 0, or */
#define CLI_FAILED 1 /* what was asked could not be done */
#define CLI_USAGE  2 /* what was asked makes no sense */

/* Each takes its own name as argv[0] and returns the exit status. */
int cli_diff(int argc, char **argv);
int cli_export(int argc, char **argv);
int cli_info(int argc, char **argv);
int cli_list(int argc, char **argv);
int cli_report(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_stat(int argc, char **argv);
int cli_top(int argc, char **argv);

/* "perfmon COMMAND: ..." and a newline, to stderr. */
__attribute__((format(printf, 2, 3))) void cli_complain(const char *command,
							const char *format, ...);

/* The metrics of an option's TEXT in *METRICS, instead of those of one before: the last
 * one holds, as with other options. 0, or CLI_USAGE and it has complained. */
int cli_metrics_read(const char *command, const char *text, struct pm_metrics **metrics);

/* The end of every command that prints: STATUS, or CLI_FAILED if stdout could not take
 * all of it. */
int cli_finish(const char *command, int status);

#endif
