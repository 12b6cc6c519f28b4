/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/spread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- who opens what ------------------------------------------------------------------
 */

/* Finds where each event is opened; ALL gets these CPUs together. */
static int find_targets(struct pm_spread *spread, struct pm_cpus *all,
			struct pm_diag *diag)
{
	int err = 0;

	spread->targets = calloc(spread->list->count + 1, sizeof(spread->targets[0]));
	if (!spread->targets)
		return -ENOMEM;
	for (size_t i = 0; err >= 0 && i < spread->list->count; i++) {
		err = pm_placement_targets(spread->placement, &spread->list->events[i],
					   &spread->targets[i], diag);
		if (err >= 0)
			err = pm_cpus_or(all, &spread->targets[i].open);
	}
	return err < 0 ? err : 0;
}

static bool opens_nowhere(const struct pm_spread *spread, size_t logical)
{
	for (size_t i = 0; i < spread->list->count; i++)
		if (spread->list->events[i].logical == logical &&
		    pm_cpus_next(&spread->targets[i].open, 0) >= 0)
			return false;
	return true;
}

/* Each logical event must be opened somewhere; with PARTIAL one of them. */
static int check_targets(const struct pm_spread *spread, bool partial,
			 struct pm_diag *diag)
{
	const struct pm_event *first = NULL;
	size_t nowhere = 0;
	char list[128];

	for (size_t i = 0; i < spread->list->count; i++) {
		const struct pm_event *event = &spread->list->events[i];

		if ((i && event->logical == event[-1].logical) ||
		    !opens_nowhere(spread, event->logical))
			continue;
		first = first ? first : event;
		nowhere++;
	}
	if (!first || (partial && nowhere < spread->list->logical_count))
		return 0;
	return pm_diag_set(diag, -ENODEV,
			   "event '%s' cannot be counted on '%s': its PMU '%s' has CPUs "
			   "%s, the place has %s",
			   first->label,
			   pm_slice_quote(pm_slice_of(spread->placement->text)).text,
			   first->pmu, first->cpus,
			   pm_cpus_print(&spread->placement->cpus, list, sizeof(list)));
}

static bool is_plan_of(const struct pm_spread *spread, const struct pm_spread_plan *plan,
		       unsigned int cpu)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < spread->list->count; i++) {
		bool has = k < plan->count && plan->original[k] == i;

		if (has != pm_cpus_has(&spread->targets[i].open, cpu))
			return false;
		k += has;
	}
	return true;
}

/* The plan with the events of CPU, which may be that of an earlier CPU. */
static int plan_for(struct pm_spread *spread, unsigned int cpu, uint32_t *index)
{
	const struct pm_event_list *list = spread->list;
	struct pm_spread_plan *plan, *larger;

	for (*index = 0; *index < spread->plan_count; ++*index)
		if (is_plan_of(spread, &spread->plans[*index], cpu))
			return 0;
	larger = realloc(spread->plans, (spread->plan_count + 1) * sizeof(larger[0]));
	if (!larger)
		return -ENOMEM;
	spread->plans = larger;
	plan = &larger[spread->plan_count++];
	plan->count = 0;
	plan->events = calloc(list->count, sizeof(plan->events[0]));
	plan->original = calloc(list->count, sizeof(plan->original[0]));
	if (!plan->events || !plan->original)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		if (!pm_cpus_has(&spread->targets[i].open, cpu))
			continue;
		plan->events[plan->count] = list->events[i];
		plan->original[plan->count++] = i;
	}
	return 0;
}

/* --- open and close ------------------------------------------------------------------
 */

/* The number of refused events of CPU, or a negative errno. */
static int open_cpu(struct pm_spread *spread, struct pm_spread_cpu *cpu,
		    unsigned int flags, struct pm_diag *diag)
{
	const struct pm_spread_plan *plan = &spread->plans[cpu->plan];
	struct pm_instance *instance = calloc(1, pm_instance_size(plan->count));
	struct pm_diag refusal = {0};
	int open;

	cpu->readings = calloc(plan->count, sizeof(cpu->readings[0]));
	if (!instance || !cpu->readings) {
		free(instance);
		return -ENOMEM;
	}
	open = pm_instance_open(instance, plan->events, plan->count, -1, (int)cpu->cpu,
				flags, &refusal);
	/* The first refusal is told, and later CPUs' don't hide it. */
	if (refusal.error && diag && !diag->error)
		*diag = refusal;
	if (open < 0) {
		free(instance);
		return open;
	}
	cpu->instance = instance;
	return (int)instance->count - (int)instance->open;
}

int pm_spread_open(struct pm_spread **out, const struct pm_placement *placement,
		   const struct pm_event_list *list, unsigned int flags,
		   struct pm_diag *diag)
{
	struct pm_spread *spread = calloc(1, sizeof(*spread));
	struct pm_cpus all = {0};
	int refused = 0, err;

	if (diag)
		pm_diag_clear(diag);
	if (!spread)
		return pm_diag_set(diag, -ENOMEM, "no memory for the events of '%s'",
				   placement->text);
	spread->placement = placement;
	spread->list = list;
	flags &= PM_OPEN_PARTIAL | PM_OPEN_SPLIT;
	err = find_targets(spread, &all, diag);
	if (!err)
		err = check_targets(spread, flags & PM_OPEN_PARTIAL, diag);
	if (!err) {
		spread->cpus = calloc(pm_cpus_count(&all) + 1, sizeof(spread->cpus[0]));
		err = spread->cpus ? 0 : -ENOMEM;
	}
	pm_cpus_each (cpu, &all) {
		struct pm_spread_cpu *next;

		if (err < 0)
			break;
		next = &spread->cpus[spread->cpu_count++];
		next->cpu = (unsigned int)cpu;
		err = plan_for(spread, next->cpu, &next->plan);
		if (!err)
			err = open_cpu(spread, next, flags, diag);
		refused += err > 0 ? err : 0;
	}
	pm_cpus_free(&all);
	if (err >= 0) {
		*out = spread;
		return refused;
	}
	pm_spread_close(spread);
	if (diag && !diag->error)
		pm_diag_set(diag, err, "no memory for the events of '%s'",
			    placement->text);
	return err;
}

void pm_spread_close(struct pm_spread *spread)
{
	if (!spread)
		return;
	for (uint32_t i = 0; i < spread->cpu_count; i++) {
		if (spread->cpus[i].instance)
			pm_instance_close(spread->cpus[i].instance);
		free(spread->cpus[i].instance);
		free(spread->cpus[i].readings);
	}
	for (uint32_t i = 0; i < spread->plan_count; i++) {
		free(spread->plans[i].events);
		free(spread->plans[i].original);
	}
	for (size_t i = 0; spread->targets && i < spread->list->count; i++)
		pm_targets_free(&spread->targets[i]);
	free(spread->targets);
	free(spread->plans);
	free(spread->cpus);
	free(spread);
}

/* --- counting ------------------------------------------------------------------------
 */

static int each_cpu(struct pm_spread *spread, int (*call)(struct pm_instance *instance))
{
	int first = 0;

	for (uint32_t i = 0; i < spread->cpu_count; i++) {
		int err = call(spread->cpus[i].instance);

		first = first ? first : err;
	}
	return first;
}

int pm_spread_start(struct pm_spread *spread)
{
	return each_cpu(spread, pm_instance_enable);
}

int pm_spread_stop(struct pm_spread *spread)
{
	return each_cpu(spread, pm_instance_disable);
}

int pm_spread_read(struct pm_spread *spread)
{
	struct pm_topology *now;
	int first = pm_topology_get(&now, NULL);

	for (uint32_t i = 0; !first && i < spread->cpu_count; i++)
		spread->cpus[i].gone |= !pm_cpus_has(&now->online, spread->cpus[i].cpu);
	if (!first)
		pm_topology_put(now);
	for (uint32_t i = 0; i < spread->cpu_count; i++) {
		struct pm_spread_cpu *cpu = &spread->cpus[i];

		cpu->error = pm_instance_read(cpu->instance, cpu->readings);
		first = first ? first : cpu->error;
	}
	return first;
}

/* --- adding up -----------------------------------------------------------------------
 */

/* What event I of the plan counted on CPU, as it was last read: what cannot be read any
 * more stays in the sums, which would fall otherwise. NULL: it was refused, or has never
 * been read. */
static const struct pm_reading *reading_of(const struct pm_spread *spread,
					   const struct pm_spread_cpu *cpu, uint32_t i)
{
	const struct pm_spread_plan *plan = &spread->plans[cpu->plan];
	uint32_t k = 0;

	while (plan->original[k] != i)
		k++;
	if (cpu->instance->counters[k].fd < 0 ||
	    (cpu->error && !cpu->readings[k].enabled_ns))
		return NULL;
	return &cpu->readings[k];
}

/* Takes the CPUs that a value counted on CPU stands for out of MISSING. */
static void found(const struct pm_spread *spread, const struct pm_targets *targets,
		  unsigned int cpu, struct pm_cpus *missing)
{
	const struct pm_topology *topology = spread->placement->topology;

	if (!targets->uncore)
		pm_cpus_remove(missing, cpu);
	else
		pm_cpus_and_not(missing, pm_targets_served(topology, targets, cpu));
}

int pm_spread_sum(const struct pm_spread *spread, uint32_t logical, enum pm_level level,
		  uint32_t group, struct pm_spread_sum *sum)
{
	const struct pm_placement *placement = spread->placement;
	struct pm_cpus missing = {0};
	struct pm_spread_sum all = {0};
	bool too_wide = false;

	if (pm_cpus_copy(&missing, &placement->cpus))
		return -ENOMEM;
	pm_cpus_and(&missing, pm_topology_group_cpus(placement->topology, level, group));
	for (uint32_t i = 0; i < spread->list->count; i++) {
		const struct pm_targets *targets = &spread->targets[i];

		if (spread->list->events[i].logical != logical)
			continue;
		for (uint32_t k = 0; k < spread->cpu_count; k++) {
			const struct pm_spread_cpu *cpu = &spread->cpus[k];
			const struct pm_reading *reading;
			uint32_t at;

			if (!pm_cpus_has(&targets->open, cpu->cpu))
				continue;
			at = pm_targets_group(placement, targets, cpu->cpu, level);
			too_wide |= at == PM_GROUP_NONE;
			if (at != group)
				continue;
			reading = reading_of(spread, cpu, i);
			all.refused += !reading || cpu->error;
			if (!reading)
				continue;
			all.reading.value += reading->value;
			all.reading.enabled_ns += reading->enabled_ns;
			all.reading.running_ns += reading->running_ns;
			all.counted++;
			all.gone += cpu->gone;
			found(spread, targets, cpu->cpu, &missing);
		}
	}
	all.missing = pm_cpus_count(&missing);
	pm_cpus_free(&missing);
	*sum = all;
	return all.counted ? 0 : too_wide ? -ERANGE : -ENODATA;
}

int pm_spread_groups(const struct pm_spread *spread, enum pm_level level,
		     struct pm_cpus *groups)
{
	int err = 0;

	pm_cpus_each (cpu, &spread->placement->cpus) {
		uint32_t group = pm_topology_group_of(spread->placement->topology,
						      (unsigned int)cpu, level);

		if (!err && group != PM_GROUP_NONE)
			err = pm_cpus_add(groups, group);
	}
	return err;
}
