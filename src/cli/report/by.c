/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/report/by.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/cells.h"
#include "core/report/output/escape.h"
#include "core/report/output/json.h"
#include "core/report/table.h"

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

static const char *name_of(const struct by *by, uint32_t region)
{
	return by->regions.entries[region - 1]->text;
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

	return p != q ? (p > q ? -1 : 1) : strcmp(name_of(by, x), name_of(by, y));
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
	char none[] = "", **names = calloc((size_t)by->regions.count + 1, sizeof(char *));
	/* A tree of names needs no more than these. */
	struct pm_snapshot s = {.region_count = by->regions.count, .regions = names};
	struct pm_report_model model = {.snapshot = &s};
	struct pm_report_tree tree;
	int err = names ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i <= by->regions.count; i++)
		names[i] = i ? by->regions.entries[i - 1]->text : none;
	err = err ?: pm_report_tree_list(&tree, &model, table->order, table->count);
	if (err)
		goto out;
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
out:
	free(names);
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
			struct pm_diag words = {0};

			pm_out_csv(out, by->values[v].text);
			pm_out_format(out, ",%u,", by->values[v].processes);
			pm_out_csv(out, name_of(by, region));
			pm_out_text(out, ",");
			if (mean.state == PM_COUNTED)
				pm_out_double(out, mean.value);
			pm_out_text(out, ",");
			pm_report_mark_words(mean.marks, " ", &words);
			pm_out_csv(out, words.text);
			pm_out_text(out, "\r\n");
		}
	}
	return 0;
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
		pm_json_string(&j, "region", name_of(by, table->order[i]));
		pm_json_begin(&j, "cells", "[");
		for (uint32_t v = 0; v < by->value_count; v++) {
			struct pm_value mean = by_mean(&by->values[v], table->order[i]);

			pm_json_begin(&j, NULL, "{");
			pm_json_real(&j, "mean", mean.value, mean.state == PM_COUNTED);
			pm_json_marks(&j, "marks", mean.marks);
			pm_json_close(&j, "}");
		}
		pm_json_close(&j, "]");
		pm_json_close(&j, "}");
	}
	pm_json_close(&j, "]");
	pm_json_close(&j, "}");
	pm_out_text(out, "\n");
	return 0;
}

int by_write(const struct by *by, const struct pm_report_options *how,
	     struct cli_output *output)
{
	bool text = how->format == PM_FORMAT_TEXT || how->format == PM_FORMAT_FLAT;
	struct table table = {.by = by, .count = by->regions.count};
	struct pm_out out = {.sink = cli_output_print, .argument = output};
	int err;

	table.order = malloc(((size_t)table.count + 1) * sizeof(*table.order));
	if (!table.order)
		return -ENOMEM;
	for (uint32_t i = 0; i < table.count; i++)
		table.order[i] = i + 1;
	qsort_r(table.order, table.count, sizeof(*table.order), by_greatest,
		(void *)(uintptr_t)by);
	if (text && how->top && how->top < table.count) {
		table.left_out = table.count - how->top;
		table.count = how->top;
	}
	out.columns = how->columns;
	err = text			     ? text_write(&table, &out)
	      : how->format == PM_FORMAT_CSV ? csv_write(&table, &out)
					     : json_write(&table, &out);
	err = err ?: pm_out_end(&out);
	free(table.order);
	return err;
}
