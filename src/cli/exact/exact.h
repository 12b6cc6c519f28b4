/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A command that runs under the tool of exact/, which counts while it translates: which
 * events that counts, where it is installed, and the command line that starts it.
 *
 * Uses arch/ for what the tool counts.
 *
 * Must hold: whatever would make Valgrind refuse the command is said here first, in a
 * sentence that names what to do.
 */
#ifndef PM_CLI_EXACT_EXACT_H
#define PM_CLI_EXACT_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/exact.h"

/* Events of the tool, each once, in the order in which they were asked for. */
struct cli_exact_events {
	enum pm_exact_event event[PM_EXACT_EVENT_COUNT];
	uint32_t count;
};

/* "instructions" */
const char *cli_exact_name(enum pm_exact_event event);

/* "exact::instructions" */
const char *cli_exact_label(enum pm_exact_event event);

/* Whether Valgrind and the tool for this CPU are installed. */
bool cli_exact_is_there(void);

/* What TEXT asks for; NULL, "" or "auto": instructions. 0, or CLI_USAGE: SUBCOMMAND has
 * complained of what the tool does not count. */
int cli_exact_parse(const char *subcommand, const char *text,
		    struct cli_exact_events *events);

/* The names with PREFIX before each, separated by commas, or NULL: free(3) it. */
char *cli_exact_list(const struct cli_exact_events *events, const char *prefix);

/*
 * The words to execute so that COMMAND is counted, in *LINE, which the caller frees by one
 * free(3) (they point into it, and to COMMAND). TOTALS is the file that gets each process's totals, or
 * NULL. Sets variables of the environment. 0; or the status to end with, and SUBCOMMAND
 * has complained.
 */
int cli_exact_start(const char *subcommand, const struct cli_exact_events *events,
		    const char *totals, char **command, char ***line);

#endif
