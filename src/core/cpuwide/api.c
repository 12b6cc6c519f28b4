/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The public calls for CPU-wide sessions: perfmon/cpuwide.h. */
#include "perfmon/cpuwide.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/api/export.h"
#include "core/api/message.h"
#include "core/cpuwide/cpuwide.h"

#define KNOWN_FLAGS                                                                      \
	(PERFMON_CPUWIDE_PARTIAL | PERFMON_CPUWIDE_SPLIT | PERFMON_CPUWIDE_ALL_MODES)

struct perfmon_cpuwide {
	struct pm_event_list *list;
	struct pm_cpuwide *inner;
	struct pm_diag diag; /* of the last call */
};

PM_EXPORT void perfmon_cpuwide_close(struct perfmon_cpuwide *cpuwide)
{
	if (!cpuwide)
		return;
	pm_cpuwide_close(cpuwide->inner);
	pm_events_free(cpuwide->list);
	free(cpuwide);
}

static int open_events(struct perfmon_cpuwide *cpuwide,
		       const struct perfmon_placement *placement, const char *events,
		       uint32_t flags, struct pm_diag *diag)
{
	int err = pm_events_parse(
		events, flags & PERFMON_CPUWIDE_ALL_MODES ? 0 : PM_EVENTS_USER_ONLY,
		&cpuwide->list, diag);

	if (err)
		return err;
	if (cpuwide->list->set_count > 1)
		return pm_diag_set(
			diag, -EINVAL,
			"'%s' has %zu event sets: a CPU-wide session counts one",
			pm_slice_quote(pm_slice_of(events)).text,
			cpuwide->list->set_count);
	return pm_cpuwide_open(
		&cpuwide->inner, placement, cpuwide->list,
		(flags & PERFMON_CPUWIDE_PARTIAL ? PM_OPEN_PARTIAL : 0) |
			(flags & PERFMON_CPUWIDE_SPLIT ? PM_OPEN_SPLIT : 0),
		diag);
}

PM_EXPORT int perfmon_cpuwide_open(struct perfmon_cpuwide **cpuwide,
				   const struct perfmon_placement *placement,
				   const char *events, uint32_t flags, char *message,
				   size_t message_size)
{
	struct perfmon_cpuwide *made = NULL;
	struct pm_diag diag = {0};
	int result;

	if (!cpuwide || !placement || !events || flags & ~KNOWN_FLAGS) {
		result = pm_diag_set(
			&diag, -EINVAL,
			"handle, placement or events is NULL, or a flag is unknown");
	} else {
		made = calloc(1, sizeof(*made));
		result = made ? open_events(made, placement, events, flags, &diag)
			      : pm_diag_set(&diag, -ENOMEM, "no memory");
	}
	if (result >= 0)
		*cpuwide = made;
	else
		perfmon_cpuwide_close(made);
	pm_message_tell(result ? diag.text : "", message, message_size);
	if (result >= 0 && result)
		made->diag = diag;
	return result;
}

PM_EXPORT int perfmon_cpuwide_message(const struct perfmon_cpuwide *cpuwide, char *buffer,
				      size_t size)
{
	return cpuwide ? pm_message_copy(cpuwide->diag.text, buffer, size) : -EINVAL;
}

static int report(struct perfmon_cpuwide *cpuwide, int err, const char *what)
{
	pm_diag_clear(&cpuwide->diag);
	return err < 0 ? pm_diag_set(&cpuwide->diag, err, "cannot %s: %s", what,
				     strerror(-err))
		       : err;
}

PM_EXPORT int perfmon_cpuwide_start(struct perfmon_cpuwide *cpuwide)
{
	return cpuwide ? report(cpuwide, pm_cpuwide_start(cpuwide->inner),
				"start the counters of each CPU")
		       : -EINVAL;
}

PM_EXPORT int perfmon_cpuwide_stop(struct perfmon_cpuwide *cpuwide)
{
	return cpuwide ? report(cpuwide, pm_cpuwide_stop(cpuwide->inner),
				"stop the counters of each CPU")
		       : -EINVAL;
}

struct walk {
	const struct pm_cpuwide *cpuwide;
	int (*visit)(const struct perfmon_cpuwide_value *value, void *argument);
	void *argument;
};

static uint32_t status_of(const struct pm_cpuwide_sum *sum)
{
	uint32_t partial =
		sum->refused || sum->gone || sum->missing ? PERFMON_VALUE_PARTIAL : 0;

	if (!sum->counted)
		return PERFMON_VALUE_NEVER_OPENED;
	if (!sum->reading.enabled_ns)
		return partial;
	if (!sum->reading.running_ns)
		return partial | PERFMON_VALUE_NOT_COUNTED;
	return partial | (sum->reading.running_ns < sum->reading.enabled_ns
				  ? PERFMON_VALUE_MULTIPLEXED
				  : PERFMON_VALUE_COUNTED);
}

static int show(const struct walk *walk, const struct pm_event *event, uint32_t group,
		const struct pm_cpuwide_sum *sum)
{
	struct perfmon_cpuwide_value value = {
		.size = sizeof(value),
		.event = event->label,
		.unit = event->unit,
		.scale = event->scale,
		.index = event->logical,
		.group = group,
		.value = sum->reading.value,
		.enabled_ns = sum->reading.enabled_ns,
		.running_ns = sum->reading.running_ns,
		.counted = sum->counted,
		.refused = sum->refused,
		.gone = sum->gone,
		.missing = sum->missing,
		.status = status_of(sum),
	};

	return walk->visit(&value, walk->argument);
}

/* Visits one event by LEVEL: in each of GROUPS, or as a whole. */
static int show_event(const struct walk *walk, const struct pm_event *event,
		      enum pm_level level, const struct pm_cpus *groups)
{
	struct pm_cpuwide_sum sum;
	int result = 0;

	pm_cpus_each (group, groups) {
		result =
			pm_cpuwide_sum(walk->cpuwide, event->logical, level, group, &sum);
		if (result == -ERANGE)
			break;
		if (result && result != -ENODATA)
			return result;
		result = show(walk, event, group, &sum);
		if (result)
			return result;
	}
	if (result != -ERANGE)
		return 0;
	result = pm_cpuwide_sum(walk->cpuwide, event->logical, PM_LEVEL_MACHINE, 0, &sum);
	return result && result != -ENODATA
		       ? result
		       : show(walk, event, PERFMON_CPUWIDE_WHOLE, &sum);
}

PM_EXPORT int perfmon_cpuwide_read(struct perfmon_cpuwide *cpuwide, const char *level,
				   uint32_t flags,
				   int (*visit)(const struct perfmon_cpuwide_value *value,
						void *argument),
				   void *argument)
{
	struct pm_cpus groups = {0};
	struct walk walk;
	int found, result;

	if (!cpuwide)
		return -EINVAL;
	pm_diag_clear(&cpuwide->diag);
	if (!level || !visit)
		return pm_diag_set(&cpuwide->diag, -EINVAL,
				   "the level or the visitor is NULL");
	if (flags)
		return pm_diag_set(&cpuwide->diag, -EINVAL, "unknown flags 0x%x", flags);
	found = pm_level_find(pm_slice_of(level));
	if (found < 0)
		return pm_diag_set(&cpuwide->diag, found, "'%s' is not a level",
				   pm_slice_quote(pm_slice_of(level)).text);
	walk = (struct walk){cpuwide->inner, visit, argument};
	result = pm_cpuwide_groups(cpuwide->inner, found, &groups);
	if (!result && pm_cpus_next(&groups, 0) < 0)
		result = pm_diag_set(&cpuwide->diag, -ENOENT,
				     "this machine has no level '%s'", level);
	if (!result)
		pm_cpuwide_read(cpuwide->inner);
	for (size_t i = 0; !result && i < cpuwide->list->count; i++) {
		const struct pm_event *event = &cpuwide->list->events[i];

		/* The kernel events of a logical event are neighbours. */
		if (!i || event->logical != event[-1].logical)
			result = show_event(&walk, event, found, &groups);
	}
	pm_cpus_free(&groups);
	return result;
}
