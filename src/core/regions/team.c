/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The calls of perfmon/team.h. */
#include "perfmon/team.h"

#include <errno.h>
#include <stdbool.h>

#include "core/api/export.h"
#include "core/kernel/clock.h"
#include "core/kernel/kernel.h"
#include "core/regions/adopt.h"
#include "core/regions/threads/names.h"
#include "core/regions/threads/paths.h"
#include "core/regions/slow/slow.h"
#include "core/regions/threads/state.h"
#include "core/regions/threads/unmatched.h"
#include "fastpath/fastpath.h"

/* --- tokens --------------------------------------------------------------------------- */

/* Stores the token of the path of FRAME, the innermost one, in *PATH. Returns 0 or a negative errno. */
static int find_path(const struct pm_thread_block *block, const struct pm_frame *frame,
		     uint64_t *path)
{
	const struct perfmon_profile_thread *record = block->thread->record;
	struct pm_still still;
	uint32_t number;

	if (frame->path_key == PM_PATH_KEY_BARREN)
		return -EOVERFLOW;
	if (!pm_regions_try_lock(&still))
		return -EBUSY;
	if (!pm_regions.tokens)
		__atomic_store_n(&pm_regions.tokens,
				 (((uint64_t)pm_kernel_getpid() << 32) ^
				  (pm_clock_ticks() << 33)) |
					 UINT64_C(1) << 32,
				 __ATOMIC_RELAXED);
	pm_regions.adopter = &pm_adopter;
	number = pm_shared_path_of(
		record, pm_thread_node(record, pm_path_number(frame->path_key)));
	if (number != PM_SHARED_PATH_NONE)
		*path = pm_regions.tokens | number;
	pm_regions_unlock(&still);
	return number == PM_SHARED_PATH_NONE ? -ENOMEM : 0;
}

static struct pm_handed_on *handed_on(const struct pm_thread_block *block,
				      uint64_t path_key)
{
	return &block->handed_on[path_key >> 32 & (PM_ADOPTED_CACHE - 1)];
}

static int make_token(struct perfmon_token *token)
{
	struct pm_thread_block *block;
	struct pm_handed_on *known;
	const struct pm_frame *frame;
	struct pm_frame *top;
	int err;

	block = pm_thread_block;
	/* A visit that is left out is at the path of the one around it. */
	if (block->alive && block->overflow && block->left_out && !block->in_slow) {
		frame = pm_frame_at(block->full_top, block->frame_size, -1);
		return find_path(block, frame, &token->path);
	}
	block = pm_adopt_close(&top, &err);
	if (!block)
		return err;
	frame = pm_frame_at(top, block->frame_size, -1);
	err = find_path(block, frame, &token->path);
	if (!err) {
		known = handed_on(block, frame->path_key);
		known->path = token->path;
		known->path_key = frame->path_key;
	}
	pm_slow_open(block, top);
	return err;
}

PM_EXPORT int perfmon_region_token(struct perfmon_token *token)
{
	const struct pm_thread_block *block = pm_thread_block;
	const struct pm_handed_on *known;
	const struct pm_frame *frame = block->top;

	if (unlikely(!token))
		return -EINVAL;
	if (frame && block->arm_generation == PM_GET(pm_region_general.generation)) {
		frame = pm_frame_at(frame, block->frame_size, -1);
		known = handed_on(block, frame->path_key);
		if (known->path_key == frame->path_key) {
			token->path = known->path;
			return 0;
		}
	}
	token->path = 0;
	/* A thread without regions is at the top, and what it calls prepares none. */
	return block == &pm_thread_block_none ? 0 : make_token(token);
}

/* --- adopting -------------------------------------------------------------------------- */

static int adopt_slowly(const struct perfmon_token *token)
{
	static bool noted;
	int err;

	if (!pm_region_calls_are_armed() && !pm_thread_block->alive)
		return 0;
	if (!token || (token->path && token->path <= UINT32_MAX))
		err = -EINVAL;
	else if (token->path &&
		 token->path >> 32 << 32 !=
			 __atomic_load_n(&pm_regions.tokens, __ATOMIC_RELAXED))
		err = -ESTALE;
	else
		return pm_adopt_token(token);
	pm_regions_note_once(&noted,
			     "perfmon_region_adopt() was called with a token of another "
			     "process, or with none: what followed stands where the "
			     "thread was");
	return err;
}

PM_EXPORT int perfmon_region_adopt(const struct perfmon_token *token)
{
	struct pm_thread_block *block = pm_thread_block;
	const struct pm_adopted *known;
	struct pm_frame *frame = block->top;

	/* The top of a thread that is not set up is not that. While regions are disarmed an adoption
	 * is kept all the same: leaving needs not know. */
	if (unlikely(!token || !frame || frame != block->first))
		return adopt_slowly(token);
	/* A forked child finds none: this memory is wiped. */
	known = &block->adopted[token->path % PM_ADOPTED_CACHE];
	if (unlikely(known->path != token->path))
		return adopt_slowly(token);
	block->top = NULL;
	SIGNAL_FENCE();
	frame->region_key = block->adopted_key;
	frame = pm_adopt_push(block, frame, known);
	SIGNAL_FENCE();
	block->top = frame;
	return 0;
}

/* --- leaving --------------------------------------------------------------------------- */

/* Counts a call of NAME that nothing has begun. */
static int count_unmatched(struct pm_thread_block *block, struct pm_frame *top,
			   const char *name)
{
	PM_ADD(block->thread->record->unmatched_ends, 1);
	pm_unmatched_count(name, block, pm_frame_at(top, block->frame_size, -1));
	pm_slow_open(block, top);
	return -ENOENT;
}

/* Ends visits below the deepest level if an adoption that can be left is further out than them. */
static void end_overflow(struct pm_thread_block *block)
{
	const struct pm_frame *adopted;

	if (!block->alive || !block->overflow || block->in_slow)
		return;
	adopted = pm_slow_adoption(block, block->full_top);
	if (adopted == block->frames || pm_key_is_task(adopted->region_key))
		return;
	block->overflow = 0;
	block->top = block->full_top;
}

static int leave_slowly(void)
{
	struct pm_frame *top, *frame;
	struct pm_thread_block *block;
	int err;

	end_overflow(pm_thread_block);
	block = pm_adopt_close(&top, &err);
	if (!block)
		return err == -EOVERFLOW ? -ENOENT : err;
	frame = pm_slow_adoption(block, top);
	if (frame == block->frames && !pm_region_calls_are_armed()) {
		pm_slow_open(block, top);
		return 0;
	}
	if (frame == block->frames || pm_key_is_task(frame->region_key))
		return count_unmatched(block, top, "perfmon_region_leave()");
	if (pm_key_is_apart(frame->region_key))
		pm_adopt_leave_apart(block, frame);
	while (top != frame) {
		top = pm_frame_at(top, block->frame_size, -1);
		if (top != frame)
			PM_COUNT32(top->node->mismatched_ends, 1);
		PM_PUT(top->node, NULL);
	}
	pm_slow_open(block, frame);
	return 0;
}

PM_EXPORT int perfmon_region_leave(void)
{
	struct pm_thread_block *block = pm_thread_block;
	struct pm_frame *frame = block->top;

	if (unlikely(!frame))
		return leave_slowly();
	frame = pm_frame_at(frame, block->frame_size, -1);
	if (unlikely(frame->region_key != block->adopted_key))
		return leave_slowly();
	block->top = NULL;
	SIGNAL_FENCE();
	PM_PUT(frame->node, NULL);
	SIGNAL_FENCE();
	block->top = frame;
	return 0;
}

/* --- the innermost visit ----------------------------------------------------------------- */

PM_EXPORT int perfmon_region_end_innermost(void)
{
	static const char name[] = "perfmon_region_end_innermost()";
	struct pm_thread_block *block;
	struct perfmon_region region = {.name = NULL};
	struct pm_frame *top, *frame;

	if (!pm_region_calls_are_armed())
		return 0;
	if (!pm_slow_ends(name))
		return -ENOENT;
	block = pm_thread_block;
	if (!pm_slow_reopen(block))
		return -EBUSY;
	if (block->overflow) {
		block->overflow--;
		if (!block->overflow)
			block->top = block->full_top;
		return 0;
	}
	top = pm_slow_close(block);
	frame = pm_frame_at(top, block->frame_size, -1);
	if (pm_region_general.filters && frame->left_out) {
		frame->left_out--;
		block->top = top;
		return 0;
	}
	region.key = frame->region_key;
	if (top == block->first || pm_key_is_adopted(region.key)) {
		block->in_slow = 1;
		return count_unmatched(block, top, name);
	}
	block->top = top;
	pm_region_call(&perfmon_region_end_armed, &region);
	return 0;
}
