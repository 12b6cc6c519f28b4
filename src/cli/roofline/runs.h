/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two runs of a command: at full speed for times, then by translation for counts. */
#ifndef PM_CLI_ROOFLINE_RUNS_H
#define PM_CLI_ROOFLINE_RUNS_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct roof_runs {
	char *folder;				/* NULL: none */
	char timed[PATH_MAX], counts[PATH_MAX]; /* folders of profiles inside of it */
	off_t input;	   /* where standard input began; -1: it cannot be read twice */
	int status;	   /* of the first run, as waitpid(2) gives it */
	int counts_status; /* and of the second one */
};

/* Makes the folder. Functions that return int return 0, or an exit status after a message. */
int roof_runs_begin(struct roof_runs *runs);
void roof_runs_end(struct roof_runs *runs); /* removes it */

/* Runs COMMAND with this process's input and outputs. */
int roof_run_timed(struct roof_runs *runs, char **command);

/*
 * Runs it under the tool of exact/. What it prints is not shown, but for the last lines on standard
 * error if it ends in another way than the first run. Sets environment variables.
 */
int roof_run_counted(struct roof_runs *runs, char **command);

#endif
