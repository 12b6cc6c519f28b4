/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CPUs that perfmon stat -C covers: on which of them each event is opened, and how
 * their counts add up. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stat.h"

int stat_place_open(struct stat_place *place, const char *text, const char *level,
		    struct pm_diag *diag)
{
	int found = level ? pm_level_find(pm_slice_of(level)) : 0;

	*place = (struct stat_place){.grouped = level != NULL,
				     .level = (enum pm_level)found,
				     .group_count = 1};
	if (found < 0)
		return pm_diag_set(diag, found,
				   "'%s' is no level of a machine: pu, core, l1, l2, l3, "
				   "numa, die, package, machine",
				   level);
	return pm_placement_parse(text, &place->placement, diag);
}

void stat_place_close(struct stat_place *place)
{
	for (size_t i = 0; i < place->target_count; i++)
		pm_targets_free(&place->targets[i]);
	free(place->targets);
	free(place->groups);
	pm_cpus_free(&place->cpus);
	pm_placement_free(place->placement);
	*place = (struct stat_place){.group_count = 0};
}

bool stat_place_has(const struct stat_place *place, const struct pm_event_list *list,
		    uint32_t event, unsigned int cpu)
{
	for (size_t e = 0; e < list->count; e++)
		if (list->events[e].logical == event &&
		    pm_cpus_has(&place->targets[e].open, cpu))
			return true;
	return false;
}

/* The logical number of its group. */
static uint32_t number_of(const struct stat_place *place,
			  const struct pm_event_list *list, uint32_t event,
			  unsigned int cpu)
{
	for (size_t e = 0; e < list->count; e++)
		if (list->events[e].logical == event &&
		    pm_cpus_has(&place->targets[e].open, cpu))
			return pm_targets_group(place->placement, &place->targets[e], cpu,
						place->level);
	return PM_GROUP_NONE;
}

uint32_t stat_place_group(const struct stat_place *place,
			  const struct pm_event_list *list, uint32_t event,
			  unsigned int cpu)
{
	uint32_t number;

	if (!place->grouped)
		return 0;
	number = number_of(place, list, event, cpu);
	for (uint32_t g = 0; number != PM_GROUP_NONE && g < place->group_count; g++)
		if (place->groups[g] == number)
			return g;
	return STAT_NO_GROUP;
}

/* Keeps the numbers in rising order. */
static int add_group(struct stat_place *place, uint32_t number)
{
	uint32_t *larger, at = 0;

	while (at < place->group_count && place->groups[at] < number)
		at++;
	if (at < place->group_count && place->groups[at] == number)
		return 0;
	larger = realloc(place->groups, (place->group_count + 1) * sizeof(larger[0]));
	if (!larger)
		return -ENOMEM;
	memmove(larger + at + 1, larger + at,
		(place->group_count - at) * sizeof(larger[0]));
	larger[at] = number;
	place->groups = larger;
	place->group_count++;
	return 0;
}

static int find_groups(struct stat_place *place, const struct pm_event_list *list)
{
	int err = 0;

	place->group_count = 0;
	pm_cpus_each (cpu, &place->cpus) {
		for (uint32_t i = 0; !err && i < list->logical_count; i++) {
			uint32_t number = number_of(place, list, i, (unsigned int)cpu);

			if (number != PM_GROUP_NONE)
				err = add_group(place, number);
		}
	}
	return err;
}

int stat_place_plan(struct stat_place *place, const struct pm_event_list *list,
		    struct pm_diag *diag)
{
	int n = 0;

	place->targets = calloc(list->count + 1, sizeof(place->targets[0]));
	if (!place->targets)
		return pm_diag_set(diag, -ENOMEM, "out of memory");
	place->target_count = list->count;
	for (size_t e = 0; e < list->count; e++) {
		n = pm_placement_targets(place->placement, &list->events[e],
					 &place->targets[e], diag);
		if (n < 0)
			return n;
		n = pm_cpus_or(&place->cpus, &place->targets[e].open);
		if (n)
			return pm_diag_set(diag, n, "out of memory");
	}
	if (place->grouped && find_groups(place, list))
		return pm_diag_set(diag, -ENOMEM, "out of memory");
	if (!place->group_count)
		return pm_diag_set(diag, -ENODEV,
				   "this machine has no level '%s' by which these events "
				   "can be told apart",
				   pm_level_name(place->level));
	return 0;
}
