/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/regions/threads/thread.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

#include "core/kernel/clock.h"
#include "core/kernel/kernel.h"
#include "core/kernel/locks.h"
#include "core/regions/threads/aggregate.h"
#include "core/regions/threads/package.h"
#include "core/regions/threads/paths.h"
#include "core/regions/threads/recycle.h"
#include "core/regions/threads/state.h"
#include "core/regions/threads/steps.h"
#include "core/regions/threads/tasks.h"
#include "core/regions/threads/unmatched.h"

#define ENTRIES_FIRST_LOG2 5 /* for 16 paths */

/* How often leave() has ended this thread. A destructor that runs after that may set it
 * up once more. An error counts as the last time. */
static __thread int times_ended;
#define TIMES_MOST 2

#define SHORT_LIFE_NS 10e6

bool pm_thread_may_set_up(void)
{
	return times_ended < TIMES_MOST;
}

/* The threads that are set up. PM_LOCK_REGIONS guards the list. */
static CDS_LIST_HEAD(threads);

static pthread_key_t leave_key;
static bool leave_key_made;

static const uint32_t cpu_unknown;

/* glibc 2.35 and later: the place of the thread's rseq area, which the kernel updates. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

static const uint32_t *cpu_pointer(void)
{
#ifdef PERFMON_ARCH_NO_THREAD_POINTER
	return &cpu_unknown;
#else
	const char *area;

	if (!&__rseq_offset || !&__rseq_size || !__rseq_size)
		return &cpu_unknown;
	area = (const char *)perfmon_arch_thread_pointer() + __rseq_offset;
	return (const uint32_t *)(const void *)(area + 4); /* struct rseq: cpu_id */
#endif
}

static size_t round_up(size_t size, size_t to)
{
	return (size + to - 1) / to * to;
}

/*
 * The part of a thread that a forked child still needs, above all its descriptors. It
 * lies outside of the memory that is wiped, and is kept for later threads. All have the size
 * for the plan's counters. PM_LOCK_REGIONS guards them.
 */
static CDS_LIST_HEAD(unused_threads); /* those with a block first */

/* The blocks of so many ended threads stay mapped, for later threads. */
#define SPARE_BLOCKS 64
static unsigned int spare_blocks;

static struct pm_thread *take_thread(uint32_t counters)
{
	size_t size = round_up(sizeof(struct pm_thread) + pm_instance_size(counters), 64);
	struct pm_thread_block *block;
	struct pm_thread *thread;
	size_t block_size;

	if (!cds_list_empty(&unused_threads)) {
		thread = cds_list_first_entry(&unused_threads, struct pm_thread, list);
		cds_list_del(&thread->list);
		block = thread->block;
		block_size = thread->block_size;
		memset(thread, 0, size);
		thread->block = block;
		thread->block_size = block_size;
		spare_blocks -= block != NULL;
	} else {
		thread = pm_regions_take(size);
		if (!thread)
			return NULL;
	}
	thread->instance = (struct pm_instance *)(void *)(thread + 1);
	return thread;
}

/* Keeps THREAD, and its wiped block if there is room for that. Otherwise it returns the block,
 * which the caller unmaps. */
static struct pm_thread_block *give_thread(struct pm_thread *thread)
{
	struct pm_thread_block *block = thread->block;

	if (block && spare_blocks < SPARE_BLOCKS) {
		spare_blocks++;
		cds_list_add(&thread->list, &unused_threads);
		return NULL;
	}
	thread->block = NULL;
	cds_list_add_tail(&thread->list, &unused_threads);
	return block;
}

/* These arrays stand behind a block and its views. A thread with few paths and little nesting touches one
 * page. */
struct arrays {
	struct perfmon_region *name_cache[PM_NAME_CACHE];
	struct pm_adopted adopted[PM_ADOPTED_CACHE];
	struct pm_handed_on handed_on[PM_ADOPTED_CACHE];
	struct pm_task_place places[PM_ADOPTED_CACHE]; /* found behind handed_on */
	struct pm_path_entry entries[1 << ENTRIES_FIRST_LOG2];
};

/* And behind the frames that follow. */
struct last_arrays {
	uint64_t overflow_key[PM_OVERFLOW_KEYS];
	struct pm_task_way ways[PM_TASK_WAYS];
};

/* An unused THREAD may have its block already. */
static int make_block(struct pm_thread *thread, uint32_t counters)
{
	size_t views = counters * sizeof(struct perfmon_counter_view);
	size_t before = round_up(sizeof(struct pm_thread_block) + views, 64);
	size_t frames = PM_FRAMES * pm_frame_size(counters);
	size_t size = round_up(before + sizeof(struct arrays) + frames +
				       sizeof(struct last_arrays),
			       pm_kernel_page_size());
	void *mapped = thread->block;
	struct pm_thread_block *block;
	struct last_arrays *last;
	struct arrays *arrays;
	int err = mapped ? 0 : pm_kernel_map_wiped(&mapped, size);

	if (err)
		return err;
	block = mapped;
	arrays = (struct arrays *)(void *)((char *)mapped + before);
	last = (struct last_arrays *)(void *)((char *)(arrays + 1) + frames);
	thread->block = block;
	thread->block_size = size;
	block->thread = thread;
	block->counters = counters;
	block->columns = pm_regions.plan.count;
	block->frame_size = (uint32_t)pm_frame_size(counters);
	block->name_cache = arrays->name_cache;
	block->entries = arrays->entries;
	block->entry_shift = 64 - ENTRIES_FIRST_LOG2;
	block->frames = (struct pm_frame *)(void *)(arrays + 1);
	block->overflow_key = last->overflow_key;
	block->ways = last->ways;
	block->adopted = arrays->adopted;
	block->adopted[0].path = UINT64_MAX; /* not 0, which is no path */
	block->adopted_key = PM_ADOPTED_KEY;
	block->first = pm_frame_at(block->frames, block->frame_size, 1);
	block->handed_on = arrays->handed_on;
	block->epoch = PM_EPOCH(1) + 1;
	block->time_view = counters;
	block->innermost = pm_frame_innermost(block->frame_size);
	block->cpu = cpu_pointer();
	return 0;
}

/* Makes the block of an ended thread as a new one is: zero, as far as the thread has written what
 * is read before it is written again. Each frame that was used has a key. */
static void wipe_block(struct pm_thread_block *block)
{
	struct pm_frame *frame = block->frames;
	uint32_t size = block->frame_size;

	for (uint32_t i = 0; i < PM_FRAMES && frame->region_key; i++) {
		memset(frame, 0, size);
		frame = pm_frame_at(frame, size, 1);
	}
	if (block->has_ways)
		memset(block->ways, 0, PM_TASK_WAYS * sizeof(*block->ways));
	memset(block, 0, (size_t)((char *)block->frames - (char *)block));
}

/* Makes the thread's record and its first node, in recycled or new memory. */
static int make_record(struct pm_thread *thread)
{
	struct perfmon_profile_thread *record;
	char name[sizeof(record->name)] = "";
	size_t i;

	record = pm_recycle_take_thread();
	if (!record) {
		record = pm_profile_reserve(PERFMON_PROFILE_TYPE_THREAD, sizeof(*record));
		if (!record)
			return -ENOMEM;
		PM_PUT(record->state, PERFMON_PROFILE_THREAD_STATE_UNUSED);
		pm_profile_publish();
	}
	thread->record = record;
	thread->block->left_outs = record->left_out;
	pm_kernel_thread_name(name);
	/* Readers that saw it as another thread's may still be reading, and start
	 * again. */
	for (i = 0; i < sizeof(name); i++)
		PM_PUT(record->name[i], name[i]);
	PM_PUT(record->tid, (uint32_t)pm_locks_holder(PM_LOCK_REGIONS));
	pm_affinity_add(record->cpus, 0);
	PM_PUT(record->begin_ticks, pm_clock_ticks());
	PM_PUT(record->end_ticks, 0);
	PM_PUT(record->generation, 1);
	PM_PUT(record->counters, thread->block->columns);
	PM_PUT(record->flags, pm_thread_flags());
	if (!pm_thread_add_path(thread, 0, 0, 0)) {
		pm_recycle_thread(record);
		return -ENOMEM;
	}
	/* Pairs with a reader's acquire of the state, in profile/threads.c. */
	__atomic_store_n(&record->state, PERFMON_PROFILE_THREAD_STATE_LIVE,
			 __ATOMIC_RELEASE);
	return 0;
}

/* Makes the bottom of the stack of open visits: the thread itself, which no END
 * matches. */
static void make_root_frame(struct pm_thread *thread)
{
	struct pm_thread_block *block = thread->block;
	struct pm_frame *root = block->frames;

	root->node = pm_thread_node(thread->record, 1);
	root->region_key = UINT64_MAX;
	root->path_key = PM_PATH_KEY(1);
	root->epoch = 0;
}

/* Records the state of each counter in this thread, in its record and, if it is new, in
 * the plan's. */
static void record_counters(struct pm_thread *thread)
{
	struct perfmon_profile_plan *plan = pm_regions.plan.record;
	uint32_t i;

	for (i = 0; i < thread->block->counters; i++) {
		const struct pm_counter *counter = &thread->instance->counters[i];
		uint32_t had = plan->counter[i].flags, flags = had;
		int status = PERFMON_PROFILE_COUNTER_STATUS_SYSCALL;

		if (!pm_counter_is_open(counter)) {
			status = counter->error ?: -EBADF;
			flags |= PERFMON_PROFILE_COUNTER_REFUSED;
			if (flags != had)
				PM_PUT(plan->counter[i].error, counter->error);
		} else if (counter->user_read) {
			status = PERFMON_PROFILE_COUNTER_STATUS_USER;
			flags |= PERFMON_PROFILE_COUNTER_USER_READ;
		}
		PM_PUT(thread->record->status[i], status);
		if (flags != had)
			PM_PUT(plan->counter[i].flags, flags);
	}
	for (; i < thread->block->columns; i++)
		PM_PUT(thread->record->status[i],
		       plan->counter[i].error ?: PERFMON_PROFILE_COUNTER_STATUS_SYSCALL);
}

/* Opens the plan's events on the calling thread and starts them. A refused event gets a
 * note and a status; the thread continues with the others. */
static void open_counters(struct pm_thread *thread, struct pm_diag *diag)
{
	struct pm_thread_block *block = thread->block;
	unsigned int flags = PM_OPEN_USER_READ | PM_OPEN_PARTIAL | PM_OPEN_SPARING;
	struct pm_reading readings[PERFMON_PROFILE_COUNTERS_MAX];
	uint32_t i;

	if (!block->counters)
		return;
	memset(readings, 0, sizeof(readings));
	pm_instance_open(thread->instance, pm_regions.plan.list->events, block->counters,
			 0, -1, flags, diag);
	pm_instance_enable(thread->instance);
	for (i = 0; i < block->counters; i++)
		if (thread->instance->counters[i].members > 1)
			break;
	if (i < block->counters && !pm_instance_read(thread->instance, readings) &&
	    pm_instance_starved(thread->instance, readings) >= 0) {
		pm_instance_close(thread->instance);
		pm_instance_open(thread->instance, pm_regions.plan.list->events,
				 block->counters, 0, -1, flags | PM_OPEN_SPLIT, diag);
		pm_instance_enable(thread->instance);
		if (!diag->error)
			pm_diag_set(diag, -EBUSY,
				    "the events do not fit the hardware together "
				    "(another monitor may hold a counter): the kernel "
				    "multiplexes the events");
	}
	for (i = 0; i < block->counters; i++) {
		const struct pm_counter *counter = &thread->instance->counters[i];

		pm_instance_view(thread->instance, i, 0, &block->view[i]);
		pm_view_refresh(&block->view[i]);
		if (block->time_view == block->counters && counter->user_read &&
		    counter->page->cap_user_time && !pm_clock.monotonic)
			block->time_view = i;
	}
}

/* Returns whether THREAD may run elsewhere than at its begin: not after a short life, on a CPU that is
 * known. A longer life may have had several moves. */
static bool may_have_moved(const struct pm_thread *thread)
{
	const struct perfmon_profile_thread *record = thread->record;
	uint32_t cpu = *thread->block->cpu;

	if (thread->block->cpu == &cpu_unknown || cpu >= PERFMON_PROFILE_CPUS_MAX)
		return true;
	return !(record->cpus[cpu / 64] >> cpu % 64 & 1) ||
	       pm_clock_ticks_ns((double)(pm_clock_ticks() - record->begin_ticks)) >
		       SHORT_LIFE_NS;
}

/* Ends the calling thread: its results are summed, its descriptors closed, its memory
 * kept for a later thread. Harmless if it is not set up. */
static void leave(void *unused)
{
	struct pm_thread_block *block = pm_thread_block;
	struct pm_thread *thread = block->thread;
	struct perfmon_profile_thread *record;
	struct pm_still still;
	size_t size;

	(void)unused;
	if (!block->alive)
		return;
	pm_kernel_still_begin(&still);
	pm_thread_busy++;
	block->top = NULL;
	pm_thread_block = &pm_thread_block_none;
	record = thread->record;
	times_ended++;
	pm_package_leave(thread);
	pm_steps_end(thread);
	pm_aggregate_thread(thread, may_have_moved(thread));
	/* This comes first: a child that is forked meanwhile still finds the descriptors
	 * and closes its own. */
	if (block->counters)
		pm_instance_close(thread->instance);
	pm_thread_free_entries(thread);
	size = thread->block_size;
	pm_regions_acquire();
	cds_list_del(&thread->list);
	/* No disarm in another thread finds the block any more. */
	wipe_block(block);
	if (PM_GET(record->state) == PERFMON_PROFILE_THREAD_STATE_UNUSED)
		pm_recycle_thread(record);
	block = give_thread(thread);
	pm_regions_release();
	if (block)
		pm_kernel_munmap(block, size);
	pm_thread_busy--;
	pm_kernel_still_end(&still);
}

/* Makes THREAD's memory and record. The caller holds PM_LOCK_REGIONS. */
static int make_thread(uint32_t counters, struct pm_thread **out)
{
	struct pm_thread *thread = take_thread(counters);
	struct pm_thread_block *block;
	size_t size;
	int err;

	if (!thread)
		return -ENOMEM;
	err = make_block(thread, counters);
	if (err)
		goto no_block;
	err = make_record(thread);
	if (err)
		goto no_record;
	err = leave_key_made ? 0 : -pthread_key_create(&leave_key, leave);
	if (!err) {
		leave_key_made = true;
		err = -pthread_setspecific(leave_key, thread);
	}
	if (err)
		goto no_key;
	*out = thread;
	return 0;
no_key:
	pm_recycle_thread(thread->record);
no_record:
	pm_thread_free_entries(thread);
	wipe_block(thread->block);
no_block:
	size = thread->block_size;
	block = give_thread(thread);
	if (block)
		pm_kernel_munmap(block, size);
	return err;
}

int pm_thread_setup(void)
{
	uint32_t counters = pm_regions.plan.live;
	struct pm_diag diag = {0};
	struct pm_thread *thread = NULL;
	int err = -EDEADLK;

	if (pm_locks_try(PM_LOCK_REGIONS)) {
		err = make_thread(counters, &thread);
		pm_regions_release();
	}
	if (err) {
		if (err != -EDEADLK)
			times_ended = TIMES_MOST;
		return err;
	}
	open_counters(thread, &diag);
	pm_regions_acquire();
	if (thread->block->columns)
		record_counters(thread);
	if (diag.error) {
		pm_profile_note(diag.text);
		pm_regions_debug("perfmon: thread %u: %s", thread->record->tid,
				 diag.text);
	}
	pm_regions_debug("perfmon: thread %u is set up with %u counters of %u",
			 thread->record->tid, counters ? thread->instance->open : 0,
			 counters);
	cds_list_add_tail(&thread->list, &threads);
	pm_profile_clock_later();
	pm_regions_release();
	make_root_frame(thread);
	thread->block->arm_generation = PM_GET(pm_region_general.generation);
	thread->block->alive = 1;
	/* A signal handler that finds the block must find it alive. */
	SIGNAL_FENCE();
	pm_thread_block = thread->block;
	SIGNAL_FENCE();
	thread->block->top =
		pm_frame_at(thread->block->frames, thread->block->frame_size, 1);
	return 0;
}

void pm_threads_drop_quantities(void)
{
	struct pm_thread *thread;

	cds_list_for_each_entry (thread, &threads, list)
		PM_PUT(thread->block->innermost,
		       pm_frame_nowhere(thread->block->frame_size));
}

static void forget(struct pm_thread *thread)
{
	/* The block is wiped, so the plan shows whether there are counters. */
	if (pm_regions.plan.live)
		pm_instance_forget(thread->instance);
	pm_thread_free_entries(thread);
	pm_package_forget_thread(thread);
	if (thread->block == pm_thread_block) {
		pm_thread_block = &pm_thread_block_none;
		times_ended = 0;
		pthread_setspecific(leave_key, NULL);
	}
	pm_kernel_munmap(thread->block, thread->block_size);
	thread->block = NULL;
	give_thread(thread);
}

void pm_threads_forget(void)
{
	struct pm_thread *thread, *next;

	pm_aggregate_forget();
	pm_package_forget();
	pm_unmatched_forget();
	pm_recycle_forget();
	pm_steps_forget();
	pm_tasks_forget();
	cds_list_for_each_entry_safe (thread, next, &threads, list)
		forget(thread);
	CDS_INIT_LIST_HEAD(&threads);
}
