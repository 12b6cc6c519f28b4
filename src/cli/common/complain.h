/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a subcommand ends, and says why. */
#ifndef PM_CLI_COMMON_COMPLAIN_H
#define PM_CLI_COMMON_COMPLAIN_H

#include <stddef.h>

/* Exit statuses: 0, or */
#define CLI_FAILED 1 /* what was asked could not be done */
#define CLI_USAGE  2 /* what was asked makes no sense */

/* "perfmon COMMAND: ..." and a newline, to stderr. */
__attribute__((format(printf, 2, 3))) void cli_complain(const char *command,
							const char *format, ...);

/* A sink of reports: to FILE, a FILE of stdio. */
int cli_print(void *file, const char *text, size_t size);

/* The end of every command that prints: STATUS, or CLI_FAILED if stdout could not take
 * all of it. */
int cli_finish(const char *command, int status);

#endif
