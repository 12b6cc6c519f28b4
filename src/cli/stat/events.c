/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The events of perfmon stat and their modes. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/stat/events.h"

/* The default events, as far as they exist. */
#define AS_WELL                                                                          \
	",context-switches,cpu-migrations,page-faults,"                                  \
	"cycles,instructions,branches,branch-misses"
static const char of_threads[] = "task-clock" AS_WELL, of_cpus[] = "cpu-clock" AS_WELL;

/* Returns the first kernel event for the event at index I of the user's text. */
static const struct pm_event *first_of(const struct pm_event_list *list, uint32_t i)
{
	for (size_t e = 0; e < list->count; e++)
		if (list->events[e].logical == i)
			return &list->events[e];
	return NULL;
}

int stat_events_learn(struct stat_events *events, const char *text, bool cpus,
		      bool user_only, struct pm_diag *diag)
{
	int err;

	*events = (struct stat_events){.text = cpus ? of_cpus : of_threads,
				       .chosen = text != NULL,
				       .user_only = user_only};
	if (text)
		events->text = text;
	if (!strcasecmp(events->text, "none"))
		return 0;
	err = pm_events_parse(events->text, user_only ? PM_EVENTS_USER_ONLY : 0,
			      &events->list, diag);
	if (!err) {
		events->count = (uint32_t)events->list->logical_count;
		events->events = calloc(events->count + 1, sizeof(events->events[0]));
		if (!events->events)
			err = pm_diag_set(diag, -ENOMEM, "out of memory");
	}
	for (uint32_t i = 0; !err && i < events->count; i++) {
		const struct pm_event *first = first_of(events->list, i);
		struct stat_event *event = &events->events[i];

		event->event = first;
		event->label = first->label;
	}
	if (err)
		stat_events_forget(events);
	return err;
}

void stat_events_forget(struct stat_events *events)
{
	for (uint32_t i = 0; events->events && i < events->count; i++) {
		free(events->events[i].why);
	}
	free(events->events);
	pm_events_free(events->list);
	events->events = NULL;
	events->list = NULL;
	events->count = 0;
}
