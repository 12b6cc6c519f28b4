/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The memory of tasks (perfmon/task.h): what they keep while no thread runs them.
 *
 * The thread that runs a task writes all fields. `waits` is 0 while it runs; while it is suspended, the
 * id, or the inverted id if it has not exactly one visit open. A thread that resumes it loads that with
 * acquire, which pairs with the release of the thread that suspended it. Without that it could see
 * visits of before.
 */
#ifndef PM_REGIONS_TASKS_H
#define PM_REGIONS_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fastpath/fastpath.h"
#include "perfmon/task.h"

/* The visits that a task has room for in itself: the rest is in other tasks' memory. */
#define PM_TASK_VISITS 11

/* A visit of a task, by its place in the task. */
struct pm_task_visit {
	uint64_t region_key;
	uint64_t ticks; /* of its parts that have ended; UINT64_MAX: a stride skips it */
};

struct pm_task {
	uint64_t waits;
	uint64_t id;   /* 0 in its low half: free */
	uint64_t path; /* the token of the path that it began at */
	/* While it runs: the task of the thread that it is inside of. */
	struct pm_task *outer;
	struct pm_task *more; /* has the visits behind the first PM_TASK_VISITS */
	uint64_t
		armed; /* the generation of arming when it was suspended, or while it runs */
	uint32_t count;	      /* suspended visits; 1 while it runs */
	uint32_t number;      /* its own, from 1 */
	uint64_t resumed_cpu; /* of the frame of its first visit, once that was resumed */
	uint64_t mark;	      /* pm_task_mark() of its path */
	struct pm_task_visit visit[PM_TASK_VISITS];
	uint32_t next;	 /* while it is free: the number of the next one */
	uint32_t unused; /* its size is a power of two, for pm_task_near() */
};

_Static_assert(sizeof(struct pm_task) == 256, "documented in perfmon/task.h");

/* Tasks by number, PM_TASKS_CHUNK of them in each chunk, which never moves. The first chunks, of so many
 * tasks, stand behind one another. */
#define PM_TASKS_CHUNK	1024u
#define PM_TASKS_CHUNKS 4096u
#define PM_TASKS_NEAR	(16 * PM_TASKS_CHUNK)
extern struct pm_task *pm_tasks[PM_TASKS_CHUNKS] __attribute__((visibility("hidden")));

/* Returns the place where the task with ID is if it is one of the first PM_TASKS_NEAR. There must have
 * been a task in this process. */
static inline struct pm_task *pm_task_near(uint64_t id)
{
	return &pm_tasks[0][id % PM_TASKS_NEAR];
}

/*
 * A way on which a thread has resumed tasks: into an adoption, and into one visit behind it. KEY is the
 * sum of the task's mark, of the visit's region, of the path that the thread was in and of the address of the
 * adoption's frame. Marks are multiples of another number than the keys of regions and paths: so two ways
 * have one key only by chance.
 */
struct pm_task_way {
	uint64_t key; /* 0: unused */
	uint64_t adopted_region_key;
	uint64_t adopted_cpu;
	uint64_t adopted_path_key;
	struct perfmon_profile_node *adopted;
	struct perfmon_profile_node *node; /* the visit's */
	uint64_t path_key;
	uint64_t unused; /* so that its size is a power of two */
};

#define PM_TASK_WAYS_LOG2 4
#define PM_TASK_WAYS	  (1 << PM_TASK_WAYS_LOG2)

/* Returns the mark of tasks that begin at PATH. */
static inline uint64_t pm_task_mark(uint64_t path)
{
	return (uint32_t)path * UINT64_C(0xd1342543de82ef95);
}

/* Returns the key of a way to a visit of REGION_KEY in a task with MARK, with the adoption at BEGIN. */
static inline uint64_t pm_task_way_key(uint64_t mark, uint64_t region_key,
				       const struct pm_frame *begin, uint64_t below)
{
	return mark + region_key + below + (uintptr_t)begin;
}

static inline struct pm_task_way *pm_task_way(const struct pm_thread_block *block,
					      uint64_t key)
{
	return block->ways + (key >> (64 - PM_TASK_WAYS_LOG2));
}

/* The innermost task of BLOCK's thread cannot be suspended at once from now on. */
static inline void pm_tasks_look(struct pm_thread_block *block)
{
	block->task_frame = NULL;
}

/* Returns the task with ID, or NULL: it was never made, has ended, or is the parent's. */
static inline struct pm_task *pm_task_at(uint64_t id)
{
	uint32_t number = (uint32_t)id;
	struct pm_task *task;

	if (unlikely(number >= PM_TASKS_CHUNKS * PM_TASKS_CHUNK))
		return NULL;
	/* Pairs with the release of the store of a new chunk. */
	task = __atomic_load_n(&pm_tasks[number / PM_TASKS_CHUNK], __ATOMIC_ACQUIRE);
	if (unlikely(!task))
		return NULL;
	task += number % PM_TASKS_CHUNK;
	/* No task has id 0. */
	return likely(id && __atomic_load_n(&task->id, __ATOMIC_RELAXED) == id) ? task
										: NULL;
}

/* Returns a new task that runs, or NULL without memory. Takes PM_LOCK_REGIONS and enters the kernel
 * if no task has ended that could be used again. */
struct pm_task *pm_task_make(void);

/* Frees TASK, whose id is invalid from now on. */
void pm_task_free(struct pm_task *task);

/* Suspends TASK, with ID, for others to see. */
static inline void pm_task_waits(struct pm_task *task, uint64_t id)
{
	/* Pairs with the acquire of the thread that resumes it. */
	__atomic_store_n(&task->waits, task->count == 1 ? id : ~id, __ATOMIC_RELEASE);
}

/* Returns whether TASK was suspended. Now it runs. */
static inline bool pm_task_stops_waiting(struct pm_task *task, uint64_t id)
{
	uint64_t waits = __atomic_load_n(&task->waits, __ATOMIC_RELAXED);

	/* The acquire pairs with the release of the thread that suspended it. */
	return (waits == id || waits == ~id) &&
	       __atomic_compare_exchange_n(&task->waits, &waits, 0, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Returns the place of visit NUMBER of TASK, from 0, or NULL without memory. */
struct pm_task_visit *pm_task_visit_slowly(struct pm_task *task, uint32_t number);

static inline struct pm_task_visit *pm_task_visit(struct pm_task *task, uint32_t number)
{
	if (likely(number < PM_TASK_VISITS))
		return &task->visit[number];
	return pm_task_visit_slowly(task, number);
}

/* Forgets all tasks, in a forked child. */
void pm_tasks_forget(void);

#endif
