/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions of a program without regions: what the Valgrind tool of exact/ has counted in
 * them, as profiles and reports like those of regions.
 *
 * Each process leaves the tree of its calls in a file of a folder. In a profile, the node
 * "(program)" of each thread has what no chosen function has, so that the exclusive values of
 * a profile are what the process counted, to the instruction.
 */
#ifndef PM_CLI_FUNCTIONS_FUNCTIONS_H
#define PM_CLI_FUNCTIONS_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/common/common.h"
#include "cli/exact/exact.h"

struct pm_snapshot;

/* The user asks for these functions. All zero: none. */
struct cli_functions {
	const char **names; /* patterns of --function */
	uint32_t name_count;
	bool all;	  /* --functions */
	double share;	  /* of --functions: the least part of the first event */
	const char *like; /* of --functions=@FILE: the profile whose functions they are */
	struct pm_snapshot *model; /* that profile */
	char *folder;		   /* of the trees, or NULL */
	uint64_t begin_ns, begin_realtime_ns;
};

/* Describes a command that has ended. */
struct cli_functions_run {
	pid_t pid;
	char **command;
	const struct cli_exact_events *events;
	bool has_profile; /* the program's regions have left one */
};

/* For options: add a name to the struct cli_functions in TO, and set its share. */
int cli_functions_take_name(const char *command, const struct cli_option *option,
			    const char *text);
int cli_functions_take_share(const char *command, const struct cli_option *option,
			     const char *text);

/* Returns whether any function is to be counted. */
bool cli_functions_wanted(const struct cli_functions *functions);

/* Makes the folder of the trees. The program's regions, if it has any, get their profile in a
 * place beside that of functions. Returns 0, or CLI_FAILED after a message. */
int cli_functions_begin(struct cli_functions *functions);

/*
 * Writes the profiles and the reports, where PROFILE (in the form of PERFMON_PROFILE; NULL: nowhere)
 * and the environment say, when the command has ended. Without chosen functions it is one profile of
 * all processes, unless the program's regions have left one. Returns 0, or CLI_FAILED after a message:
 * a name means no function, or there are no counts.
 */
int cli_functions_end(const struct cli_functions *functions,
		      const struct cli_functions_run *run, const char *profile);

/* Removes the folder. */
void cli_functions_free(struct cli_functions *functions);

#endif
