/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the CPUs on which a placement opens events, and the group of each value. */
#include "core/topology/placement.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/kernel/files.h"
#include "core/kernel/kernel.h"

void pm_targets_free(struct pm_targets *targets)
{
	pm_cpus_free(&targets->open);
	pm_cpus_free(&targets->forbidden);
	pm_cpus_free(&targets->span);
	memset(targets, 0, sizeof(*targets));
}

/*
 * Returns the unit of AGENTS, the cpumask of an uncore PMU. sysfs does not report it.
 * Each unit has one agent, so it is the largest level of which no group has two. If each
 * agent is alone in its package, the unit is not below a package.
 */
static enum pm_level unit_of(const struct pm_topology *topology,
			     const struct pm_cpus *agents)
{
	static const enum pm_level order[] = {
		PM_LEVEL_PACKAGE, PM_LEVEL_DIE, PM_LEVEL_NUMA, PM_LEVEL_GROUP,
		PM_LEVEL_L3,	  PM_LEVEL_L2,	PM_LEVEL_CORE};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		bool alone = topology->levels[order[i]].count > 0;

		for (uint32_t k = 0; alone && k < topology->levels[order[i]].count; k++) {
			const struct pm_cpus *group =
				pm_topology_group_cpus(topology, order[i], k);
			int found = 0;

			pm_cpus_each (agent, agents)
				found += pm_cpus_has(group, agent);
			alone = found < 2;
		}
		if (alone)
			return order[i];
	}
	return pm_cpus_count(agents) == 1 ? PM_LEVEL_MACHINE : PM_LEVEL_PU;
}

const struct pm_cpus *pm_targets_served(const struct pm_topology *topology,
					const struct pm_targets *targets,
					unsigned int cpu)
{
	if (pm_cpus_next(&targets->span, 0) >= 0)
		return &targets->span;
	return pm_topology_group_cpus(topology, targets->unit,
				      pm_topology_group_of(topology, cpu, targets->unit));
}

/* Reads the list of cores that some PMUs beside a cluster of cores have. */
static int associated(const struct pm_event *event, struct pm_cpus *span)
{
	char path[512];
	int err;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/associated_cpus",
		 event->pmu);
	err = pm_cpus_read(span, path);
	return err == -EINVAL || err == -ERANGE || err == -ENOMEM ? err : 0;
}

/* Keeps the AGENTS that serve a CPU of the placement. Other CPUs have no agent. */
static int uncore_targets(const struct perfmon_placement *placement,
			  const struct pm_event *event, const struct pm_cpus *agents,
			  struct pm_targets *targets)
{
	int err = associated(event, &targets->span);

	targets->uncore = true;
	targets->unit = unit_of(placement->topology, agents);
	pm_cpus_each (agent, agents) {
		const struct pm_cpus *served =
			pm_targets_served(placement->topology, targets, agent);

		if (err || !pm_cpus_has(&placement->topology->online, agent))
			continue;
		if (!pm_cpus_intersect(served, &placement->cpus))
			continue;
		err = pm_cpus_add(&targets->open, agent);
		pm_cpus_and_not(&targets->forbidden, served);
	}
	return err;
}

int pm_placement_targets(const struct perfmon_placement *placement,
			 const struct pm_event *event, struct pm_targets *targets,
			 struct pm_diag *diag)
{
	struct pm_cpus of_pmu = {0};
	int err;

	pm_targets_free(targets);
	err = pm_cpus_parse_list(&of_pmu, pm_slice_of(event->cpus), NULL);
	if (!err)
		err = pm_cpus_copy(&targets->forbidden, &placement->cpus);
	if (!err && event->uncore) {
		err = uncore_targets(placement, event, &of_pmu, targets);
	} else if (!err) {
		err = pm_cpus_copy(&targets->open, &placement->cpus);
		if (*event->cpus)
			pm_cpus_and(&targets->open, &of_pmu);
		pm_cpus_and_not(&targets->forbidden, &targets->open);
	}
	pm_cpus_free(&of_pmu);
	if (!err)
		return (int)pm_cpus_count(&targets->open);
	pm_targets_free(targets);
	if (err == -ENOMEM)
		return pm_diag_set(diag, err, "no memory for the CPUs of event '%s'",
				   event->name);
	return pm_diag_set(diag, -EINVAL,
			   "event '%s': sysfs gives '%s' as the CPUs of PMU '%s', or an "
			   "invalid associated_cpus: not a list of CPUs",
			   event->name, pm_slice_quote(pm_slice_of(event->cpus)).text,
			   event->pmu);
}

uint32_t pm_targets_group(const struct perfmon_placement *placement,
			  const struct pm_targets *targets, unsigned int cpu,
			  enum pm_level level)
{
	const struct pm_topology *topology = placement->topology;
	uint32_t group = pm_topology_group_of(topology, cpu, level);
	const struct pm_cpus *unit;

	if (!targets->uncore || group == PM_GROUP_NONE)
		return group;
	/* A whole package may share a cache. The misses of the cache are still not those
	 * of the package's memory controllers. */
	if (level < PM_LEVEL_NUMA && level < targets->unit)
		return PM_GROUP_NONE;
	unit = pm_targets_served(topology, targets, cpu);
	return pm_cpus_within(unit, pm_topology_group_cpus(topology, level, group))
		       ? group
		       : PM_GROUP_NONE;
}

int pm_placement_near(const struct pm_topology *topology, const struct pm_cpus *cpus,
		      struct pm_cpus *out)
{
	enum pm_level level =
		topology->levels[PM_LEVEL_NUMA].count ? PM_LEVEL_NUMA : PM_LEVEL_PACKAGE;
	struct pm_cpus near = {0};
	uint32_t last = PM_GROUP_NONE;
	int err = 0;

	pm_cpus_each (cpu, cpus) {
		uint32_t group = pm_topology_group_of(topology, cpu, level);

		if (!err && group != last)
			err = pm_cpus_or(&near,
					 pm_topology_group_cpus(topology, level, group));
		last = group;
	}
	pm_cpus_and(&near, &topology->allowed);
	if (!err)
		err = pm_cpus_copy(out, pm_cpus_next(&near, 0) >= 0 ? &near
								    : &topology->allowed);
	pm_cpus_free(&near);
	return err;
}

int pm_placement_bind_helper(const struct pm_cpus *cpus)
{
	return pm_kernel_bind_helper(cpus->bits, cpus->words * sizeof(*cpus->bits));
}
