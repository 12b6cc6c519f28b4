/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The calls of perfmon/team.h. An adoption is a frame on the thread's stack of open visits, with the
 * path key of the adopted path, so that BEGIN finds the nodes below it as it finds all others. No END
 * matches it, and none looks for a visit behind it.
 *
 * An adopted path has nodes of its own in the thread's tree, beside those of visits: what stands below
 * them is in no visit of this thread. If the thread has visits open, the path begins below the innermost
 * of them that it goes through, which contains what follows. The visits inside of that one have nothing of
 * it: leave moves what they read at their BEGIN by what was counted meanwhile.
 */
#include "perfmon/team.h"

#include <errno.h>
#include <stdbool.h>

#include "core/api/export.h"
#include "core/kernel/clock.h"
#include "core/kernel/kernel.h"
#include "core/regions/handed.h"
#include "core/regions/names.h"
#include "core/regions/paths.h"
#include "core/regions/slow.h"
#include "core/regions/stale.h"
#include "core/regions/state.h"
#include "core/regions/unmatched.h"
#include "fastpath/fastpath.h"

#define unlikely(condition) __builtin_expect(!!(condition), 0)

/* The low half of a token is the path's number. */
#define NUMBER(path) ((path)&UINT32_MAX)

/* Returns the block of the calling thread with its stack closed and its top in *TOP; NULL if the
 * call cannot be made, with the reason in *ERR. While regions are disarmed a thread that is set up
 * goes on: what it adopts and leaves then has to match what it does when they are armed again. */
static struct pm_thread_block *close_block(struct pm_frame **top, int *err)
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
	if ((block->in_slow || (!block->top && !block->overflow)) &&
	    !pm_slow_reopen(block)) {
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

static void open_block(struct pm_thread_block *block, struct pm_frame *top)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	block->in_slow = 0;
	block->top = top;
}

/* --- tokens --------------------------------------------------------------------------- */

/* Stores the number of the path of FRAME, the innermost one, in *NUMBER. The caller holds
 * PM_LOCK_REGIONS. Returns 0 or a negative errno. */
static int number_of(const struct pm_thread_block *block, const struct pm_frame *frame,
		     uint64_t *number)
{
	const struct perfmon_profile_thread *record = block->thread->record;
	uint32_t regions[PERFMON_PROFILE_DEPTH_MAX], depth = 0, path = 0;
	uint32_t node = (uint32_t)(frame->path_key * PM_KEY_INVERSE >> 32);

	if (frame->path_key == PM_PATH_KEY_BARREN)
		return -EOVERFLOW;
	for (; node > 1; node = pm_thread_node(record, node)->parent) {
		if (depth == PERFMON_PROFILE_DEPTH_MAX)
			return -EOVERFLOW;
		regions[depth++] = pm_thread_node(record, node)->region;
	}
	while (depth) {
		path = pm_handed_get(path, regions[--depth]);
		if (!path)
			return -ENOMEM;
	}
	*number = path;
	return 0;
}

static int adopt_number(uint64_t number);

/* The same with the lock. */
static int find_number(const struct pm_thread_block *block, const struct pm_frame *frame,
		       uint64_t *number)
{
	struct pm_still still;
	int err = -EBUSY;

	pm_kernel_still_begin(&still);
	if (pm_regions_try_lock()) {
		if (!pm_regions.tokens)
			__atomic_store_n(&pm_regions.tokens,
					 (((uint64_t)pm_kernel_getpid() << 32) ^
					  (pm_clock_ticks() << 33)) |
						 UINT64_C(1) << 32,
					 __ATOMIC_RELAXED);
		pm_regions.adopt = adopt_number;
		err = number_of(block, frame, number);
		pm_regions_release();
	}
	pm_kernel_still_end(&still);
	return err;
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
	uint64_t number;
	int err;

	block = pm_thread_block;
	/* A visit that is left out is at the path of the one around it. */
	if (block->alive && block->overflow && block->left_out && !block->in_slow) {
		frame = pm_frame_at(block->full_top, block->frame_size, -1);
		err = find_number(block, frame, &number);
		if (!err)
			token->path = pm_regions.tokens | number;
		return err;
	}
	block = close_block(&top, &err);
	if (!block)
		return err;
	frame = pm_frame_at(top, block->frame_size, -1);
	err = find_number(block, frame, &number);
	if (!err) {
		known = handed_on(block, frame->path_key);
		known->path = pm_regions.tokens | number;
		known->path_key = frame->path_key;
		token->path = known->path;
	}
	open_block(block, top);
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
		frame = pm_frame_at((struct pm_frame *)(uintptr_t)frame,
				    block->frame_size, -1);
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

static uint64_t frame_number(const struct pm_thread_block *block,
			     const struct pm_frame *frame)
{
	return (uint64_t)((const char *)frame - (const char *)block->frames) /
	       block->frame_size;
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
	const struct pm_handed *path;

	names->number = number;
	names->levels = 0;
	for (; number; number = path->parent) {
		path = pm_handed_at(number);
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
		at = pm_handed_at(at)->parent;
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
			on = goes_through(names, NUMBER(frame->cpu >> PM_ADOPTED_PATH),
					  at);
			if (frame->region_key == PM_APART_KEY)
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
	int err = find_names(NUMBER(token->path), &names);

	if (err)
		return err;
	outer = find_outer(block, top, &names, &level);
	*found = (struct pm_adopted){.path = token->path,
				     .path_key = outer->path_key,
				     .node = block->frames->node};
	node = (uint32_t)(outer->path_key * PM_KEY_INVERSE >> 32);
	for (; level < names.levels && found->path_key != PM_PATH_KEY_BARREN; level++) {
		uint32_t region = names.region[names.levels - 1 - level] | PM_ADOPTED;
		uint64_t key = PM_PATH_KEY(node) + PM_REGION_KEY(region);

		entry = pm_thread_path(block, key);
		if (!entry)
			entry = pm_thread_add_path(block->thread, node, region, key,
						   level + 1);
		if (!entry)
			return -ENOMEM;
		node = entry->number;
		found->path_key = entry->path_key;
		found->node = entry->node;
	}
	if (found->path_key == PM_PATH_KEY_BARREN)
		return -EOVERFLOW;
	found->cpu = names.levels | NUMBER(token->path) << PM_ADOPTED_PATH |
		     frame_number(block, outer) << PM_ADOPTED_OUTER;
	return 0;
}

/* The visits between the one that contains what follows and FRAME have nothing of it. */
static void begin_apart(struct pm_thread_block *block, struct pm_frame *frame)
{
	struct pm_whole whole = {.known = 0};

	pm_stale_save(block, pm_frame_at(frame, block->frame_size, -1));
	frame->start = pm_clock_ticks();
	pm_stale_read(block, frame->start, &whole);
	for (uint32_t i = 0; i < block->counters; i++) {
		frame->counter[i].raw = whole.value[i];
		frame->counter[i].lost_ns = whole.lost_ns[i];
		frame->counter[i].enabled_ns = whole.enabled_ns[i];
	}
	frame->whole = 1;
	frame->unknown = ~whole.known;
	/* That of no block: these are whole values. */
	frame->epoch = PM_EPOCH(PM_EPOCH_GENERATION(block->epoch));
}

/* The frame counts from the store of its node on, in case a handler jumps away. */
static inline struct pm_frame *push(struct pm_thread_block *block, struct pm_frame *frame,
				    const struct pm_adopted *adopted)
{
	frame->path_key = adopted->path_key;
	frame->cpu = adopted->cpu;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	PM_PUT(frame->node, adopted->node);
	return pm_frame_at(frame, block->frame_size, 1);
}

static int adopt(struct pm_thread_block *block, struct pm_frame *frame,
		 const struct perfmon_token *token, struct pm_frame **top)
{
	struct pm_adopted adopted;
	struct pm_still still;
	int err = -EBUSY;

	if (frame_number(block, frame) > PERFMON_PROFILE_DEPTH_MAX)
		return -EOVERFLOW;
	pm_kernel_still_begin(&still);
	if (pm_regions_try_lock()) {
		pm_regions.adopt = adopt_number;
		err = find_nodes(block, frame, token, &adopted);
		pm_regions_release();
	}
	pm_kernel_still_end(&still);
	if (err)
		return err;
	/* A child that goes on where its parent was has a number alone, which is no token. */
	if (frame == block->first && (!token->path || token->path > UINT32_MAX))
		block->adopted[token->path % PM_ADOPTED_CACHE] = adopted;
	frame->region_key = PM_ADOPTED_KEY;
	frame->epoch = block->epoch;
	frame->left_out = 0;
	if ((adopted.cpu >> PM_ADOPTED_OUTER) + 1 != frame_number(block, frame)) {
		frame->region_key = PM_APART_KEY;
		begin_apart(block, frame);
	}
	*top = push(block, frame, &adopted);
	return 0;
}

static int adopt_token(const struct perfmon_token *token)
{
	struct pm_thread_block *block;
	struct pm_frame *frame, *top;
	int err;

	block = close_block(&frame, &err);
	if (!block)
		return err;
	top = frame;
	err = adopt(block, frame, token, &top);
	if (err)
		PM_ADD(block->thread->record->lost_other, 1);
	open_block(block, top);
	return err;
}

static int adopt_number(uint64_t number)
{
	return adopt_token(&(struct perfmon_token){.path = number});
}

/* Says once that a token was refused. */
static void note_refused(void)
{
	static bool noted;
	struct pm_still still;

	if (pm_regions_phase() != PM_REGIONS_READY || !pm_regions_is_ours())
		return;
	pm_kernel_still_begin(&still);
	if (pm_regions_try_lock()) {
		if (!noted)
			pm_profile_note(
				"perfmon_region_adopt() was called with a token of "
				"another process, or with none: what followed stands "
				"where the thread was");
		noted = true;
		pm_regions_release();
	}
	pm_kernel_still_end(&still);
}

static int adopt_slowly(const struct perfmon_token *token)
{
	if (!pm_region_calls_are_armed() && !pm_thread_block->alive)
		return 0;
	if (!token || (token->path && token->path <= UINT32_MAX)) {
		note_refused();
		return -EINVAL;
	}
	if (token->path && token->path >> 32 << 32 != __atomic_load_n(&pm_regions.tokens,
								      __ATOMIC_RELAXED)) {
		note_refused();
		return -ESTALE;
	}
	return adopt_token(token);
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
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	frame->region_key = block->adopted_key;
	frame = push(block, frame, known);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	block->top = frame;
	return 0;
}

/* --- leaving --------------------------------------------------------------------------- */

/* What passed since an adoption. */
struct since {
	uint64_t ticks;
	int64_t count[PERFMON_PROFILE_COUNTERS_MAX];
	uint64_t lost_ns[PERFMON_PROFILE_COUNTERS_MAX];
	uint64_t enabled_ns[PERFMON_PROFILE_COUNTERS_MAX]; /* UINT64_MAX: not known */
	uint32_t unknown; /* bit i: of counter i it is not known */
};

/* Moves what OUTER read at its BEGIN, or at its adoption. Its views are saved. */
static void move(const struct pm_thread_block *block, struct pm_frame *outer,
		 const struct since *since)
{
	uint64_t ns = (uint64_t)pm_clock_ticks_ns((double)since->ticks);

	if (outer->region_key == PM_ADOPTED_KEY)
		return;
	outer->start += since->ticks;
	outer->unknown |= since->unknown;
	for (uint32_t i = 0; i < block->counters; i++) {
		struct pm_frame_counter *counter = &outer->counter[i];

		if (outer->whole)
			counter->raw += (uint64_t)since->count[i];
		else
			counter->offset += since->count[i];
		counter->lost_ns += since->lost_ns[i];
		if (since->enabled_ns[i] == UINT64_MAX)
			counter->enabled_ns = UINT64_MAX;
		else if (counter->enabled_ns != UINT64_MAX)
			/* What is not whole is at `start`, which has moved. */
			counter->enabled_ns +=
				since->enabled_ns[i] - (outer->whole ? 0 : ns);
	}
}

static void leave_apart(struct pm_thread_block *block, const struct pm_frame *frame)
{
	struct pm_whole whole = {.known = 0};
	struct since since = {.ticks = 0};
	struct pm_frame *outer;
	uint64_t now = pm_clock_ticks();

	since.ticks = now - frame->start;
	pm_stale_save(block, pm_frame_at((struct pm_frame *)(uintptr_t)frame,
					 block->frame_size, -1));
	pm_stale_read(block, now, &whole);
	since.unknown = frame->unknown | ~whole.known;
	for (uint32_t i = 0; i < block->counters; i++) {
		const struct pm_frame_counter *begin = &frame->counter[i];

		since.count[i] = (int64_t)(whole.value[i] - begin->raw);
		since.lost_ns[i] = whole.lost_ns[i] - begin->lost_ns;
		since.enabled_ns[i] = whole.enabled_ns[i] == UINT64_MAX ||
						      begin->enabled_ns == UINT64_MAX
					      ? UINT64_MAX
					      : whole.enabled_ns[i] - begin->enabled_ns;
	}
	outer = pm_frame_at(block->frames, block->frame_size,
			    (ptrdiff_t)outer_number(frame) + 1);
	for (; outer != frame; outer = pm_frame_at(outer, block->frame_size, 1))
		move(block, outer, &since);
}

/* Counts a call of NAME that nothing has begun. */
static int count_unmatched(struct pm_thread_block *block, struct pm_frame *top,
			   const char *name)
{
	PM_ADD(block->thread->record->unmatched_ends, 1);
	pm_unmatched_count(name, block, pm_frame_at(top, block->frame_size, -1));
	open_block(block, top);
	return -ENOENT;
}

/* Ends visits below the deepest level: what is further out than them ends. */
static void end_overflow(struct pm_thread_block *block)
{
	if (!block->alive || !block->overflow || block->in_slow)
		return;
	block->overflow = 0;
	block->top = block->full_top;
}

static bool has_adopted(const struct pm_thread_block *block)
{
	struct pm_frame *frame = block->overflow ? block->full_top : block->top;

	if (!block->alive || !frame)
		return true; /* it is not known */
	while (frame != block->first) {
		frame = pm_frame_at(frame, block->frame_size, -1);
		if (pm_key_is_adopted(frame->region_key))
			return true;
	}
	return false;
}

static int leave_slowly(void)
{
	struct pm_frame *top, *frame;
	struct pm_thread_block *block;
	int err;

	if (has_adopted(pm_thread_block))
		end_overflow(pm_thread_block);
	block = close_block(&top, &err);
	if (!block)
		return err == -EOVERFLOW ? -ENOENT : err;
	frame = top;
	do {
		frame = pm_frame_at(frame, block->frame_size, -1);
		if (frame == block->frames) {
			if (pm_region_calls_are_armed())
				return count_unmatched(block, top,
						       "perfmon_region_leave()");
			open_block(block, top);
			return 0;
		}
	} while (!pm_key_is_adopted(frame->region_key));
	if (frame->region_key == PM_APART_KEY)
		leave_apart(block, frame);
	while (top != frame) {
		top = pm_frame_at(top, block->frame_size, -1);
		if (top != frame)
			PM_COUNT32(top->node->mismatched_ends, 1);
		PM_PUT(top->node, NULL);
	}
	open_block(block, frame);
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
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	PM_PUT(frame->node, NULL);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
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
	if ((block->in_slow || (!block->top && !block->overflow)) &&
	    !pm_slow_reopen(block))
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
