/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a command under the Valgrind tool of exact/, which counts while it translates: the
 * tool's events, its place, and the command line.
 *
 * Anything that would make Valgrind refuse the command is reported here first, with
 * advice.
 */
#ifndef PM_CLI_EXACT_EXACT_H
#define PM_CLI_EXACT_EXACT_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/exact.h"

/* Events of the tool, each once, in the order of the request. */
struct cli_exact_events {
	enum pm_exact_event event[PM_EXACT_EVENT_COUNT];
	uint32_t count;
};

/* Returns "instructions", for example. */
const char *cli_exact_name(enum pm_exact_event event);

/* Returns "exact::instructions", for example. */
const char *cli_exact_label(enum pm_exact_event event);

/* Returns whether Valgrind and the tool for this CPU are installed. */
bool cli_exact_is_there(void);

/* Parses TEXT; NULL, "" and "auto" mean instructions. Returns 0, or CLI_USAGE after a
 * message of SUBCOMMAND about an event that the tool does not count. */
int cli_exact_parse(const char *subcommand, const char *text,
		    struct cli_exact_events *events);

/* Returns what NAME, one of the functions above, says of each event, separated by commas, or NULL. free(3)
 * it. */
char *cli_exact_list(const struct cli_exact_events *events,
		     const char *(*name)(enum pm_exact_event event));

/* The tool leaves these files of each process. All zero: none, as counts are the program's. */
struct cli_exact_files {
	const char *totals; /* the file that gets the totals, or NULL */
	const char *trees;  /* the folder that gets the trees of calls, or NULL */
	const char *const *functions; /* the patterns of functions that the trees have */
	uint32_t function_count;
	bool all_functions;
};

/*
 * Makes the words to execute so that COMMAND is counted; NULL: those of COMMAND itself. The caller
 * frees *LINE with one free(3): the words are inside of it, or of COMMAND. Sets environment
 * variables. Returns 0, or the exit status after a message of SUBCOMMAND.
 */
int cli_exact_start(const char *subcommand, const struct cli_exact_events *events,
		    const struct cli_exact_files *files, char **command, char ***line);

/* Returns whether the tool runs this process, as below `perfmon run --exact mpirun`. Then its
 * programs are counted already. */
bool cli_exact_is_running(void);

#endif
