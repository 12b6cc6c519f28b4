/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds programs and the tool. */
#ifndef PM_CLI_EXACT_PLACE_H
#define PM_CLI_EXACT_PLACE_H

#include <limits.h>
#include <stdbool.h>

/* Finds the file that execvp(3) executes for NAME. Returns 0 or a negative errno. */
int exact_find_program(const char *name, char path[PATH_MAX]);

/* Finds the folder with the tool for this CPU: PERFMON_EXACT_DIR if it is set, else in
 * the tree that this command was built in, else in the place of the installation. */
bool exact_find_tool(char path[PATH_MAX]);

#endif
