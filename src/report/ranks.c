/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables of a text report of many processes: how the time and each event of a path
 * differ between them. As the table above them, each is made twice, to measure and to
 * print. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/merge.h"
#include "report/cells.h"
#include "report/formats.h"

enum column { PRESENT, SUM, MEAN, MIN, MIN_AT, MAX, MAX_AT, IMBALANCE, COLUMNS };

struct table {
	const struct pm_merge *merge;
	const struct pm_report_tree *tree;
	const uint32_t *paths;
	uint32_t quantity;
	const struct pm_report_event *event; /* NULL: it is a time */
	bool some_unknown;
	uint32_t used_marks;
	struct pm_cell marks; /* behind the row */
	size_t name_width, width[COLUMNS];
	char row[COLUMNS][PM_MERGE_LABEL];
};

struct pm_range pm_report_range(const struct pm_merge *merge, bool flat, uint32_t path,
				const struct pm_report_event *event)
{
	struct pm_range range =
		pm_merge_range(merge, flat, path, pm_merge_quantity(merge, event));

	/* Known of the machine, which is all of theirs. */
	if (range.counted && event->erratum)
		range.marks |= PM_MARK_ERRATUM;
	return range;
}

static const char *heading(const struct table *table, int column)
{
	static const char *const headings[COLUMNS] = {
		[SUM] = "sum",
		[MEAN] = "mean",
		[MIN] = "min",
		[MAX] = "max",
		[IMBALANCE] = "imbalance%",
	};
	bool ranks = pm_merge_has_ranks(table->merge);

	if (column == PRESENT)
		return ranks ? "ranks" : "processes";
	if (column == MIN_AT || column == MAX_AT)
		return ranks ? "rank" : "pid";
	return headings[column];
}

static void value_write(const struct table *table, double value, char *text)
{
	struct pm_value counted = {.state = PM_COUNTED, .value = value};
	struct pm_cell cell;

	if (!table->event) {
		pm_cell_time(text, value);
		return;
	}
	pm_cell_event(&cell, &counted, table->event->first);
	strcpy(text, cell.text);
}

static void row_fill(struct table *table, uint32_t n)
{
	bool flat = table->tree->flat;
	uint32_t path = table->paths[n];
	struct pm_range range =
		table->event ? pm_report_range(table->merge, flat, path, table->event)
			     : pm_merge_range(table->merge, flat, path, table->quantity);
	/* Of one, as far off and as little counted as any. */
	struct pm_value marked = {
		.state = PM_COUNTED,
		.value = 1,
		.error = range.error,
		.coverage = range.coverage,
		.marks = range.marks,
	};
	uint32_t states = 0;
	const double values[COLUMNS] = {
		[SUM] = range.sum,
		[MEAN] = range.mean,
		[MIN] = range.min,
		[MAX] = range.max,
	};

	pm_cell_value(&table->marks, &marked, &table->used_marks, &states);
	for (int c = 0; c < COLUMNS; c++) {
		char *cell = table->row[c];

		switch ((enum column)c) {
		case PRESENT:
			snprintf(cell, PM_MERGE_LABEL, "%u%s", range.counted,
				 range.counted < range.present ? "?" : "");
			table->some_unknown |= range.counted < range.present;
			continue;
		case SUM:
		case MEAN:
		case MIN:
		case MAX:
			value_write(table, values[c], cell);
			break;
		case MIN_AT:
		case MAX_AT:
			cell[0] = '\0';
			if (range.counted)
				pm_merge_label(table->merge,
					       c == MIN_AT ? range.min_process
							   : range.max_process,
					       cell);
			continue;
		default:
			if (range.imbalance >= 0)
				pm_cell_fixed(cell, range.imbalance, 1);
			else
				strcpy(cell, "-");
		}
		if (!range.counted)
			strcpy(cell, "-");
	}
}

static void measure(struct table *table)
{
	table->name_width = strlen("region");
	for (int c = 0; c < COLUMNS; c++)
		table->width[c] = strlen(heading(table, c));
	for (uint32_t n = 0; (n = pm_report_tree_next(table->tree, n));) {
		size_t width = pm_cell_name(table->tree, n, NULL);

		if (width > table->name_width)
			table->name_width = width;
		row_fill(table, n);
		for (int c = 0; c < COLUMNS; c++) {
			width = pm_out_plain(NULL, table->row[c], 0);
			if (width > table->width[c])
				table->width[c] = width;
		}
	}
}

/* TEXT at the right of its column, BLANKS after what stands there so far. */
static size_t cell_print(struct table *table, int c, size_t blanks, const char *text,
			 struct pm_out *out)
{
	size_t before = blanks + 2 + table->width[c] - pm_out_plain(NULL, text, 0);

	/* No blanks at the end of a line. */
	if (!text[0])
		return before;
	pm_out_repeat(out, ' ', before);
	pm_out_plain(out, text, 0);
	return 0;
}

static void print(struct table *table, struct pm_out *out)
{
	size_t blanks = table->name_width - strlen("region");

	pm_out_text(out, "region");
	for (int c = 0; c < COLUMNS; c++)
		blanks = cell_print(table, c, blanks, heading(table, c), out);
	pm_out_text(out, "\n");
	for (uint32_t n = 0; (n = pm_report_tree_next(table->tree, n));) {
		blanks = table->name_width - pm_cell_name(table->tree, n, out);
		row_fill(table, n);
		for (int c = 0; c < COLUMNS; c++)
			blanks = cell_print(table, c, blanks, table->row[c], out);
		pm_out_text(out, table->marks.marks);
		pm_out_text(out, "\n");
	}
}

static void table_write(struct table *table, struct pm_out *out)
{
	uint32_t of = pm_merge_open_count(table->merge, table->quantity);
	uint32_t all = pm_merge_process_count(table->merge);

	if (!of)
		return;
	pm_out_text(out, "\n");
	pm_out_plain(out, table->event ? table->event->name : "time", 0);
	pm_out_format(out, " over %u", of);
	if (of < all)
		pm_out_format(out, " of %u", all);
	pm_out_format(out, " %s, %s:\n",
		      pm_merge_has_ranks(table->merge) ? "ranks" : "processes",
		      table->tree->flat ? "exclusive" : "inclusive");
	measure(table);
	print(table, out);
}

int pm_report_ranks(const struct pm_report *report, const struct pm_report_tree *tree,
		    struct pm_out *out, uint32_t *marks)
{
	const struct pm_merge *merge = report->options->merge;
	struct table table = {.merge = merge, .tree = tree};
	uint32_t *paths = malloc(tree->node_count * sizeof(*paths));

	if (!paths)
		return -ENOMEM;
	pm_merge_paths(merge, tree, paths);
	table.paths = paths;
	table.quantity = tree->flat ? PM_RANGE_EXCLUSIVE : PM_RANGE_TIME;
	table_write(&table, out);
	for (uint32_t e = 0; e < tree->model->event_count; e++) {
		table.event = &tree->model->events[e];
		table.quantity = pm_merge_quantity(merge, table.event);
		table_write(&table, out);
	}
	if (table.some_unknown)
		pm_out_format(out,
			      "\n  ?    in the column of %s: others entered this region, "
			      "and their counts are unknown\n",
			      heading(&table, PRESENT));
	*marks |= table.used_marks;
	free(paths);
	return 0;
}
