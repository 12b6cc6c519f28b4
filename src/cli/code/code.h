/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of places in the code of programs: what a file of code says of an address, and the name of a
 * region that is made of it. The hooks name constructs by it while a program runs, and the command those
 * whose names were not known then. One thread at a time.
 */
#ifndef PM_CLI_CODE_CODE_H
#define PM_CLI_CODE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/code/elf.h"

/* Describes a place in the code as far as it is known. */
struct pm_code {
	char *symbol;	 /* free(3) it; NULL: not known */
	uint64_t inside; /* how far behind the symbol's begin it is */
	unsigned int line;
};

/* A file of code, with its debug information wherever that is. */
struct pm_code_file;

/* Opens the file at PATH, as one that is loaded at BASE. NULL: it cannot be read, or libdw is missing. */
struct pm_code_file *pm_code_open(const char *path, uint64_t base);
void pm_code_close(struct pm_code_file *file); /* NULL is accepted */

/* Writes the build id of FILE, "" if it has none. */
void pm_code_build_id(const struct pm_code_file *file, char text[PM_CODE_BUILD_ID]);

/* Sets in CODE, which is all 0, what FILE says of the code at ADDRESS. */
void pm_code_look_up(const struct pm_code_file *file, uint64_t address,
		     struct pm_code *code);

/*
 * Writes the name of CODE, whose symbol is known, to NAME, of SIZE bytes (64 or more). It is the KIND
 * ("parallel") of a function: "solve:27 (parallel)" with its line; else, of a function that the compiler
 * made of a part of another one, "solve (parallel 0)"; else "solve+0x52 (parallel)".
 */
void pm_code_name(const struct pm_code *code, const char *kind, char *name, size_t size);

#endif
