/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Libraries that few programs need, and that cost more to load than all else that this one
 * does at its start. The shared library loads them when they are needed. The archive is
 * linked with them: a program that is wholly static cannot load.
 *
 * One file uses each of them, by a table of the functions that it calls:
 *
 *	#define FUNCTIONS(X) X(pfm_initialize) X(pfm_find_event)
 *	PM_LIBRARY(lib, FUNCTIONS, PM_LOCK_EVENTS, PFM_SONAME, "libpfm4");
 *	...
 *	if (!pm_library_need(&lib_library))
 *		lib.pfm_initialize();
 */
#ifndef PM_KERNEL_LIBRARY_H
#define PM_KERNEL_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/text/diag.h"
#include "core/kernel/locks.h"

struct pm_library {
	const char *soname; /* NULL: it is linked */
	const char *package;
	const char *const *names;
	size_t count;
	void *functions;	/* COUNT addresses */
	enum pm_lock_name lock; /* guards FUNCTIONS and what follows */
	bool tried;
	struct pm_diag refused; /* does not change any more */
};

/* No library has so many. */
#define PM_LIBRARY_FUNCTIONS 64

#define PM_LIBRARY_MEMBER(name)	 __typeof__(&name) name;
#define PM_LIBRARY_NAME(name)	 #name,
#define PM_LIBRARY_ADDRESS(name) .name = name,

#define PM_LIBRARY_LOADED(table, list, its_lock, its_soname, its_package)                \
	static struct {                                                                  \
		list(PM_LIBRARY_MEMBER)                                                  \
	} table;                                                                         \
	static const char *const table##_names[] = {list(PM_LIBRARY_NAME)};              \
	_Static_assert(sizeof(table) == sizeof(table##_names) &&                         \
			       sizeof(table) <= PM_LIBRARY_FUNCTIONS * sizeof(void *),   \
		       "functions have addresses");                                      \
	static struct pm_library table##_library = {.soname = its_soname,                \
						    .package = its_package,              \
						    .names = table##_names,              \
						    .count = sizeof(table##_names) /     \
							     sizeof(table##_names[0]),   \
						    .functions = &table,                 \
						    .lock = its_lock}

#define PM_LIBRARY_LINKED(table, list)                                                   \
	static const struct {                                                            \
		list(PM_LIBRARY_MEMBER)                                                  \
	} table = {list(PM_LIBRARY_ADDRESS)};                                            \
	static struct pm_library table##_library

/*
 * pm_library_need() - loads LIBRARY unless that is done or was tried: 0, or -ELIBACC if it
 * is not here or lacks a function; LIBRARY->refused says so then.
 *
 * It takes the loader's lock, and the constructors of a plugin that another thread is
 * loading may wait for locks of ours: the first call is to be made with none of them held.
 * Allocates; not in a signal handler.
 */
int pm_library_need(struct pm_library *library);

/*
 * Tells who makes packages that the library loads SONAME: a note in the file, as
 * uapi-group.org/specifications/specs/elf_dlopen_metadata has it. FEATURE and DESCRIPTION,
 * literals as SONAME, say what for.
 */
#define PM_LIBRARY_JSON(soname, feature, description)                                    \
	"[{\"soname\":[\"" soname "\"],\"feature\":\"" feature                           \
	"\",\"description\":\"" description "\",\"priority\":\"recommended\"}]"
#define PM_LIBRARY_NOTE(name, soname, feature, description)                              \
	static const struct {                                                            \
		unsigned int owner_size, text_size, type;                                \
		char owner[4];                                                           \
		char text[(sizeof(PM_LIBRARY_JSON(soname, feature, description)) + 3) &  \
			  ~(size_t)3];                                                   \
	} name __attribute__((used, aligned(4), section(".note.dlopen"))) = {            \
		4, sizeof(name.text), 0x407c0c0a, "FDO",                                 \
		PM_LIBRARY_JSON(soname, feature, description)}

#endif
