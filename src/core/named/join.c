/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From groups to the texts of what is counted. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/named/named.h"
#include "core/text/text.h"

/* Holds what pm_named_join() makes. */
struct joined {
	char *events, *metrics;
	void (*note)(void *argument, const char *sentence);
	void *argument;
	struct pm_diag first; /* why the first group without a metric has none */
};

/* Adds the events of a list one by one, but those in {} together, unless *TO has them. */
static int put_list(char **to, const char *list)
{
	bool inside = false;
	int braces = 0, err = 0;
	const char *from = list;

	for (const char *c = list; !err; c++) {
		char *item;

		inside ^= *c == '/';
		braces += (*c == '{') - (*c == '}');
		if (*c && (*c != ',' || inside || braces > 0))
			continue;
		item = strndup(from, (size_t)(c - from));
		if (!item)
			return -ENOMEM;
		if (!pm_named_has_event(*to, item))
			err = pm_text_add(to, ",", item);
		free(item);
		if (!*c)
			break;
		from = c + 1;
	}
	return err;
}

static int put_metric(struct joined *to, const struct pm_named_metric *metric)
{
	int err = metric->events ? put_list(&to->events, metric->events) : 0;

	err = err ?: pm_text_add(&to->metrics, "; ", metric->name);
	return err ?: pm_text_add(&to->metrics, " = ", metric->formula);
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

static int join_group(struct joined *to, const struct pm_named_groups *groups,
		      const struct pm_named_group *group)
{
	struct pm_diag diag = {0};
	uint32_t left = 0;
	int err = 0;

	for (uint32_t m = 0; m < group->count; m++)
		left += !group->metrics[m].missing;
	if (!left) {
		note_group(to, groups, group);
		return 0;
	}
	for (uint32_t m = 0; !err && m < group->count; m++) {
		const struct pm_named_metric *metric = &group->metrics[m];

		if (!metric->missing) {
			err = put_metric(to, metric);
			continue;
		}
		pm_diag_set(&diag, -ENOENT,
			    "group %s has no %s here, event '%s' is missing: %s",
			    group->name, metric->name, metric->missing, metric->why);
		to->note(to->argument, diag.text);
	}
	return err;
}

int pm_named_join(const struct pm_named_groups *groups, char **events, char **metrics,
		  void (*note)(void *argument, const char *sentence), void *argument,
		  struct pm_diag *diag)
{
	struct joined all = {.note = note, .argument = argument};
	int err = 0;

	*events = *metrics = NULL;
	for (uint32_t g = 0; !err && g < groups->count; g++)
		err = join_group(&all, groups, &groups->groups[g]);
	if (err) {
		free(all.events);
		free(all.metrics);
		return pm_diag_set(diag, err, "no memory for groups of events");
	}
	*events = all.events;
	*metrics = all.metrics;
	return *metrics ? 0 : pm_diag_set(diag, -ENOENT, "%s", all.first.text);
}

int pm_named_add_events(char **to, const char *events)
{
	const char *named = *to ?: "", *end = named;
	bool inside = false;
	char *all = NULL;
	int err;

	for (; *end && (*end != ';' || inside); end++)
		inside ^= *end == '/';
	if (end != named) {
		all = strndup(named, (size_t)(end - named));
		err = all ? put_list(&all, events) : -ENOMEM;
	} else {
		err = pm_text_add(&all, "", events);
	}
	err = err ?: pm_text_add(&all, "", end);
	if (err) {
		free(all);
		return err;
	}
	free(*to);
	*to = all;
	return 0;
}
