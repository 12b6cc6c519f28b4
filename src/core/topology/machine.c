/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Describes the machine of a report from few files. hwloc would read a dozen for each
 * CPU, and load libraries that no report needs. */
#include "core/topology/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "core/kernel/files.h"
#include "core/kernel/kernel.h"

#define CPU_DIR "/sys/devices/system/cpu/"

/* The first bytes of /proc/cpuinfo. The kernel prints no more CPUs than are read. */
#define CPUINFO_HEAD 4096

/* Copies the value of the first line "KEY : value" of TEXT. */
static void cpuinfo_value(const char *text, const char *key, char *value, size_t size)
{
	const char *found = NULL;

	for (const char *line = text; *line && !found; line += !!*line) {
		found = pm_cpuinfo_value(line, key);
		line += strcspn(line, "\n");
	}
	snprintf(value, size, "%.*s", found ? (int)strcspn(found, "\n") : 0, found ?: "");
}

static void read_model(struct pm_machine *machine)
{
	/* The key differs between CPU families. */
	static const char *const keys[] = {"model name", "Model Name", "Processor",
					   "cpu model",	 "uarch",      "cpu"};
	char text[CPUINFO_HEAD], implementer[16], part[16], variant[16], revision[16];

	if (pm_file_text("/proc/cpuinfo", text, sizeof(text)) < 0)
		return;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		cpuinfo_value(text, keys[i], machine->cpu_model,
			      sizeof(machine->cpu_model));
		if (machine->cpu_model[0])
			return;
	}
	/* ARM machines identify their CPUs by numbers. Linux reports no names. */
	cpuinfo_value(text, "CPU implementer", implementer, sizeof(implementer));
	cpuinfo_value(text, "CPU part", part, sizeof(part));
	cpuinfo_value(text, "CPU variant", variant, sizeof(variant));
	cpuinfo_value(text, "CPU revision", revision, sizeof(revision));
	if (implementer[0])
		snprintf(machine->cpu_model, sizeof(machine->cpu_model),
			 "ARM implementer %s part %s r%ldp%s", implementer, part,
			 strtol(variant, NULL, 0), revision);
}

/* Finds the path of this process's control group that has CPUs, below HIERARCHY. */
static bool cgroup_find(const char *text, char *path, size_t size, const char **file)
{
	for (const char *line = text; *line;
	     line += strcspn(line, "\n"), line += !!*line) {
		const char *controllers = strchr(line, ':'), *group;
		bool unified = !strncmp(line, "0::", 3);

		group = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!group || (!unified && strncmp(controllers, ":cpuset:", 8) != 0))
			continue;
		group++;
		snprintf(path, size, "/sys/fs/cgroup%s%.*s", unified ? "" : "/cpuset",
			 (int)strcspn(group, "\n"), group);
		*file = unified ? "cpuset.cpus.effective" : "cpuset.cpus";
		if (!unified)
			return true;
	}
	return *file != NULL;
}

/* Removes the CPUs that the control group of this process forbids. */
static void keep_allowed(struct pm_cpus *cpus)
{
	char path[1024], full[1100], *text, *slash;
	struct pm_cpus allowed = {0};
	const char *file = NULL;

	if (pm_file_read("/proc/self/cgroup", &text) < 0)
		return;
	if (!cgroup_find(text, path, sizeof(path), &file))
		goto out;
	/* A group without a list of its own has the CPUs of its parent. */
	for (;;) {
		snprintf(full, sizeof(full), "%s/%s", path, file);
		if (!pm_cpus_read(&allowed, full)) {
			if (pm_cpus_intersect(cpus, &allowed))
				pm_cpus_and(cpus, &allowed);
			break;
		}
		slash = strrchr(path, '/');
		if (!slash || slash < path + strlen("/sys/fs/cgroup"))
			break;
		*slash = '\0';
	}
out:
	pm_cpus_free(&allowed);
	free(text);
}

/* Returns whether this thread may run on all of CPUS: then no control group forbids
 * one. */
static bool may_run_on_all(const struct pm_cpus *cpus)
{
	struct pm_cpus own = {0};
	/* A test may have replaced this machine by another. */
	bool may = !*pm_file_root && !pm_cpus_own(&own) && pm_cpus_within(cpus, &own);

	pm_cpus_free(&own);
	return may;
}

/* Reads the group of CPU that FILE lists. */
static int read_group(struct pm_cpus *group, int cpu, const char *file)
{
	char path[128];

	snprintf(path, sizeof(path), CPU_DIR "cpu%d/topology/%s", cpu, file);
	return pm_cpus_read(group, path);
}

/* Counts the groups that CPUS are in, by FILE, which lists the CPUs of each. OLD is its
 * name before Linux 5.3. Returns 0 if not known. */
static uint32_t count_groups(const struct pm_cpus *cpus, const char *file,
			     const char *old)
{
	struct pm_cpus left = {0}, group = {0};
	uint32_t count = 0;
	int cpu;

	if (pm_cpus_copy(&left, cpus))
		goto out;
	while ((cpu = pm_cpus_next(&left, 0)) >= 0) {
		pm_cpus_clear(&group);
		if (read_group(&group, cpu, file) && read_group(&group, cpu, old)) {
			count = 0;
			break;
		}
		count++;
		pm_cpus_remove(&left, (unsigned int)cpu);
		pm_cpus_and_not(&left, &group);
	}
out:
	pm_cpus_free(&left);
	pm_cpus_free(&group);
	return count;
}

void pm_machine_describe(struct pm_machine *machine)
{
	struct pm_cpus cpus = {0};
	struct pm_quiet quiet;
	char release[sizeof(machine->kernel)];

	pm_kernel_quiet_begin(&quiet);
	memset(machine, 0, sizeof(*machine));
	snprintf(machine->architecture, sizeof(machine->architecture), "%s",
		 PERFMON_ARCH_NAME);
	if (pm_file_text("/proc/sys/kernel/osrelease", release, sizeof(release)) >= 0)
		snprintf(machine->kernel, sizeof(machine->kernel), "%.*s",
			 (int)strcspn(release, "\n"), release);
	read_model(machine);
	pm_cpu_kinds_here(&machine->kinds);
	if (!pm_cpus_online(&cpus)) {
		if (!may_run_on_all(&cpus))
			keep_allowed(&cpus);
		machine->cpus = pm_cpus_count(&cpus);
		machine->packages =
			count_groups(&cpus, "package_cpus_list", "core_siblings_list");
		machine->cores =
			count_groups(&cpus, "core_cpus_list", "thread_siblings_list");
	}
	pm_cpus_free(&cpus);
	pm_kernel_quiet_end(&quiet);
}
