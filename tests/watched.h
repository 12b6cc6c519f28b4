/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Variables whose writes a hardware breakpoint counts, the same on every machine. */
#ifndef TESTS_WATCHED_H
#define TESTS_WATCHED_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#include "breakpoints.h"

static volatile uint64_t watched[4] __attribute__((aligned(64)));

/* Returns the event that counts writes to variable I. */
static inline const char *watch_event(unsigned int i)
{
	static char text[4][64];

	snprintf(text[i], sizeof(text[i]), "mem:0x%" PRIxPTR "/8:w",
		 (uintptr_t)&watched[i]);
	return text[i];
}

/* Writes to variable I that often, one store each, even if several threads touch the same
 * variable. */
static inline void touch(unsigned int i, unsigned int times)
{
	while (times--)
		__atomic_store_n(&watched[i],
				 __atomic_load_n(&watched[i], __ATOMIC_RELAXED) + 1,
				 __ATOMIC_RELAXED);
}

#endif
