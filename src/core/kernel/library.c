/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/kernel/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

/* These functions are missing in a static program and, before glibc 2.34, in a program
 * that is not linked with libdl. */
#pragma weak dlopen
#pragma weak dlsym
#pragma weak dlerror

static int load(const struct pm_library *library, void **functions, struct pm_diag *diag)
{
	/* It is never closed, because a thread may run in it. */
	void *handle = dlopen ? dlopen(library->soname, RTLD_LAZY | RTLD_LOCAL) : NULL;
	bool whole = handle != NULL;
	const char *why;

	for (size_t i = 0; whole && i < library->count; i++) {
		functions[i] = dlsym(handle, library->names[i]);
		whole = functions[i] != NULL;
	}
	if (whole)
		return 0;
	why = dlopen ? dlerror() : "this program is linked statically";
	return pm_diag_set(diag, -ELIBACC, "cannot load %s (%s): install %s",
			   library->soname, why ? why : "no reason is given",
			   library->package);
}

int pm_library_need(struct pm_library *library)
{
	void *functions[PM_LIBRARY_FUNCTIONS];
	struct pm_diag diag = {0};
	bool tried, taken;
	int err;

	if (!library->soname)
		return 0;
	pm_locks_take(library->lock);
	tried = library->tried;
	err = library->refused.error;
	pm_locks_release(library->lock);
	if (tried)
		return err;
	taken = pm_locks_take_load();
	err = load(library, functions, &diag);
	pm_locks_release_load(taken);
	pm_locks_take(library->lock);
	if (!library->tried && !err)
		memcpy(library->functions, functions,
		       library->count * sizeof(*functions));
	if (!library->tried)
		library->refused = diag;
	library->tried = true;
	err = library->refused.error;
	pm_locks_release(library->lock);
	return err;
}
