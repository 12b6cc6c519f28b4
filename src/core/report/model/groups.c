/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/report/model/groups.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/machine_id.h"
#include "core/text/grow.h"

/* The CPUs of RECORD that are online, in SET. 0 or -ENOMEM. */
static int cpus_of(const struct perfmon_profile_thread *record, struct pm_cpus *set)
{
	int err = 0;

	pm_cpus_clear(set);
	for (unsigned int cpu = 0; cpu < PERFMON_PROFILE_CPUS_MAX && !err; cpu++) {
		if (record->cpus[cpu / 64] >> cpu % 64 & 1)
			err = pm_cpus_add(set, cpu);
	}
	return err;
}

char *pm_report_cpus(const struct perfmon_profile_thread *record, char *buffer,
		     size_t size)
{
	struct pm_cpus set = {0};

	buffer[0] = '\0';
	if (!cpus_of(record, &set) && pm_cpus_count(&set))
		pm_cpus_print(&set, buffer, size);
	pm_cpus_free(&set);
	return buffer;
}

/* The object of LEVEL that holds all of SET, that many if none does, one more if SET is
 * empty. */
static uint32_t place_of(const struct pm_topology *topology, enum pm_level level,
			 const struct pm_cpus *set)
{
	uint32_t objects = topology->levels[level].count, group;
	int cpu = pm_cpus_next(set, 0);

	if (cpu < 0)
		return objects + 1;
	group = pm_topology_group_of(topology, (unsigned int)cpu, level);
	if (group == PM_GROUP_NONE ||
	    !pm_cpus_within(set, pm_topology_group_cpus(topology, level, group)))
		return objects;
	return group;
}

static int put(struct pm_report_group *group, uint32_t t,
	       const struct pm_snapshot_thread *thread)
{
	if (!PM_GROW(group->threads, group->count))
		return -ENOMEM;
	group->threads[group->count++] = t;
	group->weight += pm_snapshot_threads(thread);
	return 0;
}

static void name_group(struct pm_report_group *group, const struct pm_topology *topology,
		       enum pm_level level, uint32_t place)
{
	if (place < topology->levels[level].count) {
		snprintf(group->name, sizeof(group->name), "%s:%u", pm_level_name(level),
			 place);
		pm_cpus_print(pm_topology_group_cpus(topology, level, place), group->cpus,
			      sizeof(group->cpus));
	} else {
		strcpy(group->name,
		       place == topology->levels[level].count ? "several" : "unknown");
	}
}

/* Puts SNAPSHOT's threads into groups, of which those without any go. */
static int sort(struct pm_report_groups *groups, const struct pm_snapshot *snapshot,
		const struct pm_topology *topology)
{
	uint32_t most = topology->levels[groups->level].count + 2, kept = 0;
	struct pm_cpus set = {0};
	int err = 0;

	groups->groups = calloc(most, sizeof(groups->groups[0]));
	if (!groups->groups)
		return -ENOMEM;
	groups->count = most;
	for (uint32_t t = 0; t < snapshot->thread_count && !err; t++) {
		uint32_t place;

		err = cpus_of(&snapshot->threads[t].record, &set);
		if (err)
			break;
		pm_cpus_and(&set, &topology->online);
		place = place_of(topology, groups->level, &set);
		err = put(&groups->groups[place], t, &snapshot->threads[t]);
	}
	pm_cpus_free(&set);
	if (err)
		return err;
	for (uint32_t g = 0; g < most; g++) {
		if (!groups->groups[g].count)
			continue;
		groups->groups[kept] = groups->groups[g];
		name_group(&groups->groups[kept++], topology, groups->level, g);
	}
	groups->count = kept;
	return 0;
}

/* Returns true if the profile was written on this machine, since it was started. */
static bool is_of_here(const struct pm_snapshot *snapshot)
{
	char boot_id[sizeof(snapshot->header.boot_id)] = "";

	pm_machine_boot_id(boot_id, sizeof(boot_id));
	return boot_id[0] && !strcmp(boot_id, snapshot->header.boot_id);
}

int pm_report_groups_make(struct pm_report_groups *groups,
			  const struct pm_snapshot *snapshot, const char *level,
			  struct pm_diag *diag)
{
	int found = pm_level_find(pm_slice_of(level));
	struct pm_report_groups made = {.level = (enum pm_level)found};
	struct pm_topology *topology;
	int err;

	if (found < 0)
		return pm_diag_set(diag, -EINVAL,
				   "'%s' is not a level of the machine: expects one "
				   "of " PM_LEVEL_NAMES,
				   level);
	if (!is_of_here(snapshot))
		return pm_diag_set(diag, -ENOENT,
				   "the profile is of another machine, or from before a "
				   "reboot: the levels are unknown here");
	err = pm_topology_get(&topology, diag);
	if (err)
		return err;
	if (!topology->levels[found].count)
		err = pm_diag_set(diag, -ENOENT, "this machine has no level '%s'%s%s%s",
				  level, topology->plain ? " visible without hwloc" : "",
				  topology->why_plain ? ": " : "",
				  topology->why_plain ? topology->why_plain : "");
	else if (sort(&made, snapshot, topology))
		err = pm_diag_set(diag, -ENOMEM, "out of memory");
	pm_topology_put(topology);
	if (err)
		pm_report_groups_free(&made);
	else
		*groups = made;
	return err;
}

void pm_report_groups_free(struct pm_report_groups *groups)
{
	for (uint32_t g = 0; g < groups->count; g++)
		free(groups->groups[g].threads);
	free(groups->groups);
	*groups = (struct pm_report_groups){0};
}
