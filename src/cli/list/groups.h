/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PM_CLI_LIST_GROUPS_H
#define PM_CLI_LIST_GROUPS_H

/* perfmon list groups: prints the groups of this machine, and of what --exact counts.
 * Returns an exit status. */
int cli_list_groups(void);

#endif
