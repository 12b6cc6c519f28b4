/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The slow path of regions: BEGIN and END if the hot path cannot handle them. stale.c has
 * the part for stale views.
 *
 * The first call of a path goes one way, downwards, with the stack closed. Each step
 * prepares the next one, or counts the visit as lost and ends. Then the hot path repeats
 * the call, once. Only the hot path counts a visit, so that the first visit
 * costs the same as all others.
 *
 *	BEGIN of the hot path                  END of the hot path
 *	 |                |                     |                  |
 *	 | stack closed   | no such path        | stack closed     | another key
 *	 v                |                     v                  |
 *	begin_closed      |                    end_closed          |
 *	  process, thread |                      no thread: lost   |
 *	  left by a jump  |                      left by a jump    |
 *	  nested too deep |                      nested too deep   |
 *	 |                v                     |                  v
 *	 +--------> begin_missing               +----------> end_other
 *	              key, by the name                         key, by the name
 *	              path: node and entry                     inner visits, dropped
 *	              |                                        |
 *	              v                                        v
 *	             BEGIN of the hot path                    END of the hot path
 */
#include "core/regions/slow/slow.h"

#include <errno.h>

#include "core/kernel/handler.h"
#include "core/kernel/kernel.h"
#include "core/regions/threads/exclude.h"
#include "core/regions/threads/names.h"
#include "core/regions/threads/paths.h"
#include "core/regions/slow/prepare.h"
#include "core/regions/slow/setup.h"
#include "core/regions/threads/state.h"
#include "core/regions/threads/steps.h"
#include "core/regions/threads/thread.h"
#include "core/regions/threads/unmatched.h"

/* Counts a lost visit. A signal handler that interrupts this may count one, too. */
static void count_lost(uint64_t *lost)
{
	__atomic_fetch_add(lost, 1, __ATOMIC_RELAXED);
}

/* Returns the level of the path of a visit at FRAME; adopted levels count. */
static uint32_t depth_at(const struct pm_thread_block *block,
			 const struct pm_frame *frame)
{
	/* The root's is 0. */
	const struct pm_frame *adoption = pm_slow_adoption(block, frame);

	return (uint32_t)((adoption->cpu & PM_ADOPTED_DEPTH) +
			  pm_frame_number(block, frame) -
			  pm_frame_number(block, adoption));
}

/* --- visits below the deepest level -------------------------------------------------- */

static void overflow_push(struct pm_thread_block *block, uint64_t key)
{
	if (block->overflow < PM_OVERFLOW_KEYS)
		block->overflow_key[block->overflow] = key;
	block->overflow++;
	count_lost(block->left_out ? block->left_out : block->thread->lost);
}

/* Closes the stack at FRAME until the visit that begins here has ended. This visit and
 * all below it are counted in *LOST. */
static void overflow(struct pm_thread_block *block, struct pm_frame *frame, uint64_t key,
		     uint64_t *lost)
{
	block->full_top = frame;
	block->left_out = NULL;
	block->thread->lost = lost;
	overflow_push(block, key);
}

/*
 * Ends the innermost of these visits that has KEY, and the visits inside of it, whose
 * ENDs were skipped by a jump. Returns false if the visit that ends is open further out:
 * then all of these have ended.
 */
static bool overflow_pop(struct pm_thread_block *block, uint64_t key)
{
	uint32_t i, open = block->overflow;
	struct pm_frame *frame = block->full_top;

	for (i = open < PM_OVERFLOW_KEYS ? open : PM_OVERFLOW_KEYS; i--;) {
		if (block->overflow_key[i] == key) {
			/* One of the visits without a key ends; it is not known which. */
			block->overflow = open > PM_OVERFLOW_KEYS ? open - 1 : i;
			return true;
		}
	}
	while (frame != block->frames) {
		frame = pm_frame_at(frame, block->frame_size, -1);
		if (pm_key_is_adopted(frame->region_key))
			break;
		if (frame->region_key == key) {
			block->overflow = 0;
			return false;
		}
	}
	/* A visit without a name at its BEGIN may be registered by now. */
	if (open > PM_OVERFLOW_KEYS || !block->overflow_key[open - 1])
		block->overflow--;
	else
		PM_ADD(block->thread->record->unmatched_ends, 1);
	return true;
}

/* --- a closed stack ------------------------------------------------------------------- */

/* The number of BEGINs that the calling thread dropped before its set-up. Their ENDs have
 * had a BEGIN. */
static __thread uint64_t dropped;

/* Measures the cost in the first thread that is set up. Under the lock no thread disarms,
 * and a fork waits, so that its child knows the cost, too. */
static void measure_cost(void)
{
	static bool measured;

	if (__atomic_load_n(&measured, __ATOMIC_RELAXED))
		return;
	pm_regions_acquire();
	if (!measured && pm_region_calls_are_armed()) {
		pm_cost_measure();
		__atomic_store_n(&measured, true, __ATOMIC_RELAXED);
	}
	pm_regions_release();
}

/* Sets up the thread at its first region. Returns true if the thread is set up now. */
static bool first_use(void)
{
	struct pm_still still;
	bool set_up;
	int err = -EDEADLK;

	if (pm_regions_phase() == PM_REGIONS_READY && !pm_regions_is_ours()) {
		pm_regions_make_inert();
		return false;
	}
	dropped++;
	if (!pm_thread_may_set_up())
		return false;
	pm_kernel_still_begin(&still);
	/* The set-up of the process calls libraries that allocate. That of a thread does
	 * not. */
	if (!pm_thread_busy && !(pm_regions_phase() == PM_REGIONS_READY
					 ? pm_may_be_in_signal_handler(&still.mask)
					 : pm_in_signal_handler())) {
		pm_thread_busy++;
		err = pm_regions_init();
		if (!err && pm_region_calls_are_armed()) {
			err = pm_thread_setup();
			if (err && err != -EDEADLK)
				__atomic_fetch_add(&pm_profile_header()->lost_threads, 1,
						   __ATOMIC_RELAXED);
			else if (!err)
				measure_cost();
		}
		pm_thread_busy--;
	}
	if (err == -EDEADLK && pm_profile_exists())
		__atomic_fetch_add(&pm_profile_header()->lost_first_in_handler, 1,
				   __ATOMIC_RELAXED);
	set_up = pm_thread_block != &pm_thread_block_none;
	dropped -= set_up;
	pm_kernel_still_end(&still);
	return set_up;
}

/* Counts an END in a thread that is not set up: its BEGIN was dropped, or ran in another
 * thread. */
static void end_without_thread(const char *name)
{
	if (dropped) {
		dropped--;
	} else if (pm_regions_phase() == PM_REGIONS_READY && pm_regions_is_ours()) {
		count_lost(&pm_profile_header()->unmatched_ends);
		pm_unmatched_count(name, NULL, NULL);
	}
}

/* Returns whether BLOCK was wiped: the process is a child that no fork handler
 * prepared. */
static bool wiped(struct pm_thread_block *block)
{
	if (block->alive)
		return false;
	pm_thread_block = &pm_thread_block_none;
	pm_regions_make_inert();
	return true;
}

/* The top is the first frame without a node. The visit of the interrupted call is lost.
 * An END may have left its node half written. */
bool pm_slow_reopen(struct pm_thread_block *block)
{
	struct pm_frame *frame = block->first;
	const struct pm_frame *parent;
	struct pm_path_entry *entry;

	if (!block->in_slow && (block->top || block->overflow))
		return true;
	if (pm_thread_busy || !pm_outside_signal_handlers())
		return false;
	PM_ADD(block->thread->record->lost_other, 1);
	if (!block->overflow) {
		while (frame->node)
			frame = pm_frame_at(frame, block->frame_size, 1);
		parent = pm_frame_at(frame, block->frame_size, -1);
		entry = pm_thread_path(block, parent->path_key + frame->region_key);
		if (entry && entry->node && entry->node->sequence & 1) {
			PM_COUNT32(entry->node->dropped_counts, 1);
			pm_node_close(entry->node, entry->node->sequence - 1);
		}
	}
	SIGNAL_FENCE();
	block->in_slow = 0;
	if (!block->overflow)
		block->top = frame;
	return true;
}

struct pm_frame *pm_slow_close(struct pm_thread_block *block)
{
	struct pm_frame *frame = block->top;

	block->top = NULL;
	SIGNAL_FENCE();
	if (block->arm_generation != PM_GET(pm_region_general.generation))
		frame = pm_region_resync(block, frame);
	return frame;
}

bool pm_slow_begins(void)
{
	if (pm_thread_block == &pm_thread_block_none && !first_use())
		return false;
	return !wiped(pm_thread_block);
}

/* Returns REGION's key, or 0 if its name cannot be registered. */
static uint64_t register_name(struct perfmon_region *region)
{
	uint64_t key = PM_GET(region->key);
	const char *name = pm_region_name(region);

	if (key != PM_KEY_LEFT_OUT && !pm_region_is_registered(key)) {
		pm_region_of_name(name, true);
		pm_region_note_use(name, key);
	}
	return pm_region_known_key(region);
}

struct perfmon_region *pm_region_begin_closed(struct perfmon_region *region)
{
	struct pm_thread_block *block;

	if (!pm_slow_begins()) {
		pm_region_note_use(pm_region_name(region), PM_GET(region->key));
		return NULL;
	}
	block = pm_thread_block;
	if (!pm_slow_reopen(block)) {
		count_lost(&block->thread->record->lost_in_handler);
		return NULL;
	}
	if (block->overflow) {
		if (block->arm_generation == PM_GET(pm_region_general.generation)) {
			block->in_slow = 1;
			SIGNAL_FENCE();
			overflow_push(block, block->left_out
						     ? register_name(region)
						     : pm_region_known_key(region));
			SIGNAL_FENCE();
			block->in_slow = 0;
			return NULL;
		}
		/* Regions were disarmed when the ENDs came that should have opened the
		 * stack. */
		block->overflow = 0;
		block->top = block->full_top;
	}
	return pm_region_begin_missing(block, pm_slow_close(block), region);
}

bool pm_slow_ends(const char *name)
{
	if (pm_thread_block == &pm_thread_block_none) {
		end_without_thread(name);
		return false;
	}
	return !wiped(pm_thread_block);
}

struct perfmon_region *pm_region_end_closed(struct perfmon_region *region)
{
	struct pm_thread_block *block;
	struct pm_frame *frame;
	bool further_out;

	if (!pm_slow_ends(pm_region_name(region)))
		return NULL;
	block = pm_thread_block;
	if (!pm_slow_reopen(block))
		return NULL;
	if (block->overflow) {
		block->in_slow = 1;
		SIGNAL_FENCE();
		further_out = !overflow_pop(block, pm_region_known_key(region));
		SIGNAL_FENCE();
		block->in_slow = 0;
		if (block->overflow)
			return NULL;
		block->top = block->full_top;
		if (!further_out)
			return NULL;
	}
	frame = pm_slow_close(block);
	return pm_region_end_other(block, pm_frame_at(frame, block->frame_size, -1),
				   region);
}

/* --- a new path ---------------------------------------------------------------------- */

/* Returns whether visits of paths at DEPTH are left out. */
static bool is_left_out(uint32_t depth)
{
	return depth > pm_regions.options.depth &&
	       pm_regions.options.depth < PERFMON_PROFILE_DEPTH_MAX;
}

/* More room, a new stride, and steps need the lock. */
uint64_t *pm_slow_add_path(struct pm_thread_block *block, uint64_t parent,
			   uint64_t region_key, uint32_t depth)
{
	struct pm_thread *thread = block->thread;
	bool shared = pm_region_general.stride || pm_regions.options.steps ||
		      pm_thread_grows(thread, parent + region_key);
	struct pm_path_entry *entry;
	struct pm_still still;

	if (shared && !pm_regions_try_lock(&still))
		return &thread->record->lost_in_handler;
	if (is_left_out(depth))
		entry = pm_thread_leave_out(thread, parent + region_key);
	else
		entry = pm_thread_add_path(thread, pm_path_number(parent),
					   pm_region_id(region_key), depth);
	if (entry && entry->node && pm_region_general.stride)
		pm_stride_begin(pm_node_stride(entry->node, block->columns),
				pm_region_id(region_key));
	if (entry && entry->node && pm_regions.options.steps)
		pm_steps_add(thread, entry);
	if (shared)
		pm_regions_unlock(&still);
	return entry ? NULL : &thread->record->lost_no_memory;
}

struct perfmon_profile_node *pm_slow_node_below(struct pm_thread_block *block,
						uint64_t path_key, uint64_t key)
{
	struct pm_path_entry *entry = pm_thread_path(block, path_key + key);
	struct pm_still still;

	if (entry)
		return entry->node;
	if (path_key == PM_PATH_KEY_BARREN || pm_thread_busy)
		return NULL;
	if (!pm_regions_try_lock(&still))
		return NULL;
	entry = pm_thread_add_path(block->thread, pm_path_number(path_key),
				   pm_region_id(key), PERFMON_PROFILE_DEPTH_MAX);
	pm_regions_unlock(&still);
	return entry ? entry->node : NULL;
}

struct perfmon_region *pm_region_begin_missing(struct pm_thread_block *block,
					       struct pm_frame *frame,
					       struct perfmon_region *region)
{
	struct perfmon_profile_thread *record = block->thread->record;
	const struct pm_frame *parent = pm_frame_at(frame, block->frame_size, -1);
	uint64_t region_key = PM_GET(region->key), *lost = NULL;
	struct pm_exclude exclude;
	uint32_t depth;

	block->in_slow = 1;
	pm_exclude_begin(block, &exclude);
	/* It takes longer in a deeper visit, so that it is excluded. */
	depth = depth_at(block, frame);
	if (pm_cost_resumes(region))
		goto found;
	if (pm_regions.exact &&
	    !pm_thread_path(block, parent->path_key + PM_GET(region->key)))
		exclude.steps = pm_thread_steps(block, parent->path_key + region_key);
	region_key = register_name(region);
	/* A region that is left out by its name has no path: the call that follows counts it. */
	if (region_key == PM_KEY_LEFT_OUT)
		goto found;
	if (!region_key)
		lost = &record->lost_unnamed;
	else if (depth > PERFMON_PROFILE_DEPTH_MAX)
		lost = &record->lost_too_deep;
	/* This is a signal handler during set-up, which measures an empty region. */
	else if (pm_thread_busy)
		lost = &record->lost_in_handler;
	else if (!pm_thread_path(block, parent->path_key + region_key))
		lost = pm_slow_add_path(block, parent->path_key, region_key, depth);
	if (lost)
		overflow(block, frame, region_key, lost);
found:
	SIGNAL_FENCE();
	block->in_slow = 0;
	if (lost)
		return NULL;
	pm_exclude_end(block, &exclude, PM_EXCLUDED_BEGIN, frame);
	block->top = frame;
	return region;
}

/* --- ENDs that do not match ---------------------------------------------------------- */

struct perfmon_region *pm_region_end_other(struct pm_thread_block *block,
					   struct pm_frame *frame,
					   struct perfmon_region *region)
{
	uint64_t region_key = PM_GET(region->key);
	struct pm_frame *found = frame;
	struct pm_exclude exclude;

	block->in_slow = 1;
	pm_exclude_begin(block, &exclude);
	if (pm_cost_resumes(region))
		region_key = PM_GET(region->key);
	else if (!pm_region_is_registered(region_key))
		region_key = pm_region_known_key(region);
	if (region_key == PM_KEY_LEFT_OUT) {
		pm_slow_open(block, pm_frame_at(frame, block->frame_size, 1));
		return region;
	}
	while (found != block->frames && found->region_key != region_key &&
	       !pm_key_is_adopted(found->region_key))
		found = pm_frame_at(found, block->frame_size, -1);
	if (found == block->frames || pm_key_is_adopted(found->region_key)) {
		PM_ADD(block->thread->record->unmatched_ends, 1);
		pm_unmatched_count(pm_region_name(region), block, frame);
		pm_slow_open(block, pm_frame_at(frame, block->frame_size, 1));
		return NULL;
	}
	for (; frame != found; frame = pm_frame_at(frame, block->frame_size, -1)) {
		PM_COUNT32(frame->node->mismatched_ends, 1);
		PM_PUT(frame->node, NULL);
	}
	SIGNAL_FENCE();
	block->in_slow = 0;
	pm_exclude_end(block, &exclude, PM_EXCLUDED_END, found);
	block->top = pm_frame_at(found, block->frame_size, 1);
	return region;
}

/* Moves the adoption at FROM to TO, below which no visit is open any more. */
static void keep_adoption(const struct pm_thread_block *block, struct pm_frame *to,
			  struct pm_frame *from)
{
	uint64_t outer = pm_frame_number(block, to) - 1;
	struct perfmon_profile_node *node = from->node;

	PM_PUT(from->node, NULL);
	to->path_key = from->path_key;
	to->cpu = (from->cpu & ((UINT64_C(1) << PM_ADOPTED_OUTER) - 1)) |
		  outer << PM_ADOPTED_OUTER;
	to->epoch = block->epoch;
	to->region_key = pm_key_is_task(from->region_key) ? PM_TASK_KEY : PM_ADOPTED_KEY;
	PM_PUT(to->node, node);
}

struct pm_frame *pm_region_resync(struct pm_thread_block *block, struct pm_frame *frame)
{
	struct pm_frame *top = block->first, *at = top;

	/* A thread stays where it has adopted paths: leaving them does not need regions. */
	for (; at != frame; at = pm_frame_at(at, block->frame_size, 1)) {
		if (!pm_key_is_adopted(at->region_key)) {
			PM_ADD(block->thread->record->lost_other, 1);
			PM_PUT(at->node, NULL);
			continue;
		}
		keep_adoption(block, top, at);
		top = pm_frame_at(top, block->frame_size, 1);
	}
	block->arm_generation = PM_GET(pm_region_general.generation);
	return top;
}
