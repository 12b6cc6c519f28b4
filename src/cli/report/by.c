/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/report/by.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/by_data.h"
#include "core/report/cells.h"
#include "core/report/output/escape.h"
#include "core/report/output/json.h"
#include "core/report/table.h"

/* So many files without the note are named; the rest is counted. */
#define NAMED_MOST 5

/* A table that is being written: of the regions in ORDER, by their numbers. */
struct table {
	const struct by *by;
	uint32_t *order;
	uint32_t count, left_out; /* rows that are shown, and that are not */
	uint32_t marks, states;
	const struct pm_report_tree *tree; /* of text: node i + 1 is region ORDER[i] */
};

static const char *quantity(const struct by *by)
{
	return by->exact ? by->event : "time";
}

/* Returns the greatest mean of REGION. */
static double greatest(const struct by *by, uint32_t region)
{
	double most = 0;

	for (uint32_t v = 0; v < by->value_count; v++) {
		struct pm_value mean = by_mean(&by->values[v], region);

		if (mean.state == PM_COUNTED)
			most = fmax(most, mean.value);
	}
	return most;
}

static int by_greatest(const void *a, const void *b, void *argument)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct by *by = argument;
	double p = greatest(by, x), q = greatest(by, y);

	return p != q ? (p > q ? -1 : 1) : strcmp(by->regions[x], by->regions[y]);
}

static bool fill(void *argument, uint32_t n, struct pm_field *fields)
{
	struct table *table = argument;
	const struct by *by = table->by;

	for (uint32_t v = 0; v < by->value_count; v++) {
		struct pm_value mean = by_mean(&by->values[v], table->order[n - 1]);
		struct pm_cell cell;

		fields[v] = (struct pm_field){.known = mean.state == PM_COUNTED,
					      .value = mean.value};
		pm_cell_value(&cell, &mean, &table->marks, &table->states);
		if (!fields[v].known)
			strcpy(fields[v].text, cell.text);
		memcpy(fields[v].marks, cell.marks, sizeof(cell.marks));
	}
	return true;
}

static int columns_write(struct table *table, struct pm_out *out)
{
	const struct by *by = table->by;
	struct pm_column *columns = calloc(by->value_count, sizeof(*columns));
	char(*titles)[PM_RUN_NOTE_KEY + PM_RUN_NOTE_VALUE + 2] =
		calloc(by->value_count, sizeof(*titles));
	struct pm_table rows = {
		.tree = table->tree,
		.columns = columns,
		.count = by->value_count,
		.fill = fill,
		.argument = table,
	};
	int err = columns && titles ? 0 : -ENOMEM;

	for (uint32_t v = 0; !err && v < by->value_count; v++) {
		snprintf(titles[v], sizeof(titles[v]), "%s=%s", by->key,
			 by->values[v].text);
		columns[v] = (struct pm_column){
			.title = titles[v],
			.kind = by->exact ? PM_COLUMN_EVENT : PM_COLUMN_TIME,
			.unit = by->exact ? by->unit : NULL,
			.like = v ? &columns[0] : NULL,
		};
	}
	if (!err)
		err = pm_table_write(&rows, out);
	free(titles);
	free(columns);
	return err;
}

/* Writes how many processes each column is of. */
static void processes_write(const struct by *by, struct pm_out *out)
{
	pm_out_fold(out, out->columns, strlen("  processes  "));
	pm_out_text(out, "\n  processes  ");
	for (uint32_t v = 0; v < by->value_count; v++) {
		pm_out_format(out, "%s%u with ", v ? ", " : "", by->values[v].processes);
		pm_out_plain(out, by->key, 0);
		pm_out_text(out, "=");
		pm_out_plain(out, by->values[v].text, 0);
	}
	pm_out_text(out, "\n");
	pm_out_fold_end(out);
}

static int text_write(struct table *table, struct pm_out *out)
{
	const struct by *by = table->by;
	/* A tree of names needs no more than these. */
	struct pm_snapshot names = {.region_count = by->region_count,
				    .regions = by->regions};
	struct pm_report_model model = {.snapshot = &names};
	struct pm_report_tree tree;
	int err = pm_report_tree_list(&tree, &model, table->order, table->count);

	if (err)
		return err;
	table->tree = &tree;
	pm_out_text(out, "mean ");
	pm_out_plain(out, quantity(by), 0);
	pm_out_text(out, " of a process by ");
	pm_out_plain(out, by->key, 0);
	pm_out_text(out, ", inclusive:\n");
	err = columns_write(table, out);
	if (!err && table->left_out)
		pm_out_format(out, "\n  left out %u row%s\n", table->left_out,
			      table->left_out == 1 ? "" : "s");
	if (!err) {
		processes_write(by, out);
		pm_report_text_legend(out, table->marks, table->states);
	}
	pm_report_tree_free(&tree);
	return err;
}

static int csv_write(struct table *table, struct pm_out *out)
{
	const struct by *by = table->by;

	pm_out_csv(out, by->key);
	pm_out_text(out, ",processes,region,mean,marks\r\n");
	for (uint32_t v = 0; v < by->value_count; v++) {
		for (uint32_t i = 0; i < table->count; i++) {
			uint32_t region = table->order[i];
			struct pm_value mean = by_mean(&by->values[v], region);
			const char *between = "";

			pm_out_csv(out, by->values[v].text);
			pm_out_format(out, ",%u,", by->values[v].processes);
			pm_out_csv(out, by->regions[region]);
			pm_out_text(out, ",");
			if (mean.state == PM_COUNTED)
				pm_out_double(out, mean.value);
			pm_out_text(out, ",");
			for (uint32_t m = 0; m < PM_MARKS; m++) {
				if (!(mean.marks & 1u << m))
					continue;
				pm_out_text(out, between);
				pm_out_text(out, pm_report_mark_name(1u << m));
				between = " ";
			}
			pm_out_text(out, "\r\n");
		}
	}
	return 0;
}

static void json_cell(struct pm_json *j, const struct pm_value *mean)
{
	pm_json_begin(j, NULL, "{");
	pm_json_real(j, "mean", mean->value, mean->state == PM_COUNTED);
	pm_json_begin(j, "marks", "[");
	for (uint32_t m = 0; m < PM_MARKS; m++)
		if (mean->marks & 1u << m)
			pm_json_string(j, NULL, pm_report_mark_name(1u << m));
	pm_json_close(j, "]");
	pm_json_close(j, "}");
}

static int json_write(struct table *table, struct pm_out *out)
{
	const struct by *by = table->by;
	struct pm_json j = {.out = out, .first = true};

	pm_json_begin(&j, NULL, "{");
	pm_json_string(&j, "key", by->key);
	pm_json_string(&j, "quantity", quantity(by));
	pm_json_string(&j, "unit", by->exact ? by->unit : "ns");
	pm_json_begin(&j, "columns", "[");
	for (uint32_t v = 0; v < by->value_count; v++) {
		pm_json_begin(&j, NULL, "{");
		pm_json_string(&j, "value", by->values[v].text);
		pm_json_number(&j, "processes", by->values[v].processes);
		pm_json_close(&j, "}");
	}
	pm_json_close(&j, "]");
	pm_json_begin(&j, "rows", "[");
	for (uint32_t i = 0; i < table->count; i++) {
		pm_json_begin_line(&j);
		pm_json_string(&j, "region", by->regions[table->order[i]]);
		pm_json_begin(&j, "cells", "[");
		for (uint32_t v = 0; v < by->value_count; v++) {
			struct pm_value mean = by_mean(&by->values[v], table->order[i]);

			json_cell(&j, &mean);
		}
		pm_json_close(&j, "]");
		pm_json_close(&j, "}");
	}
	pm_json_close(&j, "]");
	pm_json_close(&j, "}");
	pm_out_text(out, "\n");
	return 0;
}

/* Writes BY through OUTPUT. */
static int table_write(const struct by *by, const struct pm_report_options *how,
		       struct cli_output *output)
{
	bool text = how->format == PM_FORMAT_TEXT || how->format == PM_FORMAT_FLAT;
	struct table table = {.by = by, .count = by->region_count};
	struct pm_out *out = calloc(1, sizeof(*out));
	int err;

	table.order = malloc((by->region_count + 1) * sizeof(*table.order));
	if (!out || !table.order) {
		free(table.order);
		free(out);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < by->region_count; i++)
		table.order[i] = i + 1;
	qsort_r(table.order, table.count, sizeof(*table.order), by_greatest,
		(void *)(uintptr_t)by);
	if (text && how->top && how->top < table.count) {
		table.left_out = table.count - how->top;
		table.count = how->top;
	}
	out->sink = cli_output_print;
	out->argument = output;
	out->columns = how->columns;
	err = text			     ? text_write(&table, out)
	      : how->format == PM_FORMAT_CSV ? csv_write(&table, out)
					     : json_write(&table, out);
	if (!err)
		err = pm_out_end(out);
	free(table.order);
	free(out);
	return err;
}

/* Profiles without the note. */
struct lacking {
	size_t count;
	const char *names[NAMED_MOST];
};

/* Adds the profile of SOURCE. Returns an exit status, after a message. */
static int source_add(struct by *by, const struct cli_source *source,
		      struct lacking *lacking)
{
	struct pm_snapshot *snapshot;
	struct pm_diag diag = {0};
	int err = cli_source_read(source, &snapshot, &diag);

	if (err) {
		cli_progress_end();
		cli_complain("report", "%s", diag.text);
		return CLI_FAILED;
	}
	err = by_add(by, snapshot, &diag);
	pm_snapshot_free(snapshot);
	if (err == -ENODATA) {
		if (lacking->count < NAMED_MOST)
			lacking->names[lacking->count] = source->name;
		lacking->count++;
		return 0;
	}
	if (err) {
		cli_progress_end();
		cli_complain("report", "'%s': %s", source->name, diag.text);
	}
	return err ? CLI_FAILED : 0;
}

/* Names the profiles that are in no column. */
static void lacking_tell(const char *key, const struct lacking *lacking)
{
	for (size_t i = 0; i < lacking->count && i < NAMED_MOST; i++)
		cli_complain("report", "'%s' is left out: it has no note '%s'",
			     lacking->names[i], key);
	if (lacking->count > NAMED_MOST)
		cli_complain("report", "%zu more have no note '%s'",
			     lacking->count - NAMED_MOST, key);
}

static int output_write(const struct by *by, const struct pm_report_options *how,
			const char *path)
{
	struct pm_report_options options = *how;
	struct cli_output output;

	if (cli_output_begin(&output, "report", path, pm_format_suffix(how->format)))
		return CLI_FAILED;
	if (!output.path &&
	    (how->format == PM_FORMAT_TEXT || how->format == PM_FORMAT_FLAT)) {
		options.columns = cli_columns();
		cli_pager_begin();
	}
	return cli_output_end(&output, table_write(by, &options, &output));
}

int cli_report_by(const struct cli_sources *sources, const char *key,
		  const struct pm_report_options *how, const char *output)
{
	struct lacking lacking = {.count = 0};
	struct by by;
	int status = 0, failed;

	if (by_begin(&by, key, how->subtract_bias)) {
		cli_complain("report", "%s", strerror(ENOMEM));
		by_free(&by);
		return CLI_FAILED;
	}
	for (size_t i = 0; i < sources->count; i++) {
		cli_progress(i, sources->count, "profiles");
		failed = source_add(&by, &sources->at[i], &lacking);
		status = failed ?: status;
	}
	cli_progress_end();
	by_end(&by);
	lacking_tell(key, &lacking);
	if (by.value_count) {
		failed = output_write(&by, how, output);
		status = failed ?: status;
	} else if (!status) {
		cli_complain("report",
			     "--by: no profile has a note '%s': give one by perfmon "
			     "run --note %s=VALUE",
			     key, key);
		status = CLI_USAGE;
	}
	by_free(&by);
	return status;
}
