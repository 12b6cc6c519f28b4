/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hooks/common/original.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* Returns the address where the module of ADDRESS begins, or NULL. */
static const void *base_of(const void *address)
{
	Dl_info info;

	return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* Looks NAME up in the library FILE and its libraries, if FILE is loaded. */
static void *find_in(const char *file, const char *name)
{
	void *handle = dlopen(file, RTLD_LAZY | RTLD_NOLOAD), *found;

	if (!handle)
		return NULL;
	found = dlsym(handle, name);
	dlclose(handle);
	/* A program may be linked with the hook. */
	return base_of(found) == base_of((const void *)find_in) ? NULL : found;
}

void *original_find(const void *caller, const char *name, const char *const *libraries)
{
	int before = errno;
	void *found;
	Dl_info info;

	/* In the order of the loader. */
	found = dlsym(RTLD_NEXT, name);
	if (!found && dladdr(caller, &info) && info.dli_fname && *info.dli_fname)
		found = find_in(info.dli_fname, name);
	while (!found && *libraries)
		found = find_in(*libraries++, name);
	dlerror();
	errno = before;
	return found;
}

void original_is_missing(const char *name)
{
	fprintf(stderr,
		"perfmon: cannot find %s() in any library of this program: run it "
		"without "
		"--hooks\n",
		name);
	abort();
}

void *original_once(void **kept, const void *caller, const char *name,
		    const char *const *libraries)
{
	void *found = __atomic_load_n(kept, __ATOMIC_RELAXED);

	if (__builtin_expect(!found, 0)) {
		found = original_find(caller, name, libraries);
		if (!found)
			original_is_missing(name);
		__atomic_store_n(kept, found, __ATOMIC_RELAXED);
	}
	return found;
}
