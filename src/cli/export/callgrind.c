/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Callgrind's format, which callgrind_annotate and KCachegrind read. The format has functions
 * and calls between them, and no paths. So each path is a function, called by the path above it
 * alone, and its name is the whole path. It has whole numbers and no marks.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/export/export.h"
#include "core/profile/profile.h"
#include "core/report/cells.h"

/* Names of events end at a blank, and KCachegrind reads them in formulas. */
static void put_event(struct pm_out *out, const char *name)
{
	for (; *name; name++)
		pm_out_format(out, "%c", isalnum((unsigned char)*name) ? *name : '_');
}

static void put_events(struct pm_out *out, const struct pm_report_model *model)
{
	struct export_weight weight;
	const char *name;

	for (uint32_t c = 0; (name = export_column(model, c, &weight)); c++) {
		pm_out_text(out, "event: ");
		put_event(out, name);
		pm_out_text(out, " : ");
		export_plain(out, weight.kind == EXPORT_TIME ? "wall time in ns" : name);
		pm_out_text(out, "\n");
	}
	pm_out_text(out, "events:");
	for (uint32_t c = 0; (name = export_column(model, c, &weight)); c++) {
		pm_out_text(out, " ");
		put_event(out, name);
	}
	pm_out_text(out, "\n\n");
}

static void put_command(struct pm_out *out, const struct pm_snapshot *s)
{
	const char *argument = s->arguments;

	pm_out_text(out, "cmd:");
	if (!argument) {
		pm_out_text(out, " ");
		export_plain(out, s->header.program);
	}
	while (argument && argument < s->arguments + s->arguments_length) {
		pm_out_text(out, " ");
		export_plain(out, argument);
		argument += strlen(argument) + 1;
	}
	pm_out_text(out, "\n");
}

static void put_head(struct pm_out *out, const struct export_profile *profile)
{
	const struct pm_snapshot *s = profile->snapshot;

	pm_out_text(out,
		    "# callgrind format\nversion: 1\ncreator: perfmon " PACKAGE_VERSION
		    "\npositions: line\n");
	pm_out_format(out, "pid: %u\n", s->header.pid);
	put_command(out, s);
	pm_out_text(out, "desc: Functions: paths of regions\n");
	if (profile->model->exact)
		pm_out_text(out, "desc: Values: " PM_REPORT_EXACT "\n");
	put_events(out, profile->model);
	/* Readers look for no source of this file. */
	pm_out_text(out, "fl=(1) ???\n");
}

/* Writes "(NUMBER)", and the path of node N behind it where it is new. */
static void put_path(struct pm_out *out, struct cli_text *entry,
		     const struct pm_report_tree *tree, uint32_t n)
{
	uint32_t line[PM_PATH_NODES], count = 0;

	pm_out_format(out, "(%" PRIu32 ")", entry->number);
	if (!entry->used)
		count = pm_report_path(tree, n, PM_PATH_BYTES, line);
	for (uint32_t i = 0; i < count; i++) {
		pm_out_text(out, i ? " > " : " ");
		if (line[i])
			export_plain(out, pm_path_name(tree, line[i]));
		else /* a reader takes equal names for one function */
			pm_out_format(out, PM_PATH_LEFT "(%" PRIu32 ")", entry->number);
	}
	entry->used = true;
	pm_out_text(out, "\n");
}

static void put_values(struct pm_out *out, struct export_profile *profile,
		       const struct pm_report_tree *tree, uint32_t n, uint64_t *totals)
{
	struct export_weight weight;

	pm_out_text(out, "0");
	for (uint32_t c = 0; export_column(tree->model, c, &weight); c++) {
		uint64_t value = 0;

		/* Readers add what a call has to the caller's values, in which overlapping
		 * visits are not. */
		if (!pm_path(tree, n)->is_overlapping)
			value = export_whole(profile, tree, n, &weight, totals != NULL);
		pm_out_format(out, " %" PRIu64, value);
		if (totals)
			totals[c] = pm_plus(totals[c], value);
	}
	pm_out_text(out, "\n");
}

static void put_node(struct pm_out *out, struct export_profile *profile,
		     const struct pm_report_tree *tree, uint32_t n,
		     struct cli_text **paths, struct export_job *job)
{
	pm_out_text(out, "\nfn=");
	put_path(out, paths[n], tree, n);
	put_values(out, profile, tree, n, job->totals);
	for (uint32_t c = pm_path(tree, n)->first_child; c; c = pm_path(tree, c)->next) {
		/* Readers drop a call whose number is 0, and take its values for the
		 * caller's own. */
		uint64_t calls = pm_path(tree, c)->visits.entered ?: 1;

		pm_out_text(out, "cfn=");
		put_path(out, paths[c], tree, c);
		pm_out_format(out, "calls=%" PRIu64 " 0\n", calls);
		put_values(out, profile, tree, c, NULL);
	}
}

static int put_tree(struct pm_out *out, struct export_profile *profile,
		    const struct pm_report_tree *tree, struct export_job *job)
{
	struct cli_text **paths = calloc(tree->node_count, sizeof(struct cli_text *));
	int err = paths ? 0 : -ENOMEM;

	for (uint32_t n = 1; !err && n < tree->node_count; n++) {
		uint32_t parent = pm_path(tree, n)->parent;

		paths[n] = cli_texts_add(&job->table,
					 parent ? paths[parent]->number : UINT32_MAX,
					 pm_path_name(tree, n));
		if (!paths[n])
			err = -ENOMEM;
	}
	for (uint32_t n = err ? 0 : pm_path_next(tree, 0); n; n = pm_path_next(tree, n))
		put_node(out, profile, tree, n, paths, job);
	free(paths);
	return err;
}

int export_callgrind(struct pm_out *out, struct export_profile *profile,
		     struct export_job *job)
{
	struct export_weight weight;

	if (profile->first) {
		job->totals = calloc(profile->model->event_count + 1, sizeof(uint64_t));
		if (!job->totals)
			return -ENOMEM;
		put_head(out, profile);
	}
	while (export_column(profile->model, job->columns, &weight))
		job->columns++;
	return put_tree(out, profile, profile->tree, job);
}

int export_callgrind_end(struct pm_out *out, struct export_job *job)
{
	struct pm_diag marks = {0};

	pm_out_text(out, "\ntotals:");
	for (uint32_t c = 0; c < job->columns; c++)
		pm_out_format(out, " %" PRIu64, job->totals[c]);
	pm_out_text(out, "\n");
	pm_report_mark_words(job->marks & EXPORT_MARKS, ", ", &marks);
	if (*marks.text) {
		pm_out_text(out, "# Some values have marks in reports: ");
		export_plain(out, marks.text);
		pm_out_text(out, "\n");
	}
	for (uint32_t i = 0; i < job->notes.count; i++) {
		pm_out_text(out, "# Note: ");
		export_plain(out, job->notes.entries[i]->text);
		pm_out_text(out, "\n");
	}
	return 0;
}
