/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of functions that the compiler has made of a part of a function. */
#ifndef PERFMON_HOOKS_OPENMP_NAME_H
#define PERFMON_HOOKS_OPENMP_NAME_H

#include <stddef.h>

/*
 * Writes the name of the function at ADDRESS, which is a KIND ("parallel") of another, to NAME:
 * "solve:27 (parallel)" with the line where its file has lines of code (cc -g), else
 * "solve (parallel 0)" where its file has symbols, else "module+0x1234 (parallel)". An ADDRESS inside of
 * a function is "solve+0x52 (parallel)". Allocates and reads
 * files.
 */
void code_name(const void *address, const char *kind, char *name, size_t size);

#endif
