/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A command that runs as a child, and how it ended. */
#ifndef PM_CLI_COMMON_CHILD_H
#define PM_CLI_COMMON_CHILD_H

#include <sys/types.h>

/*
 * cli_child_run() - runs COMMAND as a child, and passes signals on to it. STANDARD has descriptors
 * for its standard input, output and error, -1: the caller's; NULL: all are. Returns 0 with its
 * STATUS as waitpid(2) gives it; or -errno if it could not be run: -EINTR after a signal of the
 * user's, which cli_child_interrupt() has.
 */
int cli_child_run(char **command, const int *standard, int *status);

/* Returns the process ID of the command that ran last. */
pid_t cli_child_pid(void);

/* Returns the signal that asked this process to end while commands ran; 0: none. */
int cli_child_interrupt(void);

/* Passes no more signals on: they end this process, and one that came while commands ran does so at
 * once. */
void cli_child_signals_end(void);

/* Ends as a command with this STATUS did: by its signal, or returns its exit status. */
int cli_child_end_as(int status);

#endif
