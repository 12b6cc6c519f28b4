/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads what perf list --details prints. A name has two blanks before it. The description in
 * brackets follows, and then of a metric its expression in brackets, of an event its
 * encoding on a PMU. A long text of a metric may be on several lines.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/metrics/definition.h"
#include "core/text/text.h"

/* So many blanks are before the bracket that opens a text. */
#define PERF_INDENT 7

/* Holds what has been read of an entry. */
struct entry {
	char *name;
	unsigned int texts; /* in brackets, complete */
	char *text;	    /* the next one, as far as it has been read, or NULL */
};

static int entry_begin(struct entry *entry, const char *line)
{
	struct pm_slice name = {line + 2, strcspn(line + 2, " \n")};

	free(entry->name);
	entry->name = pm_slice_copy(name);
	entry->texts = 0;
	return entry->name ? 0 : -ENOMEM;
}

/* Takes the complete text of a metric, if any. The second one is the expression. Newer
 * versions of perf print a third: the limit beyond which the value deserves attention. */
static int metric_text(struct metric_definitions *all, struct entry *entry)
{
	struct pm_slice text = pm_slice_of(entry->text ? entry->text : "");
	int err = 0;

	if (text.length)
		entry->texts++;
	if (entry->texts == 2 && text.length >= 2 && text.at[text.length - 1] == ']' &&
	    !metric_definition_find(all, entry->name))
		err = metric_definition_add(
			all, entry->name, (struct pm_slice){text.at + 1, text.length - 2},
			NULL);
	free(entry->text);
	entry->text = NULL;
	return err;
}

/* Adds a line to the text that is being read. perf folds at blanks, and behind commas, which
 * may be in the name of an event. */
static int metric_more(struct entry *entry, struct pm_slice more)
{
	const char *between = entry->text[strlen(entry->text) - 1] == ',' ? "" : " ";
	char *longer;

	if (asprintf(&longer, "%s%s%.*s", entry->text, between, (int)more.length,
		     more.at) < 0)
		return -ENOMEM;
	free(entry->text);
	entry->text = longer;
	return 0;
}

/* Takes a line of a metric. Newer versions of perf fold long texts: what goes on is indented by one
 * blank more than the bracket. */
static int metric_line(struct metric_definitions *all, struct entry *entry,
		       const char *line)
{
	struct pm_slice text = pm_slice_trim(pm_slice_of(line));
	int err;

	if (entry->text && strspn(line, " ") > PERF_INDENT)
		return text.length ? metric_more(entry, text) : 0;
	err = metric_text(all, entry);
	if (err || !text.length || text.at[0] != '[')
		return err;
	entry->text = pm_slice_copy(text);
	return entry->text ? 0 : -ENOMEM;
}

/* Takes a line of an event if it is "pmu/terms/". Descriptions have blanks or brackets. */
static int event_line(struct metric_definitions *all, const struct entry *entry,
		      struct pm_slice text)
{
	if (text.length < 4 || text.at[text.length - 1] != '/' ||
	    memchr(text.at, ' ', text.length) || memchr(text.at, '[', text.length) ||
	    !memchr(text.at, '=', text.length))
		return 0;
	return metric_encoding_add(all, entry->name, text);
}

static int read_line(struct metric_definitions *all, bool events, struct entry *entry,
		     const char *line)
{
	bool begins = !strncmp(line, "  ", 2) && line[2] != ' ' && line[2] != '\n';
	int err = begins && !events ? metric_text(all, entry) : 0;

	if (err)
		return err;
	if (begins)
		return entry_begin(entry, line);
	if (line[0] != ' ' || !entry->name)
		return 0;
	return events ? event_line(all, entry, pm_slice_trim(pm_slice_of(line)))
		      : metric_line(all, entry, line);
}

static int read_lines(struct metric_definitions *all, bool events, FILE *from)
{
	struct entry entry = {.name = NULL};
	char *line = NULL;
	size_t size = 0;
	int err = 0;

	while (!err && getline(&line, &size, from) > 0)
		err = read_line(all, events, &entry, line);
	if (!err)
		err = metric_text(all, &entry);
	free(entry.text);
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
