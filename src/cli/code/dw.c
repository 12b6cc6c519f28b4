/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/code/dw.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "cli/code/elf.h"

bool pm_dw_load_cxx(void)
{
	/* Its names are found by all. */
	return dlopen("libstdc++.so.6", RTLD_NOW | RTLD_GLOBAL);
}

char *pm_dw_written(const char *symbol)
{
	char *(*demangle)(const char *, char *, size_t *, int *);

	if (strncmp(symbol, "_Z", 2) != 0)
		return NULL;
	*(void **)&demangle = dlsym(RTLD_DEFAULT, "__cxa_demangle");
	return demangle ? demangle(symbol, NULL, NULL, NULL) : NULL;
}

#ifdef HAVE_LIBDWFL
const struct pm_dw *pm_dw_load(void)
{
	static struct pm_dw calls;
	static bool tried, whole;
	void *library;

	if (tried)
		return whole ? &calls : NULL;
	tried = true;
	library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
	whole = library;
#define FIND(name)                                                                       \
	if (whole) {                                                                     \
		*(void **)&calls.name = dlsym(library, #name);                           \
		whole = calls.name;                                                      \
	}
	PM_DW_CALLS(FIND)
#undef FIND
	return whole ? &calls : NULL;
}

/* If it finds nothing, the standard search loads the client of debuginfod, with libraries for TLS and
 * Kerberos. That takes longer than all else here. */
static int find_debug(Dwfl_Module *module, void **argument, const char *name,
		      Dwarf_Addr base, const char *file, const char *link, GElf_Word sum,
		      char **found)
{
	const struct pm_dw *dw = pm_dw_load();
	int fd = dw->dwfl_build_id_find_debuginfo(module, argument, name, base, file,
						  link, sum, found);
	const char *servers = getenv("DEBUGINFOD_URLS");

	if (fd >= 0 || (servers && *servers) || !pm_elf_has_link(file, link))
		return fd;
	return dw->dwfl_standard_find_debuginfo(module, argument, name, base, file, link,
						sum, found);
}

Dwfl *pm_dw_begin(const struct pm_dw *dw)
{
	static Dwfl_Callbacks callbacks = {.find_debuginfo = find_debug};

	callbacks.section_address = dw->dwfl_offline_section_address;
	return dw->dwfl_begin(&callbacks);
}
#endif
