/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmon stat:
 *
 *   stat.c          order of the steps
 *   options.c       options
 *   child.c         the command: fork, exec, signals, wait
 *   events.c        the events
 *   place.c         the CPUs and their groups
 *   cell.c          sums of readings
 *   count.c         sessions and their readings
 *   derive.c        ratios of counts; notes
 *   text.c, data.c  the table; CSV and JSON (formats.h)
 */
#ifndef PM_CLI_STAT_STAT_H
#define PM_CLI_STAT_STAT_H

/* perfmon stat. Takes its own name as argv[0] and returns the exit status. */
int cli_stat(int argc, char **argv);

#endif
