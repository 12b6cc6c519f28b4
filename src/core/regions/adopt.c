/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An adoption is a frame on the thread's stack of open visits, with the path key of the adopted path, so
 * that BEGIN finds the nodes below it as it finds all others. No END matches it, and none looks for a
 * visit behind it.
 *
 * An adopted path has nodes of its own in the thread's tree, beside those of visits: what stands below
 * them is in no visit of this thread. If the thread has visits open, the path begins below the innermost
 * of them that it goes through, which contains what follows. The visits inside of that one have nothing of
 * it: its end moves what they read at their BEGIN by what was counted meanwhile.
 */
#include "core/regions/adopt.h"

#include <errno.h>
#include <stdbool.h>

#include "core/kernel/clock.h"
#include "core/regions/slow/slow.h"
#include "core/regions/slow/stale.h"
#include "core/regions/threads/names.h"
#include "core/regions/threads/paths.h"
#include "core/regions/threads/state.h"
#include "core/regions/threads/tasks.h"

struct pm_thread_block *pm_adopt_close(struct pm_frame **top, int *err)
{
	struct pm_thread_block *block = pm_thread_block;

	*err = 0;
	if (!pm_region_calls_are_armed()) {
		if (!block->alive)
			return NULL;
	} else if (!pm_slow_begins()) {
		*err = -EBUSY;
		return NULL;
	}
	block = pm_thread_block;
	*err = -EBUSY;
	if (!pm_slow_reopen(block)) {
		__atomic_fetch_add(&block->thread->record->lost_in_handler, 1,
				   __ATOMIC_RELAXED);
		return NULL;
	}
	*err = -EOVERFLOW;
	if (block->overflow)
		return NULL;
	*top = pm_slow_close(block);
	block->in_slow = 1;
	*err = 0;
	return block;
}

/* Returns the number of the frame whose visit contains what follows the adoption at FRAME. */
static uint64_t outer_number(const struct pm_frame *frame)
{
	return frame->cpu >> PM_ADOPTED_OUTER & PM_ADOPTED_DEPTH;
}

/* The names of a token's path, from the innermost on. */
struct names {
	uint64_t number;
	uint32_t levels;
	uint32_t region[PERFMON_PROFILE_DEPTH_MAX];
};

/* The caller holds PM_LOCK_REGIONS, as for the next two. */
static int find_names(uint64_t number, struct names *names)
{
	const struct pm_shared_path *path;

	names->number = number;
	names->levels = 0;
	for (; number; number = path->parent) {
		path = pm_shared_path(number);
		if (!path)
			return -EINVAL;
		if (names->levels == PERFMON_PROFILE_DEPTH_MAX)
			return -EOVERFLOW;
		names->region[names->levels++] = path->region;
	}
	return 0;
}

/* Returns whether the path goes through path NUMBER, at LEVEL. */
static bool goes_through(const struct names *names, uint64_t number, uint32_t level)
{
	uint64_t at = names->number;

	if (level > names->levels)
		return false;
	for (uint32_t i = names->levels; i > level; i--)
		at = pm_shared_path(at)->parent;
	return at == number;
}

/*
 * Returns the innermost frame, up to TOP, whose path the adopted one goes through, and its level: the
 * visits up to there contain what follows. Without one it is the root's. Between an adoption that is
 * apart and the frame that contains it, visits contain nothing.
 */
static const struct pm_frame *find_outer(const struct pm_thread_block *block,
					 const struct pm_frame *top,
					 const struct names *names, uint32_t *level)
{
	uint16_t levels[PM_FRAMES] = {
		1}; /* by frame: the level and 1, if the path is on the way */
	struct pm_frame *frame;
	uint32_t at = 0, n = 1, found = 0;
	bool on = true;

	for (frame = block->first; frame != top;
	     frame = pm_frame_at(frame, block->frame_size, 1), n++) {
		if (pm_key_is_adopted(frame->region_key)) {
			at = (uint32_t)frame->cpu & PM_ADOPTED_DEPTH;
			on = goes_through(names,
					  PM_TOKEN_NUMBER(frame->cpu >> PM_ADOPTED_PATH),
					  at);
			if (pm_key_is_apart(frame->region_key))
				for (found = (uint32_t)outer_number(frame);
				     !levels[found]; found--)
					;
		} else {
			on = on && at < names->levels &&
			     pm_region_id(frame->region_key) ==
				     names->region[names->levels - 1 - at];
			at++;
		}
		if (on) {
			levels[n] = (uint16_t)(at + 1);
			found = n;
		}
	}
	*level = levels[found] - 1u;
	return pm_frame_at(block->frames, block->frame_size, (ptrdiff_t)found);
}

/* Finds or adds the nodes of TOKEN's path, below those of open visits up to TOP that it goes through. */
static int find_nodes(struct pm_thread_block *block, const struct pm_frame *top,
		      const struct perfmon_token *token, struct pm_adopted *found)
{
	const struct pm_frame *outer;
	struct pm_path_entry *entry;
	struct names names;
	uint32_t level, node;
	int err = find_names(PM_TOKEN_NUMBER(token->path), &names);

	if (err)
		return err;
	outer = find_outer(block, top, &names, &level);
	*found = (struct pm_adopted){.path = token->path,
				     .path_key = outer->path_key,
				     .node = block->frames->node};
	node = pm_path_number(outer->path_key);
	for (; level < names.levels && found->path_key != PM_PATH_KEY_BARREN; level++) {
		uint32_t region = names.region[names.levels - 1 - level] | PM_ADOPTED;

		entry = pm_thread_add_path(block->thread, node, region, level + 1);
		if (!entry)
			return -ENOMEM;
		node = entry->number;
		found->path_key = entry->path_key;
		found->node = entry->node;
	}
	if (found->path_key == PM_PATH_KEY_BARREN)
		return -EOVERFLOW;
	found->cpu = names.levels | PM_TOKEN_NUMBER(token->path) << PM_ADOPTED_PATH |
		     pm_frame_number(block, outer) << PM_ADOPTED_OUTER;
	return 0;
}

/* The visits between the one that contains what follows and FRAME have nothing of it. */
static void begin_apart(struct pm_thread_block *block, struct pm_frame *frame)
{
	struct pm_whole whole;

	frame->start =
		pm_stale_read(block, pm_frame_at(frame, block->frame_size, -1), &whole);
	pm_stale_keep(block, frame, &whole);
}

int pm_adopt_find(struct pm_thread_block *block, const struct pm_frame *frame,
		  const struct perfmon_token *token, struct pm_adopted *found)
{
	struct pm_still still;
	int err;

	if (pm_frame_number(block, frame) > PERFMON_PROFILE_DEPTH_MAX)
		return -EOVERFLOW;
	if (!pm_regions_try_lock(&still))
		return -EBUSY;
	pm_regions.adopter = &pm_adopter;
	err = find_nodes(block, frame, token, found);
	pm_regions_unlock(&still);
	return err;
}

struct pm_frame *pm_adopt_enter(struct pm_thread_block *block, struct pm_frame *frame,
				const struct pm_adopted *adopted, uint64_t key)
{
	frame->region_key = key;
	frame->epoch = block->epoch;
	frame->left_out = 0;
	if ((adopted->cpu >> PM_ADOPTED_OUTER) + 1 != pm_frame_number(block, frame)) {
		frame->region_key = key + PM_KEY_APART;
		begin_apart(block, frame);
	}
	return pm_adopt_push(block, frame, adopted);
}

int pm_adopt_token(const struct perfmon_token *token)
{
	struct pm_thread_block *block;
	struct pm_adopted adopted;
	struct pm_frame *top;
	int err;

	block = pm_adopt_close(&top, &err);
	if (!block)
		return err;
	err = pm_adopt_find(block, top, token, &adopted);
	if (err) {
		PM_ADD(block->thread->record->lost_other, 1);
	} else {
		/* A child that goes on where its parent was has a number alone, which is no
		 * token. */
		if (top == block->first && (!token->path || token->path > UINT32_MAX))
			block->adopted[token->path % PM_ADOPTED_CACHE] = adopted;
		top = pm_adopt_enter(block, top, &adopted, PM_ADOPTED_KEY);
		/* It may stand where a task has its visit. */
		pm_tasks_look(block);
	}
	pm_slow_open(block, top);
	return err;
}

static int adopt_number(uint64_t number)
{
	return pm_adopt_token(&(struct perfmon_token){.path = number});
}

const struct pm_region_adopter pm_adopter = {adopt_number};

/* Moves what OUTER read at its BEGIN, or at its adoption, by TICKS and SINCE, what passed since an
 * adoption. Its views are saved. */
static void move(const struct pm_thread_block *block, struct pm_frame *outer,
		 uint64_t ticks, const struct pm_whole *since)
{
	uint64_t ns = (uint64_t)pm_clock_ticks_ns((double)ticks);

	if (pm_key_is_adopted(outer->region_key) && !pm_key_is_apart(outer->region_key))
		return;
	outer->start += ticks;
	outer->unknown |= ~since->known;
	for (uint32_t i = 0; i < block->counters; i++) {
		struct pm_frame_counter *counter = &outer->counter[i];

		if (outer->whole)
			counter->raw += since->value[i];
		else
			counter->offset += (int64_t)since->value[i];
		counter->lost_ns += since->lost_ns[i];
		if (since->enabled_ns[i] == UINT64_MAX)
			counter->enabled_ns = UINT64_MAX;
		else if (counter->enabled_ns != UINT64_MAX)
			/* Time that is not whole is at `start`, which has moved. */
			counter->enabled_ns +=
				since->enabled_ns[i] - (outer->whole ? 0 : ns);
	}
}

void pm_adopt_leave_apart(struct pm_thread_block *block, struct pm_frame *frame)
{
	struct pm_whole since;
	struct pm_frame *outer;
	uint64_t ticks;

	ticks = pm_stale_read(block, pm_frame_at(frame, block->frame_size, -1), &since) -
		frame->start;
	since.known &= ~frame->unknown;
	for (uint32_t i = 0; i < block->counters; i++) {
		const struct pm_frame_counter *begin = &frame->counter[i];

		since.value[i] -= begin->raw;
		since.lost_ns[i] -= begin->lost_ns;
		if (begin->enabled_ns == UINT64_MAX)
			since.enabled_ns[i] = UINT64_MAX;
		else if (since.enabled_ns[i] != UINT64_MAX)
			since.enabled_ns[i] -= begin->enabled_ns;
	}
	outer = pm_frame_at(block->frames, block->frame_size,
			    (ptrdiff_t)outer_number(frame) + 1);
	for (; outer != frame; outer = pm_frame_at(outer, block->frame_size, 1))
		move(block, outer, ticks, &since);
}
