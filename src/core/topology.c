/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/topology.h"

#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "core/kernel.h"

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
static void model_from_cpuinfo(struct pm_machine *machine)
{
	char implementer[16], part[16], variant[16], revision[16];
	char *text;

	if (pm_kernel_file_read("/proc/cpuinfo", &text) < 0)
		return;
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
	free(text);
}

static uint32_t count_of(hwloc_topology_t topology, hwloc_obj_type_t type)
{
	int n = hwloc_get_nbobjs_by_type(topology, type);

	return n > 0 ? (uint32_t)n : 0;
}

static void describe_topology(struct pm_machine *machine)
{
	hwloc_topology_t topology;
	hwloc_obj_t package;

	if (hwloc_topology_init(&topology))
		return;
#if HWLOC_API_VERSION >= 0x00020100
	hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
				      "x86");
#endif
#if HWLOC_API_VERSION >= 0x00020500
	hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING);
#endif
	hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
	hwloc_topology_set_type_filter(topology, HWLOC_OBJ_PACKAGE,
				       HWLOC_TYPE_FILTER_KEEP_ALL);
	hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE,
				       HWLOC_TYPE_FILTER_KEEP_ALL);
	if (!hwloc_topology_load(topology)) {
		machine->packages = count_of(topology, HWLOC_OBJ_PACKAGE);
		machine->cores = count_of(topology, HWLOC_OBJ_CORE);
		machine->cpus = count_of(topology, HWLOC_OBJ_PU);
		package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
		if (package)
			text_set(machine->cpu_model, sizeof(machine->cpu_model),
				 hwloc_obj_get_info_by_name(package, "CPUModel"));
	}
	hwloc_topology_destroy(topology);
}

void pm_machine_describe(struct pm_machine *machine)
{
	char *text;

	memset(machine, 0, sizeof(*machine));
	text_set(machine->architecture, sizeof(machine->architecture), PERFMON_ARCH_NAME);
	if (pm_kernel_file_read("/proc/sys/kernel/osrelease", &text) >= 0) {
		text_set(machine->kernel, sizeof(machine->kernel), text);
		free(text);
	}
	describe_topology(machine);
	if (!machine->cpu_model[0])
		model_from_cpuinfo(machine);
}
