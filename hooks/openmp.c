/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libperfmon-openmp: regions for OpenMP programs, without a change to the program. This file has the
 * calls of gcc's programs, and openmp/kmp.c those of clang's.
 *
 * gcc makes a function of each parallel construct and passes it to libgomp. This library stands
 * before libgomp, and passes a function of its own. So a parallel construct is a region, in each
 * thread of the team, below what the thread that begins the team is in. That thread's visit is
 * the whole construct: in it, the region "(join)" is the wait for the others. The visits of the
 * others end with their work.
 *
 * Warm, a thread adopts a path, visits a region and leaves: no lock, no allocation.
 */
#include <perfmon/region.h>
#include <stdalign.h>
#include <stdint.h>
#include <string.h>

#include "hooks/openmp/gomp.h"
#include "hooks/openmp/team.h"

/* --- parallel constructs ------------------------------------------------------------- */

struct gomp_team {
	/* What the function's data begins with: GOMP_parallel_reductions() reads it. */
	void *first;
	gomp_function *function;
	void *data;
	struct team team;
};

/* What the threads of a team run. */
static void run_part(void *data)
{
	struct gomp_team *team = data;

	team_run(&team->team, team->function, team->data);
}

static struct gomp_team begin(gomp_function *function, void *data)
{
	return (struct gomp_team){
		.function = function,
		.data = data,
		.team = team_begin(
			place_of((const void *)function, PLACE_PARALLEL, NULL)),
	};
}

static const struct gomp *gomp_of(const struct gomp_team *team)
{
	return team->team.place->gomp;
}

void GOMP_parallel(gomp_function *function, void *data, unsigned int threads,
		   unsigned int flags)
{
	struct gomp_team team = begin(function, data);

	gomp_of(&team)->GOMP_parallel(run_part, &team, threads, flags);
	team_end(&team.team);
}

void GOMP_parallel_sections(gomp_function *function, void *data, unsigned int threads,
			    unsigned int count, unsigned int flags)
{
	struct gomp_team team = begin(function, data);

	gomp_of(&team)->GOMP_parallel_sections(run_part, &team, threads, count, flags);
	team_end(&team.team);
}

unsigned int GOMP_parallel_reductions(gomp_function *function, void *data,
				      unsigned int threads, unsigned int flags)
{
	struct gomp_team team = begin(function, data);
	unsigned int count;

	team.first = *(void **)data;
	count = gomp_of(&team)->GOMP_parallel_reductions(run_part, &team, threads, flags);
	team_end(&team.team);
	return count;
}

#define DEFINE(name)                                                                     \
	void name(gomp_function *function, void *data, unsigned int threads, long start, \
		  long last, long step, long chunk, unsigned int flags)                  \
	{                                                                                \
		struct gomp_team team = begin(function, data);                           \
                                                                                         \
		gomp_of(&team)->name(run_part, &team, threads, start, last, step, chunk, \
				     flags);                                             \
		team_end(&team.team);                                                    \
	}
GOMP_LOOPS(DEFINE)
#undef DEFINE

#define DEFINE(name)                                                                     \
	void name(gomp_function *function, void *data, unsigned int threads, long start, \
		  long last, long step, unsigned int flags)                              \
	{                                                                                \
		struct gomp_team team = begin(function, data);                           \
                                                                                         \
		gomp_of(&team)->name(run_part, &team, threads, start, last, step,        \
				     flags);                                             \
		team_end(&team.team);                                                    \
	}
GOMP_LOOPS_WITHOUT_CHUNK(DEFINE)
#undef DEFINE

/* --- waiting ------------------------------------------------------------------------- */

#define GOMP_OF_CALLER place_of(__builtin_return_address(0), PLACE_CALL, NULL)->gomp

#define DEFINE_WAIT(name, region)                                                        \
	void name(void)                                                                  \
	{                                                                                \
		const struct gomp *gomp = GOMP_OF_CALLER;                                \
                                                                                         \
		perfmon_region_begin(&(region));                                         \
		gomp->name();                                                            \
		perfmon_region_end(&(region));                                           \
	}
#define DEFINE(name) DEFINE_WAIT(name, region_barrier)
GOMP_BARRIERS(DEFINE)
#undef DEFINE
#define DEFINE(name) DEFINE_WAIT(name, region_taskwait)
GOMP_TASK_WAITS(DEFINE)
#undef DEFINE

#define DEFINE(name)                                                                     \
	bool name(void)                                                                  \
	{                                                                                \
		const struct gomp *gomp = GOMP_OF_CALLER;                                \
		bool cancelled;                                                          \
                                                                                         \
		perfmon_region_begin(&region_barrier);                                   \
		cancelled = gomp->name();                                                \
		perfmon_region_end(&region_barrier);                                     \
		return cancelled;                                                        \
	}
GOMP_BARRIERS_WITH_CANCEL(DEFINE)
#undef DEFINE

/* --- tasks --------------------------------------------------------------------------- */

/*
 * A task runs in any thread, often one that waits at a barrier. It adopts the path of the thread
 * that has made it, so its time is in no wait.
 *
 * libgomp copies the data of a task. What the hook has to know of it stands before the data.
 */
struct task {
	/* The bounds of a taskloop, which libgomp writes for each task, and its reductions. */
	unsigned long words[3];
	gomp_function *function;
	gomp_copy *copy;
	void *data;	 /* where the data was when the task was made */
	uint32_t offset; /* of the data that is copied, from here */
	bool is_loop;
	struct place *place;
	struct perfmon_token token;
};

#define TASK_SIZE_MAX  4096 /* larger data is not copied: the task is no region */
#define TASK_ALIGN_MAX 64
#define TASK_DETACH    (1u << 13) /* libgomp writes to the data itself */

static void run_task(void *data)
{
	struct task *task = data;
	char *own = (char *)task + task->offset;

	if (task->is_loop)
		memcpy(own, task->words, 2 * sizeof(task->words[0]));
	run_for(&task->token, task->place, task->function, own);
}

static void copy_task(void *to, void *from)
{
	struct task *task = from;

	memcpy(to, from, sizeof(*task));
	task->copy((char *)to + task->offset, task->data);
}

/* How a task is passed to libgomp. */
struct passed {
	_Alignas(TASK_ALIGN_MAX) char bytes[sizeof(struct task) + TASK_ALIGN_MAX +
					    TASK_SIZE_MAX];
	long size, align;
};

static bool can_pass(long size, long align, unsigned int flags)
{
	return size >= 0 && size <= TASK_SIZE_MAX && align <= TASK_ALIGN_MAX &&
	       !(flags & TASK_DETACH);
}

static void pass_task(struct passed *passed, gomp_function *function, void *data,
		      gomp_copy *copy, long size, long align)
{
	struct task *task = (struct task *)(void *)passed->bytes;
	size_t offset = sizeof(*task);

	passed->align =
		align < (long)alignof(struct task) ? (long)alignof(struct task) : align;
	offset = (offset + (size_t)passed->align - 1) & ~((size_t)passed->align - 1);
	passed->size = (long)offset + size;
	*task = (struct task){.function = function,
			      .copy = copy,
			      .data = data,
			      .offset = (uint32_t)offset,
			      .place =
				      place_of((const void *)function, PLACE_TASK, NULL)};
	perfmon_region_token(&task->token);
	if (!copy && size)
		memcpy((char *)task + offset, data, (size_t)size);
}

void GOMP_task(gomp_function *function, void *data, gomp_copy *copy, long size,
	       long align, bool deferred, unsigned int flags, void **depend, int priority,
	       void *detach)
{
	struct passed passed;

	if (!can_pass(size, align, flags)) {
		place_of((const void *)function, PLACE_TASK, NULL)
			->gomp->GOMP_task(function, data, copy, size, align, deferred,
					  flags, depend, priority, detach);
		return;
	}
	pass_task(&passed, function, data, copy, size, align);
	((struct task *)(void *)passed.bytes)
		->place->gomp->GOMP_task(run_task, passed.bytes, copy ? copy_task : NULL,
					 passed.size, passed.align, deferred, flags,
					 depend, priority, detach);
}

#define DEFINE(name, type)                                                               \
	void name(gomp_function *function, void *data, gomp_copy *copy, long size,       \
		  long align, unsigned int flags, unsigned long tasks, int priority,     \
		  type start, type last, type step)                                      \
	{                                                                                \
		struct passed passed;                                                    \
		struct task *task = (struct task *)(void *)passed.bytes;                 \
                                                                                         \
		if (sizeof(type) != sizeof(task->words[0]) ||                            \
		    !can_pass(size, align, flags)) {                                     \
			place_of((const void *)function, PLACE_TASK, NULL)               \
				->gomp->name(function, data, copy, size, align, flags,   \
					     tasks, priority, start, last, step);        \
			return;                                                          \
		}                                                                        \
		pass_task(&passed, function, data, copy, size, align);                   \
		task->is_loop = true;                                                    \
		memcpy(task->words, data,                                                \
		       (size_t)size < sizeof(task->words) ? (size_t)size                 \
							  : sizeof(task->words));        \
		task->place->gomp->name(run_task, task, copy ? copy_task : NULL,         \
					passed.size, passed.align, flags, tasks,         \
					priority, start, last, step);                    \
	}
DEFINE(GOMP_taskloop, long)
DEFINE(GOMP_taskloop_ull, unsigned long long)
#undef DEFINE
