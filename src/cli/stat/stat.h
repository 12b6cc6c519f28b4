/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmon stat.
 *
 *	stat.c		what is done in which order
 *	options.c	options
 *	child.c		the command: fork, exec, signals, wait
 *	events.c	what is counted
 *	place.c		on which CPUs, and how they add up
 *	cell.c		what readings add up to
 *	count.c		sessions, and what they read
 *	derive.c	what counts say together; notes
 *	text.c, data.c	the table for people; CSV and JSON (formats.h)
 */
#ifndef PM_CLI_STAT_STAT_H
#define PM_CLI_STAT_STAT_H

/* perfmon stat. Takes its own name as argv[0] and returns the exit status. */
int cli_stat(int argc, char **argv);

#endif
