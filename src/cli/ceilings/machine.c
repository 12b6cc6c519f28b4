/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/ceilings/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/files.h"
#include "core/kernel/machine_id.h"

/* An L1 that any CPU has, where the kernel does not know the caches. */
#define ASSUMED_L1 (32u << 10)

void ceilings_order(const struct pm_cpus *set, unsigned int *order)
{
	struct pm_topology *topology = NULL;
	struct pm_cpus later = {0}, cores = {0};
	uint32_t count = 0, core;

	pm_topology_get(&topology, NULL);
	pm_cpus_each (cpu, set) {
		core = topology ? pm_topology_group_of(topology, cpu, PM_LEVEL_CORE)
				: PM_GROUP_NONE;
		/* Without memory a CPU stands in its place. */
		if (core != PM_GROUP_NONE && pm_cpus_has(&cores, core) &&
		    !pm_cpus_add(&later, cpu))
			continue;
		if (core != PM_GROUP_NONE)
			pm_cpus_add(&cores, core);
		order[count++] = cpu;
	}
	pm_cpus_each (cpu, &later)
		order[count++] = cpu;
	pm_cpus_free(&later);
	pm_cpus_free(&cores);
	pm_topology_put(topology);
}

/* Reads the file NAME of cache number INDEX of CPU. Returns false if there is none. */
static bool cache_text(unsigned int cpu, unsigned int index, const char *name,
		       char *buffer, size_t size)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cache/index%u/%s",
		 cpu, index, name);
	return pm_file_text(path, buffer, size) > 0;
}

/* Reads the "32K" or "12M" of a cache. Returns 0 for any other text. */
static uint64_t bytes_of(const char *text)
{
	char *end;
	unsigned long long number = strtoull(text, &end, 10);

	if (number > UINT64_MAX >> 20)
		return 0;
	return *end == 'K'   ? number << 10
	       : *end == 'M' ? number << 20
	       : *end > ' '  ? 0
			     : number;
}

void ceilings_caches(struct cli_ceilings *ceilings, unsigned int cpu,
		     struct pm_cpus shared[CLI_CEILING_MEMORY])
{
	char text[512];

	for (unsigned int index = 0; cache_text(cpu, index, "type", text, sizeof(text));
	     index++) {
		struct pm_cpus with = {0};
		int level;

		if (!strncmp(text, "Instruction", 11) ||
		    !cache_text(cpu, index, "level", text, sizeof(text)))
			continue;
		level = atoi(text) - 1;
		if (level < CLI_CEILING_L1 || level >= CLI_CEILING_MEMORY ||
		    !cache_text(cpu, index, "size", text, sizeof(text)))
			continue;
		ceilings->bytes[level] = bytes_of(text);
		if (cache_text(cpu, index, "shared_cpu_list", text, sizeof(text)))
			pm_cpus_parse_list(&with, pm_slice_of(text), NULL);
		ceilings->sharing[level] = pm_cpus_count(&with);
		if (shared)
			pm_cpus_or(&shared[level], &with);
		pm_cpus_free(&with);
	}
	ceilings->assumed = !ceilings->bytes[CLI_CEILING_L1];
	if (ceilings->assumed)
		ceilings->bytes[CLI_CEILING_L1] = ASSUMED_L1;
}

uint64_t ceilings_memory_free(void)
{
	char text[256];
	const char *line;

	pm_file_text("/proc/meminfo", text, sizeof(text));
	line = strstr(text, "MemAvailable:");
	return line ? strtoull(line + strlen("MemAvailable:"), NULL, 10) << 10 : 0;
}

uint32_t cli_ceilings_threads(void)
{
	struct pm_cpus set = {0};
	uint32_t count = pm_cpus_own(&set) ? 1 : pm_cpus_count(&set);

	pm_cpus_free(&set);
	return count ? count : 1;
}

int cli_ceilings_begin(struct cli_ceilings *ceilings)
{
	struct pm_cpus set = {0};
	struct pm_machine machine;
	int err;

	memset(ceilings, 0, sizeof(*ceilings));
	pm_machine_describe(&machine);
	pm_machine_host(ceilings->host, sizeof(ceilings->host));
	snprintf(ceilings->cpu, sizeof(ceilings->cpu), "%s", machine.cpu_model);
	snprintf(ceilings->architecture, sizeof(ceilings->architecture), "%s",
		 machine.architecture);
	err = pm_cpus_own(&set);
	pm_cpus_print(&set, ceilings->cpus, sizeof(ceilings->cpus));
	if (!err)
		ceilings_caches(ceilings, (unsigned int)pm_cpus_next(&set, 0), NULL);
	pm_cpus_free(&set);
	return err;
}

void cli_ceilings_free(struct cli_ceilings *ceilings)
{
	free(ceilings->at);
	ceilings->at = NULL;
	ceilings->count = 0;
}
