/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is known of an address in the code of the program: its region, and the OpenMP library
 * that its module uses. A process may have several such libraries: packages of Python bring
 * their own.
 *
 * A table that only grows. Readers take no lock and wait for nobody.
 */
#ifndef PERFMON_HOOKS_OPENMP_PLACES_H
#define PERFMON_HOOKS_OPENMP_PLACES_H

#include <perfmon/region.h>

#include "hooks/openmp/gomp.h"

enum place_kind {
	PLACE_CALL, /* a call: the region has no name */
	PLACE_PARALLEL,
	PLACE_TASK,
	/* Of clang's library: have no calls of libgomp. */
	PLACE_PARALLEL_KMP,
	PLACE_TASK_KMP,
};

/* What clang's library is told of a place. */
struct place_hint {
	const char *source; /* ";file;function;line;column;;", or NULL */
	const void *caller; /* an address in the function that has the construct */
};

struct place {
	const void *address;
	const struct gomp *gomp;
	struct perfmon_region region;
};

/* Returns the place of ADDRESS, a function or a return address. KIND is the same in all
 * calls for an address. HINT is NULL, but for clang's library. The first call for an address allocates and reads files. */
struct place *place_of(const void *address, enum place_kind kind,
		       const struct place_hint *hint);

#endif
