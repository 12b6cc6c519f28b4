/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* These functions read in the files of a program whether there are functions that a user names,
 * whether the compiler put them into their callers, and which names are alike. */
#ifndef PM_CLI_FUNCTIONS_CODE_H
#define PM_CLI_FUNCTIONS_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/text/text.h"

struct code_name {
	const char *pattern;
	bool has_code;		   /* a symbol of a function matches */
	bool has_variants;	   /* one of an ifunc matches */
	uint32_t inlined;	   /* places where a function that matches was inlined */
	char inline_name[128];	   /* one of those functions */
	bool inlines_others;	   /* it is not the only one */
	struct pm_suggestion near; /* of the symbols */
};

/* Fills in what the files say. They are COUNT at OBJECTS, the program's last. Without libdw
 * nothing is known. Returns whether it is there. */
bool code_look(char *const *objects, uint32_t count, struct code_name *names,
	       uint32_t name_count);

/* Returns whether the file PATH, or its separate debug information, names functions that are
 * not for other files: a stripped one does not. Without libdw, true. */
bool code_has_local_names(const char *path);

#endif
