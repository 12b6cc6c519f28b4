/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What perf list --details prints. A name has two blanks before it. The description in
 * brackets follows, and then of a metric its expression in brackets, of an event its
 * encoding on a PMU.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/metrics/definition.h"
#include "core/text/text.h"

/* What has been read of an entry. */
struct entry {
	char *name;
	bool described;
};

static int entry_begin(struct entry *entry, const char *line)
{
	struct pm_slice name = {line + 2, strcspn(line + 2, " \n")};

	free(entry->name);
	entry->name = pm_slice_copy(name);
	entry->described = false;
	return entry->name ? 0 : -ENOMEM;
}

/* Takes a line of a metric: its description is in one line, too. */
static int metric_line(struct metric_definitions *all, struct entry *entry,
		       struct pm_slice text)
{
	char *expression;
	int err;

	if (!entry->described) {
		entry->described = true;
		return 0;
	}
	if (text.length < 2 || text.at[0] != '[' || text.at[text.length - 1] != ']' ||
	    metric_definition_find(all, entry->name))
		return 0;
	expression = pm_slice_copy((struct pm_slice){text.at + 1, text.length - 2});
	err = expression ? metric_definition_add(all, entry->name, expression, NULL)
			 : -ENOMEM;
	free(expression);
	return err;
}

/* Takes a line of an event if it is "pmu/terms/". Descriptions have blanks or brackets. */
static int event_line(struct metric_definitions *all, const struct entry *entry,
		      struct pm_slice text)
{
	char *event;
	int err;

	if (text.length < 4 || text.at[text.length - 1] != '/' ||
	    memchr(text.at, ' ', text.length) || memchr(text.at, '[', text.length) ||
	    !memchr(text.at, '=', text.length))
		return 0;
	event = pm_slice_copy(text);
	err = event ? metric_encoding_add(all, entry->name, event) : -ENOMEM;
	free(event);
	return err;
}

static int read_lines(struct metric_definitions *all, bool events, FILE *from)
{
	struct entry entry = {.name = NULL};
	char *line = NULL;
	size_t size = 0;
	int err = 0;

	while (!err && getline(&line, &size, from) > 0) {
		struct pm_slice text = pm_slice_trim(pm_slice_of(line));

		if (!strncmp(line, "  ", 2) && line[2] != ' ' && line[2] != '\n')
			err = entry_begin(&entry, line);
		else if (line[0] == ' ' && entry.name)
			err = events ? event_line(all, &entry, text)
				     : metric_line(all, &entry, text);
	}
	free(entry.name);
	free(line);
	return err;
}

int metric_perf_read(struct metric_definitions *all, bool events, struct pm_diag *diag)
{
	FILE *from =
		popen(events ? "LC_ALL=C exec perf list --details 2>/dev/null"
			     : "LC_ALL=C exec perf list --details metric 2>/dev/null",
		      "re");
	int err, status;

	if (!from)
		return pm_diag_set(diag, -errno, "cannot run perf: %s", strerror(errno));
	err = read_lines(all, events, from);
	status = pclose(from);
	if (err)
		return pm_diag_set(diag, err, "no memory for perf's metrics");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return pm_diag_set(diag, -ENOENT,
				   "cannot run perf, which knows the metrics of this "
				   "CPU: install it (Debian: linux-perf), or name a "
				   "file: -M @FILE:NAME");
	if (!events && !all->count)
		return pm_diag_set(diag, -ENOENT,
				   "perf knows no metrics of this CPU ('perf list "
				   "--details metric' prints none): name a file of the "
				   "vendor: -M @FILE:NAME");
	return 0;
}
