/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of a text report. It is made twice, to measure its columns and to print, so
 * that no copy of it is held. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/cells.h"
#include "report/formats.h"

#define FIXED_COLUMNS 6 /* visits, inclusive, exclusive, share, mean, stddev */

struct column {
	const char *heading;
	size_t width, marks;
};

struct table {
	const struct pm_report_tree *tree;
	size_t name_width;
	uint32_t count;
	struct column *columns;
	struct pm_cell *row;
	uint32_t marks, states;
};

static void cell_ticks(struct table *table, struct pm_cell *cell, double ticks)
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
	struct pm_cell *cell = table->row;

	pm_cell_count(cell->text, (double)node->visits);
	cell->marks[0] = '\0';
	cell++;
	for (int exclusive = 0; exclusive < 2; exclusive++) {
		value = pm_report_time(tree, n, exclusive);
		pm_cell_value(cell, &value, &table->marks, &table->states);
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
		pm_cell_value(cell, &value, &table->marks, &table->states);
		if (value.state == PM_COUNTED)
			pm_cell_event(cell, &value, model->events[e].first);
		cell++;
	}
	for (uint32_t m = 0; m < model->metric_count; m++) {
		value = pm_report_metric(tree, n, m, tree->flat);
		pm_cell_value(cell, &value, &table->marks, &table->states);
		if (value.state == PM_COUNTED)
			pm_cell_metric(cell, &value, model->metrics[m].metric);
		cell++;
	}
}

static void measure(struct table *table)
{
	table->name_width = strlen("region");
	for (uint32_t c = 0; c < table->count; c++)
		table->columns[c].width =
			pm_out_plain(NULL, table->columns[c].heading, 0);
	for (uint32_t n = 0; (n = pm_report_tree_next(table->tree, n));) {
		size_t width = pm_cell_name(table->tree, n, NULL);

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
		blanks = table->name_width - pm_cell_name(table->tree, n, out);
		row_fill(table, n);
		for (uint32_t c = 0; c < table->count; c++) {
			const struct pm_cell *cell = &table->row[c];
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

/* The table, and for several processes how it differs between them. */
static int tables_write(const struct pm_report *report, const struct pm_report_tree *tree,
			struct pm_out *out, uint32_t *marks, uint32_t *states)
{
	int err = table_write(tree, out, marks, states);

	return err || !report->options->merge ? err
					      : pm_report_ranks(report, tree, out, marks);
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
		return tables_write(report, tree, out, marks, states);
	err = pm_report_tree_flatten(&flat, tree);
	if (err)
		return err;
	err = tables_write(report, &flat, out, marks, states);
	pm_report_tree_free(&flat);
	return err;
}

/* The trees of the machine's objects. */
static int groups_write(const struct pm_report *report, struct pm_out *out,
			uint32_t *marks, uint32_t *states)
{
	int err = 0;

	for (uint32_t g = 0; g < report->groups.count && !err; g++) {
		const struct pm_report_group *group = &report->groups.groups[g];
		struct pm_report_tree tree;

		err = pm_report_tree_make_of(&tree, report->model, group->threads,
					     group->count);
		if (err)
			break;
		if (group->cpus[0])
			pm_out_format(out, "\n%s (CPU %s)", group->name, group->cpus);
		else
			pm_out_format(out,
				      !strcmp(group->name, "several")
					      ? "\nnot within one %s"
					      : "\nwithin an unknown %s",
				      pm_level_noun(report->groups.level));
		pm_out_format(out, ", %llu thread%s:\n",
			      (unsigned long long)group->weight,
			      group->weight == 1 ? "" : "s");
		err = tree_write(report, &tree, out, marks, states);
		pm_report_tree_free(&tree);
	}
	return err;
}

static void thread_title(const struct pm_report *report, uint32_t t, struct pm_out *out)
{
	const struct pm_snapshot *s = report->snapshot;
	const struct pm_snapshot_thread *thread = &s->threads[t];
	char time[PM_CELL], cpus[128];

	pm_report_cpus(&thread->record, cpus, sizeof(cpus));
	if (thread->record.state == PERFMON_PROFILE_THREAD_STATE_AGGREGATE) {
		pm_out_format(out, "\nended threads, %u of them, summed",
			      thread->record.aggregated);
		if (cpus[0])
			pm_out_format(out, " (CPU %s)", cpus);
		pm_out_text(out, ":\n");
		return;
	}
	pm_cell_time(time, pm_report_lifetime(s, thread));
	pm_out_format(out, "\nthread %u", thread->record.tid);
	if (thread->record.name[0]) {
		pm_out_text(out, " (");
		pm_out_plain(out, thread->record.name, 0);
		pm_out_text(out, ")");
	}
	pm_out_format(out, ", %s%s:\n",
		      thread->record.state != PERFMON_PROFILE_THREAD_STATE_LIVE
			      ? "ended, "
		      : pm_report_time_is_known(s) ? "running, "
						   : "not ended, at least ",
		      time);
}

int pm_report_text(const struct pm_report *report, struct pm_out *out)
{
	uint32_t marks = 0, states = 0;
	int err;

	pm_report_text_head(report, out);
	err = tree_write(report, report->all, out, &marks, &states);
	err = err ?: groups_write(report, out, &marks, &states);
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
	pm_report_text_legend(out, marks, states);
	pm_report_text_sanity(report, out);
	pm_report_text_notes(report, out);
	return 0;
}
