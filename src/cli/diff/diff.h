/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmon diff compares the profiles of two sides and finds changes beyond chance. */
#ifndef PM_CLI_DIFF_DIFF_H
#define PM_CLI_DIFF_DIFF_H

/* perfmon diff. Takes its own name as argv[0] and returns the exit status. */
int cli_diff(int argc, char **argv);

#endif
