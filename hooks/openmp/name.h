/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of functions that the compiler has made of a part of a function. */
#ifndef PERFMON_HOOKS_OPENMP_NAME_H
#define PERFMON_HOOKS_OPENMP_NAME_H

#include <link.h>
#include <perfmon/region.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/code/code.h"

/* Where code is that has no line: MODULE is NULL if there is nothing to find later. */
struct code_origin {
	const struct link_map *module;
	uint64_t offset;
};

/*
 * Writes the name of the function at ADDRESS, which is a KIND ("parallel") of another, to NAME:
 * "solve:27 (parallel)" with the line where its file has lines of code (cc -g), else
 * "solve (parallel 0)" where its file has symbols, else "module+0x1234 (parallel)". An ADDRESS inside of
 * a function is "solve+0x52 (parallel)". Of a name without a line ORIGIN says where the code is. Allocates and reads
 * files.
 */
void code_name(const void *address, const char *kind, char *name, size_t size,
	       struct code_origin *origin);

/* Keeps ORIGIN in the profile, for perfmon report, which may find REGION's name later. */
void code_tell_origin(struct perfmon_region *region, const struct code_origin *origin);

#endif
