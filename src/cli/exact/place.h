/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where programs and the tool are. */
#ifndef PM_CLI_EXACT_PLACE_H
#define PM_CLI_EXACT_PLACE_H

#include <limits.h>
#include <stdbool.h>

/* The file that execvp(3) executes for NAME. 0 or a negative errno. */
int exact_find_program(const char *name, char path[PATH_MAX]);

/* The folder with the tool for this CPU: PERFMON_EXACT_DIR alone if it is set, or of the
 * tree that this command was built in, or of the place that it is installed in. */
bool exact_find_tool(char path[PATH_MAX]);

#endif
