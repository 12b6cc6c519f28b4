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

/* Returns the place of KEY, which may be free. */
static struct pm_pair *place_of(const struct pm_pairs *pairs, uint64_t key)
{
	size_t mask = pairs->room - 1;
	size_t at = (size_t)pm_hash_mix(pm_hash_seed(), key) & mask;

	while (pairs->at[at].key && pairs->at[at].key != key)
		at = (at + 1) & mask;
	return &pairs->at[at];
}

static int grow(struct pm_pairs *pairs)
{
	struct pm_pairs larger = {.room = pairs->room ? 2 * pairs->room : ROOM_FIRST,
				  .count = pairs->count};

	larger.at = calloc(larger.room, sizeof(*larger.at));
	if (!larger.at)
		return -ENOMEM;
	for (size_t i = 0; i < pairs->room; i++)
		if (pairs->at[i].key)
			*place_of(&larger, pairs->at[i].key) = pairs->at[i];
	pm_pairs_free(pairs);
	*pairs = larger;
	return 0;
}

int pm_pairs_get(struct pm_pairs *pairs, uint32_t parent, uint32_t region, uint32_t next,
		 uint32_t *number)
{
	struct pm_pair *pair;

	if (2 * pairs->count >= pairs->room && grow(pairs))
		return -ENOMEM;
	pair = place_of(pairs, key_of(parent, region));
	if (!pair->key) {
		*pair = (struct pm_pair){key_of(parent, region), next};
		pairs->count++;
	}
	*number = pair->number;
	return 0;
}

uint32_t pm_pairs_find(const struct pm_pairs *pairs, uint32_t parent, uint32_t region,
		       uint32_t none)
{
	const struct pm_pair *pair;

	if (!pairs->room)
		return none;
	pair = place_of(pairs, key_of(parent, region));
	return pair->key ? pair->number : none;
}

void pm_pairs_free(struct pm_pairs *pairs)
{
	free(pairs->at);
	memset(pairs, 0, sizeof(*pairs));
}
