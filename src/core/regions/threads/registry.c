/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/regions/threads/registry.h"

#include <errno.h>
#include <stdbool.h> /* urcu/flavor.h of 0.15 uses bool and does not include it */
#include <string.h>
#include <urcu/flavor.h>
#include <urcu/rculfhash.h>

#include "core/regions/threads/state.h"
#include "fastpath/fastpath.h"

/*
 * liburcu's table maps eight bits of a name's hash to a tree, and the tree grows with its
 * names. The table does not grow: each bucket costs each program 60 ns at its first
 * region, and growing calls malloc, starts threads and aborts without memory.
 */
#define TREES_LOG2 8
#define TREES	   (1UL << TREES_LOG2)

/* Each level of a tree takes the next bits of the hash. */
#define CHILDREN_LOG2 2

struct entry {
	struct entry *child[1 << CHILDREN_LOG2];
	struct perfmon_region region;
	const struct pm_registry_code *code; /* NULL: nobody has said it */
	char name[];
};

struct tree {
	struct cds_lfht_node node;
	unsigned long number;
	struct entry *top; /* never NULL once the tree is in the table */
};

/*
 * Readers of the table need no read-side critical section: no entry is ever removed and
 * the table never resizes, so there is no grace period. This flavour does nothing. None
 * of liburcu's own is used: their locks belong to the program, which takes them around
 * fork(2) if it uses that flavour, and they do not nest.
 */
static void nothing(void)
{
}

static const struct rcu_flavor_struct forever = {
	.read_lock = nothing,
	.read_unlock = nothing,
	.update_synchronize_rcu = nothing,
};

static struct cds_lfht *trees;
static uint32_t count;

/* The entries by their ids, which begin at 1, in pages that are allocated on demand. */
#define PAGE_LOG2 12
#define PAGE	  (UINT32_C(1) << PAGE_LOG2)
static struct entry **by_id[(PM_REGIONS_MAX >> PAGE_LOG2) + 1];

int pm_registry_init(void)
{
	if (!trees)
		trees = cds_lfht_new_flavor(TREES, TREES, TREES, 0, &forever, NULL);
	return trees ? 0 : -ENOMEM;
}

struct key {
	const char *name;
	size_t length;
	uint64_t hash;
};

/* Hashes NAME up to PM_REGION_NAME_MAX bytes: FNV-1a, and a product that mixes its high
 * bits. */
static struct key key_of(const char *name)
{
	struct key key = {.name = name, .hash = UINT64_C(0xcbf29ce484222325)};
	size_t i;

	for (i = 0; i < PM_REGION_NAME_MAX && name[i]; i++)
		key.hash = (key.hash ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
	key.length = i;
	key.hash = (key.hash ^ key.hash >> 32) * UINT64_C(0x9e3779b97f4a7c15);
	return key;
}

static bool is_named(const struct entry *entry, const struct key *key)
{
	return !strncmp(entry->name, key->name, key->length) && !entry->name[key->length];
}

static int has_number(struct cds_lfht_node *node, const void *number)
{
	const struct tree *tree = caa_container_of(node, struct tree, node);

	/* Pairs with the release store of the top: the number is then valid. liburcu
	 * orders this already, but ThreadSanitizer does not see that. */
	return __atomic_load_n(&tree->top, __ATOMIC_ACQUIRE) &&
	       tree->number == *(const unsigned long *)number;
}

/* Returns the link of KEY's entry, which is NULL if there is no entry, or NULL without
 * its tree. */
static struct entry **place_of(const struct key *key)
{
	unsigned long number = (unsigned long)(key->hash >> (64 - TREES_LOG2));
	uint64_t bits = key->hash << TREES_LOG2;
	struct cds_lfht_node *node;
	struct cds_lfht_iter iter;
	struct entry **place, *entry;

	cds_lfht_lookup(trees, number, has_number, &number, &iter);
	node = cds_lfht_iter_get_node(&iter);
	if (!node)
		return NULL;
	place = &caa_container_of(node, struct tree, node)->top;
	/* Pairs with the release store that links an entry, which is complete then. */
	while ((entry = __atomic_load_n(place, __ATOMIC_ACQUIRE)) &&
	       !is_named(entry, key)) {
		place = &entry->child[bits >> (64 - CHILDREN_LOG2)];
		bits <<= CHILDREN_LOG2;
	}
	return place;
}

struct perfmon_region *pm_registry_find(const char *name)
{
	struct key key = key_of(name);
	struct entry **place = place_of(&key), *entry;

	/* Pairs with the release in pm_registry_add(): the entry is complete. */
	entry = place ? __atomic_load_n(place, __ATOMIC_ACQUIRE) : NULL;
	return entry ? &entry->region : NULL;
}

/* Adds the tree of ENTRY, its first. */
static bool plant(const struct key *key, struct entry *entry)
{
	struct tree *tree = pm_regions_take(sizeof(*tree));

	if (!tree)
		return false;
	tree->number = (unsigned long)(key->hash >> (64 - TREES_LOG2));
	/* Pairs with the acquires of place_of() and its callers. */
	__atomic_store_n(&tree->top, entry, __ATOMIC_RELEASE);
	cds_lfht_node_init(&tree->node);
	cds_lfht_add(trees, tree->number, &tree->node);
	return true;
}

struct perfmon_region *pm_registry_add(const char *name, bool left_out)
{
	struct entry ***page = &by_id[(count + 1) >> PAGE_LOG2], **place, *entry;
	struct key key = key_of(name);

	if (count == PM_REGIONS_MAX)
		return NULL;
	if (!*page)
		*page = pm_regions_take(PAGE * sizeof(**page));
	entry = *page ? pm_regions_take(sizeof(*entry) + key.length + 1) : NULL;
	if (!entry)
		return NULL;
	memcpy(entry->name, name, key.length);
	entry->region.name = entry->name;
	entry->region.key = left_out ? PM_KEY_LEFT_OUT : PM_REGION_KEY(count + 1);
	place = place_of(&key);
	/* Pairs with the acquires of place_of() and its callers. */
	if (place)
		__atomic_store_n(place, entry, __ATOMIC_RELEASE);
	else if (!plant(&key, entry))
		return NULL;
	__atomic_store_n(&count, count + 1, __ATOMIC_RELAXED);
	(*page)[count % PAGE] = entry;
	return &entry->region;
}

static struct entry *entry_of(uint32_t id)
{
	return by_id[id >> PAGE_LOG2][id % PAGE];
}

void pm_registry_each_region(void (*visit)(const struct perfmon_region *region))
{
	uint32_t id;

	for (id = 1; id <= count; id++)
		visit(&entry_of(id)->region);
}

/* A caller that reads it too early then finds the region by its name. */
uint32_t pm_registry_count(void)
{
	return __atomic_load_n(&count, __ATOMIC_RELAXED);
}

const char *pm_registry_name(uint32_t id)
{
	return id && id <= count ? entry_of(id)->name : "";
}

bool pm_registry_set_code(uint32_t id, const struct pm_registry_code *code)
{
	size_t build = strlen(code->build_id) + 1, path = strlen(code->path) + 1;
	struct pm_registry_code *copy = pm_regions_take(sizeof(*copy) + build + path);
	char *text = (char *)(copy + 1);

	if (!copy)
		return false;
	copy->offset = code->offset;
	copy->build_id = memcpy(text, code->build_id, build);
	copy->path = memcpy(text + build, code->path, path);
	entry_of(id)->code = copy;
	return true;
}

const struct pm_registry_code *pm_registry_code(uint32_t id)
{
	return entry_of(id)->code;
}
