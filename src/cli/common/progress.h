/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A progress bar on standard error, if that is a terminal. */
#ifndef PM_CLI_COMMON_PROGRESS_H
#define PM_CLI_COMMON_PROGRESS_H

#include <stddef.h>

/* Shows that DONE of ALL are done; NOUN names them. Draws at most ten times a second, and
 * not before a quarter of a second has passed. */
void cli_progress(size_t done, size_t all, const char *noun);

/* Removes the bar, before anything else is written. */
void cli_progress_end(void);

#endif
