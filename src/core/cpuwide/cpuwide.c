/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/cpuwide/cpuwide.h"

#include <errno.h>
#include <stdlib.h>

/* --- targets ---------------------------------------------------------------------- */

/* Finds the CPUs on which each event is opened, and their union ALL. */
static int find_targets(struct pm_cpuwide *cpuwide, struct pm_cpus *all,
			struct pm_diag *diag)
{
	int err = 0;

	cpuwide->targets = calloc(cpuwide->list->count + 1, sizeof(cpuwide->targets[0]));
	if (!cpuwide->targets)
		return -ENOMEM;
	for (size_t i = 0; err >= 0 && i < cpuwide->list->count; i++) {
		err = pm_placement_targets(cpuwide->placement, &cpuwide->list->events[i],
					   &cpuwide->targets[i], diag);
		if (err >= 0)
			err = pm_cpus_or(all, &cpuwide->targets[i].open);
	}
	return err < 0 ? err : 0;
}

static bool opens_nowhere(const struct pm_cpuwide *cpuwide, size_t logical)
{
	for (size_t i = 0; i < cpuwide->list->count; i++)
		if (cpuwide->list->events[i].logical == logical &&
		    pm_cpus_next(&cpuwide->targets[i].open, 0) >= 0)
			return false;
	return true;
}

/* Checks that each logical event has a CPU; with PARTIAL, that one of them has. */
static int check_targets(const struct pm_cpuwide *cpuwide, bool partial,
			 struct pm_diag *diag)
{
	const struct pm_event *first = NULL;
	size_t nowhere = 0;
	char list[128];

	for (size_t i = 0; i < cpuwide->list->count; i++) {
		const struct pm_event *event = &cpuwide->list->events[i];

		if ((i && event->logical == event[-1].logical) ||
		    !opens_nowhere(cpuwide, event->logical))
			continue;
		first = first ? first : event;
		nowhere++;
	}
	if (!first || (partial && nowhere < cpuwide->list->logical_count))
		return 0;
	return pm_diag_set(
		diag, -ENODEV,
		"cannot count event '%s' on '%s': PMU '%s' has CPUs %s, the place has %s",
		first->label, pm_slice_quote(pm_slice_of(cpuwide->placement->text)).text,
		first->pmu, first->cpus,
		pm_cpus_print(&cpuwide->placement->cpus, list, sizeof(list)));
}

/* --- open and close --------------------------------------------------------------- */

/* Opens the events of CPU. Returns how many could not be opened, or a negative errno. */
static int open_cpu(const struct pm_cpuwide *cpuwide, struct pm_cpuwide_cpu *cpu,
		    unsigned int flags, struct pm_diag *diag)
{
	const struct pm_event_list *list = cpuwide->list;
	struct pm_diag why = {0};
	uint32_t count = 0;
	int open;

	cpu->events = calloc(list->count, sizeof(cpu->events[0]));
	cpu->readings = calloc(list->count, sizeof(cpu->readings[0]));
	if (!cpu->events || !cpu->readings)
		return -ENOMEM;
	for (size_t i = 0; i < list->count; i++)
		if (pm_cpus_has(&cpuwide->targets[i].open, cpu->cpu))
			cpu->events[count++] = list->events[i];
	open = pm_instance_new(&cpu->instance, cpu->events, count, -1, (int)cpu->cpu,
			       flags, &why);
	/* The first error is reported, not those of later CPUs. */
	if (why.error && diag && !diag->error)
		*diag = why;
	return open < 0 ? open : (int)count - open;
}

int pm_cpuwide_open(struct pm_cpuwide **out, const struct perfmon_placement *placement,
		    const struct pm_event_list *list, unsigned int flags,
		    struct pm_diag *diag)
{
	struct pm_cpuwide *cpuwide = calloc(1, sizeof(*cpuwide));
	struct pm_cpus all = {0};
	int refused = 0, err;

	pm_diag_clear(diag);
	if (!cpuwide)
		return pm_diag_set(diag, -ENOMEM, "no memory for the events of '%s'",
				   placement->text);
	cpuwide->placement = placement;
	cpuwide->list = list;
	err = find_targets(cpuwide, &all, diag);
	if (!err)
		err = check_targets(cpuwide, flags & PM_OPEN_PARTIAL, diag);
	if (!err) {
		cpuwide->cpus = calloc(pm_cpus_count(&all) + 1, sizeof(cpuwide->cpus[0]));
		err = cpuwide->cpus ? 0 : -ENOMEM;
	}
	pm_cpus_each (cpu, &all) {
		struct pm_cpuwide_cpu *next;

		if (err < 0)
			break;
		next = &cpuwide->cpus[cpuwide->cpu_count++];
		next->cpu = cpu;
		err = open_cpu(cpuwide, next, flags, diag);
		refused += err > 0 ? err : 0;
	}
	pm_cpus_free(&all);
	if (err >= 0) {
		*out = cpuwide;
		return refused;
	}
	pm_cpuwide_close(cpuwide);
	if (diag && !diag->error)
		pm_diag_set(diag, err, "no memory for the events of '%s'",
			    placement->text);
	return err;
}

void pm_cpuwide_close(struct pm_cpuwide *cpuwide)
{
	if (!cpuwide)
		return;
	for (uint32_t i = 0; i < cpuwide->cpu_count; i++) {
		pm_instance_free(cpuwide->cpus[i].instance);
		free(cpuwide->cpus[i].readings);
		free(cpuwide->cpus[i].events);
	}
	for (size_t i = 0; cpuwide->targets && i < cpuwide->list->count; i++)
		pm_targets_free(&cpuwide->targets[i]);
	free(cpuwide->targets);
	free(cpuwide->cpus);
	free(cpuwide);
}

/* --- counting --------------------------------------------------------------------- */

static int each_cpu(struct pm_cpuwide *cpuwide, int (*call)(struct pm_instance *instance))
{
	int first = 0;

	for (uint32_t i = 0; i < cpuwide->cpu_count; i++) {
		int err = call(cpuwide->cpus[i].instance);

		first = first ? first : err;
	}
	return first;
}

int pm_cpuwide_start(struct pm_cpuwide *cpuwide)
{
	return each_cpu(cpuwide, pm_instance_enable);
}

int pm_cpuwide_stop(struct pm_cpuwide *cpuwide)
{
	return each_cpu(cpuwide, pm_instance_disable);
}

int pm_cpuwide_read(struct pm_cpuwide *cpuwide)
{
	struct pm_topology *now;
	int first = pm_topology_get(&now, NULL);

	for (uint32_t i = 0; !first && i < cpuwide->cpu_count; i++)
		cpuwide->cpus[i].gone |= !pm_cpus_has(&now->online, cpuwide->cpus[i].cpu);
	if (!first)
		pm_topology_put(now);
	for (uint32_t i = 0; i < cpuwide->cpu_count; i++) {
		struct pm_cpuwide_cpu *cpu = &cpuwide->cpus[i];

		cpu->error = pm_instance_read(cpu->instance, cpu->readings);
		first = first ? first : cpu->error;
	}
	return first;
}

/* --- sums ------------------------------------------------------------------------- */

/*
 * Returns the last reading of event I of the list on CPU, or NULL if the event could not
 * be opened or has never been read. A reading that can no longer be repeated stays in the
 * sums, which would otherwise fall.
 */
static const struct pm_reading *reading_of(const struct pm_cpuwide *cpuwide,
					   const struct pm_cpuwide_cpu *cpu, uint32_t i)
{
	uint32_t k = 0;

	while (cpu->events[k].name != cpuwide->list->events[i].name)
		k++;
	if (cpu->instance->counters[k].fd < 0 ||
	    (cpu->error && !cpu->readings[k].enabled_ns))
		return NULL;
	return &cpu->readings[k];
}

/* Removes from MISSING the CPUs for which a value counted on CPU stands. */
static void found(const struct pm_cpuwide *cpuwide, const struct pm_targets *targets,
		  unsigned int cpu, struct pm_cpus *missing)
{
	const struct pm_topology *topology = cpuwide->placement->topology;

	if (!targets->uncore)
		pm_cpus_remove(missing, cpu);
	else
		pm_cpus_and_not(missing, pm_targets_served(topology, targets, cpu));
}

int pm_cpuwide_sum(const struct pm_cpuwide *cpuwide, uint32_t logical,
		   enum pm_level level, uint32_t group, struct pm_cpuwide_sum *sum)
{
	const struct perfmon_placement *placement = cpuwide->placement;
	struct pm_cpus missing = {0};
	struct pm_cpuwide_sum all = {0};
	bool too_wide = false;

	if (pm_cpus_copy(&missing, &placement->cpus))
		return -ENOMEM;
	pm_cpus_and(&missing, pm_topology_group_cpus(placement->topology, level, group));
	for (uint32_t i = 0; i < cpuwide->list->count; i++) {
		const struct pm_targets *targets = &cpuwide->targets[i];

		if (cpuwide->list->events[i].logical != logical)
			continue;
		for (uint32_t k = 0; k < cpuwide->cpu_count; k++) {
			const struct pm_cpuwide_cpu *cpu = &cpuwide->cpus[k];
			const struct pm_reading *reading;
			uint32_t at;

			if (!pm_cpus_has(&targets->open, cpu->cpu))
				continue;
			at = pm_targets_group(placement, targets, cpu->cpu, level);
			too_wide |= at == PM_GROUP_NONE;
			if (at != group)
				continue;
			reading = reading_of(cpuwide, cpu, i);
			all.refused += !reading || cpu->error;
			if (!reading)
				continue;
			all.reading.value += reading->value;
			all.reading.enabled_ns += reading->enabled_ns;
			all.reading.running_ns += reading->running_ns;
			all.counted++;
			all.gone += cpu->gone;
			found(cpuwide, targets, cpu->cpu, &missing);
		}
	}
	all.missing = pm_cpus_count(&missing);
	pm_cpus_free(&missing);
	*sum = all;
	return all.counted ? 0 : too_wide ? -ERANGE : -ENODATA;
}

int pm_cpuwide_groups(const struct pm_cpuwide *cpuwide, enum pm_level level,
		      struct pm_cpus *groups)
{
	int err = 0;

	pm_cpus_each (cpu, &cpuwide->placement->cpus) {
		uint32_t group =
			pm_topology_group_of(cpuwide->placement->topology, cpu, level);

		if (!err && group != PM_GROUP_NONE)
			err = pm_cpus_add(groups, group);
	}
	return err;
}
