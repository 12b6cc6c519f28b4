/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libperfmon-kokkos: a tool of Kokkos, by which kernels, regions, sections, fences and deep copies are
 * regions. Kokkos loads it where KOKKOS_TOOLS_LIBS or, in older versions, KOKKOS_PROFILE_LIBRARY names
 * it, and calls what it has of the names below, in the thread of the program that calls Kokkos.
 *
 * Kernels, fences and copies nest. Their ends carry a number that the tool has given them. Pushed
 * regions end without a name: the thread keeps which are open. Sections may overlap: where something
 * ends that has a section open inside of it, the section ends, too, and the report counts it as lost.
 */
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

/* A region that could not be made is NULL, whose visit the report counts as lost. */
static void begin(struct perfmon_region *region, uint64_t *id)
{
	*id = (uint64_t)(uintptr_t)region;
	perfmon_region_begin(region);
}

static void end(struct perfmon_region *region)
{
	if (region)
		perfmon_region_end(region);
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
		end((struct perfmon_region *)(uintptr_t)id);                             \
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
	end((struct perfmon_region *)(uintptr_t)id);
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

static void pop(struct open *open)
{
	if (open->depth && --open->depth < OPEN_MAX)
		end(open->regions[open->depth]);
}

HOOK void kokkosp_push_profile_region(const char *name);
HOOK void kokkosp_pop_profile_region(void);

void kokkosp_push_profile_region(const char *name)
{
	push(&pushed, region_of(name, NULL));
}

void kokkosp_pop_profile_region(void)
{
	pop(&pushed);
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
	pop(&copies);
}

/* --- sections ------------------------------------------------------------------------- */

#define SECTIONS_MAX 65536u

/*
 * table | written by | order
 * the region of a section: create, once | released; start and stop acquire
 */
static struct perfmon_region *sections[SECTIONS_MAX];
static uint32_t section_count;

HOOK void kokkosp_create_profile_section(const char *name, uint32_t *section);
HOOK void kokkosp_start_profile_section(uint32_t section);
HOOK void kokkosp_stop_profile_section(uint32_t section);
HOOK void kokkosp_destroy_profile_section(uint32_t section);

void kokkosp_create_profile_section(const char *name, uint32_t *section)
{
	*section = __atomic_fetch_add(&section_count, 1, __ATOMIC_RELAXED);
	if (*section < SECTIONS_MAX)
		/* Pairs with section_of(). */
		__atomic_store_n(&sections[*section], region_of(name, NULL),
				 __ATOMIC_RELEASE);
}

/* Returns NULL for too many sections: the report counts their visits as lost. */
static struct perfmon_region *section_of(uint32_t section)
{
	return section < SECTIONS_MAX
		       ? __atomic_load_n(&sections[section], __ATOMIC_ACQUIRE)
		       : NULL;
}

void kokkosp_start_profile_section(uint32_t section)
{
	perfmon_region_begin(section_of(section));
}

void kokkosp_stop_profile_section(uint32_t section)
{
	end(section_of(section));
}

/* Its number is not used again. */
void kokkosp_destroy_profile_section(uint32_t section)
{
	(void)section;
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
