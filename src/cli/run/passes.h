/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmon run --passes: runs a command several times, each time with other events, and makes one
 * profile and one report of the runs. */
#ifndef PM_CLI_RUN_PASSES_H
#define PM_CLI_RUN_PASSES_H

/* Returns the path of PROFILE in the existing FOLDER in the form of PERFMON_PROFILE, or NULL without
 * memory. free(3) it. */
char *run_profile_in(const char *folder, const char *profile);

/*
 * run_passes() - runs COMMAND with the EVENTS of -e, and keeps the joined profile in the file PROFILE if
 * that is not NULL. The environment says all else, as for one run. Returns the exit status of the
 * command, or another one after a message. Ends by the signal that ended a run.
 */
int run_passes(const char *events, const char *profile, char **command);

#endif
