/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Caliper's json-split, as Hatchet reads it: an object with the names of columns, a row of values
 * for each path, and the tree of paths. The column "path" of a row is the place of its path in
 * this tree. Other members of the object are metadata.
 *
 * Hatchet takes a metric for inclusive if its name contains "(inc)", and "time" is in seconds.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/export/export.h"
#include "core/report/model/times.h"
#include "core/report/output/json.h"
#include "core/text/text.h"

static void put_name(struct pm_json *j, const char *name, const char *suffix)
{
	char text[200];

	snprintf(text, sizeof(text), "%.*s%s", pm_text_cut(name, 150), name, suffix);
	pm_json_string(j, NULL, text);
}

static void put_columns(struct pm_json *j, const struct pm_report_model *model,
			bool ranks)
{
	struct export_weight weight;
	const char *name;
	uint32_t values = 1;

	pm_json_begin(j, "columns", "[");
	pm_json_string(j, NULL, "path");
	if (ranks)
		pm_json_string(j, NULL, "mpi.rank");
	pm_json_string(j, NULL, "visits");
	for (uint32_t c = 0; (name = export_column(model, c, &weight));
	     c++, values += 2) {
		put_name(j, name, "");
		put_name(j, name, " (inc)");
	}
	pm_json_close(j, "]");
	pm_json_begin(j, "column_metadata", "[");
	for (uint32_t i = 0; i < 1 + ranks + values; i++) {
		pm_json_begin(j, NULL, "{");
		pm_json_bool(j, "is_value", i > 0);
		pm_json_close(j, "}");
	}
	pm_json_close(j, "]");
}

static void put_command(struct pm_json *j, const struct pm_snapshot *s)
{
	const char *argument = s->arguments;

	pm_json_begin(j, "arguments", "[");
	while (argument && argument < s->arguments + s->arguments_length) {
		pm_json_string(j, NULL, argument);
		argument += strlen(argument) + 1;
	}
	pm_json_close(j, "]");
}

static void put_head(struct pm_json *j, const struct export_profile *profile,
		     const struct export_job *job)
{
	const struct pm_snapshot *s = profile->snapshot;
	char date[40];

	pm_report_date(date, sizeof(date), s->header.begin_realtime_ns, true);
	pm_json_begin(j, NULL, "{");
	pm_json_string(j, "perfmon", PACKAGE_VERSION);
	pm_json_string(j, "program", s->header.program);
	put_command(j, s);
	pm_json_string(j, "host", s->header.host);
	pm_json_string(j, "date", date);
	pm_json_number(j, "processes", job->profiles);
	if (profile->model->exact)
		pm_json_string(j, "counted", PM_REPORT_EXACT);
	put_columns(j, profile->model, job->ranks || job->profiles > 1);
	pm_json_begin(j, "data", "[");
}

static void put_value(struct pm_json *j, struct export_profile *profile,
		      const struct pm_report_tree *tree, uint32_t n,
		      const struct export_weight *weight, bool exclusive)
{
	struct pm_value value = export_weigh(tree, n, weight, exclusive);
	double scale = 1e-9; /* of ns */

	if (weight->kind == EXPORT_EVENT)
		scale = tree->model->events[weight->index].first->scale;
	if (value.state == PM_COUNTED)
		profile->marks |= value.marks;
	pm_json_real(j, NULL, value.value * scale, value.state == PM_COUNTED);
}

static void put_row(struct pm_json *j, struct export_profile *profile,
		    const struct pm_report_tree *tree, uint32_t n, uint32_t number,
		    const struct export_job *job)
{
	const struct pm_path *path = pm_path(tree, n);
	struct export_weight weight;

	pm_json_key(j, NULL);
	pm_out_text(j->out, "\n[");
	j->first = true;
	pm_json_number(j, NULL, number);
	if (job->ranks)
		pm_json_signed(j, NULL, profile->snapshot->header.rank);
	else if (job->profiles > 1)
		pm_json_number(j, NULL, profile->number);
	/* Another run alone may have visited the path. */
	pm_json_known(j, NULL, path->visits.ended, path->threads.count);
	for (uint32_t c = 0; export_column(tree->model, c, &weight); c++) {
		put_value(j, profile, tree, n, &weight, true);
		put_value(j, profile, tree, n, &weight, false);
	}
	pm_json_close(j, "]");
}

static int put_tree(struct pm_json *j, struct export_profile *profile,
		    const struct pm_report_tree *tree, struct export_job *job)
{
	uint32_t *paths = calloc(tree->node_count, sizeof(*paths));
	int err = paths ? 0 : -ENOMEM;

	for (uint32_t n = err ? 0 : pm_path_next(tree, 0); n; n = pm_path_next(tree, n)) {
		uint32_t parent = pm_path(tree, n)->parent;
		struct cli_text *entry =
			export_add_plain(&job->table, parent ? paths[parent] : UINT32_MAX,
					 pm_path_name(tree, n));

		err = entry ? 0 : -ENOMEM;
		if (err)
			break;
		paths[n] = entry->number;
		put_row(j, profile, tree, n, paths[n], job);
	}
	free(paths);
	return err;
}

int export_split(struct pm_out *out, struct export_profile *profile,
		 struct export_job *job)
{
	struct pm_json j = {.out = out, .first = true};
	int err;

	if (profile->first)
		put_head(&j, profile, job);
	else
		j.first = !job->any;
	err = put_tree(&j, profile, profile->tree, job);
	job->any |= !j.first;
	return err;
}

int export_split_end(struct pm_out *out, struct export_job *job)
{
	struct pm_json j = {.out = out};
	struct pm_diag marks = {0};

	pm_json_close(&j, "]");
	pm_json_begin(&j, "nodes", "[");
	for (uint32_t i = 0; i < job->table.count; i++) {
		const struct cli_text *entry = job->table.entries[i];

		pm_json_begin_line(&j);
		pm_json_string(&j, "label", entry->text);
		pm_json_string(&j, "column", "path");
		if (entry->above != UINT32_MAX)
			pm_json_number(&j, "parent", entry->above);
		pm_json_close(&j, "}");
	}
	pm_json_close(&j, "]");
	pm_report_mark_words(job->marks & EXPORT_MARKS, ", ", &marks);
	if (*marks.text)
		pm_json_string(&j, "marks of some values", marks.text);
	pm_json_begin(&j, "notes", "[");
	for (uint32_t i = 0; i < job->notes.count; i++)
		pm_json_string(&j, NULL, job->notes.entries[i]->text);
	pm_json_close(&j, "]");
	pm_json_close(&j, "}");
	pm_out_text(out, "\n");
	return 0;
}
