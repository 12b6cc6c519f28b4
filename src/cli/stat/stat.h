/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PM_CLI_STAT_STAT_H
#define PM_CLI_STAT_STAT_H

/* perfmon stat. Takes its own name as argv[0] and returns the exit status. */
int cli_stat(int argc, char **argv);

#endif
