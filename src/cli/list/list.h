/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PM_CLI_LIST_LIST_H
#define PM_CLI_LIST_LIST_H

/* perfmon list. Takes its own name as argv[0] and returns the exit status. */
int cli_list(int argc, char **argv);

/* perfmon list groups: prints the groups of this machine, and of what --exact counts.
 * Returns an exit status. */
int cli_list_groups(void);

#endif
