/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The levels of a picture of the machine: their names, and the groups of CPUs in each. */
#include <errno.h>
#include <stdlib.h>

#include "core/topology/load.h"

int pm_topology_level_new(struct pm_topology *to, enum pm_level level, uint32_t count)
{
	if (!count)
		return 0;
	to->levels[level].groups = calloc(count, sizeof(struct pm_group));
	if (!to->levels[level].groups)
		return -ENOMEM;
	to->levels[level].count = count;
	return 0;
}

/* The first name of each level is the one that we print. */
static const struct {
	const char *names[4], *noun;
} words[PM_LEVELS] = {
	[PM_LEVEL_PU] = {{"pu"}, "CPU"},
	[PM_LEVEL_CORE] = {{"core"}, "core"},
	[PM_LEVEL_L1] = {{"l1", "l1d"}, "L1 cache"},
	[PM_LEVEL_L2] = {{"l2"}, "L2 cache"},
	[PM_LEVEL_L3] = {{"l3"}, "L3 cache"},
	[PM_LEVEL_L4] = {{"l4"}, "L4 cache"},
	[PM_LEVEL_GROUP] = {{"group", "cluster"}, "group"},
	[PM_LEVEL_NUMA] = {{"numa", "numanode", "node"}, "NUMA node"},
	[PM_LEVEL_DIE] = {{"die"}, "die"},
	[PM_LEVEL_PACKAGE] = {{"package", "socket"}, "package"},
	[PM_LEVEL_MACHINE] = {{"machine"}, "machine"},
};

const char *pm_level_name(enum pm_level level)
{
	return words[level].names[0];
}

const char *pm_level_noun(enum pm_level level)
{
	return words[level].noun;
}

int pm_level_find(struct pm_slice name)
{
	for (int i = 0; i < PM_LEVELS; i++)
		for (int k = 0; words[i].names[k]; k++)
			if (pm_slice_is(name, words[i].names[k]))
				return i;
	return -EINVAL;
}

unsigned int pm_topology_levels(const struct pm_topology *topology,
				enum pm_level levels[PM_LEVELS])
{
	unsigned int count = 0;

	for (int i = 0; i < PM_LEVELS; i++)
		if (topology->levels[i].count)
			levels[count++] = i;
	return count;
}

uint32_t pm_topology_group_of(const struct pm_topology *topology, unsigned int cpu,
			      enum pm_level level)
{
	return cpu < topology->cpu_end ? topology->levels[level].group_of[cpu]
				       : PM_GROUP_NONE;
}

const struct pm_cpus *pm_topology_group_cpus(const struct pm_topology *topology,
					     enum pm_level level, uint32_t group)
{
	static const struct pm_cpus nothing;

	return group < topology->levels[level].count
		       ? &topology->levels[level].groups[group].cpus
		       : &nothing;
}
