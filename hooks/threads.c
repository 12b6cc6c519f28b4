/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libperfmon-threads: a thread is below the regions of the thread that has created it, without a
 * change to the program. What it does there belongs to them until it ends.
 *
 * For pthread_create(3), which std::thread and most languages use, and thrd_create(3).
 */
#include <link.h>
#include <perfmon/region.h>
#include <perfmon/team.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

#include "hooks/common/original.h"

typedef void *thread_function(void *argument);

HOOK int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			thread_function *function, void *argument);
HOOK int thrd_create(thrd_t *thread, thrd_start_t function, void *argument);

/* What a thread begins with. */
struct start {
	thread_function *function;
	thrd_start_t c11_function;
	void *argument;
	struct perfmon_token token;
};

static void leave(void *unused)
{
	(void)unused;
	perfmon_region_leave();
}

/* Takes what START has, and frees it: the thread may never return. */
static struct start take(struct start *start)
{
	struct start own = *start;

	free(start);
	return own;
}

static void *run(void *argument)
{
	struct start start = take(argument);
	void *result;

	if (perfmon_region_adopt(&start.token))
		return start.function(start.argument);
	/* Also after pthread_exit(3) and by cancellation. */
	pthread_cleanup_push(leave, NULL);
	result = start.function(start.argument);
	pthread_cleanup_pop(1);
	return result;
}

static int run_c11(void *argument)
{
	struct start start = take(argument);
	int result;

	if (perfmon_region_adopt(&start.token))
		return start.c11_function(start.argument);
	pthread_cleanup_push(leave, NULL);
	result = start.c11_function(start.argument);
	pthread_cleanup_pop(1);
	return result;
}

/* Returns what the new thread begins with, or NULL without memory, or if it begins at the top
 * anyway: a program without regions is not changed. */
static struct start *start_of(void *argument)
{
	struct start *start = malloc(sizeof(*start));

	if (start) {
		*start = (struct start){.argument = argument};
		if (!perfmon_region_token(&start->token) && start->token.path)
			return start;
	}
	free(start);
	return NULL;
}

/* --- libperfmon's own threads ------------------------------------------------------- */

static uintptr_t own_begin, own_end;

static int find_own(struct dl_phdr_info *info, size_t size, void *unused)
{
	uintptr_t address = (uintptr_t)perfmon_region_token;

	(void)size;
	(void)unused;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		uintptr_t end = begin + info->dlpi_phdr[i].p_memsz;

		if (info->dlpi_phdr[i].p_type != PT_LOAD || address < begin ||
		    address >= end)
			continue;
		own_begin = begin;
		own_end = end;
		return 1;
	}
	return 0;
}

/* Returns whether the code at ADDRESS is the library's. Its threads belong to no region. */
static int is_own(const void *address)
{
	return (uintptr_t)address >= own_begin && (uintptr_t)address < own_end;
}

/* --- the calls ----------------------------------------------------------------------- */

static __typeof__(pthread_create) *original_create;
static __typeof__(thrd_create) *original_thrd_create;

static void *once(void **kept, const char *name)
{
	static const char *const libraries[] = {"libpthread.so.0", "libc.so.6", NULL};

	return original_once(kept, NULL, name, libraries);
}

__attribute__((constructor)) static void prepare(void)
{
	dl_iterate_phdr(find_own, NULL);
	once((void **)&original_create, "pthread_create");
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
		   thread_function *function, void *argument)
{
	__typeof__(pthread_create) *original = (__typeof__(pthread_create) *)once(
		(void **)&original_create, "pthread_create");
	struct start *start =
		is_own(__builtin_return_address(0)) ? NULL : start_of(argument);
	int err;

	if (!start)
		return original(thread, attributes, function, argument);
	start->function = function;
	err = original(thread, attributes, run, start);
	if (err)
		free(start);
	return err;
}

int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
	__typeof__(thrd_create) *original = (__typeof__(thrd_create) *)once(
		(void **)&original_thrd_create, "thrd_create");
	struct start *start = start_of(argument);
	int err;

	if (!start)
		return original(thread, function, argument);
	start->c11_function = function;
	err = original(thread, run_c11, start);
	if (err != thrd_success)
		free(start);
	return err;
}
