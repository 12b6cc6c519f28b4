/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The columns of quantities: what programs say of the work of their regions. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/model/model.h"
#include "core/text/text.h"

/* So many have columns: a profile of any content may have as many as paths. */
#define QUANTITIES_MOST 32

#define FLAGS                                                                            \
	(PERFMON_PROFILE_NODE_QUANTITY | PERFMON_PROFILE_NODE_MAXIMUM |                  \
	 PERFMON_PROFILE_NODE_LAST)

/* Sets the name and the unit of COUNTER from those of a node's region, "NAME [UNIT]". */
static void name_set(struct perfmon_profile_counter *counter, const char *text,
		     uint32_t flags)
{
	size_t length = strlen(text);
	const char *open = NULL;

	if (length && text[length - 1] == ']')
		open = strrchr(text, '[');
	if (open && open > text + 1 && open[-1] == ' ') {
		snprintf(counter->unit, sizeof(counter->unit), "%.*s",
			 (int)(text + length - 1 - open - 1), open + 1);
		length = (size_t)(open - 1 - text);
	}
	snprintf(counter->name, sizeof(counter->name), "%.*s%s",
		 (int)(length < 90 ? length : 90), text,
		 flags & PERFMON_PROFILE_NODE_MAXIMUM ? ".max"
		 : flags & PERFMON_PROFILE_NODE_LAST  ? ".last"
						      : "");
}

static int column_add(struct pm_report_model *model, uint32_t region, uint32_t flags)
{
	struct pm_report_event *events =
		realloc(model->events, (model->event_count + 2) * sizeof(*events));
	struct perfmon_profile_counter *counter = calloc(1, sizeof(*counter));
	struct pm_report_event *event;

	if (events)
		model->events = events;
	if (!events || !counter) {
		free(counter);
		return -ENOMEM;
	}
	name_set(counter, model->snapshot->regions[region], flags);
	counter->scale = 1;
	event = &events[model->event_count++];
	memset(event, 0, sizeof(*event));
	event->first = counter;
	event->suffix = "";
	event->parts = 1;
	event->quantity = region;
	event->quantity_flags = flags;
	return 0;
}

uint32_t pm_report_quantity(const struct pm_report_model *model,
			    const struct perfmon_profile_node *node)
{
	uint32_t region = model->region_of[node->region], e = 0;

	while (e < model->event_count &&
	       (model->events[e].quantity != region ||
		model->events[e].quantity_flags != (node->flags & FLAGS)))
		e++;
	return e;
}

/* Says that REGION's quantity, and those behind it, have no column. */
static int note_add(struct pm_report_model *model, uint32_t region)
{
	const char *name = model->snapshot->regions[region];

	return PM_NOTE(model,
		       "a report has %d quantities at most: %s and further ones are not "
		       "shown",
		       QUANTITIES_MOST, pm_slice_quote(pm_slice_of(name)).text);
}

int pm_report_quantities_make(struct pm_report_model *model)
{
	const struct pm_snapshot *s = model->snapshot;
	uint32_t events = model->event_count;
	bool noted = false;
	int err = 0;

	for (uint32_t t = 0; t < s->thread_count; t++) {
		for (uint32_t n = 2; !err && n <= s->threads[t].node_count; n++) {
			const struct perfmon_profile_node *node =
				pm_snapshot_node(&s->threads[t], n);

			if (noted || !pm_node_is_quantity(node) || !node->region ||
			    pm_report_quantity(model, node) < model->event_count)
				continue;
			noted = model->event_count - events == QUANTITIES_MOST;
			err = noted ? note_add(model, node->region)
				    : column_add(model, model->region_of[node->region],
						 node->flags & FLAGS);
		}
	}
	return err;
}

void pm_report_quantities_free(struct pm_report_model *model)
{
	for (uint32_t e = 0; model->events && e < model->event_count; e++)
		if (model->events[e].quantity)
			free((void *)(uintptr_t)model->events[e].first);
}
