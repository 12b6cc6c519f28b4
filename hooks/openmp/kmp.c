/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parallel constructs and waits of programs that clang has compiled. A parallel construct is a function
 * there, too, whose arguments are the variables that it shares.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "hooks/openmp/kmp.h"
#include "hooks/openmp/team.h"

typedef void kmp_function(int32_t *thread, int32_t *bound, ...);

HOOK void __kmpc_fork_call(struct kmp_location *location, int32_t count,
			   kmp_function *function, ...);
HOOK void __kmpc_barrier(struct kmp_location *location, int32_t thread);
HOOK int32_t __kmpc_cancel_barrier(struct kmp_location *location, int32_t thread);
HOOK int32_t __kmpc_omp_taskwait(struct kmp_location *location, int32_t thread);
HOOK void __kmpc_end_taskgroup(struct kmp_location *location, int32_t thread);

const char *const kmp_libraries[] = {"libomp.so.5", "libomp.so", "libiomp5.so", NULL};

/* --- parallel constructs ------------------------------------------------------------- */

#define ARGUMENTS_MAX 1024

struct kmp_team {
	struct team team;
	kmp_function *function;
	int32_t count;
	void *arguments[ARGUMENTS_MAX];
};

/* One thread's part. */
struct part {
	struct kmp_team *team;
	int32_t *thread, *bound;
};

/* The first N arguments and more. A function does not notice more arguments than it takes. */
#define ARGUMENTS_4(at) , (at)[0], (at)[1], (at)[2], (at)[3]
#define ARGUMENTS_16(at)                                                                 \
	ARGUMENTS_4(at) ARGUMENTS_4((at) + 4) ARGUMENTS_4((at) + 8) ARGUMENTS_4((at) + 12)
#define ARGUMENTS_64(at)                                                                 \
	ARGUMENTS_16(at)                                                                 \
	ARGUMENTS_16((at) + 16) ARGUMENTS_16((at) + 32) ARGUMENTS_16((at) + 48)
#define ARGUMENTS_256(at)                                                                \
	ARGUMENTS_64(at)                                                                 \
	ARGUMENTS_64((at) + 64) ARGUMENTS_64((at) + 128) ARGUMENTS_64((at) + 192)
#define ARGUMENTS_1024(at)                                                               \
	ARGUMENTS_256(at)                                                                \
	ARGUMENTS_256((at) + 256) ARGUMENTS_256((at) + 512) ARGUMENTS_256((at) + 768)

/* Calls the function of the construct. */
static void call(void *data)
{
	const struct part *part = data;
	const struct kmp_team *team = part->team;
	void *const *at = team->arguments;

	if (team->count <= 4)
		team->function(part->thread, part->bound ARGUMENTS_4(at));
	else if (team->count <= 16)
		team->function(part->thread, part->bound ARGUMENTS_16(at));
	else
		team->function(part->thread, part->bound ARGUMENTS_1024(at));
}

/* What the threads of a team run. */
static void run_part(int32_t *thread, int32_t *bound, struct kmp_team *team)
{
	struct part part = {team, thread, bound};

	team_run(&team->team, call, &part);
}

void __kmpc_fork_call(struct kmp_location *location, int32_t count,
		      kmp_function *function, ...)
{
	const struct place_hint hint = {location ? location->source : NULL,
					__builtin_return_address(0)};
	struct kmp_team team;
	va_list arguments;
	int32_t filled = count <= 4 ? 4 : count <= 16 ? 16 : ARGUMENTS_MAX;
	KMP_ORIGINAL(__kmpc_fork_call);

	if (count > ARGUMENTS_MAX) {
		fprintf(stderr,
			"perfmon: a parallel construct shares %d variables; the hook "
			"takes %d: "
			"run the program without --hooks\n",
			(int)count, ARGUMENTS_MAX);
		abort();
	}
	team.function = function;
	team.count = count;
	va_start(arguments, function);
	for (int32_t i = 0; i < count; i++)
		team.arguments[i] = va_arg(arguments, void *);
	va_end(arguments);
	for (int32_t i = count; i < filled; i++)
		team.arguments[i] = NULL;
	team.team =
		team_begin(place_of((const void *)function, PLACE_PARALLEL_KMP, &hint));
	original(location, 1, (kmp_function *)run_part, &team);
	team_end(&team.team);
}

/* --- waiting ------------------------------------------------------------------------- */

void __kmpc_barrier(struct kmp_location *location, int32_t thread)
{
	KMP_ORIGINAL(__kmpc_barrier);

	perfmon_region_begin(&region_barrier);
	original(location, thread);
	perfmon_region_end(&region_barrier);
}

int32_t __kmpc_cancel_barrier(struct kmp_location *location, int32_t thread)
{
	int32_t cancelled;
	KMP_ORIGINAL(__kmpc_cancel_barrier);

	perfmon_region_begin(&region_barrier);
	cancelled = original(location, thread);
	perfmon_region_end(&region_barrier);
	return cancelled;
}

int32_t __kmpc_omp_taskwait(struct kmp_location *location, int32_t thread)
{
	int32_t result;
	KMP_ORIGINAL(__kmpc_omp_taskwait);

	perfmon_region_begin(&region_taskwait);
	result = original(location, thread);
	perfmon_region_end(&region_taskwait);
	return result;
}

void __kmpc_end_taskgroup(struct kmp_location *location, int32_t thread)
{
	KMP_ORIGINAL(__kmpc_end_taskgroup);

	perfmon_region_begin(&region_taskwait);
	original(location, thread);
	perfmon_region_end(&region_taskwait);
}
