/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PM_CLI_RUN_RUN_H
#define PM_CLI_RUN_RUN_H

/* perfmon run. Takes its own name as argv[0] and returns the exit status. */
int cli_run(int argc, char **argv);

#endif
