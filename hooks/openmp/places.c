/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hooks/openmp/places.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hooks/openmp/name.h"

#define SLOT_BITS   12
#define SLOTS	    (1u << SLOT_BITS)
#define PLACES_MAX  (SLOTS / 4 * 3)
#define NAME_LENGTH 512

/*
 * table | written by | order
 * a slot: once, by whoever finds it NULL | released; readers acquire, and see the place whole
 * the list of libraries: new ones come first | the same
 */
static struct place *slots[SLOTS];
static unsigned int place_count;

struct library {
	struct gomp gomp;
	struct library *next;
};
static struct library *libraries;

/* By their names as files: those of gcc and of clang, which has the same calls. */
static const char *const known[] = {"libgomp.so.1", "libomp.so.5", "libiomp5.so", NULL};

/* Opens the module that has FUNCTION. NULL: it has no file. */
static void *module_of(void *function)
{
	Dl_info info;

	return dladdr(function, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
				       : NULL;
}

/* Finds a function in MODULE, which has FUNCTION, another. */
static void *beside(void *module, void *function, const char *name)
{
	void *found = module ? dlsym(module, name) : NULL;

	return found ? found : original_find(function, name, known);
}

/* Returns the OpenMP library of the module with the code at ADDRESS. */
static const struct gomp *gomp_of(const void *address)
{
	void *parallel = original_find(address, "GOMP_parallel", known), *module;
	struct library *library;

	if (!parallel)
		original_is_missing("GOMP_parallel");
	/* Pairs with the release below: the library's calls are complete. */
	library = __atomic_load_n(&libraries, __ATOMIC_ACQUIRE);
	for (; library; library = library->next)
		if ((void *)library->gomp.GOMP_parallel == parallel)
			return &library->gomp;
	library = calloc(1, sizeof(*library));
	if (!library)
		original_is_missing("malloc");
	/* All from the library that has the first. */
	module = module_of(parallel);
#define FIND(name) library->gomp.name = beside(module, parallel, #name);
	GOMP_CALLS(FIND)
#undef FIND
	if (module)
		dlclose(module);
	dlerror();
	library->next = __atomic_load_n(&libraries, __ATOMIC_RELAXED);
	/* Pairs with the acquire above. */
	while (!__atomic_compare_exchange_n(&libraries, &library->next, library, false,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return &library->gomp;
}

static bool is_task(enum place_kind kind)
{
	return kind == PLACE_TASK || kind == PLACE_TASK_KMP;
}

static bool is_kmp(enum place_kind kind)
{
	return kind == PLACE_PARALLEL_KMP || kind == PLACE_TASK_KMP;
}

/* Writes the name of a KIND from ";file;function;line;column;;", if clang knew it. */
static bool name_of_source(const char *source, const char *kind, char *name, size_t size)
{
	const char *function = source ? strchr(source + (*source == ';'), ';') : NULL;
	size_t length = function ? strcspn(++function, ";") : 0;
	unsigned long line = length ? strtoul(function + length + 1, NULL, 10) : 0;

	if (!line || function[length] != ';')
		return false;
	snprintf(name, size, "%.*s:%lu (%s)",
		 (int)(length < size - 48 ? length : size - 48), function, line, kind);
	return true;
}

static struct place *new_place(const void *address, enum place_kind kind,
			       const struct place_hint *hint)
{
	const char *what = is_task(kind) ? "task" : "parallel";
	char name[NAME_LENGTH] = "";
	struct code_origin origin = {.module = NULL};
	struct place *place;

	if (kind != PLACE_CALL &&
	    !(hint && name_of_source(hint->source, what, name, sizeof(name))))
		code_name(hint ? hint->caller : address, what, name, sizeof(name),
			  &origin);
	place = calloc(1, sizeof(*place) + strlen(name) + 1);
	if (!place)
		return NULL;
	place->address = address;
	if (!is_kmp(kind))
		place->gomp = gomp_of(address);
	place->region.name = strcpy((char *)(place + 1), name);
	code_tell_origin(&place->region, &origin);
	return place;
}

/* Without memory, or with more places than the table has room for. */
static struct place *shared_place(const void *address, enum place_kind kind)
{
	static struct place others[] = {
		[PLACE_CALL] = {.region = PERFMON_REGION_INIT("(other calls)")},
		[PLACE_PARALLEL] = {.region = PERFMON_REGION_INIT("(other parallel)")},
		[PLACE_TASK] = {.region = PERFMON_REGION_INIT("(other tasks)")},
		[PLACE_PARALLEL_KMP] = {.region =
						PERFMON_REGION_INIT("(other parallel)")},
		[PLACE_TASK_KMP] = {.region = PERFMON_REGION_INIT("(other tasks)")},
	};
	struct place *place = &others[kind];

	/* The acquire pairs with the release below, and with those of other threads. */
	if (!is_kmp(kind) && !__atomic_load_n(&place->gomp, __ATOMIC_ACQUIRE))
		__atomic_store_n(&place->gomp, gomp_of(address), __ATOMIC_RELEASE);
	return place;
}

static struct place *add(const void *address, enum place_kind kind,
			 const struct place_hint *hint, uint32_t at)
{
	struct place *place = NULL, *there;
	int before = errno;

	if (__atomic_fetch_add(&place_count, 1, __ATOMIC_RELAXED) < PLACES_MAX)
		place = new_place(address, kind, hint);
	if (!place) {
		__atomic_fetch_sub(&place_count, 1, __ATOMIC_RELAXED);
		place = shared_place(address, kind);
		errno = before;
		return place;
	}
	for (;; at = (at + 1) % SLOTS) {
		there = NULL;
		/* Pairs with the load in place_of(). */
		if (__atomic_compare_exchange_n(&slots[at], &there, place, false,
						__ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
			break;
		if (there->address != address)
			continue;
		/* Another thread was faster. */
		__atomic_fetch_sub(&place_count, 1, __ATOMIC_RELAXED);
		free(place);
		place = there;
		break;
	}
	errno = before;
	return place;
}

struct place *place_of(const void *address, enum place_kind kind,
		       const struct place_hint *hint)
{
	uint32_t at = (uint32_t)(((uint64_t)(uintptr_t)address * 0x9e3779b97f4a7c15u) >>
				 (64 - SLOT_BITS));

	for (;; at = (at + 1) % SLOTS) {
		/* Pairs with the store in add(). */
		struct place *place = __atomic_load_n(&slots[at], __ATOMIC_ACQUIRE);

		if (!place)
			return add(address, kind, hint, at);
		if (place->address == address)
			return place;
	}
}
