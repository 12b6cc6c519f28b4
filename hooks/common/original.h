/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions that a hook stands before. */
#ifndef PERFMON_HOOKS_COMMON_ORIGINAL_H
#define PERFMON_HOOKS_COMMON_ORIGINAL_H

/* Exports a function: the hooks are compiled with hidden symbols. */
#define HOOK __attribute__((visibility("default")))

/*
 * Finds the function NAME that the module with the code at CALLER would call without this hook: in
 * the global libraries behind the hook, else in the libraries of this module, which dlopen(3) may
 * have loaded for it alone, else in a library of LIBRARIES, a list that ends with NULL, if that is
 * loaded. Changes neither errno nor what dlerror(3) says. Returns NULL if there is none.
 */
void *original_find(const void *caller, const char *name, const char *const *libraries);

/* As original_find(), once: *KEPT keeps the function, and is NULL before. Threads that do so at the
 * same time find the same. Ends the program if there is none. */
void *original_once(void **kept, const void *caller, const char *name,
		    const char *const *libraries);

/* Ends the program: the function NAME is nowhere, and there is no way to go on. */
__attribute__((noreturn)) void original_is_missing(const char *name);

#endif
