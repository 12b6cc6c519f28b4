/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/regions/threads/tasks.h"

#include <sys/mman.h>

#include "core/kernel/clock.h"
#include "core/kernel/kernel.h"
#include "core/regions/threads/state.h"

#define HALF 32

struct pm_task *pm_tasks[PM_TASKS_CHUNKS];

/* How many tasks have ever been used. PM_LOCK_REGIONS guards it. */
static uint32_t used;

/* The number of the first free task in the low half. The high half advances with each change, so that a
 * thread that was interrupted between its load and its exchange does not take what is no longer
 * free. */
static uint64_t free_tasks;

static struct pm_task *task_of(uint32_t number)
{
	return pm_tasks[number / PM_TASKS_CHUNK] + number % PM_TASKS_CHUNK;
}

static struct pm_task *take_free(void)
{
	/* Pairs with the release in give(). */
	uint64_t head = __atomic_load_n(&free_tasks, __ATOMIC_ACQUIRE), next;
	struct pm_task *task;

	do {
		if (!(uint32_t)head)
			return NULL;
		task = task_of((uint32_t)head);
		next = ((head >> HALF) + 1) << HALF |
		       __atomic_load_n(&task->next, __ATOMIC_RELAXED);
		/* The acquire pairs with the release in give(): the task's fields are those
		 * of before it was given. */
	} while (!__atomic_compare_exchange_n(&free_tasks, &head, next, true,
					      __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
	return task;
}

static void give(struct pm_task *task)
{
	uint64_t head = __atomic_load_n(&free_tasks, __ATOMIC_RELAXED), next;

	/* The release pairs with the acquire in take_free(). */
	do {
		__atomic_store_n(&task->next, (uint32_t)head, __ATOMIC_RELAXED);
		next = ((head >> HALF) + 1) << HALF | task->number;
	} while (!__atomic_compare_exchange_n(&free_tasks, &head, next, true,
					      __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

/* The caller holds PM_LOCK_REGIONS. */
static struct pm_task *take_unused(void)
{
	/* There is no number 0. */
	uint32_t chunk = (used + 1) / PM_TASKS_CHUNK;
	struct pm_task *task;
	void *memory;

	if (chunk >= PM_TASKS_CHUNKS)
		return NULL;
	if (!pm_tasks[chunk]) {
		if (pm_kernel_mmap(&memory, sizeof(*task) * PM_TASKS_CHUNK,
				   PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				   -1, 0))
			return NULL;
		/* Number 0 is no task's, and id 0 none that waits. */
		if (!chunk)
			((struct pm_task *)memory)->waits = 1;
		/* Pairs with the acquire in pm_task_at(). */
		__atomic_store_n(&pm_tasks[chunk], memory, __ATOMIC_RELEASE);
	}
	task = task_of(++used);
	task->number = used;
	/* Ids of the parent mean nothing in a forked child. */
	task->id = (uint64_t)(uint32_t)(pm_clock_ticks() * 2654435761u ^
					(uint32_t)pm_kernel_getpid())
		   << HALF;
	return task;
}

struct pm_task *pm_task_make(void)
{
	struct pm_task *task = take_free();
	struct pm_still still;

	if (!task) {
		pm_kernel_still_begin(&still);
		if (pm_regions_try_lock()) {
			task = take_unused();
			pm_regions_release();
		}
		pm_kernel_still_end(&still);
	}
	if (!task)
		return NULL;
	task->count = 0;
	task->more = NULL;
	__atomic_store_n(&task->id, ((task->id >> HALF) + 1) << HALF | task->number,
			 __ATOMIC_RELAXED);
	return task;
}

void pm_task_free(struct pm_task *task)
{
	struct pm_task *more;

	for (; task; task = more) {
		more = task->more;
		__atomic_store_n(&task->waits, 0, __ATOMIC_RELAXED);
		/* No id has number 0. */
		__atomic_store_n(&task->id, task->id >> HALF << HALF, __ATOMIC_RELAXED);
		give(task);
	}
}

struct pm_task_thread *pm_tasks_of(struct pm_thread_block *block)
{
	struct pm_task_thread *tasks = block->tasks;

	if (tasks)
		return tasks;
	tasks = pm_tasks_in(block);
	*tasks = (struct pm_task_thread){
		.top = tasks, .task_key = PM_TASK_KEY, .all = pm_tasks};
	for (int i = 0; i < PM_TASK_WAYS; i++)
		(&tasks->way)[-i].frame = block->frames;
	block->tasks = tasks;
	return tasks;
}

struct pm_task_visit *pm_task_visit_slowly(struct pm_task *task, uint32_t number)
{
	for (; number >= PM_TASK_VISITS; number -= PM_TASK_VISITS) {
		if (!task->more)
			task->more = pm_task_make();
		task = task->more;
		if (!task)
			return NULL;
	}
	return &task->visit[number];
}

void pm_tasks_forget(void)
{
	for (uint32_t chunk = 0; chunk < PM_TASKS_CHUNKS && pm_tasks[chunk]; chunk++) {
		pm_kernel_munmap(pm_tasks[chunk],
				 sizeof(struct pm_task) * PM_TASKS_CHUNK);
		pm_tasks[chunk] = NULL;
	}
	used = 0;
	free_tasks = 0;
}
