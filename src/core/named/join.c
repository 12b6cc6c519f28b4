/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From groups to the texts of what is counted. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/named/named.h"
#include "core/named/texts.h"

/* Holds what pm_named_join() makes. */
struct joined {
	struct pm_bytes events, metrics;
	void (*note)(void *argument, const char *sentence);
	void *argument;
	struct pm_diag first; /* why the first group without a metric has none */
};

/* Adds the events of a list one by one, but those in {} together. */
static void put_list(struct pm_bytes *to, const char *list)
{
	bool inside = false;
	int braces = 0;
	const char *from = list;

	for (const char *c = list;; c++) {
		char *item;

		inside ^= *c == '/';
		braces += (*c == '{') - (*c == '}');
		if (*c && (*c != ',' || inside || braces > 0))
			continue;
		item = strndup(from, (size_t)(c - from));
		if (item)
			pm_named_put_item(to, item);
		to->failed |= !item;
		free(item);
		if (!*c)
			break;
		from = c + 1;
	}
}

static void put_metric(struct joined *to, const struct pm_named_metric *metric)
{
	if (metric->events)
		put_list(&to->events, metric->events);
	pm_named_put_text(&to->metrics, to->metrics.used ? "; " : "");
	pm_named_put_text(&to->metrics, metric->name);
	pm_named_put_text(&to->metrics, " = ");
	pm_named_put_text(&to->metrics, metric->formula);
}

/* Notes that a group has no metric left. */
static void note_group(struct joined *to, const struct pm_named_groups *groups,
		       const struct pm_named_group *group)
{
	struct pm_diag diag = {0};

	if (group->count)
		pm_diag_set(&diag, -ENOENT,
			    "group %s cannot be counted here, event '%s' is missing: %s",
			    group->name, group->metrics[0].missing,
			    group->metrics[0].why);
	else
		pm_diag_set(&diag, -ENOENT,
			    "group %s cannot be counted here: no event of %s is known to "
			    "answer it",
			    group->name, groups->family);
	to->note(to->argument, diag.text);
	if (!to->first.error)
		to->first = diag;
}

static void join_group(struct joined *to, const struct pm_named_groups *groups,
		       const struct pm_named_group *group)
{
	struct pm_diag diag = {0};
	uint32_t left = 0;

	for (uint32_t m = 0; m < group->count; m++)
		left += !group->metrics[m].missing;
	if (!left) {
		note_group(to, groups, group);
		return;
	}
	for (uint32_t m = 0; m < group->count; m++) {
		const struct pm_named_metric *metric = &group->metrics[m];

		if (!metric->missing) {
			put_metric(to, metric);
			continue;
		}
		pm_diag_set(&diag, -ENOENT,
			    "group %s has no %s here, event '%s' is missing: %s",
			    group->name, metric->name, metric->missing, metric->why);
		to->note(to->argument, diag.text);
	}
}

int pm_named_join(const struct pm_named_groups *groups, char **events, char **metrics,
		  void (*note)(void *argument, const char *sentence), void *argument,
		  struct pm_diag *diag)
{
	struct joined all = {.note = note, .argument = argument};

	*events = *metrics = NULL;
	for (uint32_t g = 0; g < groups->count; g++)
		join_group(&all, groups, &groups->groups[g]);
	if (all.events.failed || all.metrics.failed) {
		free(all.events.data);
		free(all.metrics.data);
		return pm_diag_set(diag, -ENOMEM, "no memory for groups of events");
	}
	*events = (char *)all.events.data;
	*metrics = (char *)all.metrics.data;
	return *metrics ? 0 : pm_diag_set(diag, -ENOENT, "%s", all.first.text);
}

int pm_named_add_events(char **to, const char *events)
{
	const char *named = *to ?: "", *end = named;
	struct pm_bytes all = {.data = NULL};
	bool inside = false;

	for (; *end && (*end != ';' || inside); end++)
		inside ^= *end == '/';
	if (end != named)
		pm_named_put(&all, named, (size_t)(end - named));
	if (end != named)
		put_list(&all, events);
	else
		pm_named_put_text(&all, events);
	pm_named_put_text(&all, end);
	if (all.failed) {
		free(all.data);
		return -ENOMEM;
	}
	free(*to);
	*to = (char *)all.data;
	return 0;
}
