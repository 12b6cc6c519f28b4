/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The events that the tool counts, and parsing of a user's list. */
#include <stdlib.h>
#include <string.h>

#include "cli/common/common.h"
#include "cli/exact/exact.h"
#include "core/text/text.h"

#define PREFIX "exact::"

static const char *const labels[] = {
#define LABEL(event, name, text) [PM_EXACT_##event] = PREFIX name,
	PM_EXACT_EVENTS(LABEL)
#undef LABEL
};

const char *cli_exact_label(enum pm_exact_event event)
{
	return labels[event];
}

const char *cli_exact_name(enum pm_exact_event event)
{
	return labels[event] + strlen(PREFIX);
}

static const char all_names[] =
#define NAME(event, name, text) ", " name
	PM_EXACT_EVENTS(NAME)
#undef NAME
	;

static int find(struct pm_slice name)
{
	if (pm_slice_starts(name, PREFIX)) {
		name.at += strlen(PREFIX);
		name.length -= strlen(PREFIX);
	}
	for (int event = 0; event < PM_EXACT_EVENT_COUNT; event++)
		if (pm_slice_is(name, cli_exact_name((enum pm_exact_event)event)))
			return event;
	return -1;
}

static void add(struct cli_exact_events *events, enum pm_exact_event event)
{
	for (uint32_t i = 0; i < events->count; i++)
		if (events->event[i] == event)
			return;
	events->event[events->count++] = event;
}

int cli_exact_parse(const char *subcommand, const char *text,
		    struct cli_exact_events *events)
{
	struct pm_slice rest = pm_slice_of(text ? text : "");

	events->count = 0;
	rest = pm_slice_trim(rest);
	if (!rest.length || pm_slice_is(rest, "auto")) {
		add(events, PM_EXACT_INSTRUCTIONS);
		return 0;
	}
	while (rest.at) {
		struct pm_slice name = pm_slice_trim(pm_slice_cut(rest, ',', &rest));
		int event = find(name);

		if (event < 0)
			return cli_fail(CLI_USAGE, subcommand,
					"'%s' is not an event that --exact counts: "
					"expects one of %s",
					pm_slice_quote(name).text, all_names + 2);
		add(events, (enum pm_exact_event)event);
	}
	return 0;
}

char *cli_exact_list(const struct cli_exact_events *events,
		     const char *(*name)(enum pm_exact_event event))
{
	char *list = NULL;

	for (uint32_t i = 0; i < events->count; i++) {
		if (!pm_text_add(&list, ",", name(events->event[i])))
			continue;
		free(list);
		return NULL;
	}
	return list;
}
