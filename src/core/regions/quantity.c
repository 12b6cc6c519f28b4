/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The calls of perfmon/quantity.h. A quantity is a node below that of a path, which no visit begins:
 * see PM_QUANTITY. So it is found, summed over threads and kept in the profile as paths are.
 */
#include "perfmon/quantity.h"

#include <stdbool.h>
#include <stdio.h>

#include "core/api/export.h"
#include "core/regions/exclude.h"
#include "core/regions/names.h"
#include "core/regions/paths.h"
#include "core/regions/registry.h"
#include "core/regions/slow.h"
#include "core/regions/state.h"
#include "core/text/diag.h"
#include "core/text/text.h"
#include "fastpath/fastpath.h"

#define unlikely(condition) __builtin_expect(!!(condition), 0)

/* Puts VALUE into the node of a quantity, by its kind. */
static inline __attribute__((always_inline)) void put(struct perfmon_profile_node *node,
						      uint32_t kind, uint64_t value)
{
	if (kind == PM_QUANTITY)
		PM_ADD_64(node->time_ticks, value);
	else if (kind & PM_QUANTITY_LAST || value > node->time_ticks)
		PM_PUT(node->time_ticks, value);
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
	known = pm_region_of_quantity(name);
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
	struct pm_exclude exclude;
	uint64_t key;

	if (frame == block->frames) {
		note_outside(quantity->name);
		return;
	}
	pm_exclude_begin(block, &exclude);
	key = key_of(quantity);
	if (key)
		node = pm_slow_node_below(block, frame->path_key,
					  key + PM_REGION_KEY(kind) -
						  PM_REGION_KEY(PM_QUANTITY));
	if (node)
		put(node, kind, value);
	else
		PM_ADD(block->thread->record->lost_other, 1);
	pm_exclude_end(
		block, &exclude, PM_EXCLUDED_QUANTITY,
		pm_frame_at((struct pm_frame *)(uintptr_t)frame, block->frame_size, 1));
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
	if ((block->in_slow || (!block->top && !block->overflow)) &&
	    !pm_slow_reopen(block)) {
		__atomic_fetch_add(&block->thread->record->lost_in_handler, 1,
				   __ATOMIC_RELAXED);
		return;
	}
	/* The visit that it belongs to is lost; or it is left out, and at the path around it. */
	if (block->overflow && !block->left_out)
		return;
	top = block->overflow ? NULL : pm_slow_close(block);
	block->in_slow = 1;
	put_below(block, pm_frame_at(top ?: block->full_top, block->frame_size, -1),
		  quantity, kind, value);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	block->in_slow = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	block->top = top;
}

static inline __attribute__((always_inline)) void
put_warm(struct perfmon_quantity *quantity, uint32_t kind, uint64_t value)
{
	struct pm_thread_block *block = pm_thread_block;
	struct pm_frame *top = block->top;
	const struct pm_path_entry *entry;
	uint64_t key;

	if (unlikely(!top || !quantity)) {
		put_slowly(quantity, kind, value);
		return;
	}
	block->top = NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	key = pm_frame_at(top, block->frame_size, -1)->path_key + PM_GET(quantity->key) +
	      PM_REGION_KEY(kind) - PM_REGION_KEY(PM_QUANTITY);
	entry = &block->entries[key >> block->entry_shift];
	if (unlikely(entry->key != key)) {
		block->top = top;
		put_slowly(quantity, kind, value);
		return;
	}
	put(entry->node, kind, value);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	block->top = top;
}

PM_EXPORT void perfmon_region_add(struct perfmon_quantity *quantity, uint64_t value)
{
	put_warm(quantity, PM_QUANTITY, value);
}

PM_EXPORT void perfmon_region_maximum(struct perfmon_quantity *quantity, uint64_t value)
{
	put_warm(quantity, PM_QUANTITY | PM_QUANTITY_MAXIMUM, value);
}

PM_EXPORT void perfmon_region_last(struct perfmon_quantity *quantity, uint64_t value)
{
	put_warm(quantity, PM_QUANTITY | PM_QUANTITY_LAST, value);
}

PM_EXPORT void perfmon_region_quantity_name(const char *name, const char *unit,
					    uint32_t kind, uint64_t value)
{
	static const uint32_t kinds[] = {
		[PERFMON_QUANTITY_KIND_SUM] = PM_QUANTITY,
		[PERFMON_QUANTITY_KIND_MAXIMUM] = PM_QUANTITY | PM_QUANTITY_MAXIMUM,
		[PERFMON_QUANTITY_KIND_LAST] = PM_QUANTITY | PM_QUANTITY_LAST,
	};
	struct perfmon_quantity quantity = PERFMON_QUANTITY_INIT(name, unit);

	if (kind < sizeof(kinds) / sizeof(kinds[0]))
		put_slowly(&quantity, kinds[kind], value);
}
