/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmon stat --exact: the counts of the Valgrind tool in a command and all that it
 * creates. */
#ifndef PM_CLI_STAT_EXACT_H
#define PM_CLI_STAT_EXACT_H

#include "cli/exact/exact.h"
#include "cli/stat/count.h"

struct stat_exact {
	struct cli_exact_events events;
	struct pm_event event[PM_EXACT_EVENT_COUNT]; /* described as other events are */
	char *folder, *path; /* of the file that gets each process's totals */
	int fd;		     /* of that file, even if the command removes its name */
	char **line;	     /* the words to execute */
	uint32_t lost_runs;  /* runs whose first process left no totals */
	bool unknown; /* a process ended at an instruction that Valgrind does not know */
};

/* Resolves TEXT (NULL: instructions) and prepares counting in COMMAND. Returns 0, or the
 * exit status after a message. Free it in either case. */
int stat_exact_init(struct stat_exact *exact, struct stat_counting *counting,
		    const char *text, char **command);
void stat_exact_free(struct stat_exact *exact);

/* Removes all totals before a run. Returns 0, or a negative errno with a message in the
 * counting's diag. */
int stat_exact_begin(struct stat_exact *exact, struct stat_counting *counting);

/* Adds the counts of a run to CELLS. PID was its first process. Returns 0, or a negative
 * errno with a message in the counting's diag. */
int stat_exact_read(struct stat_exact *exact, struct stat_counting *counting, pid_t pid,
		    struct stat_cell *cells);

/* Removes the file after the last run. */
void stat_exact_end(struct stat_exact *exact);

#endif
