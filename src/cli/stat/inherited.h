/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmon stat changes some of what a command inherits, for itself alone. */
#ifndef PM_CLI_STAT_INHERITED_H
#define PM_CLI_STAT_INHERITED_H

#include <stdbool.h>

/* Ignores signals for writing, which must not replace the command's exit status. Raises the limit of
 * descriptors to the maximum: each event needs one on each CPU. */
void stat_inherited_begin(void);

/* Gives a command the effects of signals and the limit from before. For struct cli_child_how. */
void stat_inherited_undo(void);

/*
 * Makes each run read standard input from the same place. Call it before the first run,
 * and stat_input_again() before each later one. Returns false if the input is a pipe or a
 * socket.
 */
bool stat_input_begin(void);
void stat_input_again(void);

#endif
