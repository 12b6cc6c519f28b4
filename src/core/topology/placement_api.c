/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The public functions of placement: perfmon/placement.h. */
#include "perfmon/placement.h"

#include <errno.h>

#include "core/api/export.h"
#include "core/api/export_struct.h"
#include "core/api/message.h"
#include "core/topology/placement.h"

PM_EXPORT int perfmon_placement_parse(struct perfmon_placement **placement,
				      const char *text, char *message,
				      size_t message_size)
{
	struct pm_diag diag = {0};
	int err;

	if (!placement || !text)
		err = pm_diag_set(&diag, -EINVAL, "the place or the handle is NULL");
	else
		err = pm_placement_parse(text, placement, &diag);
	return pm_message_end(err, diag.text, message, message_size);
}

PM_EXPORT void perfmon_placement_free(struct perfmon_placement *placement)
{
	pm_placement_free(placement);
}

PM_EXPORT int perfmon_placement_refresh(void)
{
	return pm_topology_refresh(NULL);
}

PM_EXPORT int perfmon_placement_get_cpus(const struct perfmon_placement *placement,
					 uint32_t set, void *mask, size_t *size)
{
	if (!placement || !size)
		return -EINVAL;
	switch (set) {
	case PERFMON_PLACEMENT_SET_COVERED:
		return pm_cpus_export(&placement->cpus, mask, size);
	case PERFMON_PLACEMENT_SET_DROPPED:
		return pm_cpus_export(&placement->dropped, mask, size);
	case PERFMON_PLACEMENT_SET_ONLINE:
		return pm_cpus_export(&placement->topology->online, mask, size);
	case PERFMON_PLACEMENT_SET_ALLOWED:
		return pm_cpus_export(&placement->topology->allowed, mask, size);
	}
	return -EINVAL;
}

/* Finds the CPUs on which any event of LIST is opened, and those where none of them
 * counts. */
static int event_cpus(const struct perfmon_placement *p, const struct pm_event_list *list,
		      struct pm_cpus *open, struct pm_cpus *forbidden,
		      struct pm_diag *diag)
{
	struct pm_targets targets = {0};
	int err = pm_cpus_copy(forbidden, &p->cpus);

	for (size_t i = 0; err >= 0 && i < list->count; i++) {
		err = pm_placement_targets(p, &list->events[i], &targets, diag);
		pm_cpus_and(forbidden, &targets.forbidden);
		if (err >= 0)
			err = pm_cpus_or(open, &targets.open);
	}
	pm_targets_free(&targets);
	return err < 0 ? err : pm_cpus_or(forbidden, &p->dropped);
}

static int refused(const struct perfmon_placement *p, const struct pm_event_list *list,
		   struct pm_diag *diag)
{
	char cpus[128];

	pm_diag_set(diag, -ENODEV,
		    "cannot count event '%s' on '%s' (CPUs %s): ", list->events[0].label,
		    pm_slice_quote(pm_slice_of(p->text)).text,
		    pm_cpus_print(&p->cpus, cpus, sizeof(cpus)));
	for (size_t i = 0; i < list->count; i++)
		pm_diag_add(diag, "%sPMU '%s' has %s%s", i ? ", " : "",
			    list->events[i].pmu,
			    list->events[i].uncore ? "agents on CPUs " : "CPUs ",
			    list->events[i].cpus);
	return -ENODEV;
}

/* Stores both sizes, and fills both masks or none. */
static int export_two(const struct pm_cpus *open, const struct pm_cpus *forbidden,
		      void *open_mask, size_t *open_size, void *forbidden_mask,
		      size_t *forbidden_size)
{
	size_t open_given = *open_size, forbidden_given = *forbidden_size;

	*open_size = *forbidden_size = 0;
	pm_cpus_export(open, NULL, open_size);
	pm_cpus_export(forbidden, NULL, forbidden_size);
	if (open_given < *open_size || forbidden_given < *forbidden_size ||
	    (open_given && !open_mask) || (forbidden_given && !forbidden_mask))
		return -EOVERFLOW;
	pm_cpus_export(forbidden, forbidden_mask, &forbidden_given);
	return pm_cpus_export(open, open_mask, &open_given);
}

PM_EXPORT int perfmon_placement_get_event(const struct perfmon_placement *placement,
					  const char *event, void *mask, size_t *size,
					  void *forbidden, size_t *forbidden_size,
					  char *message, size_t message_size)
{
	struct pm_cpus on = {0}, off = {0};
	struct pm_event_list *list = NULL;
	struct pm_diag diag = {0};
	int err;

	if (!placement || !event || !size || !forbidden_size)
		err = pm_diag_set(&diag, -EINVAL, "placement, event or size is NULL");
	else
		err = pm_events_parse(event, 0, &list, &diag);
	if (!err && list->logical_count != 1)
		err = pm_diag_set(&diag, -EINVAL, "'%s' names %zu events, not one",
				  pm_slice_quote(pm_slice_of(event)).text,
				  list->logical_count);
	if (!err)
		err = event_cpus(placement, list, &on, &off, &diag);
	if (!err && pm_cpus_next(&on, 0) < 0)
		err = refused(placement, list, &diag);
	if (!err || err == -ENODEV) {
		int done = export_two(&on, &off, err ? NULL : mask, size,
				      err ? NULL : forbidden, forbidden_size);

		if (!err)
			err = done;
		if (err == -EOVERFLOW)
			pm_diag_set(&diag, err,
				    "the masks need %zu and %zu bytes for the CPUs",
				    *size, *forbidden_size);
	}
	pm_cpus_free(&on);
	pm_cpus_free(&off);
	pm_events_free(list);
	return pm_message_end(err, diag.text, message, message_size);
}

PM_EXPORT int perfmon_placement_get_level(const struct perfmon_placement *placement,
					  uint32_t index,
					  struct perfmon_placement_level_info *level)
{
	struct perfmon_placement_level_info found = {0};
	enum pm_level have[PM_LEVELS];

	int err = PM_STRUCT_CHECK(level, perfmon_placement_level_info, 32);

	if (!placement || err)
		return err ?: -EINVAL;
	if (index >= pm_topology_levels(placement->topology, have))
		return -ENOENT;
	found.name = pm_level_name(have[index]);
	found.noun = pm_level_noun(have[index]);
	found.groups = placement->topology->levels[have[index]].count;
	pm_struct_fill(level, &found, sizeof(found));
	return 0;
}

PM_EXPORT int perfmon_placement_get_group(const struct perfmon_placement *placement,
					  uint32_t cpu, const char *level,
					  struct perfmon_placement_group_info *group)
{
	struct perfmon_placement_group_info found = {0};
	const struct pm_topology *topology;
	int found_level;
	int err = PM_STRUCT_CHECK(group, perfmon_placement_group_info, 24);

	if (!placement || !level || err)
		return err ?: -EINVAL;
	found_level = pm_level_find(pm_slice_of(level));
	if (found_level < 0)
		return found_level;
	topology = placement->topology;
	found.index = pm_topology_group_of(topology, cpu, found_level);
	if (found.index == PM_GROUP_NONE)
		return -ENOENT;
	found.os_index = topology->levels[found_level].groups[found.index].os_index;
	found.cpus =
		pm_cpus_count(pm_topology_group_cpus(topology, found_level, found.index));
	pm_struct_fill(group, &found, sizeof(found));
	return 0;
}
