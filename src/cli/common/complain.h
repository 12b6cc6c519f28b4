/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Error messages and exit statuses of subcommands. */
#ifndef PM_CLI_COMMON_COMPLAIN_H
#define PM_CLI_COMMON_COMPLAIN_H

#include <stddef.h>

/* Exit statuses: 0, or one of these. */
#define CLI_FAILED 1 /* the request could not be fulfilled */
#define CLI_USAGE  2 /* the request makes no sense */

/* Prints "perfmon COMMAND: ..." and a newline to stderr. */
__attribute__((format(printf, 2, 3))) void cli_complain(const char *command,
							const char *format, ...);

/* Prints such a message. Returns STATUS. */
#define cli_fail(status, ...) (cli_complain(__VA_ARGS__), (status))

/* Prints that there is no memory. Returns CLI_FAILED. */
int cli_no_memory(const char *command);

/* Where the notes about a result go. */
struct cli_notes {
	void (*take)(void *argument, const char *note);
	void *argument;
};

/* Makes a note. */
__attribute__((format(printf, 2, 3))) void cli_note(const struct cli_notes *to,
						    const char *format, ...);

/* A sink of reports. FILE is a FILE of stdio. */
int cli_print(void *file, const char *text, size_t size);

/* Ends a command that prints. Returns STATUS, or CLI_FAILED if stdout could not take all
 * of the output. */
int cli_finish(const char *command, int status);

#endif
