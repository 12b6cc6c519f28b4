/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The calls of perfmon/quantity.h. A quantity is a node below that of a path, which no visit begins:
 * see PM_QUANTITY. So it is found, summed over threads and kept in the profile as paths are.
 */
#include "perfmon/quantity.h"

#include <stdbool.h>
#include <stdio.h>

#include "core/api/export.h"
#include "core/regions/slow/slow.h"
#include "core/regions/threads/exclude.h"
#include "core/regions/threads/names.h"
#include "core/regions/threads/paths.h"
#include "core/regions/threads/registry.h"
#include "core/regions/threads/state.h"
#include "core/text/diag.h"
#include "core/text/text.h"
#include "fastpath/fastpath.h"

/* Programs have a part of the layout: see perfmon/quantity.h. */
#define SAME(ours, theirs)                                                               \
	_Static_assert(offsetof(struct pm_thread_block, ours) ==                         \
			       offsetof(struct perfmon_quantity_thread, theirs),         \
		       "the layout of a thread in perfmon/quantity.h")
SAME(top, top);
SAME(entries, entries);
SAME(entry_shift, shift);
SAME(innermost, path);
_Static_assert(offsetof(struct pm_path_entry, key) ==
			       offsetof(struct perfmon_quantity_entry, key) &&
		       offsetof(struct pm_path_entry, node) ==
			       offsetof(struct perfmon_quantity_entry, node) &&
		       sizeof(struct pm_path_entry) ==
			       sizeof(struct perfmon_quantity_entry),
	       "the layout of an entry in perfmon/quantity.h");
_Static_assert(offsetof(struct perfmon_profile_node, time_ticks) ==
		       PERFMON_QUANTITY_VALUE_,
	       "the place of a value in perfmon/quantity.h");

/* Puts VALUE into the place of a quantity, by its kind: 0 (a sum), PM_QUANTITY_MAXIMUM or
 * PM_QUANTITY_LAST. */
INLINE void put(perfmon_quantity_word_ *at, uint32_t kind, uint64_t value)
{
	if (!kind)
		perfmon_quantity_sum_(at, value);
	else if (kind == PM_QUANTITY_LAST || value > *at)
		PM_PUT(*at, value);
}

/* Says once that something was said outside of regions. */
static void note_outside(const char *name)
{
	static bool noted;
	struct pm_diag diag = {0};

	if (__atomic_load_n(&noted, __ATOMIC_RELAXED))
		return;
	pm_diag_set(&diag, 0,
		    "a value of '%s' was added outside of regions: such values are lost; "
		    "begin a region before",
		    pm_slice_quote(pm_slice_of(name)).text);
	pm_regions_note_once(&noted, diag.text);
}

/* Returns the key of QUANTITY as a sum; 0 without a name, or memory. */
static uint64_t key_of(struct perfmon_quantity *quantity)
{
	char name[PM_REGION_NAME_MAX + 1];
	const struct perfmon_region *known;
	uint64_t key = PM_GET(quantity->key);

	if (key && pm_region_is_registered(key - PM_REGION_KEY(PM_QUANTITY)))
		return key;
	/* A name that ends in brackets is that of a quantity, and no region's. */
	if (snprintf(name, sizeof(name), "%s [%s]", quantity->name,
		     quantity->unit ? quantity->unit : "") < 0)
		return 0;
	known = pm_region_of_name(name, false);
	if (!known)
		return 0;
	key = known->key + PM_REGION_KEY(PM_QUANTITY);
	__atomic_store_n(&quantity->key, key, __ATOMIC_RELAXED);
	return key;
}

/* The same as the warm part, for what it cannot do. The stack is closed, FRAME is the innermost. */
static void put_below(struct pm_thread_block *block, const struct pm_frame *frame,
		      struct perfmon_quantity *quantity, uint32_t kind, uint64_t value)
{
	struct perfmon_profile_node *node = NULL;
	const struct pm_path_entry *entry;
	struct pm_exclude exclude;
	uint64_t key;

	if (frame == block->frames) {
		note_outside(quantity->name);
		return;
	}
	/* Another path may have its place in the table. */
	entry = pm_thread_path(block, frame->path_key + PM_GET(quantity->key) +
					      PM_REGION_KEY(kind));
	if (entry && entry->node) {
		put(&entry->node->time_ticks, kind, value);
		return;
	}
	pm_exclude_begin(block, &exclude);
	key = key_of(quantity);
	if (key)
		node = pm_slow_node_below(block, frame->path_key,
					  key + PM_REGION_KEY(kind));
	if (node)
		put(&node->time_ticks, kind, value);
	else
		PM_ADD(block->thread->record->lost_other, 1);
	pm_exclude_end(block, &exclude, PM_EXCLUDED_QUANTITY,
		       pm_frame_at(frame, block->frame_size, 1));
}

/* Lets the warm part find values again, after a disarm of which the thread knows now. Under the lock
 * there is no other. */
static void find_again(struct pm_thread_block *block)
{
	int32_t innermost = pm_frame_innermost(block->frame_size);
	struct pm_still still;

	if (PM_GET(block->innermost) == innermost)
		return;
	if (!pm_regions_try_lock(&still))
		return;
	if (pm_region_calls_are_armed() &&
	    block->arm_generation == PM_GET(pm_region_general.generation))
		PM_PUT(block->innermost, innermost);
	pm_regions_unlock(&still);
}

static void put_slowly(struct perfmon_quantity *quantity, uint32_t kind, uint64_t value)
{
	struct pm_thread_block *block = pm_thread_block;
	struct pm_frame *top;

	if (!quantity || !quantity->name || !pm_region_calls_are_armed())
		return;
	if (!pm_slow_begins())
		return;
	block = pm_thread_block;
	if (!pm_slow_reopen(block)) {
		__atomic_fetch_add(&block->thread->record->lost_in_handler, 1,
				   __ATOMIC_RELAXED);
		return;
	}
	/* The visit that it belongs to is lost; or it is left out, and at the path around it. */
	if (block->overflow && !block->left_out)
		return;
	top = block->overflow ? NULL : pm_slow_close(block);
	block->in_slow = 1;
	find_again(block);
	put_below(block, pm_frame_at(top ?: block->full_top, block->frame_size, -1),
		  quantity, kind, value);
	pm_slow_open(block, top);
}

INLINE void put_warm(struct perfmon_quantity *quantity, uint32_t kind, uint64_t value)
{
	struct perfmon_quantity_thread *thread = perfmon_quantity_thread_one;
	perfmon_quantity_word_ *at = NULL;
	char *top;

	if (likely(quantity))
		at = perfmon_quantity_open_(
			thread, PM_GET(quantity->key) + PM_REGION_KEY(kind), &top);
	if (unlikely(!at)) {
		put_slowly(quantity, kind, value);
		return;
	}
	put(at, kind, value);
	PM_PUT(thread->top, top);
}

PM_EXPORT void perfmon_region_add(struct perfmon_quantity *quantity, uint64_t value)
{
	put_warm(quantity, 0, value);
}

PM_EXPORT void perfmon_region_maximum(struct perfmon_quantity *quantity, uint64_t value)
{
	put_warm(quantity, PM_QUANTITY_MAXIMUM, value);
}

PM_EXPORT void perfmon_region_last(struct perfmon_quantity *quantity, uint64_t value)
{
	put_warm(quantity, PM_QUANTITY_LAST, value);
}

PM_EXPORT void perfmon_region_quantity_name(const char *name, const char *unit,
					    uint32_t kind, uint64_t value)
{
	static const uint32_t kinds[] = {
		[PERFMON_QUANTITY_KIND_SUM] = 0,
		[PERFMON_QUANTITY_KIND_MAXIMUM] = PM_QUANTITY_MAXIMUM,
		[PERFMON_QUANTITY_KIND_LAST] = PM_QUANTITY_LAST,
	};
	struct perfmon_quantity quantity = PERFMON_QUANTITY_INIT(name, unit);

	if (kind < sizeof(kinds) / sizeof(kinds[0]))
		put_slowly(&quantity, kinds[kind], value);
}
