/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A command whose profile is wanted: it is waited for, to say so if there is none. */
#ifndef PM_CLI_RUN_WATCH_H
#define PM_CLI_RUN_WATCH_H

/* Runs COMMAND, which people call NAME, as a child, to which signals are passed on, and says if no file has come to
 * PROFILE, a path as PERFMON_PROFILE has it. The exit status; ends by the signal that ended
 * the command. -errno: it could not be run. */
int run_and_watch(const char *profile, const char *name, char **command);

#endif
