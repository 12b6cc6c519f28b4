/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that belong to the command, in the tree that it was built in or was installed in. */
#ifndef PM_CLI_COMMON_TREE_H
#define PM_CLI_COMMON_TREE_H

#include <limits.h>
#include <stdbool.h>

/* Finds the folder of this command's file. */
bool cli_tree_own(char folder[PATH_MAX]);

/*
 * Finds the folder that was configured as FOLDER in an installed tree, which may be anywhere
 * (DESTDIR): by the way from the folder of commands to FOLDER. OWN is the folder of this command.
 */
bool cli_tree_installed(const char *own, const char *folder, char path[PATH_MAX]);

#endif
