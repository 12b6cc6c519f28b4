/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A recorded machine with its CPUs, from tests/data/NAME.tree (see tree.h). Its lines
 *
 *   topology LEVEL ID[/WIDTH] LIST
 *
 * describe the CPUs. LEVEL is package, die, cluster, core, l1, l2, l3 or numa. The object
 * with number ID has the CPUs of LIST; with WIDTH the list is divided into objects of
 * that many CPUs, with numbers from ID on. The matching files of sysfs are written into
 * the tree, and hwloc reads them there. machine_online() and machine_allow() change which
 * CPUs are online, and which the cgroup allows.
 */
#ifndef PM_TESTS_MACHINE_H
#define PM_TESTS_MACHINE_H

#include "core/topology/topology.h"
#include "tree.h"
#include "core/text/text.h"

#define MACHINE_OBJECTS 512

struct machine_object {
	char level[12];
	unsigned int id;
	struct pm_cpus cpus;
};

static struct machine_object machine_objects[MACHINE_OBJECTS];
static unsigned int machine_object_count;
static struct pm_cpus machine_present;

static inline struct pm_cpus machine_list(const char *list)
{
	struct pm_cpus cpus = {0};

	cr_assert_eq(pm_cpus_parse_list(&cpus, pm_slice_of(list), NULL), 0, "%s", list);
	return cpus;
}

/* Returns "00000000,0000ffff", for example. */
static inline const char *machine_mask(const struct pm_cpus *cpus)
{
	static char text[256];
	size_t used = 0;

	for (unsigned int word = 4; word--;) {
		unsigned int bits = 0;

		for (unsigned int bit = 0; bit < 32; bit++)
			bits |= (unsigned int)pm_cpus_has(cpus, word * 32 + bit) << bit;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%08x",
					 used ? "," : "", bits);
	}
	return text;
}

static inline void machine_object(const char *line)
{
	unsigned int id, width = 0;
	char level[12], list[64];
	struct pm_cpus all;
	int n = 0;

	if (sscanf(line, "topology %11s %u/%u %63s", level, &id, &width, list) != 4)
		cr_assert_eq(sscanf(line, "topology %11s %u %63s", level, &id, list), 3,
			     "%s", line);
	all = machine_list(list);
	pm_cpus_each (cpu, &all) {
		if (!n++ || (width && !((unsigned int)(n - 1) % width))) {
			cr_assert_lt(machine_object_count, MACHINE_OBJECTS);
			snprintf(machine_objects[machine_object_count].level,
				 sizeof(level), "%s", level);
			machine_objects[machine_object_count++].id = id++;
		}
		pm_cpus_add(&machine_objects[machine_object_count - 1].cpus, cpu);
	}
	pm_cpus_or(&machine_present, &all);
	pm_cpus_free(&all);
}

static inline void machine_write(int cpu, const char *file, const char *content)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/%s", cpu, file);
	tree_write(path, content);
}

/* Writes sysfs's files about CPU's part in OBJECT, of whose CPUs ONLINE are online. */
static inline void machine_describe(int cpu, const struct machine_object *object,
				    const struct pm_cpus *online)
{
	static const struct {
		const char *level, *id, *cpus;
	} files[] = {
		{"package", "physical_package_id", "core_siblings"},
		{"die", "die_id", "die_cpus"},
		{"cluster", "cluster_id", "cluster_cpus"},
		{"core", "core_id", "thread_siblings"},
	};
	char path[128], text[32], list[512];
	struct pm_cpus cpus = {0};

	pm_cpus_copy(&cpus, &object->cpus);
	pm_cpus_and(&cpus, online);
	snprintf(text, sizeof(text), "%u", object->id);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (strcmp(object->level, files[i].level))
			continue;
		snprintf(path, sizeof(path), "topology/%s", files[i].id);
		machine_write(cpu, path, text);
		snprintf(path, sizeof(path), "topology/%s", files[i].cpus);
		machine_write(cpu, path, machine_mask(&cpus));
		snprintf(path, sizeof(path), "topology/%s_list", files[i].cpus);
		machine_write(cpu, path, pm_cpus_print(&cpus, list, sizeof(list)));
	}
	if (object->level[0] == 'l') {
		int level = object->level[1] - '0';
		struct {
			const char *file, *content;
		} cache[] = {
			{"level", object->level + 1},
			{"type", level == 1 ? "Data" : "Unified"},
			{"size", "1024K"},
			{"shared_cpu_map", machine_mask(&cpus)},
		};

		for (size_t i = 0; i < sizeof(cache) / sizeof(cache[0]); i++) {
			snprintf(path, sizeof(path), "cache/index%d/%s", level - 1,
				 cache[i].file);
			machine_write(cpu, path, cache[i].content);
		}
	}
	if (!strcmp(object->level, "numa")) {
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/cpumap",
			 object->id);
		tree_write(path, machine_mask(&cpus));
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/meminfo",
			 object->id);
		tree_write(path, "Node 0 MemTotal: 1048576 kB");
		tree_write("/sys/devices/system/node/online", object->id ? "0-1" : "0");
	}
	pm_cpus_free(&cpus);
}

/* Sets the CPUs of LIST online, and all others offline. */
static inline void machine_online(const char *list)
{
	struct pm_cpus online = machine_list(list);
	char path[256], present[128];

	tree_write("/sys/devices/system/cpu/online", list);
	pm_cpus_print(&machine_present, present, sizeof(present));
	tree_write("/sys/devices/system/cpu/present", present);
	tree_write("/sys/devices/system/cpu/possible", present);
	pm_cpus_each (cpu, &machine_present) {
		snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%d/topology",
			 tree_root, cpu);
		nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
		strcpy(strrchr(path, '/') + 1, "cache");
		nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
		machine_write(cpu, "online", pm_cpus_has(&online, cpu) ? "1" : "0");
		if (!pm_cpus_has(&online, cpu))
			continue;
		for (unsigned int i = 0; i < machine_object_count; i++)
			if (pm_cpus_has(&machine_objects[i].cpus, cpu))
				machine_describe(cpu, &machine_objects[i], &online);
	}
	pm_cpus_free(&online);
}

/* Makes the cgroup of this process have the CPUs of LIST. */
static inline void machine_allow(const char *list)
{
	tree_write("/proc/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0");
	tree_write("/proc/self/cgroup", "0::/job");
	tree_write("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu memory");
	tree_write("/sys/fs/cgroup/job/cpuset.cpus.effective", list);
	tree_write("/sys/fs/cgroup/job/cpuset.mems.effective", "0-1");
}

static inline void machine_unpack(const char *name)
{
	char path[512], line[1024];
	FILE *file;

	tree_unpack(name);
	tree_path(name, path, sizeof(path));
	file = fopen(path, "r");
	cr_assert_not_null(file, "%s", path);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, "topology ", 9))
			machine_object(line);
	fclose(file);
	setenv("HWLOC_FSROOT", tree_root, 1);
	pm_cpus_print(&machine_present, line, sizeof(line));
	machine_online(line);
}

static inline void machine_remove(void)
{
	for (unsigned int i = 0; i < machine_object_count; i++)
		pm_cpus_free(&machine_objects[i].cpus);
	machine_object_count = 0;
	pm_cpus_free(&machine_present);
	unsetenv("HWLOC_FSROOT");
	tree_remove();
}

#endif
