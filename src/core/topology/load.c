/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Only this file uses hwloc. The locks of hwloc are only taken behind PM_LOCK_TOPOLOGY,
 * so that a fork waits for them, too. */
#include "core/topology/load.h"

#include <errno.h>
#include <hwloc.h>

#include "config.h"
#include "core/kernel/files.h"
#include "core/kernel/kernel.h"
#include "core/kernel/library.h"

#define FUNCTIONS(X)                                                                     \
	X(hwloc_topology_init)                                                           \
	X(hwloc_topology_destroy)                                                        \
	X(hwloc_topology_set_components)                                                 \
	X(hwloc_topology_set_flags)                                                      \
	X(hwloc_topology_set_all_types_filter)                                           \
	X(hwloc_topology_set_type_filter)                                                \
	X(hwloc_topology_load)                                                           \
	X(hwloc_topology_is_thissystem)                                                  \
	X(hwloc_topology_get_topology_cpuset)                                            \
	X(hwloc_topology_get_allowed_cpuset)                                             \
	X(hwloc_topology_get_complete_cpuset)                                            \
	X(hwloc_get_type_depth)                                                          \
	X(hwloc_get_depth_type)                                                          \
	X(hwloc_get_nbobjs_by_depth)                                                     \
	X(hwloc_get_obj_by_depth)                                                        \
	X(hwloc_bitmap_weight)                                                           \
	X(hwloc_bitmap_next)

#if defined(PIC) && defined(HWLOC_SONAME)
PM_LIBRARY_LOADED(lib, FUNCTIONS, PM_LOCK_TOPOLOGY, HWLOC_SONAME,
		  "hwloc's library (Debian's package is libhwloc15)");
PM_LIBRARY_NOTE(note, HWLOC_SONAME, "topology", "Levels of the machine and places on it");
#else
PM_LIBRARY_LINKED(lib, FUNCTIONS);
#endif

const char *pm_topology_prepare(void)
{
	/* A set-user-ID program does not load foreign code. */
	if (pm_kernel_secure())
		return NULL;
	return pm_library_need(&lib_library) ? lib_library.refused.text : NULL;
}

/*
 * Returns a topology of this machine, or NULL. hwloc loads plugins and files that the
 * environment names, so a set-user-ID program does not use it. If the environment
 * replaces this machine by another (HWLOC_XMLFILE without HWLOC_THISSYSTEM), its CPUs are
 * not those of our events.
 */
static hwloc_topology_t load(void)
{
	static const hwloc_obj_type_t kept[] = {
		HWLOC_OBJ_PACKAGE, HWLOC_OBJ_DIE,     HWLOC_OBJ_CORE,	HWLOC_OBJ_L4CACHE,
		HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L1CACHE};
	unsigned long flags = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED;
	hwloc_topology_t topology;

	if (pm_kernel_secure() || !lib.hwloc_topology_init ||
	    lib.hwloc_topology_init(&topology))
		return NULL;
	lib.hwloc_topology_set_components(
		topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
#if HWLOC_API_VERSION >= 0x00020500
	flags |= HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING;
#endif
	lib.hwloc_topology_set_flags(topology, flags);
	lib.hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		lib.hwloc_topology_set_type_filter(topology, kept[i],
						   HWLOC_TYPE_FILTER_KEEP_ALL);
	lib.hwloc_topology_set_type_filter(topology, HWLOC_OBJ_GROUP,
					   HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
	if (!lib.hwloc_topology_load(topology)) {
		if (*pm_file_root || lib.hwloc_topology_is_thissystem(topology))
			return topology;
	}
	lib.hwloc_topology_destroy(topology);
	return NULL;
}

static const hwloc_obj_type_t types[PM_LEVELS] = {
	[PM_LEVEL_PU] = HWLOC_OBJ_PU,		[PM_LEVEL_CORE] = HWLOC_OBJ_CORE,
	[PM_LEVEL_L1] = HWLOC_OBJ_L1CACHE,	[PM_LEVEL_L2] = HWLOC_OBJ_L2CACHE,
	[PM_LEVEL_L3] = HWLOC_OBJ_L3CACHE,	[PM_LEVEL_L4] = HWLOC_OBJ_L4CACHE,
	[PM_LEVEL_GROUP] = HWLOC_OBJ_GROUP,	[PM_LEVEL_NUMA] = HWLOC_OBJ_NUMANODE,
	[PM_LEVEL_DIE] = HWLOC_OBJ_DIE,		[PM_LEVEL_PACKAGE] = HWLOC_OBJ_PACKAGE,
	[PM_LEVEL_MACHINE] = HWLOC_OBJ_MACHINE,
};

static int cpus_of(struct pm_cpus *cpus, hwloc_const_bitmap_t bitmap)
{
	int err = 0;

	if (!bitmap || lib.hwloc_bitmap_weight(bitmap) < 0)
		return 0; /* a group of all CPUs adds nothing */
	for (int cpu = -1; !err && (cpu = lib.hwloc_bitmap_next(bitmap, cpu)) >= 0;)
		err = pm_cpus_add(cpus, (unsigned int)cpu);
	return err;
}

static int level_load(struct pm_topology *to, hwloc_topology_t topology,
		      enum pm_level level)
{
	int depth = lib.hwloc_get_type_depth(topology, types[level]), err = 0;

	/* With groups within groups the largest is used. */
	for (int i = 0; depth == HWLOC_TYPE_DEPTH_MULTIPLE; i++)
		if (lib.hwloc_get_depth_type(topology, i) == types[level])
			depth = i;
	if (depth == HWLOC_TYPE_DEPTH_UNKNOWN)
		return 0;
	err = pm_topology_level_new(to, level,
				    lib.hwloc_get_nbobjs_by_depth(topology, depth));
	for (uint32_t i = 0; !err && i < to->levels[level].count; i++) {
		hwloc_obj_t object = lib.hwloc_get_obj_by_depth(topology, depth, i);
		struct pm_group *group = &to->levels[level].groups[i];

		group->os_index = object->os_index;
		err = cpus_of(&group->cpus, object->cpuset);
	}
	return err;
}

int pm_topology_load(struct pm_topology *to)
{
	hwloc_topology_t topology = load();
	int err;

	if (!topology)
		return -ENODATA;
	err = cpus_of(&to->online, lib.hwloc_topology_get_topology_cpuset(topology));
	if (!err)
		err = cpus_of(&to->allowed,
			      lib.hwloc_topology_get_allowed_cpuset(topology));
	if (!err)
		err = cpus_of(&to->present,
			      lib.hwloc_topology_get_complete_cpuset(topology));
	for (int level = 0; !err && level < PM_LEVELS; level++)
		err = level_load(to, topology, level);
	lib.hwloc_topology_destroy(topology);
	if (!err && pm_cpus_next(&to->online, 0) < 0)
		err = -ENODATA;
	return err;
}
