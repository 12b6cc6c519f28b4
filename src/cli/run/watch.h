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

#endif
