/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of a text report. It is made twice, to measure its columns and to print, so
 * that no copy of it is held. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/report_formats.h"

/* A region's name may take this many columns; paths deeper than this are indented no
 * further and numbered. */
#define NAME_WIDTH   48
#define INDENT_DEPTH 24

#define FIXED_COLUMNS 6 /* visits, inclusive, exclusive, share, mean, stddev */

struct cell {
	char text[PM_CELL];
	char marks[24];
};

struct column {
	const char *heading;
	size_t width, marks;
};

struct table {
	const struct pm_report_tree *tree;
	size_t name_width;
	uint32_t count;
	struct column *columns;
	struct cell *row;
	uint32_t marks, states;
};

static void cell_marks(char *to, size_t size, const struct pm_value *value, uint32_t *all)
{
	static const struct {
		uint32_t bits;
		char letter;
	} letters[] = {
		{PM_MARK_RETRIED, 'r'},
		{PM_MARK_FALLBACK, 'f'},
		{PM_MARK_DROPPED, 'd'},
		{PM_MARK_THREADS, 'p'},
		{PM_MARK_DEFECT, 'x'},
		{PM_MARK_MISMATCHED, '!'},
		{PM_MARK_IN_FLIGHT | PM_MARK_TORN, '?'},
	};
	size_t used = 0;

	*all |= value->marks;
	to[0] = '\0';
	if (!value->marks)
		return;
	to[used++] = ' ';
	if (value->marks & (PM_MARK_MULTIPLEXED | PM_MARK_PART)) {
		int percent = (int)(100 * value->coverage + 0.5);

		/* Not "100" for what is not all, nor "0" for what is something. */
		percent = percent > 99 ? 99 : percent < 1 ? 1 : percent;
		used += (size_t)snprintf(to + used, size - used, "%c%d%%",
					 value->marks & PM_MARK_PART ? '<' : '~',
					 percent);
	}
	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (value->marks & letters[i].bits && used + 1 < size)
			to[used++] = letters[i].letter;
	to[used] = '\0';
}

static void cell_value(struct table *table, struct cell *cell,
		       const struct pm_value *value)
{
	table->states |= 1u << value->state;
	cell->marks[0] = '\0';
	if (value->state == PM_NEVER_OPENED)
		strcpy(cell->text, "n/a");
	else
		cell_marks(cell->marks, sizeof(cell->marks), value, &table->marks);
	if (value->state == PM_NOT_COUNTED)
		strcpy(cell->text, "-");
}

static void cell_event(struct table *table, struct cell *cell,
		       const struct pm_value *value,
		       const struct perfmon_profile_counter *counter)
{
	double scaled = value->value * counter->scale;

	cell_value(table, cell, value);
	if (value->state != PM_COUNTED)
		return;
	if (!strcmp(counter->unit, "ns"))
		pm_cell_time(cell->text, scaled);
	else if (counter->unit[0])
		pm_cell_unit(cell->text, scaled, counter->unit);
	else
		pm_cell_count(cell->text, scaled);
}

static void cell_metric(struct table *table, struct cell *cell,
			const struct pm_value *value, const struct pm_metric *metric)
{
	cell_value(table, cell, value);
	if (value->state != PM_COUNTED)
		return;
	/* The headings of built-in ones say what they are. */
	if (metric->heading)
		pm_cell_fixed(cell->text, value->value, 2);
	else if (!strcmp(metric->unit, "ns") && value->value >= 0)
		pm_cell_time(cell->text, value->value);
	else if (!strcmp(metric->unit, "%"))
		strcat(pm_cell_number(cell->text, value->value), " %");
	else if (*metric->unit)
		pm_cell_unit(cell->text, value->value, metric->unit);
	else
		pm_cell_number(cell->text, value->value);
}

static void cell_ticks(struct table *table, struct cell *cell, double ticks)
{
	cell->marks[0] = '\0';
	if (ticks < 0)
		cell->text[0] = '\0';
	else
		pm_cell_time(cell->text,
			     pm_snapshot_ns(table->tree->model->snapshot, ticks));
}

static void row_fill(struct table *table, uint32_t n)
{
	const struct pm_report_tree *tree = table->tree;
	const struct pm_report_model *model = tree->model;
	const struct pm_report_node *node = &tree->nodes[n];
	struct pm_value value;
	struct cell *cell = table->row;

	pm_cell_count(cell->text, (double)node->visits);
	cell->marks[0] = '\0';
	cell++;
	for (int exclusive = 0; exclusive < 2; exclusive++) {
		value = pm_report_time(tree, n, exclusive);
		cell_value(table, cell, &value);
		if (value.state == PM_COUNTED)
			pm_cell_time(cell->text,
				     pm_snapshot_ns(model->snapshot, value.value));
		cell++;
	}
	cell->marks[0] = cell->text[0] = '\0';
	if (value.state == PM_COUNTED && tree->total_ticks)
		pm_cell_fixed(cell->text, 100 * value.value / (double)tree->total_ticks,
			      1);
	cell++;
	cell_ticks(table, cell++, pm_report_mean(node));
	cell_ticks(table, cell++, pm_report_deviation(node));
	for (uint32_t e = 0; e < model->event_count; e++) {
		value = pm_report_count(tree, n, e, tree->flat);
		cell_event(table, cell++, &value, model->events[e].first);
	}
	for (uint32_t m = 0; m < model->metric_count; m++) {
		value = pm_report_metric(tree, n, m, tree->flat);
		cell_metric(table, cell++, &value, model->metrics[m].metric);
	}
}

/* The name's column; its width. OUT may be NULL. */
static size_t name_write(const struct pm_report_tree *tree, uint32_t n,
			 struct pm_out *out)
{
	uint32_t depth = tree->nodes[n].depth - 1;
	char number[16] = "";
	size_t width = 2 * (size_t)(depth < INDENT_DEPTH ? depth : INDENT_DEPTH);

	if (depth > INDENT_DEPTH)
		snprintf(number, sizeof(number), "[%u] ", depth);
	if (out) {
		pm_out_repeat(out, ' ', width);
		pm_out_text(out, number);
	}
	return width + strlen(number) +
	       pm_out_plain(out, pm_report_name(tree, n), NAME_WIDTH);
}

static void measure(struct table *table)
{
	table->name_width = strlen("region");
	for (uint32_t c = 0; c < table->count; c++)
		table->columns[c].width =
			pm_out_plain(NULL, table->columns[c].heading, 0);
	for (uint32_t n = 0; (n = pm_report_tree_next(table->tree, n));) {
		size_t width = name_write(table->tree, n, NULL);

		if (width > table->name_width)
			table->name_width = width;
		row_fill(table, n);
		for (uint32_t c = 0; c < table->count; c++) {
			struct column *column = &table->columns[c];
			size_t marks = strlen(table->row[c].marks);

			width = strlen(table->row[c].text);
			if (width > column->width)
				column->width = width;
			if (marks > column->marks)
				column->marks = marks;
		}
	}
}

static void print(struct table *table, struct pm_out *out)
{
	size_t blanks;

	pm_out_text(out, "region");
	blanks = table->name_width - strlen("region");
	for (uint32_t c = 0; c < table->count; c++) {
		struct column *column = &table->columns[c];

		pm_out_repeat(out, ' ',
			      blanks + 2 + column->width -
				      pm_out_plain(NULL, column->heading, 0));
		pm_out_plain(out, column->heading, 0);
		blanks = column->marks;
	}
	pm_out_text(out, "\n");
	for (uint32_t n = 0; (n = pm_report_tree_next(table->tree, n));) {
		blanks = table->name_width - name_write(table->tree, n, out);
		row_fill(table, n);
		for (uint32_t c = 0; c < table->count; c++) {
			const struct cell *cell = &table->row[c];
			size_t width = table->columns[c].width + 2 - strlen(cell->text);

			/* No blanks at the end of a line. */
			if (!cell->text[0]) {
				blanks += width + table->columns[c].marks;
				continue;
			}
			pm_out_repeat(out, ' ', blanks + width);
			pm_out_text(out, cell->text);
			pm_out_text(out, cell->marks);
			blanks = table->columns[c].marks - strlen(cell->marks);
		}
		pm_out_text(out, "\n");
	}
}

/* The table of TREE; adds to *MARKS and *STATES what is to be explained. */
static int table_write(const struct pm_report_tree *tree, struct pm_out *out,
		       uint32_t *marks, uint32_t *states)
{
	static const char *const headings[FIXED_COLUMNS] = {
		"visits", "inclusive", "exclusive", "share%", "mean", "stddev"};
	const struct pm_report_model *model = tree->model;
	struct table table = {.tree = tree};
	int err = 0;

	table.count = FIXED_COLUMNS + model->event_count + model->metric_count;
	table.columns = calloc(table.count, sizeof(*table.columns));
	table.row = calloc(table.count, sizeof(*table.row));
	if (table.columns && table.row) {
		for (uint32_t c = 0; c < FIXED_COLUMNS; c++)
			table.columns[c].heading = headings[c];
		for (uint32_t e = 0; e < model->event_count; e++)
			table.columns[FIXED_COLUMNS + e].heading = model->events[e].name;
		for (uint32_t m = 0; m < model->metric_count; m++)
			table.columns[FIXED_COLUMNS + model->event_count + m].heading =
				pm_report_metric_heading(&model->metrics[m]);
		measure(&table);
		print(&table, out);
		*marks |= table.marks;
		*states |= table.states;
	} else {
		err = -ENOMEM;
	}
	free(table.columns);
	free(table.row);
	return err;
}

/* TREE as it is, or by region. */
static int tree_write(const struct pm_report *report, const struct pm_report_tree *tree,
		      struct pm_out *out, uint32_t *marks, uint32_t *states)
{
	struct pm_report_tree flat;
	int err;

	if (tree->node_count < 2) {
		pm_out_text(out, "no region was entered\n");
		return 0;
	}
	if (report->options->format != PM_FORMAT_FLAT)
		return table_write(tree, out, marks, states);
	err = pm_report_tree_flatten(&flat, tree);
	if (err)
		return err;
	err = table_write(&flat, out, marks, states);
	pm_report_tree_free(&flat);
	return err;
}

static void thread_title(const struct pm_report *report, uint32_t t, struct pm_out *out)
{
	const struct pm_snapshot *s = report->snapshot;
	const struct pm_snapshot_thread *thread = &s->threads[t];
	char time[PM_CELL];

	if (thread->record.state == PERFMON_THREAD_FOLDED) {
		pm_out_format(out, "\nended threads, %u of them, summed:\n",
			      thread->record.folded);
		return;
	}
	if (thread->record.state == PERFMON_THREAD_LIVE && report->options->has_died)
		strcpy(time, "when its process died");
	else
		pm_cell_time(time, pm_report_lifetime(s, thread));
	pm_out_format(out, "\nthread %u", thread->record.tid);
	if (thread->record.name[0]) {
		pm_out_text(out, " (");
		pm_out_plain(out, thread->record.name, 0);
		pm_out_text(out, ")");
	}
	pm_out_format(out, ", %s, %s:\n",
		      thread->record.state == PERFMON_THREAD_LIVE ? "running" : "ended",
		      time);
}

int pm_report_text(const struct pm_report *report, struct pm_out *out)
{
	uint32_t marks = 0, states = 0;
	int err;

	pm_report_text_head(report, out);
	err = tree_write(report, report->all, out, &marks, &states);
	for (uint32_t t = 0;
	     !err && report->options->per_thread && t < report->snapshot->thread_count;
	     t++) {
		struct pm_report_tree tree;

		err = pm_report_tree_make(&tree, report->model, t);
		if (err)
			break;
		thread_title(report, t, out);
		err = tree_write(report, &tree, out, &marks, &states);
		pm_report_tree_free(&tree);
	}
	if (err)
		return err;
	pm_report_text_legend(report, out, marks, states);
	pm_report_text_notes(report, out);
	return 0;
}
