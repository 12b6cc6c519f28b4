/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmon stat:
 *
 *   stat.c          order of the steps; what the command inherits
 *   options.c       options
 *   cell.c          the events, and the sums of their readings
 *   count.c         sessions, CPUs, and their readings
 *   exact.c         --exact: the totals of the Valgrind tool
 *   packages.c      events of packages
 *   derive.c        rows with ratios of counts; notes
 *   metric.c        metrics by name and of groups
 *   text.c, data.c  the table; CSV and JSON
 */
#ifndef PM_CLI_STAT_STAT_H
#define PM_CLI_STAT_STAT_H

/* perfmon stat. Takes its own name as argv[0] and returns the exit status. */
int cli_stat(int argc, char **argv);

#endif
