/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/regions/threads/paths.h"

#include <string.h>

#include "core/kernel/kernel.h"
#include "core/regions/threads/recycle.h"

#define NODES_FIRST 16
#define NODES_MOST  4096
/* up to this size, the table grows until no path needs a search */
#define ENTRIES_LOG2_MOST 18

#define SHARED_FIRST_LOG2 8
#define SHARED_MOST_LOG2  30

static struct perfmon_profile_node *node_in(const struct perfmon_profile_nodes *nodes,
					    uint32_t number)
{
	return (struct perfmon_profile_node *)(void *)((char *)(uintptr_t)nodes->node +
						       (size_t)(number - nodes->first) *
							       nodes->node_size);
}

struct perfmon_profile_node *pm_thread_node(const struct perfmon_profile_thread *record,
					    uint32_t number)
{
	const struct perfmon_profile_nodes *nodes = pm_profile_at(record->nodes);

	while (number >= nodes->first + nodes->capacity)
		nodes = pm_profile_at(nodes->next);
	return node_in(nodes, number);
}

/* Returns the size of one node with COUNTERS counters, in bytes. */
static uint32_t node_size(uint32_t counters)
{
	size_t size = sizeof(struct perfmon_profile_node) +
		      counters * sizeof(struct perfmon_profile_count);

	if (pm_region_general.stride)
		size += sizeof(struct perfmon_profile_stride) + counters * sizeof(double);
	return (uint32_t)size;
}

/* Makes room for one more node: a new record of nodes, twice as large as the last. */
static int grow_nodes(struct pm_thread *thread)
{
	struct perfmon_profile_thread *record = thread->record;
	uint32_t size = node_size(record->counters);
	uint32_t capacity = NODES_FIRST;
	struct perfmon_profile_nodes *nodes;

	if (thread->nodes && thread->nodes->capacity < NODES_MOST)
		capacity = 2 * thread->nodes->capacity;
	else if (thread->nodes)
		capacity = NODES_MOST;
	nodes = pm_recycle_take_nodes(capacity, size);
	if (!nodes) {
		nodes = pm_profile_reserve(PERFMON_PROFILE_TYPE_NODES,
					   sizeof(*nodes) + (size_t)capacity * size);
		if (!nodes)
			return -1;
		nodes->capacity = capacity;
		nodes->node_size = size;
		pm_profile_publish();
	}
	PM_PUT(nodes->thread, pm_profile_offset(record));
	PM_PUT(nodes->first, record->node_count + 1);
	PM_PUT(nodes->next, 0);
	if (thread->nodes) {
		PM_PUT(thread->nodes->next, pm_profile_offset(nodes));
	} else {
		PM_PUT(record->nodes, pm_profile_offset(nodes));
		PM_PUT(record->node_size, size);
	}
	thread->nodes = nodes;
	pm_profile_clock_later();
	return 0;
}

/* Returns the entry of KEY, or the free one where it belongs. */
static struct pm_path_entry *entry_for(struct pm_path_entry *entries, uint64_t shift,
				       uint64_t key)
{
	size_t mask = ~UINT64_C(0) >> shift, at = key >> shift;

	while (entries[at].key && entries[at].key != key)
		at = (at + 1) & mask;
	return &entries[at];
}

void pm_thread_free_entries(struct pm_thread *thread)
{
	if (thread->entries_memory)
		pm_kernel_munmap(thread->entries_memory, thread->entries_size);
	thread->entries_memory = NULL;
}

/* Makes a table of twice the size, in a mapping of its own. */
static int grow_entries(struct pm_thread *thread)
{
	struct pm_thread_block *block = thread->block;
	size_t old_count = (size_t)1 << (64 - block->entry_shift), i;
	size_t size = 2 * old_count * sizeof(struct pm_path_entry);
	uint64_t shift = block->entry_shift - 1;
	void *memory;

	if (pm_kernel_map(&memory, size))
		return -1;
	for (i = 0; i < old_count; i++)
		if (block->entries[i].key)
			*entry_for(memory, shift, block->entries[i].key) =
				block->entries[i];
	pm_thread_free_entries(thread);
	thread->entries_memory = memory;
	thread->entries_size = size;
	block->entries = memory;
	block->entry_shift = shift;
	return 0;
}

struct pm_path_entry *pm_thread_path(struct pm_thread_block *block, uint64_t key)
{
	struct pm_path_entry *entry = entry_for(block->entries, block->entry_shift, key);

	return entry->key ? entry : NULL;
}

uint32_t pm_thread_steps(const struct pm_thread_block *block, uint64_t key)
{
	const struct pm_path_entry *first = &block->entries[key >> block->entry_shift];
	ptrdiff_t steps = entry_for(block->entries, block->entry_shift, key) - first;

	return (uint32_t)((uint64_t)steps & ~UINT64_C(0) >> block->entry_shift);
}

static bool entries_full(const struct pm_thread_block *block)
{
	return 2 * (uint64_t)(block->entries_used + 1) >
	       (uint64_t)1 << (64 - block->entry_shift);
}

static bool nodes_full(const struct pm_thread *thread)
{
	return !thread->nodes || thread->record->node_count + 1 >=
					 thread->nodes->first + thread->nodes->capacity;
}

/* Returns whether the path of KEY would need a search, whose work differs from path to
 * path. With exact counts the table grows until no path needs one. */
static bool entry_taken(const struct pm_thread_block *block, uint64_t key)
{
	return pm_regions.exact && block->entry_shift > 64 - ENTRIES_LOG2_MOST &&
	       block->entries[key >> block->entry_shift].key;
}

bool pm_thread_grows(const struct pm_thread *thread, uint64_t key)
{
	return entries_full(thread->block) || nodes_full(thread) ||
	       entry_taken(thread->block, key);
}

static int make_room(struct pm_thread *thread, uint64_t key)
{
	while (entries_full(thread->block) || entry_taken(thread->block, key))
		if (grow_entries(thread))
			return -1;
	return 0;
}

/* Fills in the key of ENTRY. A handler may leave this call forever at any point: see slow.c. */
static void enter(struct pm_thread_block *block, struct pm_path_entry *entry,
		  uint64_t key)
{
	SIGNAL_FENCE();
	entry->key = key;
	block->entries_used++;
}

struct pm_path_entry *pm_thread_leave_out(struct pm_thread *thread, uint64_t key)
{
	struct pm_thread_block *block = thread->block;
	struct pm_path_entry *entry;

	if (make_room(thread, key))
		return NULL;
	entry = entry_for(block->entries, block->entry_shift, key);
	entry->node = NULL;
	entry->number = PERFMON_PROFILE_LEFT_OUT_DEPTH;
	enter(block, entry, key);
	return entry;
}

struct pm_path_entry *pm_thread_add_path(struct pm_thread *thread, uint32_t parent,
					 uint32_t region, uint32_t depth)
{
	static struct pm_path_entry root; /* returned for a root: not NULL */
	struct pm_thread_block *block = thread->block;
	struct perfmon_profile_thread *record = thread->record;
	struct perfmon_profile_node *node;
	uint64_t key = PM_PATH_KEY(parent) + PM_REGION_KEY(region);
	struct pm_path_entry *entry = pm_thread_path(block, key);
	uint32_t number = record->node_count + 1;

	if (entry)
		return entry;
	if (make_room(thread, key))
		return NULL;
	if (nodes_full(thread) && grow_nodes(thread))
		return NULL;
	node = node_in(thread->nodes, number);
	/* The memory may have been another thread's. */
	pm_recycle_wipe(node, (char *)node + thread->nodes->node_size);
	PM_PUT(node->parent, parent);
	PM_PUT(node->region, region & ~PM_REGION_BITS);
	PM_PUT(node->flags, pm_node_flags_of(region));
	/* A new minimum or maximum is extra work at unpredictable times. With exact
	 * counts they are not kept, and snapshots take them from the histogram. */
	PM_PUT(node->time_min, pm_regions.exact ? 0 : UINT64_MAX);
	PM_PUT(node->time_guard, pm_regions.exact ? UINT64_MAX : 0);
	/* The release orders the node before the count that includes it. It pairs with
	 * the reader's acquire load of thread.node_count. */
	__atomic_store_n(&record->node_count, number, __ATOMIC_RELEASE);
	if (!parent)
		return &root;
	entry = entry_for(block->entries, block->entry_shift, key);
	entry->node = node;
	entry->number = number;
	entry->steps = 0;
	entry->path_key = depth < PERFMON_PROFILE_DEPTH_MAX ? PM_PATH_KEY(number)
							    : PM_PATH_KEY_BARREN;
	enter(block, entry, key);
	return entry;
}

/* --- paths of the process ------------------------------------------------------------------ */

/* The paths, by their numbers less 1, and a table of twice as many numbers by hash. Both are one
 * mapping: a signal handler that interrupted malloc may come here. */
static struct pm_shared_path *paths;
static uint32_t *table;
static uint32_t count, room_log2;

static size_t bytes(uint32_t log2)
{
	return (sizeof(*paths) + 2 * sizeof(*table)) << log2;
}

/* Returns the place in the table of REGION below PARENT, which is 0 if the path is new. */
static uint32_t *place_of(uint32_t parent, uint32_t region)
{
	uint32_t mask = (UINT32_C(2) << room_log2) - 1;
	uint64_t key = ((uint64_t)parent << 32 | region) * PM_KEY;
	uint32_t at = (uint32_t)(key >> 32) & mask;

	while (table[at] && (paths[table[at] - 1].parent != parent ||
			     paths[table[at] - 1].region != region))
		at = (at + 1) & mask;
	return &table[at];
}

static int grow_shared(void)
{
	uint32_t log2 = paths ? room_log2 + 1 : SHARED_FIRST_LOG2, i;
	struct pm_shared_path *old = paths;
	void *memory;

	if (log2 > SHARED_MOST_LOG2 || pm_kernel_map(&memory, bytes(log2)))
		return -1;
	if (count)
		memcpy(memory, old, count * sizeof(*paths));
	if (old)
		pm_kernel_munmap(old, bytes(room_log2));
	paths = memory;
	table = (uint32_t *)(void *)(paths + (UINT32_C(1) << log2));
	room_log2 = log2;
	for (i = 0; i < count; i++)
		*place_of(paths[i].parent, paths[i].region) = i + 1;
	return 0;
}

/* Returns the number of REGION below PARENT, which is added if it is new; 0 without memory. */
static uint32_t number_below(uint32_t parent, uint32_t region)
{
	uint32_t *place;

	if ((!paths || count == UINT32_C(1) << room_log2) && grow_shared())
		return 0;
	place = place_of(parent, region);
	if (!*place) {
		paths[count] = (struct pm_shared_path){parent, region};
		*place = ++count;
	}
	return *place;
}

uint32_t pm_shared_path_of(const struct perfmon_profile_thread *record,
			   const struct perfmon_profile_node *node)
{
	uint32_t regions[PM_FRAMES], depth = 0, path = 0;

	/* The walk ends at the root, which has no parent. */
	while (node->parent && depth < PM_FRAMES) {
		regions[depth++] = node->region;
		node = pm_thread_node(record, node->parent);
	}
	while (depth) {
		path = number_below(path, regions[--depth]);
		if (!path)
			return PM_SHARED_PATH_NONE;
	}
	return path;
}

const struct pm_shared_path *pm_shared_path(uint64_t number)
{
	return number && number <= count ? &paths[number - 1] : NULL;
}
