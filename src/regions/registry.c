/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/registry.h"

#include <errno.h>
#include <stdbool.h> /* urcu/flavor.h of 0.15 uses bool and does not include it */
#include <string.h>
#include <sys/mman.h>
#include <urcu/flavor.h>
#include <urcu/list.h>
#include <urcu/rculfhash.h>

#include "os/os.h"
#include "fastpath/fastpath.h"

/* A fixed table: one that resizes itself does so in a thread of its own. Each bucket costs
 * each program 60 ns at its first region. Ten thousand names make chains of forty, which only
 * first passes and names at run time walk. */
#define BUCKETS 256

struct entry {
	struct cds_lfht_node node;
	struct perfmon_region region;
	struct entry *next;
	char name[];
};

/*
 * Readers of the table need no read-side critical section: no entry is ever removed and
 * the table never resizes, so there is no grace period to wait for. The table is told so
 * by this flavour. None of liburcu's own is used: their locks belong to the program,
 * which takes them around fork(2) if it uses that flavour, and they do not nest.
 */
static void nothing(void)
{
}

static const struct rcu_flavor_struct forever = {
	.read_lock = nothing,
	.read_unlock = nothing,
	.update_synchronize_rcu = nothing,
};

static struct cds_lfht *names;
static struct entry *first, *last; /* in the order of their ids */
static uint32_t count;

/* Entries are never freed, and a signal handler that interrupted malloc may need one: they
 * come one after the other from mappings. */
#define CHUNK (UINT32_C(64) << 10)
static char *chunk;
static size_t chunk_left;

static CDS_LIST_HEAD(threads);

_Static_assert(sizeof(struct pm_registry_thread) == sizeof(struct cds_list_head),
	       "a thread's place is a list head");

static struct cds_list_head *head_of(struct pm_registry_thread *thread)
{
	return (struct cds_list_head *)(void *)thread;
}

int pm_registry_init(void)
{
	if (!names)
		names = cds_lfht_new_flavor(BUCKETS, BUCKETS, BUCKETS, 0, &forever, NULL);
	return names ? 0 : -ENOMEM;
}

/* FNV-1a over at most PM_REGION_NAME_MAX bytes; the length goes to *LENGTH. */
static unsigned long hash_name(const char *name, size_t *length)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	size_t i;

	for (i = 0; i < PM_REGION_NAME_MAX && name[i]; i++)
		hash = (hash ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
	*length = i;
	return (unsigned long)(hash ^ hash >> 32);
}

struct key {
	const char *name;
	size_t length;
};

static int matches(struct cds_lfht_node *node, const void *key)
{
	const struct entry *entry = caa_container_of(node, struct entry, node);
	const struct key *wanted = key;

	/* Partner: the release store of the key, which says that the rest stands. liburcu
	 * orders this already, unseen by ThreadSanitizer. */
	if (!__atomic_load_n(&entry->region.key, __ATOMIC_ACQUIRE))
		return 0;
	return !strncmp(entry->name, wanted->name, wanted->length) &&
	       !entry->name[wanted->length];
}

struct perfmon_region *pm_registry_find(const char *name)
{
	struct cds_lfht_node *found;
	struct cds_lfht_iter iter;
	struct key key = {.name = name};
	unsigned long hash = hash_name(name, &key.length);

	cds_lfht_lookup(names, hash, matches, &key, &iter);
	found = cds_lfht_iter_get_node(&iter);
	return found ? &caa_container_of(found, struct entry, node)->region : NULL;
}

static void *take(size_t size)
{
	void *memory;

	size = (size + 15) & ~(size_t)15;
	if (size > chunk_left) {
		if (pm_kernel_mmap(&memory, CHUNK, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
			return NULL;
		chunk = memory;
		chunk_left = CHUNK;
	}
	memory = chunk;
	chunk += size;
	chunk_left -= size;
	return memory;
}

struct perfmon_region *pm_registry_add(const char *name)
{
	struct entry *entry;
	unsigned long hash;
	size_t length;

	if (count == PM_REGIONS_MAX)
		return NULL;
	hash = hash_name(name, &length);
	entry = take(sizeof(*entry) + length + 1);
	if (!entry)
		return NULL;
	memcpy(entry->name, name, length);
	entry->region.name = entry->name;
	__atomic_store_n(&entry->region.key, PM_REGION_KEY(count + 1), __ATOMIC_RELEASE);
	cds_lfht_node_init(&entry->node);
	*(last ? &last->next : &first) = entry;
	last = entry;
	count++;
	cds_lfht_add(names, hash, &entry->node);
	return &entry->region;
}

void pm_registry_each_region(void (*visit)(const struct perfmon_region *region))
{
	const struct entry *entry;

	for (entry = first; entry; entry = entry->next)
		visit(&entry->region);
}

const char *pm_registry_name(uint32_t id)
{
	const struct entry *entry = first;

	while (entry && entry->region.key != PM_REGION_KEY(id))
		entry = entry->next;
	return entry ? entry->name : "";
}

void pm_registry_enter(struct pm_registry_thread *thread)
{
	cds_list_add_tail(head_of(thread), &threads);
}

void pm_registry_leave(struct pm_registry_thread *thread)
{
	cds_list_del(head_of(thread));
}

void pm_registry_forget(void (*visit)(struct pm_registry_thread *thread))
{
	struct cds_list_head *at, *next;

	cds_list_for_each_safe(at, next, &threads)
		visit((struct pm_registry_thread *)(void *)at);
	CDS_INIT_LIST_HEAD(&threads);
}
