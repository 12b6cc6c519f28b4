/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a command and checks that it leaves a profile. */
#ifndef PM_CLI_RUN_WATCH_H
#define PM_CLI_RUN_WATCH_H

/*
 * Runs COMMAND, called NAME in messages, as a child, and passes signals on to it. Prints
 * a message if no file has come to PROFILE, a path in the form of PERFMON_PROFILE.
 * Returns the exit status, or -errno if the command could not be run. Ends by the signal
 * that ended the command.
 */
int run_and_watch(const char *profile, const char *name, char **command);

/*
 * watch_run() - runs COMMAND as a child, and passes signals on to it. STANDARD has descriptors
 * for its standard input, output and error, -1: the caller's; NULL: all are. Returns 0 with its
 * STATUS as waitpid(2) gives it; or -errno if it could not be run: -EINTR after a signal of the
 * user's, which watch_interrupt() has.
 */
int watch_run(char **command, const int *standard, int *status);

/* Returns the signal that asked this process to end while commands ran; 0: none. */
int watch_interrupt(void);

/* Ends as a command with this STATUS did: by its signal, or returns its exit status. */
int watch_end_as(int status);

#endif
