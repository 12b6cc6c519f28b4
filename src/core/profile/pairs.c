/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/profile/pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/hash.h"

#define ROOM_FIRST 256

static uint64_t key_of(uint32_t parent, uint32_t region)
{
	return (uint64_t)parent << 32 | region;
}

static size_t index_of(const struct pm_pairs *pairs, uint64_t key)
{
	size_t mask = pairs->room - 1;
	size_t at = (size_t)pm_hash_mix(pm_hash_seed(), key) & mask;

	while (pairs->keys[at] && pairs->keys[at] != key)
		at = (at + 1) & mask;
	return at;
}

static int grow(struct pm_pairs *pairs)
{
	struct pm_pairs larger = {.room = pairs->room ? 2 * pairs->room : ROOM_FIRST,
				  .count = pairs->count};

	larger.keys = calloc(larger.room, sizeof(*larger.keys));
	larger.numbers = malloc(larger.room * sizeof(*larger.numbers));
	if (!larger.keys || !larger.numbers) {
		pm_pairs_free(&larger);
		return -ENOMEM;
	}
	for (size_t i = 0; i < pairs->room; i++) {
		size_t at;

		if (!pairs->keys[i])
			continue;
		at = index_of(&larger, pairs->keys[i]);
		larger.keys[at] = pairs->keys[i];
		larger.numbers[at] = pairs->numbers[i];
	}
	pm_pairs_free(pairs);
	*pairs = larger;
	return 0;
}

int pm_pairs_get(struct pm_pairs *pairs, uint32_t parent, uint32_t region, uint32_t next,
		 uint32_t *number)
{
	size_t at;
	int err;

	if (2 * pairs->count >= pairs->room) {
		err = grow(pairs);
		if (err)
			return err;
	}
	at = index_of(pairs, key_of(parent, region));
	if (!pairs->keys[at]) {
		pairs->keys[at] = key_of(parent, region);
		pairs->numbers[at] = next;
		pairs->count++;
	}
	*number = pairs->numbers[at];
	return 0;
}

uint32_t pm_pairs_find(const struct pm_pairs *pairs, uint32_t parent, uint32_t region,
		       uint32_t none)
{
	size_t at;

	if (!pairs->room)
		return none;
	at = index_of(pairs, key_of(parent, region));
	return pairs->keys[at] ? pairs->numbers[at] : none;
}

void pm_pairs_free(struct pm_pairs *pairs)
{
	free(pairs->keys);
	free(pairs->numbers);
	memset(pairs, 0, sizeof(*pairs));
}
