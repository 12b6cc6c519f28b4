/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Libraries that few programs need. Loading one costs more than the whole start of this
 * library. The shared library loads them on demand. The archive is linked with them,
 * because a static program cannot load a library.
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
	enum pm_lock_name lock; /* guards FUNCTIONS and the fields below */
	bool tried;
	struct pm_diag refused; /* never changes again */
};

/* No table has more functions. */
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
 * pm_library_need() - loads LIBRARY, once. Returns 0, or -ELIBACC if it is not installed
 * or lacks a function; LIBRARY->refused then holds the message.
 *
 * It takes the loader's lock. The constructors of a plugin that another thread is loading
 * may wait for our locks. So the caller of the first call must hold none of them.
 * Allocates. Not in a signal handler.
 */
int pm_library_need(struct pm_library *library);

/*
 * Tells packagers that the library loads SONAME, by a note in the file
 * (uapi-group.org/specifications/specs/elf_dlopen_metadata). FEATURE and DESCRIPTION
 * state the purpose. All three are string literals.
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
