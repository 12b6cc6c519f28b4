/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a command and checks that it leaves a profile. */
#ifndef PM_CLI_RUN_WATCH_H
#define PM_CLI_RUN_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

/* Called when the command, the process PID, has ended. HAS_PROFILE: a file has come to the place of
 * the profile. Returns 0, or an exit status in place of the command's if that is 0. */
typedef int run_ended(void *argument, pid_t pid, bool has_profile);

/*
 * Runs COMMAND, called NAME in messages, as a child, and passes signals on to it. Calls ENDED
 * with ARGUMENT behind it, or if that is NULL prints a message if no file has come to PROFILE, a path
 * in the form of PERFMON_PROFILE (may be NULL). Returns the exit status, or -errno if the command
 * could not be run. Ends by the signal that ended the command.
 */
int run_and_watch(const char *profile, const char *name, char **command, run_ended *ended,
		  void *argument);

#endif
