/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* These functions tell the user about the names that were given. */
#ifndef PM_CLI_FUNCTIONS_NAMES_H
#define PM_CLI_FUNCTIONS_NAMES_H

#include "cli/functions/functions.h"
#include "cli/functions/trees.h"

struct names {
	char **notes; /* sentences for reports */
	uint32_t note_count;
};

/*
 * Looks at the names of FUNCTIONS. Prints a message for each that means no function, whose
 * functions were not called, or were inlined everywhere. Returns 0, or CLI_FAILED if a name means
 * no function with code. Without memory there are fewer notes.
 */
int names_look(const struct cli_functions *functions, const struct trees *trees,
	       struct names *names);
void names_free(struct names *names);

#endif
