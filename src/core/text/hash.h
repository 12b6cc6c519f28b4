/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hashes for tables of foreign data. Without the seed nobody can choose keys that
 * collide. */
#ifndef PM_TEXT_HASH_H
#define PM_TEXT_HASH_H

#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

/* Returns the seed, which is the same in all of a process. */
static inline uint64_t pm_hash_seed(void)
{
	const void *random = (const void *)(uintptr_t)getauxval(AT_RANDOM);
	uint64_t seed = UINT64_C(14695981039346656037);

	/* The C library uses the other half of the sixteen bytes as its secret. */
	if (random)
		memcpy(&seed, (const char *)random + 8, sizeof(seed));
	return seed;
}

static inline uint64_t pm_hash_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

static inline uint64_t pm_hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = pm_hash_mix(hash, (unsigned char)*text);
	return hash;
}

#endif
