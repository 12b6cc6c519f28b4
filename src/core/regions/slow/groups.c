/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* PERFMON_GROUP: groups of events by name. */
#include "core/regions/slow/groups.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/named/named.h"
#include "core/valgrind/exact.h"

/* Puts the formulas TEXT behind *TO. Without memory *TO stays as it is. */
static void join(char **to, const char *text)
{
	char *all;

	if (!text || asprintf(&all, "%s%s%s", *to ?: "", *to ? "; " : "", text) < 0)
		return;
	free(*to);
	*to = all;
}

static void note(void *argument, const char *sentence)
{
	pm_options_note(argument, "%s", sentence);
}

void pm_regions_groups(struct pm_options *options)
{
	const struct pm_named_request request = {.names = options->groups,
						 .exact = pm_exact()};
	struct pm_named_groups *groups = NULL;
	char *events = NULL, *metrics = NULL;
	struct pm_diag diag = {0};
	int err;

	if (!options->groups)
		return;
	err = pm_named_find(&request, &groups, &diag);
	err = err ?: pm_named_join(groups, &events, &metrics, note, options, &diag);
	/* Names that are not here have been noted. */
	if (err && err != -ENOENT)
		pm_options_note(options, "PERFMON_GROUP: %s", diag.text);
	if (events) {
		pm_named_add_events(&options->events, events);
		join(&options->metrics, metrics);
		options->events_auto = options->events_none = false;
	}
	free(events);
	free(metrics);
	pm_named_free(groups);
}
