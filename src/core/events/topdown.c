/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Intel's topdown metrics and their slots. The kernel counts a metric only in a group that
 * slots lead, and lets slots alone choose the modes of all of them (Linux,
 * arch/x86/events/intel/core.c, intel_pmu_hw_config() and intel_pmu_enable_fixed()).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/events/internal.h"
#include "core/text/grow.h"

bool pm_events_same_modes(const struct pm_event *a, const struct pm_event *b)
{
	return a->attr.exclude_user == b->attr.exclude_user &&
	       a->attr.exclude_kernel == b->attr.exclude_kernel &&
	       a->attr.exclude_hv == b->attr.exclude_hv &&
	       a->attr.exclude_idle == b->attr.exclude_idle &&
	       a->attr.exclude_host == b->attr.exclude_host &&
	       a->attr.exclude_guest == b->attr.exclude_guest;
}

/* Returns whether the list lets SLOTS lead the group of METRIC. */
static bool leads(const struct pm_event *slots, const struct pm_event *metric)
{
	bool explicit = slots->in_explicit_group || metric->in_explicit_group;

	return slots->topdown == PM_TOPDOWN_SLOTS && slots->set == metric->set &&
	       !strcmp(slots->pmu, metric->pmu) && pm_events_same_modes(slots, metric) &&
	       (!explicit || slots->group == metric->group);
}

const struct pm_event *pm_event_slots(const struct pm_event *events, size_t count,
				      const struct pm_event *metric)
{
	for (size_t i = 0; i < count; i++)
		if (leads(&events[i], metric))
			return &events[i];
	return NULL;
}

/* Parses the slots of METRIC, with its modifiers, into a list of their own. */
static int parse_slots(const struct pm_event *metric, struct pm_event_list **slots,
		       struct pm_diag *diag)
{
	const char *modifiers = strrchr(metric->name, '/');
	char text[64];

	if (!modifiers)
		modifiers = strrchr(metric->name, ':');
	modifiers = modifiers && modifiers[1] ? modifiers + 1 : "";
	snprintf(text, sizeof(text), "slots%s%s", *modifiers ? ":" : "", modifiers);
	return pm_events_parse(text, 0, slots, diag);
}

/* Moves the first event of SLOTS before event AT of LIST, as a member of its group. */
static int insert(struct pm_event_list *list, size_t at, struct pm_event_list *slots)
{
	struct pm_event *to;

	if (!PM_GROW(list->events, list->count))
		return -ENOMEM;
	to = &list->events[at];
	memmove(to + 1, to, (list->count - at) * sizeof(*to));
	*to = slots->events[0];
	to->set = to[1].set;
	to->group = to[1].group;
	to->in_explicit_group = to[1].in_explicit_group;
	to->logical = (unsigned int)list->logical_count++;
	list->count++;
	/* The list has these strings now. */
	memset(&slots->events[0], 0, sizeof(slots->events[0]));
	return 0;
}

int pm_events_add_slots(struct pm_event_list *list, struct pm_diag *diag)
{
	for (size_t i = 0; i < list->count; i++) {
		struct pm_event_list *slots = NULL;
		int err;

		if (list->events[i].topdown != PM_TOPDOWN_METRIC ||
		    pm_event_slots(list->events, list->count, &list->events[i]))
			continue;
		err = parse_slots(&list->events[i], &slots, diag);
		if (!err)
			err = insert(list, i, slots);
		pm_events_free(slots);
		if (err)
			return err;
	}
	return 0;
}
