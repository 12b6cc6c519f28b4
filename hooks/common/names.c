/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hooks/common/names.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LISTS 4096u

struct named {
	struct perfmon_region region;
	struct named *next;
	char text[];
};

/*
 * table | written by | order
 * a list: whoever has a new name, which comes first | released; readers acquire, and see it whole
 */
static struct named *lists[LISTS];

static struct named **list_of(const char *text)
{
	uint32_t hash = 2166136261u;

	while (*text)
		hash = (hash ^ (unsigned char)*text++) * 16777619u;
	return &lists[(hash ^ hash >> 16) % LISTS];
}

static struct named *find(struct named *named, const char *text)
{
	while (named && strcmp(named->text, text))
		named = named->next;
	return named;
}

static struct named *create(const char *text, readable_name *readable)
{
	size_t size = strlen(text) + 1;
	struct named *named = malloc(sizeof(*named) + size);
	const char *name = named && readable ? readable(text) : NULL;

	if (!named)
		return NULL;
	memcpy(named->text, text, size);
	named->region =
		(struct perfmon_region)PERFMON_REGION_INIT(name ? name : named->text);
	return named;
}

static void discard(struct named *named)
{
	if (named && named->region.name != named->text)
		free((char *)(uintptr_t)named->region.name);
	free(named);
}

struct perfmon_region *region_of(const char *text, readable_name *readable)
{
	struct named **list = list_of(text);
	/* Pairs with the release below. */
	struct named *first = __atomic_load_n(list, __ATOMIC_ACQUIRE), *own = NULL,
		     *found;

	while (!(found = find(first, text))) {
		if (!own && !(own = create(text, readable)))
			return NULL;
		own->next = first;
		if (__atomic_compare_exchange_n(list, &first, own, false,
						__ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
			return &own->region;
	}
	/* Another thread was faster. */
	discard(own);
	return &found->region;
}
