/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The events that are counted by default. */
#include "core/events/events.h"

#include <stdlib.h>

#include "core/events/internal.h"
#include "core/valgrind/exact.h"

/* Two events fit every PMU without multiplexing, mostly on fixed counters. */
static const char automatic[] = "instructions,cycles";

/* Keeps the logical events with a WANTED part, and renumbers them. */
static void keep(struct pm_event_list *list,
		 int (*wanted)(const struct pm_event *event, void *argument),
		 void *argument)
{
	size_t kept = 0, logical = 0;

	for (size_t first = 0, next; first < list->count; first = next) {
		bool open = false;

		for (next = first; next < list->count; next++) {
			if (list->events[next].logical != list->events[first].logical)
				break;
			open |= !wanted(&list->events[next], argument);
		}
		for (size_t i = first; i < next; i++) {
			if (!open) {
				pm_event_clear(&list->events[i]);
				continue;
			}
			list->events[kept] = list->events[i];
			list->events[kept].logical = (unsigned int)logical;
			list->events[kept].group = (unsigned int)logical;
			kept++;
		}
		logical += open;
	}
	list->count = kept;
	list->logical_count = logical;
	list->group_count = logical;
}

int pm_events_auto(unsigned int flags,
		   int (*wanted)(const struct pm_event *event, void *argument),
		   void *argument, struct pm_event_list **out, struct pm_diag *diag)
{
	struct pm_event_list *list;
	char *exact = pm_exact() ? pm_exact_names() : NULL;
	int err = pm_events_parse(exact ? exact : automatic, flags, &list, diag);

	free(exact);
	if (err)
		return err;
	keep(list, wanted, argument);
	*out = list;
	return 0;
}
