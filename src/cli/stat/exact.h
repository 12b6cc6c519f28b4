/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmon stat --exact: what the tool of exact/ counts in a command, and in all that it
 * creates. */
#ifndef PM_CLI_STAT_EXACT_H
#define PM_CLI_STAT_EXACT_H

#include "cli/exact/exact.h"
#include "cli/stat/count.h"

struct stat_exact {
	struct cli_exact_events events;
	struct pm_event event[PM_EXACT_EVENT_COUNT]; /* ... as others are described */
	char *folder, *path; /* of the file that gets each process's totals */
	int fd;		     /* of that file, whatever the command does to its name */
	char **line;	     /* what to execute */
	uint32_t lost_runs;  /* whose first process left no totals */
	bool unknown; /* a process ended at an instruction that Valgrind does not know */
};

/* Finds out what TEXT (NULL: instructions) means, and how to count it in COMMAND. 0, or
 * the status to end with; it has complained. Free it in any case. */
int stat_exact_init(struct stat_exact *exact, struct stat_counting *counting,
		    const char *text, char **command);
void stat_exact_free(struct stat_exact *exact);

/* Before a run: no process has left totals. 0; a negative errno with the sentence in the
 * counting's diag. */
int stat_exact_begin(struct stat_exact *exact, struct stat_counting *counting);

/* Adds to CELLS what a run counted whose first process was PID. 0; a negative errno with the
 * sentence in the counting's diag. */
int stat_exact_read(struct stat_exact *exact, struct stat_counting *counting, pid_t pid,
		    struct stat_cell *cells);

/* After the last run: the file is removed. */
void stat_exact_end(struct stat_exact *exact);

#endif
