/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The short ways of perfmon_task_suspend() and perfmon_task_resume(), as BEGIN and END have theirs
 * (fastpath/forms.h): a task with one visit open, in a thread that has been on the same way before, and
 * whose views have not changed. task.c has all other cases.
 */
#include "core/regions/task.h"

#include "core/api/export.h"
#include "core/regions/slow/stale.h"
#include "core/regions/threads/state.h"
#include "core/regions/threads/tasks.h"

#undef perfmon_task_suspend
#undef perfmon_task_resume

/* Loads two values that stand side by side at once, where a CPU can do that. */
#if defined(__aarch64__)
#define PAIR(first, second) __asm__("" : "+r"(first), "+r"(second))
#define STORE(field, value) ((field) = (value))
/* Returns VALUE, which FIELD has: kept in a register, or loaded again where registers are few. */
#define KEPT(value, field) (value)
#else
/* By a vector register they would cost more. */
#define PAIR(first, second) ((void)0)
#define STORE(field, value) PM_PUT(field, value)
#define KEPT(value, field)  ((void)(value), PM_GET(field))
#endif

/* Stores in DIFFERENCE what each counter has counted since FRAME's visit began or was resumed. Returns
 * false if that is not known at once. */
INLINE bool sample_part(const struct pm_thread_block *block, const struct pm_frame *frame,
			uint32_t counters, int64_t *difference)
{
	int64_t negative = 0;
	uint64_t raw;

	if (!counters)
		return true;
	if (unlikely(frame->epoch != block->epoch))
		return false;
	UNROLL
	for (uint32_t i = 0; i < counters; i++) {
		if (unlikely(perfmon_view_sample(&block->view[i], &raw)))
			return false;
		difference[i] = perfmon_view_difference(&block->view[i], raw,
							frame->counter[i].raw);
		negative |= difference[i];
	}
	return likely(negative >= 0);
}

/* Adds TICKS and DIFFERENCE of a part to NODE. One of time alone is two words, of which neither says
 * anything of the other. */
INLINE void add_part(struct perfmon_profile_node *node, uint64_t ticks, uint32_t counters,
		     const int64_t *difference)
{
	uint64_t sequence = 0;

	if (counters)
		sequence = pm_node_open(node);
	PM_ADD_64(node->time_ticks, ticks);
	UNROLL
	for (uint32_t i = 0; i < counters; i++)
		PM_ADD_64(node->count[i].sum, (uint64_t)difference[i]);
	if (counters)
		pm_node_close_part(node, sequence);
	else
		PM_PUT(node->parts, node->parts + 1);
}

/* These need the id alone, so that the short ways keep no pointer for them. */
__attribute__((cold, noinline)) static int suspend_slowly(uint64_t id)
{
	const struct perfmon_task begun = {id};

	return pm_task_suspend(&begun, NULL);
}

__attribute__((cold, noinline)) static int resume_slowly(uint64_t id)
{
	const struct perfmon_task begun = {id};

	if (pm_task_prepares(&begun))
		return PM_GET(perfmon_task_calls.resume)(&begun, pm_thread_block);
	return pm_task_resume(&begun, NULL);
}

INLINE int suspend(const struct perfmon_task *begun, struct pm_thread_block *block,
		   uint32_t counters)
{
	size_t size = pm_frame_size(counters);
	int64_t difference[PERFMON_PROFILE_COUNTERS_MAX];
	struct perfmon_profile_node *node;
	struct pm_frame *top = block->top, *frame = pm_frame_at(top, size, -1), *begin;
	uint64_t ticks, start, on_cpu, region_key, id = begun->id;
	struct pm_frame *expected = block->task_frame;
	struct pm_task *task = block->task;

	/* Where the stack is closed no visit is there. */
	PAIR(expected, task);
	if (unlikely(expected != frame))
		return suspend_slowly(id);
	if (unlikely(task->id != id))
		return suspend_slowly(id);
	block->top = NULL;
	SIGNAL_FENCE();
	start = frame->start;
	on_cpu = frame->cpu;
	PAIR(start, on_cpu);
	ticks = perfmon_arch_timestamp() - start;
	if (unlikely((int64_t)ticks < 0) ||
	    !sample_part(block, frame, counters, difference)) {
		SIGNAL_FENCE();
		block->top = top;
		return suspend_slowly(id);
	}
	block->task_frame = NULL;
	node = frame->node;
	region_key = frame->region_key;
	PAIR(node, region_key);
	PM_ADD_64(node->entered, UINT64_C(-1));
	PM_PUT(frame->node, NULL);
	add_part(node, ticks, counters, difference);
	/* With PM_FRAME_RESUMED it is not the first part. */
	if ((int64_t)(KEPT(on_cpu, frame->cpu) << 1) < 0)
		ticks += task->visit[0].ticks;
	STORE(task->visit[0].region_key, region_key);
	STORE(task->visit[0].ticks, ticks);
	begin = pm_frame_at(frame, size, -1);
	PM_PUT(begin->node, NULL);
	block->task = task->outer;
	/* Pairs with the acquire of the thread that resumes it. */
	__atomic_store_n(&task->waits, id, __ATOMIC_RELEASE);
	SIGNAL_FENCE();
	block->top = begin;
	return 0;
}

/* Reads what BEGIN reads into FRAME, which begins now. Returns false if that is not known at once. */
INLINE bool read_begin(struct pm_thread_block *block, struct pm_frame *frame,
		       uint64_t epoch, uint32_t counters)
{
	frame->start = perfmon_arch_timestamp();
	if (counters)
		frame->epoch = epoch;
	UNROLL
	for (uint32_t i = 0; i < counters; i++)
		if (unlikely(
			    perfmon_view_sample(&block->view[i], &frame->counter[i].raw)))
			return false;
	return true;
}

INLINE int open_frame(struct pm_thread_block *block, struct pm_frame *frame,
		      struct perfmon_profile_node *node, struct pm_frame *top)
{
	SIGNAL_FENCE();
	PM_PUT(frame->node, node);
	SIGNAL_FENCE();
	block->top = top;
	return 0;
}

/* The last thing that resume() does where a page has changed, so that it needs no stack of its own. */
__attribute__((cold, noinline)) static int open_stale(struct pm_thread_block *block,
						      struct pm_frame *frame,
						      struct perfmon_profile_node *node,
						      struct pm_frame *top)
{
	if (pm_stale_begin(block, frame))
		PM_COUNT32(node->retries, 1);
	return open_frame(block, frame, node, top);
}

INLINE int resume(const struct perfmon_task *begun, struct pm_thread_block *block,
		  uint32_t counters)
{
	size_t size = pm_frame_size(counters);
	uint64_t id = begun->id, key, its_key, mark, region_key, adopted_region_key;
	struct pm_frame *begin = block->top, *frame;
	struct perfmon_profile_node *node, *adopted;
	uint64_t path_key, epoch = 0;
	const struct pm_task_way *way;
	struct pm_task *task;

	if (unlikely(!begin))
		return resume_slowly(id);
	task = pm_task_near(id);
	/* Pairs with the release of the thread that suspended it. An exchange would cost a fifth of
	 * this, and no two threads resume a task at a time. */
	if (unlikely(__atomic_load_n(&task->waits, __ATOMIC_ACQUIRE) != id))
		return resume_slowly(id);
	mark = task->mark;
	region_key = task->visit[0].region_key;
	PAIR(mark, region_key);
	key = pm_task_way_key(mark, region_key, begin,
			      pm_frame_at(begin, size, -1)->path_key);
	way = pm_task_way(block, key);
	__asm__("" : "+r"(way)); /* one address for all its fields */
	its_key = way->key;
	adopted_region_key = way->adopted_region_key;
	PAIR(its_key, adopted_region_key);
	if (unlikely(its_key != key))
		return resume_slowly(id);
	block->top = NULL;
	SIGNAL_FENCE();
	__atomic_store_n(&task->waits, 0, __ATOMIC_RELAXED);
	begin->cpu = way->adopted_cpu;
	begin->path_key = way->adopted_path_key;
	begin->region_key = adopted_region_key;
	if (counters)
		begin->epoch = epoch = block->epoch;
	SIGNAL_FENCE();
	adopted = way->adopted;
	node = way->node;
	PAIR(adopted, node);
	path_key = way->path_key;
	PM_PUT(begin->node, adopted);
	frame = pm_frame_at(begin, size, 1);
	__asm__("" : "+r"(frame)); /* and begin is not needed any more */
	frame->region_key = region_key;
	STORE(frame->cpu, task->resumed_cpu);
	STORE(frame->path_key, path_key);
	PM_ADD_64(node->entered, 1);
	task->outer = block->task;
	block->task_frame = frame;
	block->task = task;
	if (unlikely(!read_begin(block, frame, epoch, counters)))
		return open_stale(block, frame, node, pm_frame_at(frame, size, 1));
	return open_frame(block, frame, node, pm_frame_at(frame, size, 1));
}

/* Compiled for the frequent numbers of counters and once more for all others. */
#define FORMS(X)                                                                         \
	X(0, 0)                                                                          \
	X(1, 1)                                                                          \
	X(2, 2)                                                                          \
	X(3, 3)                                                                          \
	X(4, 4)                                                                          \
	X(any, ((struct pm_thread_block *)block)->counters)

#define DEFINE(suffix, counters)                                                         \
	static int suspend_##suffix(const struct perfmon_task *begun, void *block)       \
	{                                                                                \
		return suspend(begun, block, counters);                                  \
	}                                                                                \
	static int resume_##suffix(const struct perfmon_task *begun, void *block)        \
	{                                                                                \
		return resume(begun, block, counters);                                   \
	}
FORMS(DEFINE)

PM_EXPORT struct perfmon_task_calls perfmon_task_calls = {pm_task_suspend,
							  pm_task_resume};

#define ROW(suffix, counters) {suspend_##suffix, resume_##suffix},

/* The number of the plan that the calls were chosen for: 0 for none. */
static uint32_t chosen_for;

void pm_task_calls_choose(void)
{
	static const struct perfmon_task_calls rows[] = {FORMS(ROW)};
	struct perfmon_task_calls calls = {pm_task_suspend, pm_task_resume};
	uint32_t last = sizeof(rows) / sizeof(rows[0]) - 1,
		 counters = pm_regions.plan.live;

	if (pm_region_calls_are_armed() && !pm_region_general.special && pm_tasks[0])
		calls = rows[counters < last ? counters : last];
	__atomic_store_n(&perfmon_task_calls.suspend, calls.suspend, __ATOMIC_RELAXED);
	__atomic_store_n(&perfmon_task_calls.resume, calls.resume, __ATOMIC_RELAXED);
	/* Before the first task the short ways cannot be chosen: it chooses again. */
	PM_PUT(chosen_for,
	       pm_tasks[0] || !pm_region_calls_are_armed() ? pm_regions.published : 0);
}

/* Only what has begun is suspended, and a forked child has none of what its parent began. */
PM_EXPORT int perfmon_task_begin(struct perfmon_task *begun)
{
	int err = pm_task_begin(begun);
	struct pm_still still;

	if (likely(PM_GET(chosen_for) == PM_GET(pm_regions.published)))
		return err;
	if (pm_regions_try_lock(&still)) {
		pm_task_calls_choose();
		pm_regions_unlock(&still);
	}
	return err;
}

PM_EXPORT int perfmon_task_suspend(const struct perfmon_task *begun)
{
	return begun ? PM_GET(perfmon_task_calls.suspend)(begun, pm_thread_block)
		     : pm_task_suspend(begun, NULL);
}

PM_EXPORT int perfmon_task_resume(const struct perfmon_task *begun)
{
	return begun ? PM_GET(perfmon_task_calls.resume)(begun, pm_thread_block)
		     : pm_task_resume(begun, NULL);
}
