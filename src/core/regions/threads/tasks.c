/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/regions/threads/tasks.h"

#include <string.h>
#include <sys/mman.h>

#include "core/kernel/clock.h"
#include "core/kernel/kernel.h"
#include "core/regions/threads/state.h"

#define HALF 32

struct pm_task *pm_tasks[PM_TASKS_CHUNKS];

/* How many tasks have ever been used. PM_LOCK_REGIONS guards it. */
static uint32_t used;

/* The number of the first free task in the low half, of the near ones and of the others: a near one is
 * resumed in a shorter way. The high half advances with each change, so that a thread that was interrupted
 * between its load and its exchange does not take what is no longer free. */
static uint64_t free_tasks[2];

static struct pm_task *task_of(uint32_t number)
{
	return pm_tasks[number / PM_TASKS_CHUNK] + number % PM_TASKS_CHUNK;
}

static struct pm_task *take_free(uint64_t *first)
{
	/* Pairs with the release in give(). */
	uint64_t head = __atomic_load_n(first, __ATOMIC_ACQUIRE), next;
	struct pm_task *task;

	do {
		if (!(uint32_t)head)
			return NULL;
		task = task_of((uint32_t)head);
		next = ((head >> HALF) + 1) << HALF |
		       __atomic_load_n(&task->next, __ATOMIC_RELAXED);
		/* The acquire pairs with the release in give(): the task's fields are those
		 * of before it was given. */
	} while (!__atomic_compare_exchange_n(first, &head, next, true, __ATOMIC_ACQUIRE,
					      __ATOMIC_ACQUIRE));
	return task;
}

static void give(struct pm_task *task)
{
	uint64_t *first = &free_tasks[task->number >= PM_TASKS_NEAR];
	uint64_t head = __atomic_load_n(first, __ATOMIC_RELAXED), next;

	/* The release pairs with the acquire in take_free(). */
	do {
		__atomic_store_n(&task->next, (uint32_t)head, __ATOMIC_RELAXED);
		next = ((head >> HALF) + 1) << HALF | task->number;
	} while (!__atomic_compare_exchange_n(first, &head, next, true, __ATOMIC_RELEASE,
					      __ATOMIC_RELAXED));
}

/* Makes the chunk CHUNK: the first ones at once. Returns false without memory. */
static bool map_chunks(uint32_t chunk)
{
	uint32_t chunks = chunk ? 1 : PM_TASKS_NEAR / PM_TASKS_CHUNK;
	struct pm_task *tasks;
	void *memory;

	if (pm_kernel_map(&memory, sizeof(*tasks) * PM_TASKS_CHUNK * chunks))
		return false;
	tasks = memory;
	/* Number 0 is no task's, and id 0 none that waits. */
	if (!chunk)
		tasks->waits = 1;
	/* Pairs with the acquire in pm_task_at(). */
	for (uint32_t i = 0; i < chunks; i++)
		__atomic_store_n(&pm_tasks[chunk + i], tasks + i * PM_TASKS_CHUNK,
				 __ATOMIC_RELEASE);
	return true;
}

/* The caller holds PM_LOCK_REGIONS. */
static struct pm_task *take_unused(void)
{
	/* There is no number 0. */
	uint32_t chunk = (used + 1) / PM_TASKS_CHUNK;
	struct pm_task *task;

	if (chunk >= PM_TASKS_CHUNKS)
		return NULL;
	if (!pm_tasks[chunk] && !map_chunks(chunk))
		return NULL;
	task = task_of(++used);
	task->number = used;
	task->resumed_cpu = PM_FRAME_RESUMED | (uint64_t)(uintptr_t)&task->visit[0].ticks;
	/* Ids of the parent mean nothing in a forked child. */
	task->id = (uint64_t)(uint32_t)(pm_clock_ticks() * 2654435761u ^
					(uint32_t)pm_kernel_getpid())
		   << HALF;
	return task;
}

struct pm_task *pm_task_make(void)
{
	struct pm_task *task = take_free(&free_tasks[0]) ?: take_free(&free_tasks[1]);
	struct pm_still still;

	if (!task && pm_regions_try_lock(&still)) {
		task = take_unused();
		pm_regions_unlock(&still);
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

/* The first chunks stay, for pm_task_near(), as they were when they were made. */
void pm_tasks_forget(void)
{
	uint32_t near = used < PM_TASKS_NEAR ? used : PM_TASKS_NEAR - 1, chunk;

	if (!pm_tasks[0])
		return;
	/* Pages that the child has not written cost nothing so; locked ones cannot go. */
	if (pm_kernel_madvise(pm_tasks[0], sizeof(struct pm_task) * PM_TASKS_NEAR,
			      MADV_DONTNEED))
		memset(pm_tasks[0], 0, sizeof(struct pm_task) * (near + 1));
	pm_tasks[0]->waits = 1;
	for (chunk = PM_TASKS_NEAR / PM_TASKS_CHUNK;
	     chunk < PM_TASKS_CHUNKS && pm_tasks[chunk]; chunk++) {
		pm_kernel_munmap(pm_tasks[chunk],
				 sizeof(struct pm_task) * PM_TASKS_CHUNK);
		pm_tasks[chunk] = NULL;
	}
	used = 0;
	free_tasks[0] = free_tasks[1] = 0;
}
