/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The calls of perfmon/task.h. A task that runs is an adoption on the thread's stack (adopt.h), of the
 * path that it began at, with its visits behind it. When it is suspended, each visit adds its part to its
 * node in this thread, and its region and its ticks so far go to the task's memory (tasks.h). When it
 * goes on, its visits begin anew at their nodes in that thread, as parts. Only the END of a visit counts
 * it, with the ticks of all parts: such an END goes the slow way, since no CPU is that of the frame.
 */
#include "core/regions/task.h"

#include <errno.h>

#include "core/api/export.h"
#include "core/kernel/clock.h"
#include "core/regions/adopt.h"
#include "core/regions/threads/paths.h"
#include "core/regions/slow/slow.h"
#include "core/regions/slow/stale.h"
#include "core/regions/threads/state.h"
#include "core/regions/threads/tasks.h"
#include "core/regions/threads/thread.h"
#include "fastpath/fastpath.h"

/* The id of a task that counts nothing: regions were disarmed when it began, or there was no memory. */
#define NOTHING UINT64_MAX

/* One call of this file works on these. */
struct call {
	struct pm_thread_block *block;
	struct pm_frame *top;
};

/* Counts a call as lost, for a REASON that is said once, and returns ERR. */
__attribute__((cold, noinline)) static int lost(bool *noted, const char *reason, int err)
{
	struct pm_thread_block *block = pm_thread_block;

	if (block->alive)
		PM_ADD(block->thread->record->lost_other, 1);
	pm_regions_note_once(noted, reason);
	return err;
}

#define LOST(call, why, err)                                                             \
	__extension__({                                                                  \
		static bool noted_;                                                      \
		lost(&noted_,                                                            \
		     "perfmon_task_" call "() was called for a task that " why           \
		     ": the call changed nothing",                                       \
		     err);                                                               \
	})
#define UNKNOWN(call, task)                                                              \
	(!(task) || !(task)->id                                                          \
		 ? LOST(call, "was never begun", -EINVAL)                                \
		 : LOST(call, "has ended, or is of another process", -ESTALE))

/* Closes the thread's stack. Returns 0 or a negative errno, with no block if there is nothing to do. */
INLINE int close_stack(struct call *call)
{
	struct pm_thread_block *block = pm_thread_block;
	struct pm_frame *top = block->top;
	int err = 0;

	if (likely(top) &&
	    likely(block->arm_generation == PM_GET(pm_region_general.generation))) {
		block->top = NULL;
		SIGNAL_FENCE();
	} else {
		block = pm_adopt_close(&top, &err);
	}
	call->block = block;
	call->top = top;
	return err;
}

INLINE int open_stack(const struct call *call, int err)
{
	pm_slow_open(call->block, call->top);
	return err;
}

static inline uint64_t now(void)
{
	return pm_region_general.monotonic ? pm_clock_ticks() : perfmon_arch_timestamp();
}

/* Samples the counters of BLOCK into those of a frame. Returns false if a page changes. */
INLINE bool sample(const struct pm_thread_block *block, struct pm_frame_counter *counter)
{
	if (unlikely(pm_region_general.fence))
		perfmon_arch_fence();
	for (uint32_t i = 0; i < block->counters; i++)
		if (unlikely(perfmon_view_sample(&block->view[i], &counter[i].raw)))
			return false;
	return true;
}

/* --- going on --------------------------------------------------------------------------- */

/* Finds where the thread is below PATH at the call's top, and keeps it in *PLACE. What is apart depends
 * on all frames: then it is kept only where these are visits alone, which their number and the
 * innermost path tell. */
__attribute__((noinline)) static int find_place(const struct call *call, uint64_t path,
						struct pm_task_place *place)
{
	const struct pm_thread_block *block = call->block;
	struct perfmon_token token = {.path = path};
	int err = pm_adopt_find(call->block, call->top, &token, &place->adopted);

	place->frame = err ? NULL : call->top;
	place->below = pm_frame_at(call->top, block->frame_size, -1)->path_key;
	place->adopted.path = path;
	if (!err &&
	    (place->adopted.cpu >> PM_ADOPTED_OUTER) + 1 !=
		    pm_frame_number(block, call->top) &&
	    pm_slow_adoption(block, call->top) != block->frames)
		place->frame = NULL;
	return err;
}

/* Returns where the thread keeps its place below PATH, inside of the path BELOW. */
static inline struct pm_task_place *place_for(const struct pm_thread_block *block,
					      uint64_t path, uint64_t below)
{
	return (struct pm_task_place *)(void *)(block->handed_on + PM_ADOPTED_CACHE) +
	       ((path ^ below >> 40) & (PM_ADOPTED_CACHE - 1));
}

/* Returns where the thread is below PATH at the call's top, or NULL with the reason in *ERR. */
INLINE struct pm_task_place *find_kept_place(const struct call *call, uint64_t path,
					     int *err)
{
	struct pm_frame *frame = call->top;
	uint64_t below = pm_frame_at(frame, call->block->frame_size, -1)->path_key;
	struct pm_task_place *place = place_for(call->block, path, below);

	*err = 0;
	if (place->frame != frame || place->below != below || place->adopted.path != path)
		*err = find_place(call, path, place);
	return *err ? NULL : place;
}

/* Enters the task's path: an adoption at the call's top. */
static int enter(struct call *call, uint64_t path)
{
	int err;
	struct pm_task_place *place = find_kept_place(call, path, &err);

	if (place)
		call->top = pm_adopt_enter(call->block, call->top, &place->adopted,
					   PM_TASK_KEY);
	return err;
}

/* Returns the entry of REGION_KEY below the path PARENT, at DEPTH, or NULL if it cannot be added. */
__attribute__((noinline)) static struct pm_path_entry *
add_path(struct pm_thread_block *block, uint64_t parent, uint64_t region_key,
	 uint32_t depth)
{
	uint64_t key = parent + region_key, *lost_visits;
	struct pm_path_entry *entry = pm_thread_path(block, key);

	if (entry || depth > PERFMON_PROFILE_DEPTH_MAX)
		return entry;
	lost_visits = pm_slow_add_path(block, parent, region_key, depth);
	if (lost_visits)
		__atomic_fetch_add(lost_visits, 1, __ATOMIC_RELAXED);
	return lost_visits ? NULL : pm_thread_path(block, key);
}

INLINE struct pm_path_entry *path_of(struct pm_thread_block *block, uint64_t parent,
				     uint64_t region_key, uint32_t depth)
{
	uint64_t key = parent + region_key;
	struct pm_path_entry *entry = block->entries + (key >> block->entry_shift);

	return likely(entry->key == key) ? entry
					 : add_path(block, parent, region_key, depth);
}

/* Puts visit NUMBER of TASK on FRAME, but for what BEGIN reads and its node, which *NODE gets. */
INLINE bool put_back(struct pm_thread_block *block, struct pm_frame *frame,
		     struct pm_task *task, uint32_t number, uint32_t level)
{
	struct pm_frame *parent = pm_frame_at(frame, block->frame_size, -1);
	struct pm_task_visit *visit = pm_task_visit(task, number);
	struct pm_path_entry *entry =
		path_of(block, parent->path_key, visit->region_key, level + number + 1);

	/* Here its path may have turned out too short. */
	if (unlikely(!entry || !entry->node))
		return false;
	frame->region_key = visit->region_key;
	frame->left_out = 0;
	frame->path_key = entry->path_key;
	frame->cpu = PM_FRAME_RESUMED | (uint64_t)(uintptr_t)&visit->ticks;
	if (unlikely(visit->ticks == UINT64_MAX))
		frame->cpu = PM_FRAME_SKIPPED;
	/* For open_visits(). */
	frame->start = (uint64_t)(uintptr_t)entry->node;
	return true;
}

/* Opens the visits from FIRST up to the call's top, which put_back() has prepared: all of them begin
 * now. */
INLINE void open_visits(const struct call *call, struct pm_frame *first)
{
	struct pm_thread_block *block = call->block;
	size_t size = block->frame_size;
	struct perfmon_profile_node *node = (void *)(uintptr_t)first->start;
	struct pm_frame *frame = first;
	uint64_t start = now();

	first->start = start;
	first->epoch = block->epoch;
	if (unlikely(!sample(block, first->counter)) && pm_stale_begin(block, first))
		PM_COUNT32(node->retries, 1);
	for (;;) {
		PM_ADD_64(node->entered, 1);
		SIGNAL_FENCE();
		PM_PUT(frame->node, node);
		frame = pm_frame_at(frame, size, 1);
		if (likely(frame == call->top))
			return;
		node = (void *)(uintptr_t)frame->start;
		frame->start = first->start;
		frame->epoch = first->epoch;
		frame->whole = first->whole;
		frame->unknown = first->unknown;
		for (uint32_t i = 0; i < block->counters; i++)
			frame->counter[i] = first->counter[i];
	}
}

/* Puts the visits of TASK back on the call's stack, behind its adoption. */
INLINE void put_all_back(struct call *call, struct pm_task *task)
{
	struct pm_thread_block *block = call->block;
	struct pm_frame *first = call->top;
	uint32_t level = (uint32_t)pm_frame_at(first, block->frame_size, -1)->cpu &
			 PM_ADOPTED_DEPTH;
	uint32_t count = task->count;

	if (!count)
		return;
	if (unlikely(task->armed != block->arm_generation)) {
		PM_ADD(block->thread->record->lost_other, count);
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (unlikely(!put_back(block, call->top, task, i, level)))
			break;
		call->top = pm_frame_at(call->top, block->frame_size, 1);
	}
	if (likely(call->top != first))
		open_visits(call, first);
}

/* TASK runs behind the adoption at BEGIN. */
static void runs(const struct call *call, const struct pm_frame *begin,
		 struct pm_task *task)
{
	struct pm_thread_block *block = call->block;
	struct pm_frame *visit = pm_frame_at(begin, block->frame_size, 1);

	task->outer = block->task;
	block->task = task;
	/* The way that task_forms.c takes, which leaves these as they are. */
	task->count = 1;
	task->armed = block->arm_generation;
	block->task_frame = begin->region_key == PM_TASK_KEY ? visit : NULL;
}

/* Keeps the way of TASK, with one visit, from the call's top. Returns whether there is one. */
static bool keep_way(const struct call *call, const struct pm_task *task)
{
	struct pm_thread_block *block = call->block;
	uint64_t region_key = task->visit[0].region_key, key;
	int err;
	struct pm_task_place *place = find_kept_place(call, task->path, &err);
	struct pm_path_entry *entry;
	struct pm_adopted *adopted;

	if (!place || (place->adopted.cpu >> PM_ADOPTED_OUTER) + 1 !=
			      pm_frame_number(block, call->top))
		return false;
	adopted = &place->adopted;
	entry = path_of(block, adopted->path_key, region_key,
			((uint32_t)adopted->cpu & PM_ADOPTED_DEPTH) + 1);
	if (!entry || !entry->node)
		return false;
	key = pm_task_way_key(task->mark, region_key, call->top, place->below);
	block->has_ways = 1;
	*pm_task_way(block, key) = (struct pm_task_way){
		.key = key,
		.adopted_region_key = PM_TASK_KEY,
		.adopted_cpu = adopted->cpu,
		.adopted_path_key = adopted->path_key,
		.adopted = adopted->node,
		.node = entry->node,
		.path_key = entry->path_key,
	};
	return true;
}

bool pm_task_prepares(const struct perfmon_task *begun)
{
	const struct pm_task *task = pm_task_at(begun->id);
	struct call call;
	bool kept = false;

	if (!task || task != pm_task_near(begun->id) ||
	    PM_GET(task->waits) != begun->id || close_stack(&call) || !call.block)
		return false;
	if (task->armed == call.block->arm_generation)
		kept = keep_way(&call, task);
	open_stack(&call, 0);
	return kept;
}

int pm_task_begin(struct perfmon_task *begun)
{
	struct perfmon_token here;
	struct pm_task *task;
	struct call call;
	int err;

	if (!begun)
		return LOST("begin", "is NULL", -EINVAL);
	begun->id = NOTHING;
	err = perfmon_region_token(&here) ?: close_stack(&call);
	if (err || !call.block)
		return err;
	task = pm_task_make();
	if (!task)
		return open_stack(&call, -ENOMEM);
	err = enter(&call, here.path);
	if (err) {
		pm_task_free(task);
		return open_stack(&call, err);
	}
	task->path = here.path;
	task->mark = pm_task_mark(here.path);
	runs(&call, pm_frame_at(call.top, call.block->frame_size, -1), task);
	begun->id = task->id;
	return open_stack(&call, 0);
}

int pm_task_resume(const struct perfmon_task *begun, void *thread)
{
	uint64_t id = begun ? begun->id : 0;
	struct pm_task *task = pm_task_at(id);
	struct pm_frame *begin;
	struct call call;
	int err;

	(void)thread;
	if (unlikely(!task))
		return id == NOTHING ? 0 : UNKNOWN("resume", begun);
	err = close_stack(&call);
	if (unlikely(err || !call.block))
		return err;
	if (unlikely(!pm_task_stops_waiting(task, id))) {
		open_stack(&call, 0);
		return LOST("resume", "was not suspended", -EALREADY);
	}
	begin = call.top;
	err = enter(&call, task->path);
	if (unlikely(err)) {
		PM_ADD(call.block->thread->record->lost_other, 1);
		pm_task_waits(task, id);
		return open_stack(&call, err);
	}
	put_all_back(&call, task);
	runs(&call, begin, task);
	return open_stack(&call, 0);
}

/* --- suspending ------------------------------------------------------------------------- */

/* Holds what is read when a task is suspended. */
struct moment {
	uint64_t ticks;
	struct pm_whole whole; /* where views have changed, */
	/* and else */
	struct pm_frame_counter counter[PERFMON_PROFILE_COUNTERS_MAX];
	bool stale;
};

/* Adds the part of the visit at FRAME up to the moment to its node. Returns its ticks. */
INLINE uint64_t add_part(const struct pm_thread_block *block,
			 const struct pm_frame *frame, const struct moment *moment)
{
	struct perfmon_profile_node *node = frame->node;
	uint64_t ticks = moment->ticks - frame->start;
	uint64_t sequence = pm_node_open(node);

	/* The clocks of CPUs may differ. */
	if (unlikely((int64_t)ticks < 0))
		ticks = 0;
	PM_ADD_64(node->time_ticks, ticks);
	for (uint32_t i = 0; i < block->counters; i++) {
		int64_t difference = perfmon_view_difference(
			&block->view[i], moment->counter[i].raw, frame->counter[i].raw);

		if (likely(difference >= 0))
			PM_ADD_64(node->count[i].sum, difference);
		else
			PM_COUNT32(node->defects, 1);
	}
	pm_node_close_part(node, sequence);
	return ticks;
}

/* Reads the counters as whole values: the views of the frames below the call's top are saved. */
__attribute__((noinline)) static void read_whole(const struct call *call,
						 struct moment *moment)
{
	moment->stale = true;
	moment->ticks = pm_stale_read(call->block,
				      pm_frame_at(call->top, call->block->frame_size, -1),
				      &moment->whole);
}

/* Returns the adoption of the innermost task, which must be the innermost of all, or NULL. *STALE is set
 * if visits behind it have other views than the present ones. */
INLINE struct pm_frame *find_begin(const struct call *call, bool *stale)
{
	const struct pm_thread_block *block = call->block;
	struct pm_frame *frame = call->top;

	for (;;) {
		frame = pm_frame_at(frame, block->frame_size, -1);
		if (pm_key_is_adopted(frame->region_key))
			return pm_key_is_task(frame->region_key) ? frame : NULL;
		if (unlikely(frame == block->frames))
			return NULL;
		*stale |= block->counters && frame->epoch != block->epoch;
	}
}

/* Moves the visits behind BEGIN to TASK. */
INLINE void take_off(const struct call *call, struct pm_frame *begin,
		     struct pm_task *task, const struct moment *moment)
{
	struct pm_thread_block *block = call->block;
	struct pm_frame *frame = begin;
	uint32_t count = 0;

	task->armed = block->arm_generation;
	while ((frame = pm_frame_at(frame, block->frame_size, 1)) != call->top) {
		struct pm_task_visit *visit = pm_task_visit(task, count);
		uint64_t earlier = pm_frame_earlier(frame), ticks = UINT64_MAX;

		PM_ADD_64(frame->node->entered, -1);
		if (unlikely(frame->cpu == PM_FRAME_SKIPPED))
			earlier = 0;
		else if (unlikely(moment->stale))
			ticks = pm_stale_part(block, frame, moment->ticks,
					      &moment->whole);
		else
			ticks = add_part(block, frame, moment);
		if (unlikely(!visit)) {
			PM_ADD(block->thread->record->lost_no_memory, 1);
			continue;
		}
		visit->region_key = frame->region_key;
		visit->ticks = earlier + ticks;
		count++;
	}
	task->count = count;
}

/* Closes the frames from the call's top to BEGIN, which becomes its top. */
INLINE void close_frames(struct call *call, struct pm_frame *begin)
{
	struct pm_thread_block *block = call->block;

	if (unlikely(pm_key_is_apart(begin->region_key)))
		pm_adopt_leave_apart(block, begin);
	/* First, as a jump out of a handler may leave the rest undone. */
	pm_tasks_look(block);
	while (call->top != begin) {
		call->top = pm_frame_at(call->top, block->frame_size, -1);
		PM_PUT(call->top->node, NULL);
	}
	block->task = block->task->outer;
}

int pm_task_suspend(const struct perfmon_task *begun, void *thread)
{
	uint64_t id = begun ? begun->id : 0;
	struct pm_task *task = pm_task_at(id);
	struct pm_frame *begin = NULL;
	struct moment moment;
	struct call call;
	int err;

	(void)thread;
	if (unlikely(!task))
		return id == NOTHING ? 0 : UNKNOWN("suspend", begun);
	err = close_stack(&call);
	if (unlikely(err || !call.block))
		return err;
	moment.stale = pm_region_general.stride;
	if (unlikely(!sample(call.block, moment.counter)))
		moment.stale = true;
	moment.ticks = now();
	if (likely(call.block->task == task))
		begin = find_begin(&call, &moment.stale);
	if (unlikely(!begin)) {
		open_stack(&call, 0);
		return LOST("suspend", "was not the innermost one of the thread",
			    -ENOENT);
	}
	if (unlikely(moment.stale))
		read_whole(&call, &moment);
	take_off(&call, begin, task, &moment);
	close_frames(&call, begin);
	pm_task_waits(task, id);
	return open_stack(&call, 0);
}

/* --- ending ------------------------------------------------------------------------------ */

/* Ends a task that runs on the calling thread. */
static int end_here(struct call *call, struct pm_task *task)
{
	struct pm_thread_block *block = call->block;
	struct pm_frame *begin = NULL, *frame = call->top;
	bool stale = false;

	if (block->task == task)
		begin = find_begin(call, &stale);
	if (!begin)
		return -ENOENT;
	while ((frame = pm_frame_at(frame, block->frame_size, -1)) != begin)
		PM_COUNT32(frame->node->mismatched_ends, 1);
	close_frames(call, begin);
	return 0;
}

PM_EXPORT int perfmon_task_end(struct perfmon_task *begun)
{
	uint64_t id = begun ? begun->id : 0;
	struct pm_task *task = pm_task_at(id);
	struct call call;
	int err;

	if (!task) {
		if (id != NOTHING)
			return UNKNOWN("end", begun);
		begun->id = 0;
		return 0;
	}
	if (pm_task_stops_waiting(task, id)) {
		if (pm_thread_block->alive)
			PM_ADD(pm_thread_block->thread->record->lost_other, task->count);
	} else {
		err = close_stack(&call);
		if (err || !call.block)
			return err;
		err = open_stack(&call, end_here(&call, task));
		if (err)
			return LOST("end", "was not the innermost one of the thread",
				    err);
	}
	pm_task_free(task);
	begun->id = 0;
	return 0;
}
