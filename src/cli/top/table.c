/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The changes as rows and columns: selection, order and numbers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/top/top.h"
#include "core/report/output/escape.h"
#include "core/text/grow.h"

/* --- numbers ---------------------------------------------------------------------- */

static struct pm_value number(double value)
{
	return (struct pm_value){.state = PM_COUNTED, .value = value, .coverage = 1};
}

/* Returns whether path N was idle between the looks: then its numbers are 0. */
static bool is_idle(const struct pm_report_tree *tree, uint32_t n)
{
	const struct pm_path_visits *visits = &pm_path(tree, n)->visits;

	return !visits->ended && !visits->entered && !pm_path(tree, n)->times.inclusive;
}

/* Divides by SECONDS. A negative SECONDS keeps the counts since the last look: under the
 * Valgrind tool, time is not the machine's. */
static struct pm_value per_second(struct pm_value value, double seconds)
{
	if (seconds < 0)
		return value;
	if (seconds > 0)
		value.value /= seconds;
	else if (value.state == PM_COUNTED)
		value.state = PM_NOT_COUNTED;
	return value;
}

struct pm_value top_table_value(const struct top_table *table, const struct top_row *row,
				const struct top_column *column)
{
	const struct pm_report_tree *tree = row->tree;
	const struct pm_snapshot *s = table->look->snapshot;
	bool exact = tree->model->exact;
	double seconds = exact ? -1 : table->look->seconds;
	const struct pm_report_event *event;
	struct pm_value value;

	switch (column->kind) {
	case TOP_OPEN:
		return number(
			(double)pm_less(pm_path(row->sums, row->node)->visits.entered,
					pm_path(row->sums, row->node)->visits.ended));
	case TOP_VISITS:
		return per_second(number((double)pm_path(tree, row->node)->visits.ended),
				  seconds);
	case TOP_TIME:
	case TOP_SELF:
		value = pm_report_time(tree, row->node, column->kind == TOP_SELF);
		if (is_idle(tree, row->node))
			value = number(0);
		/* Under the Valgrind tool, a percentage of the group's counts. */
		if (exact)
			value.value *=
				tree->total_ticks ? 100 / (double)tree->total_ticks : 0;
		else
			value.value = pm_snapshot_ns(s, value.value) / 1e9 * 100;
		return per_second(value, seconds);
	case TOP_CPU:
		event = &tree->model->events[column->index];
		value = pm_report_count(tree, row->node, column->index, false);
		if (is_idle(tree, row->node))
			value = number(0);
		value.value *= event->first->scale / 1e9 * 100;
		return per_second(value, seconds);
	case TOP_MEAN:
		value = number(pm_snapshot_ns(s, pm_path_mean(tree, row->node)));
		/* Visits may have ended without any measured one. */
		if (value.value < 0)
			value.state = PM_NOT_COUNTED;
		return value;
	case TOP_EVENT:
		event = &tree->model->events[column->index];
		value = pm_report_count(tree, row->node, column->index, tree->flat);
		if (is_idle(tree, row->node) && value.state == PM_NOT_COUNTED &&
		    !event->kernel_only)
			value = number(0);
		value.value *= event->first->scale;
		return pm_report_is_largest(event) ? value : per_second(value, seconds);
	default:
		return pm_report_metric(tree, row->node, column->index, tree->flat);
	}
}

static void cell_fill(struct top_table *table, const struct top_row *row,
		      const struct top_column *column, struct pm_cell *cell)
{
	const struct pm_report_model *model = row->tree->model;
	struct pm_value value = top_table_value(table, row, column);
	struct perfmon_profile_counter counter;

	value.marks &= ~column->common;
	pm_cell_value(cell, &value, &table->marks, &table->states);
	if (value.state != PM_COUNTED)
		return;
	switch (column->kind) {
	case TOP_OPEN:
		pm_cell_count(cell->text, value.value);
		break;
	case TOP_VISITS:
		if (value.value < 1000)
			pm_cell_fixed(cell->text, value.value, 1);
		else
			pm_cell_count(cell->text, value.value);
		break;
	case TOP_TIME:
	case TOP_CPU:
	case TOP_SELF:
		pm_cell_fixed(cell->text, value.value, 1);
		break;
	case TOP_MEAN:
		pm_cell_time(cell->text, value.value);
		break;
	case TOP_EVENT:
		/* The value is already scaled. */
		counter = *model->events[column->index].first;
		counter.scale = 1;
		pm_cell_event(cell, &value, &counter);
		break;
	case TOP_METRIC:
		pm_cell_metric(cell, &value, model->metrics[column->index].metric);
	}
}

/* --- columns ---------------------------------------------------------------------- */

static void column_add(struct top_table *table, enum top_column_kind kind, uint32_t index,
		       const char *name, const char *heading, const char *unit)
{
	struct top_column *column = &table->columns[table->column_count++];

	column->kind = kind;
	column->index = index;
	column->name = name;
	snprintf(column->heading, sizeof(column->heading), "%s%s", heading, unit);
	column->width = pm_out_plain(NULL, column->heading, 0);
}

/* Returns the event that is the CPU time, or PM_NO_EVENT. */
static uint32_t cpu_clock(const struct pm_report_model *model)
{
	for (uint32_t e = 0; e < model->event_count; e++)
		if (model->events[e].refused < model->events[e].parts &&
		    !strcmp(model->events[e].first->unit, "ns") &&
		    pm_event_is_called(model->events[e].name, "task-clock"))
			return e;
	return PM_NO_EVENT;
}

static int columns_make(struct top_table *table)
{
	const struct pm_report_model *model = &table->look->model;
	uint32_t clock = cpu_clock(model);
	const char *per_second = model->exact ? "" : "/s";

	table->columns =
		calloc((size_t)TOP_EVENT + model->event_count + model->metric_count,
		       sizeof(*table->columns));
	if (!table->columns)
		return -ENOMEM;
	column_add(table, TOP_OPEN, 0, "open", "open", "");
	column_add(table, TOP_VISITS, 0, "visits", "visits", per_second);
	if (model->exact)
		column_add(table, TOP_TIME, 0, "inclusive", "incl", "%");
	else
		column_add(table, TOP_TIME, 0, "time", "time", "%");
	if (clock != PM_NO_EVENT)
		column_add(table, TOP_CPU, clock, "cpu", "cpu", "%");
	column_add(table, TOP_SELF, 0, "self", "self", "%");
	if (!model->exact)
		column_add(table, TOP_MEAN, 0, "mean", "mean", "");
	for (uint32_t e = 0; e < model->event_count; e++)
		column_add(table, TOP_EVENT, e, model->events[e].name,
			   model->events[e].name, per_second);
	for (uint32_t m = 0; m < model->metric_count; m++) {
		const char *heading = pm_report_metric_heading(&model->metrics[m]);

		column_add(table, TOP_METRIC, m, heading, heading, "");
	}
	return 0;
}

static int column_find(struct top_table *table, const char *name, struct pm_diag *diag)
{
	const struct top_column *columns = table->columns;
	uint32_t count = table->column_count;
	struct pm_diag all = {0};

	table->sorted = count;
	if (!strcmp(name, "name"))
		return 0;
	for (uint32_t c = 0; c < count && table->sorted == count; c++)
		if (!strcasecmp(columns[c].name, name))
			table->sorted = c;
	for (uint32_t c = 0; c < count && table->sorted == count; c++)
		if (columns[c].kind == TOP_EVENT &&
		    pm_event_is_called(columns[c].name, name))
			table->sorted = c;
	if (table->sorted < count)
		return 0;
	for (uint32_t c = 0; c < count; c++)
		pm_diag_add(&all, ", %s", columns[c].name);
	return pm_diag_set(diag, -EINVAL, "'%s' is not a column: expects one of name%s",
			   name, all.text);
}

/* --- rows ------------------------------------------------------------------------- */

/* The order of the nodes of a tree: by the best value of each node and those below it, so
 * that a hot region is not hidden below a parent with an open visit. */
struct order {
	const struct pm_report_tree *tree;
	double *best;
	bool by_name, reverse;
};

static int by_best(const void *a, const void *b, void *argument)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct order *order = argument;
	int sign = order->reverse ? -1 : 1, names;

	if (!order->by_name && order->best[x] != order->best[y])
		return order->best[x] > order->best[y] ? -sign : sign;
	names = strcmp(pm_path_name(order->tree, x), pm_path_name(order->tree, y));
	if (names)
		return order->by_name ? sign * names : names;
	return x < y ? -1 : x > y;
}

/* Sorts the children of each node of TREE. */
static int tree_sort(const struct top_table *table, struct pm_report_tree *tree,
		     const struct pm_report_tree *sums, bool reverse)
{
	struct order order = {.tree = tree, .reverse = reverse};
	int err;

	order.best = malloc(tree->node_count * sizeof(*order.best));
	order.by_name = table->sorted == table->column_count;
	if (!order.best)
		return -ENOMEM;
	for (uint32_t n = 0; n < tree->node_count; n++) {
		struct top_row row = {.tree = tree, .sums = sums, .node = n};
		struct pm_value value;

		order.best[n] = -1;
		if (!n || order.by_name)
			continue;
		value = top_table_value(table, &row, &table->columns[table->sorted]);
		if (value.state == PM_COUNTED)
			order.best[n] = value.value;
	}
	/* Children have higher numbers. */
	for (uint32_t n = tree->node_count - 1; n > 0; n--)
		if (order.best[n] > order.best[pm_path(tree, n)->parent])
			order.best[pm_path(tree, n)->parent] = order.best[n];
	err = pm_report_tree_order(tree, by_best, &order);
	free(order.best);
	return err;
}

/* Returns which nodes pass the filter: those with it in their names, and all above and
 * below them. Returns NULL without memory. */
static bool *filter_make(const struct pm_report_tree *tree, const char *filter)
{
	bool *keep = calloc(tree->node_count, sizeof(*keep));

	for (uint32_t n = 1; keep && n < tree->node_count; n++)
		keep[n] = keep[pm_path(tree, n)->parent] ||
			  strcasestr(pm_path_name(tree, n), filter);
	for (uint32_t n = tree->node_count - 1; keep && n > 0; n--)
		if (keep[n])
			keep[pm_path(tree, n)->parent] = true;
	return keep;
}

static int group_add(struct top_table *table, struct top_group *group,
		     const struct top_options *options)
{
	struct pm_report_tree *tree = &group->change;
	const struct pm_report_tree *sums = &group->sums;
	uint32_t n = 0;
	bool *keep;
	int err = 0;

	if (options->flat) {
		struct pm_report_tree *flat = &table->flat[table->flat_count];

		table->flat_count += 2;
		err = pm_report_tree_flatten(&flat[0], tree)
			      ?: pm_report_tree_flatten(&flat[1], sums);
		if (err)
			return err;
		tree = &flat[0];
		/* It has the same regions in the same order. */
		sums = &flat[1];
	}
	err = tree_sort(table, tree, sums, options->reverse);
	if (err)
		return err;
	keep = filter_make(tree, options->filter);
	if (!keep)
		return -ENOMEM;
	/* The heading of the group. */
	keep[0] = options->threads;
	do {
		if (keep[n] && !PM_GROW(table->rows, table->row_count))
			err = -ENOMEM;
		else if (keep[n])
			table->rows[table->row_count++] = (struct top_row){
				.group = group, .tree = tree, .sums = sums, .node = n};
		n = pm_path_next(tree, n);
	} while (n && !err);
	free(keep);
	return err;
}

/* Marks that each number has for itself. */
#define MARKS_OF_ONE                                                                     \
	(PM_MARK_MULTIPLEXED | PM_MARK_PART | PM_MARK_SAMPLED | PM_MARK_FRACTION)

/* Returns the marks that all numbers of COLUMN have, if there are several. Zeros have no
 * marks. */
static uint32_t marks_in_common(const struct top_table *table,
				const struct top_column *column)
{
	uint32_t common = ~(uint32_t)MARKS_OF_ONE, count = 0;

	for (uint32_t r = 0; r < table->row_count; r++) {
		const struct top_row *row = &table->rows[r];
		struct pm_value value;

		if (!row->node)
			continue;
		value = top_table_value(table, row, column);
		if (value.state == PM_COUNTED && value.value == 0 && !value.marks)
			continue;
		common &= value.marks;
		count++;
	}
	return count > 1 ? common : 0;
}

void top_table_common(const struct top_table *table, char *buffer, size_t size)
{
	const struct top_column *columns = table->columns;
	struct pm_diag all = {0};

	for (uint32_t c = 0; c < table->column_count; c++) {
		struct pm_value value = {.marks = columns[c].common};
		uint32_t marks = 0, states = 0, before = c;
		const char *between = "";
		struct pm_cell cell;

		while (before && columns[before - 1].common != value.marks)
			before--;
		/* An earlier column has reported them. */
		if (!value.marks || before)
			continue;
		pm_cell_value(&cell, &value, &marks, &states);
		/* Some marks have no sign. */
		if (!cell.marks[0])
			continue;
		pm_diag_add(&all, "%s%s on all numbers of ", *all.text ? "; " : "",
			    cell.marks + 1);
		for (uint32_t d = c; d < table->column_count; d++) {
			if (columns[d].common != value.marks)
				continue;
			pm_diag_add(&all, "%s%s", between, columns[d].heading);
			between = ", ";
		}
	}
	snprintf(buffer, size, "%s", all.text);
}

static int cells_make(struct top_table *table)
{
	table->cells = calloc((size_t)table->row_count * table->column_count + 1,
			      sizeof(*table->cells));
	if (!table->cells)
		return -ENOMEM;
	table->name_width = strlen("region");
	for (uint32_t c = 0; c < table->column_count; c++) {
		table->columns[c].common = marks_in_common(table, &table->columns[c]);
		table->marks |= table->columns[c].common;
	}
	for (uint32_t r = 0; r < table->row_count; r++) {
		struct top_row *row = &table->rows[r];
		size_t width;

		row->cells = table->cells + (size_t)r * table->column_count;
		if (!row->node)
			continue;
		width = pm_cell_name(row->tree, row->node, NULL);
		if (width > table->name_width)
			table->name_width = width;
		for (uint32_t c = 0; c < table->column_count; c++) {
			struct top_column *column = &table->columns[c];
			struct pm_cell *cell = &row->cells[c];

			cell_fill(table, row, column, cell);
			if (strlen(cell->text) > column->width)
				column->width = strlen(cell->text);
			if (strlen(cell->marks) > column->marks)
				column->marks = strlen(cell->marks);
		}
	}
	return 0;
}

int top_table_make(struct top_table *table, struct top_look *look,
		   const struct top_options *options, struct pm_diag *diag)
{
	int err;

	memset(table, 0, sizeof(*table));
	table->look = look;
	err = columns_make(table) ?: column_find(table, options->sort, diag);
	if (!err && options->flat) {
		table->flat = calloc(look->group_count, 2 * sizeof(*table->flat));
		err = table->flat ? 0 : -ENOMEM;
	}
	for (uint32_t g = 0; !err && g < (options->threads ? look->group_count : 1); g++)
		err = group_add(table, &look->groups[g], options);
	err = err ?: cells_make(table);
	return err == -ENOMEM ? pm_diag_set(diag, err, "no memory for this table") : err;
}

void top_table_free(struct top_table *table)
{
	for (uint32_t i = 0; i < table->flat_count; i++)
		pm_report_tree_free(&table->flat[i]);
	free(table->flat);
	free(table->cells);
	free(table->rows);
	free(table->columns);
	memset(table, 0, sizeof(*table));
}

void top_group_title(const struct top_look *look, const struct top_group *group,
		     char *buffer, size_t size)
{
	struct pm_out out = {0};
	char cpu[32] = "";

	if (group->cpu_percent >= 0 && !look->model.exact)
		snprintf(cpu, sizeof(cpu), ", %.1f %% CPU", group->cpu_percent);
	switch (group->kind) {
	case TOP_ALL:
		snprintf(buffer, size, "all threads%s", cpu);
		return;
	case TOP_ENDED:
		snprintf(buffer, size, "ended threads");
		return;
	case TOP_THREAD:
		/* A thread's name may contain anything. */
		pm_out_plain(&out, group->thread->name, 0);
		snprintf(buffer, size, "thread %u%s%.*s%s%s%s", group->thread->tid,
			 out.used ? " (" : "", (int)out.used, out.buffer,
			 out.used ? ")" : "",
			 group->thread->state == PERFMON_PROFILE_THREAD_STATE_LIVE
				 ? ""
				 : ", ended",
			 cpu);
	}
}
