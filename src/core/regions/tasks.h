/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The memory of tasks (perfmon/task.h): what they keep while no thread runs them.
 *
 * The thread that runs a task writes all fields. A thread that resumes it takes `state` from
 * PM_TASK_SUSPENDED to PM_TASK_RUNS with acquire, which pairs with the release of the thread that
 * suspended it. Without that it could see visits of before.
 */
#ifndef PM_REGIONS_TASKS_H
#define PM_REGIONS_TASKS_H

#include <stddef.h>
#include <stdint.h>

/* The visits that a task has room for in itself: the rest is in other tasks' memory. */
#define PM_TASK_VISITS 12

enum pm_task_state { PM_TASK_FREE, PM_TASK_RUNS, PM_TASK_SUSPENDED };

/* A visit of a task, by its place in the task. */
struct pm_task_visit {
	uint64_t region_key;
	uint64_t ticks; /* of its parts that have ended; UINT64_MAX: a stride skips it */
};

struct pm_task {
	uint64_t id; /* 0: free */
	uint32_t state;
	uint32_t count; /* suspended visits */
	uint64_t path;	/* the token of the path that it began at */
	uint64_t armed; /* the generation of arming when it was suspended */
	struct pm_task
		*outer; /* while it runs: the task of the thread that it is inside of */
	struct pm_task *more; /* has the visits behind the first PM_TASK_VISITS */
	uint32_t number;      /* its own, from 1 */
	uint32_t next;	      /* while it is free: the number of the next one */
	uint64_t reserved;
	struct pm_task_visit visit[PM_TASK_VISITS];
};

/* Tasks by number, PM_TASKS_CHUNK of them in each chunk, which never moves. */
#define PM_TASKS_CHUNK	1024u
#define PM_TASKS_CHUNKS 4096u
extern struct pm_task *pm_tasks[PM_TASKS_CHUNKS] __attribute__((visibility("hidden")));

/* Returns the task with ID, or NULL: it was never made, has ended, or is the parent's. */
static inline struct pm_task *pm_task_at(uint64_t id)
{
	uint32_t number = (uint32_t)id;
	struct pm_task *task;

	if (__builtin_expect(number >= PM_TASKS_CHUNKS * PM_TASKS_CHUNK, 0))
		return NULL;
	/* Pairs with the release of the store of a new chunk. */
	task = __atomic_load_n(&pm_tasks[number / PM_TASKS_CHUNK], __ATOMIC_ACQUIRE);
	if (__builtin_expect(!task, 0))
		return NULL;
	task += number % PM_TASKS_CHUNK;
	/* No task has id 0. */
	return __builtin_expect(id && __atomic_load_n(&task->id, __ATOMIC_RELAXED) == id,
				1)
		       ? task
		       : NULL;
}

/* Returns a new task that runs, or NULL without memory. Takes PM_LOCK_REGIONS and enters the kernel
 * if no task has ended that could be used again. */
struct pm_task *pm_task_make(void);

/* Frees TASK, whose id is invalid from now on. */
void pm_task_free(struct pm_task *task);

/* Returns the place of visit NUMBER of TASK, from 0, or NULL without memory. */
struct pm_task_visit *pm_task_visit_slowly(struct pm_task *task, uint32_t number);

static inline struct pm_task_visit *pm_task_visit(struct pm_task *task, uint32_t number)
{
	if (__builtin_expect(number < PM_TASK_VISITS, 1))
		return &task->visit[number];
	return pm_task_visit_slowly(task, number);
}

/* Forgets all tasks, in a forked child. */
void pm_tasks_forget(void);

#endif
