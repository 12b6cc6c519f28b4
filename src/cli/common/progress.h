/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A bar on standard error for what takes a while, if that is a terminal; else nothing. */
#ifndef PM_CLI_COMMON_PROGRESS_H
#define PM_CLI_COMMON_PROGRESS_H

#include <stddef.h>

/* DONE of ALL are done; what they are is NOUN. Draws at most ten times a second, and
 * nothing before a quarter of one has gone by. */
void cli_progress(size_t done, size_t all, const char *noun);

/* Takes the bar away, before anything else is written. */
void cli_progress_end(void);

#endif
