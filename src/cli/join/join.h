/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Profiles of several runs of a program as one: reads those of a run, joins their counts to the times of
 * another one, and writes the result as a profile, which all subcommands take.
 */
#ifndef PM_CLI_JOIN_JOIN_H
#define PM_CLI_JOIN_JOIN_H

#include <stddef.h>

#include "cli/common/common.h"
#include "core/report/merge/join.h"

/* The profiles of runs, as options name them: each a file or a directory of one run's processes. */
struct cli_counts {
	const char *command; /* for messages */
	size_t count;
	const char **paths;
};

/* Functions that return int return 0, or an exit status after a message. */

/* For options: adds a path to the struct cli_counts in TO. */
int cli_take_counts(const char *command, const struct cli_option *option,
		    const char *text);
void cli_counts_free(struct cli_counts *counts);

/* Joins all COUNTS to TIMED. */
int cli_counts_join(const struct cli_counts *counts, struct pm_snapshot *timed);

/* Merges the profiles of the run at PATH, a file or a directory. The caller frees *OUT with
 * pm_merge_free(). */
int cli_join_read(const char *command, const char *path, struct pm_merge **out);

/* Joins the counts of such a RUN to TIMED. */
int cli_join_add(const char *command, const char *path, const struct pm_join_run *run,
		 struct pm_snapshot *timed);

/* Writes SNAPSHOT as a profile to the file at PATH, which replaces an older one when it is complete. The
 * steps of paths are not in it, and a message says so. */
int cli_join_write(const char *command, const struct pm_snapshot *snapshot,
		   const char *path);

#endif
