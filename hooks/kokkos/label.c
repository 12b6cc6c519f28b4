/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hooks/kokkos/label.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef char *demangle_function(const char *name, char *buffer, size_t *size,
				int *status);

/* Returns whether LABEL may be the linker name of a class: nested, local, or with a length before it.
 * A short one is a label of the program, such as "N" or "Z4". */
static bool may_be_type(const char *label)
{
	return strlen(label) > 4 && strchr("NZS123456789", label[0]) &&
	       !strpbrk(label, " :(<,");
}

char *label_type(const char *label)
{
	/* Of the program's own C++ library: there is one where Kokkos is. */
	demangle_function *demangle =
		(demangle_function *)dlsym(RTLD_DEFAULT, "__cxa_demangle");
	int status = -1;

	return demangle && may_be_type(label) ? demangle(label, NULL, NULL, &status)
					      : NULL;
}
