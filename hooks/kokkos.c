/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libperfmon-kokkos: a tool of Kokkos, by which kernels, regions, sections, fences and deep copies are
 * regions. Kokkos loads it where KOKKOS_TOOLS_LIBS or, in older versions, KOKKOS_PROFILE_LIBRARY names
 * it, and calls what it has of the names below, in the thread of the program that calls Kokkos.
 *
 * Kernels, fences and copies nest. Their ends carry a number that the tool has given them. Pushed
 * regions end without a name: the thread keeps which are open. Sections may overlap each other and all
 * else, and end on another thread. So they are overlapping visits (perfmon/overlap.h), which contain
 * nothing.
 */
#include <perfmon/overlap.h>
#include <perfmon/quantity.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hooks/common/names.h"
#include "hooks/common/original.h"
#include "hooks/kokkos/label.h"

/* --- kernels and fences --------------------------------------------------------------- */

typedef void begin_function(const char *name, uint32_t device, uint64_t *id);
typedef void end_function(uint64_t id);

HOOK begin_function kokkosp_begin_parallel_for, kokkosp_begin_parallel_reduce,
	kokkosp_begin_parallel_scan, kokkosp_begin_fence;
HOOK end_function kokkosp_end_parallel_for, kokkosp_end_parallel_reduce,
	kokkosp_end_parallel_scan, kokkosp_end_fence;

/* A region that could not be made is NULL. The report counts its visit as lost, and what is inside of
 * it, until its end. */
static void begin(struct perfmon_region *region, uint64_t *id)
{
	*id = (uint64_t)(uintptr_t)region;
	perfmon_region_begin(region);
}

#define DEFINE(what)                                                                     \
	void kokkosp_begin_parallel_##what(const char *name, uint32_t device,            \
					   uint64_t *id)                                 \
	{                                                                                \
		(void)device;                                                            \
		begin(region_of(name, label_type), id);                                  \
	}                                                                                \
	void kokkosp_end_parallel_##what(uint64_t id)                                    \
	{                                                                                \
		perfmon_region_end((struct perfmon_region *)(uintptr_t)id);              \
	}
DEFINE(for)
DEFINE(reduce)
DEFINE(scan)
#undef DEFINE

#define NAME_SIZE 1001 /* of a region, with the end */

void kokkosp_begin_fence(const char *label, uint32_t device, uint64_t *id)
{
	char name[NAME_SIZE];

	(void)device;
	snprintf(name, sizeof(name), "%s (fence)", label);
	begin(region_of(name, NULL), id);
}

void kokkosp_end_fence(uint64_t id)
{
	perfmon_region_end((struct perfmon_region *)(uintptr_t)id);
}

/* --- what nests without a number: pushed regions and copies ---------------------------- */

#define OPEN_MAX 128

/* What the thread has open, the innermost last. What is deeper than OPEN_MAX is lost. */
struct open {
	struct perfmon_region *regions[OPEN_MAX];
	unsigned int depth;
};
/* More than the loader keeps for libraries that are loaded late. */
static __thread __attribute__((tls_model("global-dynamic"))) struct open pushed, copies;

static void push(struct open *open, struct perfmon_region *region)
{
	if (open->depth < OPEN_MAX)
		open->regions[open->depth] = region;
	/* The report counts visits of NULL as lost. */
	perfmon_region_begin(open->depth < OPEN_MAX ? region : NULL);
	open->depth++;
}

/* CALL is the name under which the report counts an end of nothing as lost. */
static void pop(struct open *open, const char *call)
{
	if (!open->depth)
		perfmon_region_end_name(call);
	else
		perfmon_region_end(--open->depth < OPEN_MAX ? open->regions[open->depth]
							    : NULL);
}

HOOK void kokkosp_push_profile_region(const char *name);
HOOK void kokkosp_pop_profile_region(void);

void kokkosp_push_profile_region(const char *name)
{
	push(&pushed, region_of(name, NULL));
}

void kokkosp_pop_profile_region(void)
{
	pop(&pushed, "popRegion()");
}

/* Where memory is. Kokkos passes it by value. */
struct space {
	char name[64];
};

HOOK void kokkosp_begin_deep_copy(struct space to_space, const char *to,
				  const void *to_address, struct space from_space,
				  const char *from, const void *from_address,
				  uint64_t bytes);
HOOK void kokkosp_end_deep_copy(void);

void kokkosp_begin_deep_copy(struct space to_space, const char *to,
			     const void *to_address, struct space from_space,
			     const char *from, const void *from_address, uint64_t bytes)
{
	char name[NAME_SIZE];

	(void)to_space;
	(void)to_address;
	(void)from_space;
	(void)from_address;
	snprintf(name, sizeof(name), "%s = %s (copy)", to, from);
	push(&copies, region_of(name, NULL));
	PERFMON_REGION_ADD("bytes", "B", bytes);
}

void kokkosp_end_deep_copy(void)
{
	pop(&copies, "end of deep_copy()");
}

/* --- sections ------------------------------------------------------------------------- */

#define SECTIONS_MAX 65536u

struct section {
	struct perfmon_overlap visit;
	uint32_t calls; /* that are in it now: more than one only by a mistake */
	char name[];
};

/*
 * table | written by | order
 * a section: create, where there is none, and destroy | released; start and stop acquire
 * the number to try first: create and destroy | relaxed: any number will do
 */
static struct section *sections[SECTIONS_MAX];
static uint32_t section_next;

HOOK void kokkosp_create_profile_section(const char *name, uint32_t *section);
HOOK void kokkosp_start_profile_section(uint32_t section);
HOOK void kokkosp_stop_profile_section(uint32_t section);
HOOK void kokkosp_destroy_profile_section(uint32_t section);

/* Returns a number that SECTION has from now on, or SECTIONS_MAX if all are taken. */
static uint32_t number_for(struct section *section)
{
	uint32_t first = __atomic_load_n(&section_next, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < SECTIONS_MAX; i++) {
		uint32_t number = (first + i) % SECTIONS_MAX;
		struct section *none = NULL;

		/* Pairs with section_of(). */
		if (!__atomic_compare_exchange_n(&sections[number], &none, section, false,
						 __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&section_next, number + 1, __ATOMIC_RELAXED);
		return number;
	}
	return SECTIONS_MAX;
}

void kokkosp_create_profile_section(const char *name, uint32_t *section)
{
	size_t size = strlen(name) + 1;
	struct section *made = calloc(1, sizeof(*made) + size);

	*section = SECTIONS_MAX;
	if (!made)
		return;
	memcpy(made->name, name, size);
	*section = number_for(made);
	if (*section == SECTIONS_MAX)
		free(made);
}

/* Returns NULL for a number that no section has: too many, or one that was destroyed. */
static struct section *section_of(uint32_t section)
{
	return section < SECTIONS_MAX
		       ? __atomic_load_n(&sections[section], __ATOMIC_ACQUIRE)
		       : NULL;
}

/* Returns the section for this thread alone. What cannot be counted is counted as lost. */
static struct section *section_enter(uint32_t number)
{
	struct section *section = section_of(number);

	/* Pairs with section_leave(). */
	if (section && !__atomic_fetch_add(&section->calls, 1, __ATOMIC_ACQUIRE))
		return section;
	if (section)
		__atomic_fetch_sub(&section->calls, 1, __ATOMIC_RELAXED);
	perfmon_region_begin(NULL);
	perfmon_region_end(NULL);
	return NULL;
}

static void section_leave(struct section *section)
{
	__atomic_fetch_sub(&section->calls, 1, __ATOMIC_RELEASE);
}

void kokkosp_start_profile_section(uint32_t number)
{
	struct section *section = section_enter(number);

	if (!section)
		return;
	perfmon_overlap_begin(&section->visit, section->name);
	section_leave(section);
}

void kokkosp_stop_profile_section(uint32_t number)
{
	struct section *section = section_enter(number);

	if (!section)
		return;
	perfmon_overlap_end(&section->visit);
	section_leave(section);
}

/* Kokkos destroys a section after its last call on it. The report shows a visit that is still open. */
void kokkosp_destroy_profile_section(uint32_t number)
{
	struct section *section = section_of(number);

	if (!section)
		return;
	__atomic_store_n(&sections[number], NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&section_next, number, __ATOMIC_RELAXED);
	free(section);
}

/* --- the tool ------------------------------------------------------------------------- */

struct settings {
	bool requires_global_fencing;
	bool padding[255];
};

HOOK void kokkosp_request_tool_settings(uint32_t count, struct settings *settings);

/* Kokkos need not wait for its devices at each call: that would change what is measured. */
void kokkosp_request_tool_settings(uint32_t count, struct settings *settings)
{
	if (count)
		settings->requires_global_fencing = false;
}
