/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "topology/machine.h"

#include <errno.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "os/os.h"
#include "topology/load.h"

static void text_set(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "");
}

/* The value of the first line "KEY : value" of /proc/cpuinfo. */
static void cpuinfo_value(const char *text, const char *key, char *value, size_t size)
{
	const char *line = text;

	value[0] = '\0';
	while (line && *line) {
		size_t length = strcspn(line, "\n");

		if (!strncmp(line, key, strlen(key))) {
			const char *colon = memchr(line, ':', length);

			if (colon) {
				colon++;
				while (*colon == ' ' || *colon == '\t')
					colon++;
				snprintf(value, size, "%.*s",
					 (int)(line + length - colon), colon);
				return;
			}
		}
		line += length;
		line += *line == '\n';
	}
}

/* ARM machines name their CPUs by numbers; Linux says no more. */
static void model_from_cpuinfo(struct pm_machine *machine, const char *text)
{
	char implementer[16], part[16], variant[16], revision[16];

	cpuinfo_value(text, "model name", machine->cpu_model, sizeof(machine->cpu_model));
	if (!machine->cpu_model[0])
		cpuinfo_value(text, "uarch", machine->cpu_model,
			      sizeof(machine->cpu_model));
	cpuinfo_value(text, "CPU implementer", implementer, sizeof(implementer));
	cpuinfo_value(text, "CPU part", part, sizeof(part));
	cpuinfo_value(text, "CPU variant", variant, sizeof(variant));
	cpuinfo_value(text, "CPU revision", revision, sizeof(revision));
	if (!machine->cpu_model[0] && implementer[0])
		snprintf(machine->cpu_model, sizeof(machine->cpu_model),
			 "ARM implementer %s part %s r%ldp%s", implementer, part,
			 strtol(variant, NULL, 0), revision);
}

static uint32_t count_of(hwloc_topology_t topology, hwloc_obj_type_t type)
{
	int n = hwloc_get_nbobjs_by_type(topology, type);

	return n > 0 ? (uint32_t)n : 0;
}

/*
 * A topology of this machine, or NULL. hwloc loads plugins and files that the environment
 * names, whoever runs the program: a set-user-ID program does without it. Where the
 * environment puts another machine in the place of this one (HWLOC_XMLFILE without
 * HWLOC_THISSYSTEM), its CPUs are not those of our events. STRUCTURE: all that CPUs are
 * part of; else packages and cores.
 */
static hwloc_topology_t load(bool structure)
{
	static const hwloc_obj_type_t small[] = {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_CORE},
				      all[] = {HWLOC_OBJ_DIE, HWLOC_OBJ_L4CACHE,
					       HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE,
					       HWLOC_OBJ_L1CACHE};
	unsigned long flags = structure ? HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED : 0;
	hwloc_topology_t topology;

	if (pm_kernel_secure() || hwloc_topology_init(&topology))
		return NULL;
#if HWLOC_API_VERSION >= 0x00020100
	hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
				      "x86");
#endif
#if HWLOC_API_VERSION >= 0x00020500
	flags |= HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING;
#endif
	hwloc_topology_set_flags(topology, flags);
	hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
	for (size_t i = 0; i < sizeof(small) / sizeof(small[0]); i++)
		hwloc_topology_set_type_filter(topology, small[i],
					       HWLOC_TYPE_FILTER_KEEP_ALL);
	for (size_t i = 0; structure && i < sizeof(all) / sizeof(all[0]); i++)
		hwloc_topology_set_type_filter(topology, all[i],
					       HWLOC_TYPE_FILTER_KEEP_ALL);
	if (structure)
		hwloc_topology_set_type_filter(topology, HWLOC_OBJ_GROUP,
					       HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
	if (!hwloc_topology_load(topology)) {
		if (*pm_file_root || hwloc_topology_is_thissystem(topology))
			return topology;
	}
	hwloc_topology_destroy(topology);
	return NULL;
}

/* hwloc has locks of its own: under ours, so that a fork waits for them, too. */
static void describe_topology(struct pm_machine *machine)
{
	hwloc_topology_t topology;
	struct pm_quiet quiet;
	hwloc_obj_t package;

	pm_kernel_quiet_begin(&quiet);
	pm_locks_take(PM_LOCK_TOPOLOGY);
	topology = load(false);
	if (!topology)
		goto out;
	machine->packages = count_of(topology, HWLOC_OBJ_PACKAGE);
	machine->cores = count_of(topology, HWLOC_OBJ_CORE);
	machine->cpus = count_of(topology, HWLOC_OBJ_PU);
	package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
	if (package)
		text_set(machine->cpu_model, sizeof(machine->cpu_model),
			 hwloc_obj_get_info_by_name(package, "CPUModel"));
	hwloc_topology_destroy(topology);
out:
	pm_locks_release(PM_LOCK_TOPOLOGY);
	pm_kernel_quiet_end(&quiet);
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

	if (!bitmap || hwloc_bitmap_weight(bitmap) < 0)
		return 0; /* "all there may be" says nothing */
	for (int cpu = -1; !err && (cpu = hwloc_bitmap_next(bitmap, cpu)) >= 0;)
		err = pm_cpus_add(cpus, (unsigned int)cpu);
	return err;
}

static int level_load(struct pm_topology *to, hwloc_topology_t topology,
		      enum pm_level level)
{
	int depth = hwloc_get_type_depth(topology, types[level]), err = 0;

	/* Groups within groups: the largest. */
	for (int i = 0; depth == HWLOC_TYPE_DEPTH_MULTIPLE; i++)
		if (hwloc_get_depth_type(topology, i) == types[level])
			depth = i;
	if (depth == HWLOC_TYPE_DEPTH_UNKNOWN)
		return 0;
	err = pm_topology_level_new(to, level,
				    hwloc_get_nbobjs_by_depth(topology, depth));
	for (uint32_t i = 0; !err && i < to->levels[level].count; i++) {
		hwloc_obj_t object = hwloc_get_obj_by_depth(topology, depth, i);
		struct pm_group *group = &to->levels[level].groups[i];

		group->os_index = object->os_index;
		err = cpus_of(&group->cpus, object->cpuset);
	}
	return err;
}

int pm_topology_load(struct pm_topology *to)
{
	hwloc_topology_t topology = load(true);
	int err;

	if (!topology)
		return -ENODATA;
	err = cpus_of(&to->online, hwloc_topology_get_topology_cpuset(topology));
	if (!err)
		err = cpus_of(&to->allowed, hwloc_topology_get_allowed_cpuset(topology));
	if (!err)
		err = cpus_of(&to->present, hwloc_topology_get_complete_cpuset(topology));
	for (int level = 0; !err && level < PM_LEVELS; level++)
		err = level_load(to, topology, level);
	hwloc_topology_destroy(topology);
	if (!err && pm_cpus_next(&to->online, 0) < 0)
		err = -ENODATA;
	return err;
}

/* Without hwloc. */
static uint32_t online_cpus(void)
{
	struct pm_cpus cpus = {0};
	uint32_t count = 0;
	char *text;

	if (pm_file_read("/sys/devices/system/cpu/online", &text) < 0)
		return 0;
	if (!pm_cpus_parse_list(&cpus, pm_slice_of(text), NULL))
		count = pm_cpus_count(&cpus);
	pm_cpus_free(&cpus);
	free(text);
	return count;
}

static struct pm_machine remembered;
static bool is_remembered;

void pm_machine_remember(void)
{
	if (is_remembered)
		return;
	pm_machine_describe(&remembered);
	/* Partner: the acquire in pm_machine_describe(). */
	__atomic_store_n(&is_remembered, true, __ATOMIC_RELEASE);
}

void pm_machine_describe(struct pm_machine *machine)
{
	char *text;

	if (__atomic_load_n(&is_remembered, __ATOMIC_ACQUIRE)) {
		*machine = remembered;
		return;
	}
	memset(machine, 0, sizeof(*machine));
	text_set(machine->architecture, sizeof(machine->architecture), PERFMON_ARCH_NAME);
	if (pm_file_read("/proc/sys/kernel/osrelease", &text) >= 0) {
		text_set(machine->kernel, sizeof(machine->kernel), text);
		free(text);
	}
	describe_topology(machine);
	if (!machine->cpus)
		machine->cpus = online_cpus();
	if (pm_file_read("/proc/cpuinfo", &text) < 0)
		return;
	if (!machine->cpu_model[0])
		model_from_cpuinfo(machine, text);
	pm_cpu_kinds_read(&machine->kinds, text);
	pm_cpu_slots_here(&machine->kinds);
	free(text);
}
