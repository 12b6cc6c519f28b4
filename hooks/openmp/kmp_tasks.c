/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tasks of programs that clang has compiled. The program asks the OpenMP library for the memory of a task,
 * with the function that the task runs, fills it, and passes it on. Parts of a taskloop are copies of one
 * task, made by the library.
 *
 * Here the memory is larger, and the function is one of this file: behind what the compiler wants for itself,
 * and before the variables that the task shares, stands what the hook has to know.
 */
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

#include "hooks/openmp/kmp.h"
#include "hooks/openmp/team.h"

typedef int32_t kmp_task_function(int32_t thread, void *task);

/* What compilers and the library know of a task. More of the compiler's is behind it. */
struct kmp_task {
	void *shared; /* NULL: it shares nothing */
	kmp_task_function *function;
};

struct own {
	struct place *place;
	kmp_task_function *function;
	struct perfmon_token token;
};

HOOK struct kmp_task *__kmpc_omp_task_alloc(struct kmp_location *location, int32_t thread,
					    int32_t flags, size_t size,
					    size_t shared_size,
					    kmp_task_function *function);
HOOK void __kmpc_omp_task_begin_if0(struct kmp_location *location, int32_t thread,
				    struct kmp_task *task);
HOOK void __kmpc_omp_task_complete_if0(struct kmp_location *location, int32_t thread,
				       struct kmp_task *task);

static struct own *own_of(const struct kmp_task *task)
{
	return (struct own *)task->shared - 1;
}

/* One run of a task. */
struct run {
	kmp_task_function *function;
	int32_t thread;
	struct kmp_task *task;
};

static void call(void *data)
{
	const struct run *run = data;

	run->function(run->thread, run->task);
}

/* What the library runs. A part of an untied task may end with the task in another thread, so nothing is
 * read from it then. */
static int32_t run_task(int32_t thread, void *task)
{
	const struct own own = *own_of(task);
	struct run run = {own.function, thread, task};

	run_for(&own.token, own.place, call, &run);
	return 0;
}

struct kmp_task *__kmpc_omp_task_alloc(struct kmp_location *location, int32_t thread,
				       int32_t flags, size_t size, size_t shared_size,
				       kmp_task_function *function)
{
	const struct place_hint hint = {location ? location->source : NULL,
					__builtin_return_address(0)};
	struct place *place = place_of((const void *)function, PLACE_TASK_KMP, &hint);
	size_t behind = (size + alignof(struct own) - 1) & ~(alignof(struct own) - 1);
	struct kmp_task *task;
	KMP_ORIGINAL(__kmpc_omp_task_alloc);

	/* Without shared variables the library would not say where they are. */
	task = original(location, thread, flags, behind + sizeof(struct own),
			shared_size ? shared_size : sizeof(void *), run_task);
	if ((char *)task->shared != (char *)task + behind + sizeof(struct own)) {
		/* A library that lays tasks out in another way. */
		task->function = function;
		return task;
	}
	*own_of(task) = (struct own){.place = place, .function = function};
	perfmon_region_token(&own_of(task)->token);
	return task;
}

/* A task that is not deferred: the program calls its function itself, in between. */
void __kmpc_omp_task_begin_if0(struct kmp_location *location, int32_t thread,
			       struct kmp_task *task)
{
	KMP_ORIGINAL(__kmpc_omp_task_begin_if0);

	original(location, thread, task);
	if (task->function == run_task)
		perfmon_region_begin(&own_of(task)->place->region);
}

void __kmpc_omp_task_complete_if0(struct kmp_location *location, int32_t thread,
				  struct kmp_task *task)
{
	KMP_ORIGINAL(__kmpc_omp_task_complete_if0);

	if (task->function == run_task)
		perfmon_region_end(&own_of(task)->place->region);
	original(location, thread, task);
}
