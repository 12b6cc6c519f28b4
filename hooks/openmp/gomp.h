/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The calls of libgomp that the hook stands before, as compilers make them (libgomp_g.h of
 * gcc). They have no public header.
 */
#ifndef PERFMON_HOOKS_OPENMP_GOMP_H
#define PERFMON_HOOKS_OPENMP_GOMP_H

#include <stdbool.h>

#include "hooks/common/original.h"

/* All calls, by lists of those that are called alike. */
#define GOMP_LOOPS(X)                                                                    \
	X(GOMP_parallel_loop_static)                                                     \
	X(GOMP_parallel_loop_dynamic)                                                    \
	X(GOMP_parallel_loop_guided)                                                     \
	X(GOMP_parallel_loop_nonmonotonic_dynamic)                                       \
	X(GOMP_parallel_loop_nonmonotonic_guided)
#define GOMP_LOOPS_WITHOUT_CHUNK(X)                                                      \
	X(GOMP_parallel_loop_runtime)                                                    \
	X(GOMP_parallel_loop_nonmonotonic_runtime)                                       \
	X(GOMP_parallel_loop_maybe_nonmonotonic_runtime)
#define GOMP_BARRIERS(X)                                                                 \
	X(GOMP_barrier)                                                                  \
	X(GOMP_loop_end)                                                                 \
	X(GOMP_sections_end)
#define GOMP_BARRIERS_WITH_CANCEL(X)                                                     \
	X(GOMP_barrier_cancel)                                                           \
	X(GOMP_loop_end_cancel)                                                          \
	X(GOMP_sections_end_cancel)
#define GOMP_TASK_WAITS(X)                                                               \
	X(GOMP_taskwait)                                                                 \
	X(GOMP_taskgroup_end)
#define GOMP_CALLS(X)                                                                    \
	X(GOMP_parallel)                                                                 \
	X(GOMP_parallel_sections)                                                        \
	X(GOMP_parallel_reductions)                                                      \
	X(GOMP_task)                                                                     \
	X(GOMP_taskloop)                                                                 \
	X(GOMP_taskloop_ull)                                                             \
	GOMP_LOOPS(X)                                                                    \
	GOMP_LOOPS_WITHOUT_CHUNK(X)                                                      \
	GOMP_BARRIERS(X)                                                                 \
	GOMP_BARRIERS_WITH_CANCEL(X)                                                     \
	GOMP_TASK_WAITS(X)

typedef void gomp_function(void *data);
typedef void gomp_copy(void *to, void *from);

HOOK void GOMP_parallel(gomp_function *function, void *data, unsigned int threads,
			unsigned int flags);
HOOK void GOMP_parallel_sections(gomp_function *function, void *data,
				 unsigned int threads, unsigned int count,
				 unsigned int flags);
HOOK unsigned int GOMP_parallel_reductions(gomp_function *function, void *data,
					   unsigned int threads, unsigned int flags);
#define DECLARE(name)                                                                    \
	HOOK void name(gomp_function *function, void *data, unsigned int threads,        \
		       long start, long end, long step, long chunk, unsigned int flags);
GOMP_LOOPS(DECLARE)
#undef DECLARE
#define DECLARE(name)                                                                    \
	HOOK void name(gomp_function *function, void *data, unsigned int threads,        \
		       long start, long end, long step, unsigned int flags);
GOMP_LOOPS_WITHOUT_CHUNK(DECLARE)
#undef DECLARE
#define DECLARE(name) HOOK void name(void);
GOMP_BARRIERS(DECLARE)
GOMP_TASK_WAITS(DECLARE)
#undef DECLARE
#define DECLARE(name) HOOK bool name(void);
GOMP_BARRIERS_WITH_CANCEL(DECLARE)
#undef DECLARE

/* Old compilers pass fewer arguments, and flags that say so. */
HOOK void GOMP_task(gomp_function *function, void *data, gomp_copy *copy, long size,
		    long align, bool deferred, unsigned int flags, void **depend,
		    int priority, void *detach);
HOOK void GOMP_taskloop(gomp_function *function, void *data, gomp_copy *copy, long size,
			long align, unsigned int flags, unsigned long tasks, int priority,
			long start, long end, long step);
HOOK void GOMP_taskloop_ull(gomp_function *function, void *data, gomp_copy *copy,
			    long size, long align, unsigned int flags,
			    unsigned long tasks, int priority, unsigned long long start,
			    unsigned long long end, unsigned long long step);

/* The calls of one OpenMP library; NULL where it does not have one. */
struct gomp {
#define MEMBER(name) __typeof__(name) *name;
	GOMP_CALLS(MEMBER)
#undef MEMBER
};

#endif
