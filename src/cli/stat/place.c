/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CPUs of perfmon stat -C: events on each of them, and the sums of their counts. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stat/place.h"

/* The group of counts that a level cannot divide, such as a package's by cores. */
#define WHOLE PM_GROUP_NONE

int stat_place_open(struct stat_place *place, const char *text, const char *level,
		    struct pm_diag *diag)
{
	int found = level ? pm_level_find(pm_slice_of(level)) : PM_LEVEL_MACHINE;

	*place = (struct stat_place){.grouped = level != NULL,
				     .level = (enum pm_level)found};
	if (found < 0)
		return pm_diag_set(diag, found,
				   "'%s' is not a level of the machine: expects one "
				   "of " PM_LEVEL_NAMES,
				   level);
	return pm_placement_parse(text, &place->placement, diag);
}

void stat_place_close(struct stat_place *place)
{
	pm_cpuwide_close(place->cpuwide);
	free(place->groups);
	free(place->before);
	pm_placement_free(place->placement);
	*place = (struct stat_place){.cpuwide = NULL};
}

/* --- groups ------------------------------------------------------------------------- */

/* Lists the groups of the level that have CPUs of the placement. The last is the whole,
 * for counts that the level cannot divide. */
int stat_place_plan(struct stat_place *place, const struct pm_event_list *list,
		    struct pm_diag *diag)
{
	const struct pm_cpuwide like = {.placement = place->placement};
	struct pm_cpus numbers = {0};
	uint32_t count;

	if (pm_cpuwide_groups(&like, place->level, &numbers))
		return pm_diag_set(diag, -ENOMEM, "out of memory");
	count = pm_cpus_count(&numbers);
	if (!count)
		return pm_diag_set(diag, -ENOENT, "this machine has no level '%s'",
				   pm_level_name(place->level));
	place->groups = calloc(count + 1, sizeof(place->groups[0]));
	place->before =
		calloc((count + 1) * list->logical_count + 1, sizeof(place->before[0]));
	if (place->groups && place->before) {
		pm_cpus_each (number, &numbers)
			place->groups[place->group_count++] = (uint32_t)number;
		if (place->grouped)
			place->groups[place->group_count++] = WHOLE;
	}
	pm_cpus_free(&numbers);
	return place->group_count ? 0 : pm_diag_set(diag, -ENOMEM, "out of memory");
}

void stat_place_group_name(const struct stat_place *place, uint32_t group,
			   char name[STAT_GROUP_NAME])
{
	if (!place->grouped)
		name[0] = '\0';
	else if (place->groups[group] == WHOLE)
		snprintf(name, STAT_GROUP_NAME, "all");
	else
		snprintf(name, STAT_GROUP_NAME, "%s:%u", pm_level_name(place->level),
			 place->groups[group]);
}

/* --- events ------------------------------------------------------------------------- */

int stat_place_start(struct stat_place *place, const struct pm_event_list *list,
		     bool split, struct pm_diag *diag)
{
	int n = pm_cpuwide_open(&place->cpuwide, place->placement, list,
				PM_OPEN_PARTIAL | (split ? PM_OPEN_SPLIT : 0), diag);

	if (n < 0)
		return n;
	n = pm_cpuwide_start(place->cpuwide);
	if (n)
		pm_diag_set(diag, n, "%s", strerror(-n));
	return n;
}

void stat_place_stop(struct stat_place *place)
{
	if (place->cpuwide)
		pm_cpuwide_stop(place->cpuwide);
}

void stat_place_end(struct stat_place *place)
{
	pm_cpuwide_close(place->cpuwide);
	place->cpuwide = NULL;
}

int stat_place_error(const struct stat_place *place, const struct pm_event_list *list,
		     uint32_t event, int *cpu, bool *open)
{
	int error = 0;

	*cpu = -1;
	*open = false;
	for (uint32_t c = 0; c < place->cpuwide->cpu_count; c++) {
		const struct pm_cpuwide_cpu *on = &place->cpuwide->cpus[c];
		const struct pm_cpuwide_plan *plan = &place->cpuwide->plans[on->plan];

		for (uint32_t k = 0; k < plan->count; k++) {
			const struct pm_counter *counter = &on->instance->counters[k];

			if (list->events[plan->original[k]].logical != event)
				continue;
			*open |= pm_counter_is_open(counter);
			if (!pm_counter_is_open(counter) && !error) {
				error = counter->error;
				*cpu = (int)on->cpu;
			}
		}
	}
	return error ?: *open ? 0 : -ENODEV;
}

/* Gets the sum of EVENT in group G. Returns 0, or the reason why there is none. */
static int sum_of(const struct stat_place *place, uint32_t event, uint32_t g,
		  struct pm_cpuwide_sum *sum)
{
	const struct pm_cpuwide *cpuwide = place->cpuwide;
	struct pm_cpuwide_sum one;
	int err;

	if (place->groups[g] != WHOLE)
		return pm_cpuwide_sum(cpuwide, event, place->level, place->groups[g],
				      sum);
	for (uint32_t other = 0; other < g; other++) {
		err = pm_cpuwide_sum(cpuwide, event, place->level, place->groups[other],
				     &one);
		if (err != -ERANGE)
			return -ERANGE;
	}
	return pm_cpuwide_sum(cpuwide, event, PM_LEVEL_MACHINE, 0, sum);
}

int stat_place_read(struct stat_place *place, const struct stat_events *events,
		    struct stat_cell *cells, bool since_start, struct pm_diag *diag)
{
	/* A CPU that cannot be read shows in the sums. */
	pm_cpuwide_read(place->cpuwide);
	for (uint32_t g = 0; g < place->group_count; g++) {
		for (uint32_t i = 0; i < events->count; i++) {
			size_t c = (size_t)g * events->count + i;
			struct pm_cpuwide_sum sum = {.counted = 0};
			struct pm_reading before = place->before[c];
			int err = sum_of(place, i, g, &sum);

			if (err == -ENOMEM)
				return pm_diag_set(diag, err, "out of memory");
			cells[c].absent = err == -ERANGE;
			if (since_start)
				before = (struct pm_reading){0};
			stat_cell_add(&cells[c], &events->events[i], &sum, &before);
			place->before[c] = sum.reading;
		}
	}
	return 0;
}
