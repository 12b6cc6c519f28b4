/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The calls of programs that clang has compiled, to its own OpenMP library (kmp.h of LLVM). A process has
 * one such library: it refuses a second.
 */
#ifndef PERFMON_HOOKS_OPENMP_KMP_H
#define PERFMON_HOOKS_OPENMP_KMP_H

#include <stdint.h>

#include "hooks/common/original.h"

struct kmp_location {
	int32_t reserved[4];
	const char *source; /* ";file;function;line;column;;" */
};

/* The names of the library as a file; the last is NULL. */
extern const char *const kmp_libraries[];

/* Defines ORIGINAL, the function of this name in the OpenMP library. */
#define KMP_ORIGINAL(name)                                                               \
	static void *found;                                                              \
	__typeof__(name) *original = (__typeof__(name) *)original_once(                  \
		&found, __builtin_return_address(0), #name, kmp_libraries)

#endif
