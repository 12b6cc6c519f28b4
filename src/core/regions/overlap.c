/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The calls of perfmon/overlap.h. Such a visit is no frame of the stack: its object keeps the clock and
 * the counters at its begin. Its node has a region of its own, "NAME (overlapping)", and a flag, by
 * which sums leave it out. A visit that ends on another thread is added there, below the path that it
 * began at, which that thread adopts for the moment.
 */
#include "perfmon/overlap.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/api/export.h"
#include "core/regions/adopt.h"
#include "core/regions/threads/names.h"
#include "core/regions/threads/paths.h"
#include "core/regions/threads/registry.h"
#include "core/regions/slow/slow.h"
#include "core/regions/slow/stale.h"
#include "core/regions/threads/state.h"
#include "fastpath/fastpath.h"

/* The object has these while its visit is open. */
struct begun {
	uint32_t state; /* NOTHING, or 0: no visit is open */
	uint32_t known;
	uint64_t token;
	uint64_t path_key; /* of the thread that began it */
	uint64_t key;	   /* of the node below its path */
	uint64_t thread;   /* identity() */
	uint64_t generation;
	uint64_t ticks;
	uint64_t lost_ns; /* of all counters */
	uint64_t value[PERFMON_PROFILE_COUNTERS_MAX];
};
_Static_assert(sizeof(struct begun) <= sizeof(struct perfmon_overlap), "it has room");

#define OPEN	1
#define NOTHING 2 /* it counts nothing: regions were disarmed */

static struct begun *begun_of(struct perfmon_overlap *overlap)
{
	return (struct begun *)(void *)overlap->opaque;
}

static int lost(int err)
{
	struct pm_thread_block *block = pm_thread_block;

	if (block->alive)
		PM_ADD(block->thread->record->lost_other, 1);
	return err;
}

/* Likewise a call that must not be made, which is said once. */
static int wrong(int err)
{
	static bool noted;

	pm_regions_note_once(
		&noted, "perfmon_overlap_begin() was called for an object whose visit "
			"had not ended, or perfmon_overlap_end() for one without a "
			"visit in this process: the call changed nothing");
	return lost(err);
}

/* Returns the key of NAME's node; 0 without memory. */
static uint64_t key_of(const char *name)
{
	char text[PM_REGION_NAME_MAX + 1];
	const struct perfmon_region *region;

	snprintf(text, sizeof(text), "%.*s (overlapping)", PM_REGION_NAME_MAX - 16, name);
	region = pm_region_of_name(text, false);
	return region ? region->key + PM_REGION_KEY(PM_OVERLAPPING) : 0;
}

/* Returns by what threads differ, also those that have the memory of one that ended. */
static uint64_t identity(const struct pm_thread_block *block)
{
	const struct perfmon_profile_thread *record = block->thread->record;

	return record->begin_ticks ^ (uint64_t)(uintptr_t)record;
}

static uint64_t lost_of(const struct pm_thread_block *block, const struct pm_whole *whole)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < block->counters; i++)
		sum += whole->lost_ns[i];
	return sum;
}

static int begin(struct pm_thread_block *block, struct pm_frame *top, struct begun *begun,
		 const char *name)
{
	struct pm_frame *frame = pm_frame_at(top, block->frame_size, -1);
	struct perfmon_profile_node *node;
	struct pm_whole whole;

	begun->key = key_of(name);
	node = begun->key ? pm_slow_node_below(block, frame->path_key, begun->key) : NULL;
	if (!node)
		return frame->path_key == PM_PATH_KEY_BARREN ? -EOVERFLOW : -ENOMEM;
	PM_ADD_64(node->entered, 1);
	begun->path_key = frame->path_key;
	begun->thread = identity(block);
	begun->generation = PM_EPOCH_GENERATION(block->epoch);
	begun->ticks = pm_stale_read(block, frame, &whole);
	begun->known = whole.known;
	begun->lost_ns = lost_of(block, &whole);
	memcpy(begun->value, whole.value, sizeof(begun->value));
	begun->state = OPEN;
	return 0;
}

static int begin_as(struct perfmon_overlap *overlap, const char *name, unsigned int use)
{
	struct begun begun = {.state = NOTHING};
	struct perfmon_token token;
	struct pm_thread_block *block;
	struct pm_frame *top;
	int err;

	if (!overlap || !name)
		return -EINVAL;
	if (begun_of(overlap)->state)
		return wrong(-EALREADY);
	if (pm_region_calls_are_armed()) {
		block = pm_adopt_close(&top, &err);
		if (!block)
			return err ?: -EBUSY;
		pm_regions_note_use(use);
		err = begin(block, top, &begun, name);
		pm_slow_open(block, top);
		if (!err)
			err = perfmon_region_token(&token);
		if (err)
			return lost(err);
		begun.token = token.path;
	}
	*begun_of(overlap) = begun;
	return 0;
}

PM_EXPORT int perfmon_overlap_begin(struct perfmon_overlap *overlap, const char *name)
{
	return begin_as(overlap, name, PM_REGIONS_REPORTED);
}

PM_EXPORT int perfmon_overlap_begin_quiet(struct perfmon_overlap *overlap,
					  const char *name)
{
	return begin_as(overlap, name, PM_REGIONS_QUIET);
}

/* Adds the visit of BEGUN, which ends now inside that of FRAME, to NODE. */
static void add(struct pm_thread_block *block, struct pm_frame *frame,
		struct perfmon_profile_node *node, const struct begun *begun)
{
	bool same = begun->thread == identity(block) &&
		    begun->generation == PM_EPOCH_GENERATION(block->epoch);
	struct pm_whole whole;
	uint64_t ticks = pm_stale_read(block, frame, &whole) - begun->ticks, sequence;
	uint32_t all =
		block->counters < 32 ? (UINT32_C(1) << block->counters) - 1 : UINT32_MAX;

	/* A clock that differs between CPUs may have gone backwards. */
	if ((int64_t)ticks < 0)
		ticks = 0;
	same &= (begun->known & whole.known & all) == all &&
		begun->lost_ns == lost_of(block, &whole);
	sequence = pm_node_open(node);
	pm_node_add_time(node, ticks);
	if (block->counters && !same)
		PM_COUNT32(node->dropped_counts, 1);
	for (uint32_t i = 0; same && i < block->counters; i++)
		PM_ADD(node->count[i].sum, whole.value[i] - begun->value[i]);
	pm_node_close(node, sequence);
}

static int end(struct pm_thread_block *block, struct pm_frame *top,
	       const struct begun *begun)
{
	const struct perfmon_token token = {.path = begun->token};
	struct pm_frame *frame = pm_frame_at(top, block->frame_size, -1);
	struct pm_adopted found = {.path_key = frame->path_key};
	struct perfmon_profile_node *node;
	int err = 0;

	/* The thread that began it may be where it was. */
	if (begun->thread != identity(block) || begun->path_key != found.path_key)
		err = pm_adopt_find(block, top, &token, &found);
	if (err)
		return err;
	node = pm_slow_node_below(block, found.path_key, begun->key);
	if (!node)
		return -ENOMEM;
	add(block, frame, node, begun);
	return 0;
}

PM_EXPORT int perfmon_overlap_end(struct perfmon_overlap *overlap)
{
	struct pm_thread_block *block;
	struct begun begun;
	struct pm_frame *top;
	int err;

	if (!overlap)
		return -EINVAL;
	begun = *begun_of(overlap);
	if (!begun.state)
		return wrong(-ENOENT);
	memset(overlap, 0, sizeof(*overlap));
	if (begun.state != OPEN)
		return 0;
	/* As of all visits that are open when regions are disarmed. */
	if (!pm_region_calls_are_armed())
		return lost(0);
	if (begun.token >> 32 << 32 !=
	    __atomic_load_n(&pm_regions.tokens, __ATOMIC_RELAXED))
		return wrong(-ESTALE);
	block = pm_adopt_close(&top, &err);
	if (!block)
		return lost(err ?: -EBUSY);
	err = end(block, top, &begun);
	pm_slow_open(block, top);
	return err ? lost(err) : 0;
}
