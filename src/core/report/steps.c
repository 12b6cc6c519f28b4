/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The steps of paths in text: the first one, the slowest ones, and all others together. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/cells.h"
#include "core/report/formats.h"
#include "core/report/output/escape.h"

/* So many paths have a table. */
#define PATHS 8
/* So many steps are shown as slow: those that are more than so far above the median. */
#define SLOW	  5
#define SLOW_FROM 1.25

/* A step: what a visit of it takes, in ticks, and at most. */
struct step {
	double mean, most;
	uint64_t visits;
	uint32_t node; /* of the thread */
};

/* Holds what fills the table of some steps of a path. */
struct shown {
	const struct pm_snapshot_steps *steps;
	const struct pm_report_tree *tree;
	const bool *apart;
	double median; /* ticks */
	struct pm_legend *legend;
	uint32_t events, metrics; /* columns of these, */
	uint32_t *column;	  /* and their numbers in the model */
	uint64_t others;	  /* visits of the steps that are together */
	bool longest;		  /* some step tells its longest visit */
};

void pm_report_step_name(const struct pm_snapshot_step *step, char name[50])
{
	if (step->first == step->last)
		snprintf(name, 50, "%llu", (unsigned long long)step->first);
	else
		snprintf(name, 50, "%llu-%llu", (unsigned long long)step->first,
			 (unsigned long long)step->last);
}

/* --- which steps are shown -------------------------------------------------------------- */

static int by_mean(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	if (x->mean != y->mean)
		return x->mean < y->mean ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static int by_most(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	if (x->most != y->most)
		return x->most > y->most ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* Returns the mean of the visit in the middle of all VISITS. Orders STEPS. */
static double median_of(struct step *steps, uint32_t count, uint64_t visits)
{
	uint64_t seen = 0;

	qsort(steps, count, sizeof(*steps), by_mean);
	for (uint32_t i = 0; i < count; i++) {
		seen += steps[i].visits;
		if (2 * seen >= visits)
			return steps[i].mean;
	}
	return 0;
}

/* Fills in the steps of TREE, which has all of STEPS. Returns how many have ended visits. */
static uint32_t steps_fill(const struct pm_snapshot_steps *steps,
			   const struct pm_report_tree *tree, struct step *to,
			   uint64_t *ended)
{
	uint32_t count = 0;

	*ended = 0;
	for (uint32_t n = 1; n < tree->node_count; n++) {
		const struct pm_path_visits *visits = &pm_path(tree, n)->visits;
		double longest = (double)steps->step[n - 1].longest;

		if (!visits->ended)
			continue;
		to[count] = (struct step){
			.mean = (double)pm_path(tree, n)->times.inclusive /
				(double)visits->ended,
			.visits = visits->ended,
			.node = n + 1,
		};
		to[count].most = fmax(to[count].mean, tree->model->exact ? 0 : longest);
		*ended += visits->ended;
		count++;
	}
	return count;
}

/* Sets APART to the first step, the slow ones and what is not whole; and the median. */
static int choose(const struct pm_report *report, const struct pm_snapshot_steps *steps,
		  bool *apart, double *median)
{
	struct step *all = malloc(((size_t)steps->count + 1) * sizeof(*all));
	struct pm_report_tree tree;
	uint64_t visits;
	uint32_t count;
	int err = all ? pm_report_tree_steps(&tree, report->model, steps, NULL) : -ENOMEM;

	if (err)
		goto out;
	count = steps_fill(steps, &tree, all, &visits);
	*median = median_of(all, count, visits);
	qsort(all, count, sizeof(*all), by_most);
	for (uint32_t i = 0; i < count && i < SLOW; i++)
		apart[all[i].node] = all[i].most > SLOW_FROM * *median;
	for (uint32_t n = 1; n < tree.node_count; n++)
		apart[n + 1] |= pm_path_is_open(&tree, n);
	if (steps->count)
		apart[2] = true;
	pm_report_tree_free(&tree);
out:
	free(all);
	return err;
}

/* --- the table ------------------------------------------------------------------------- */

/* Returns the step of node N of the table's tree, or NULL for the others together. */
static const struct pm_snapshot_step *step_at(const struct shown *shown, uint32_t n)
{
	uint32_t number = shown->others ? 1 : 0;

	if (number == n)
		return NULL;
	for (uint32_t i = 0; i < shown->steps->count; i++)
		if (shown->apart[i + 2] && ++number == n)
			return &shown->steps->step[i];
	return NULL;
}

static size_t name(void *argument, uint32_t n, size_t most, struct pm_out *out)
{
	const struct shown *shown = argument;
	const struct pm_snapshot_step *step = step_at(shown, n);
	char text[64];

	if (step)
		pm_report_step_name(step, text);
	else
		snprintf(text, sizeof(text), "other %llu",
			 (unsigned long long)shown->others);
	return pm_out_plain(out, text, most);
}

/* Returns true if STEP, which may be NULL, tells more than its mean does. */
static bool has_longest(const struct pm_snapshot_step *step)
{
	return step && step->longest && step->first != step->last;
}

enum { MEAN, LONGEST, OF_MEDIAN, FIXED };

static void fill_times(struct shown *shown, uint32_t n, struct pm_field *fields)
{
	const struct pm_report_tree *tree = shown->tree;
	const struct pm_snapshot *s = tree->model->snapshot;
	const struct pm_snapshot_step *step = step_at(shown, n);
	struct pm_value time = pm_report_time(tree, n, false);
	double mean = time.value / (double)pm_path(tree, n)->visits.ended;
	bool longest = has_longest(step);

	pm_field_value(&fields[MEAN], &time, pm_snapshot_ns(s, mean), shown->legend);
	fields[LONGEST] = (struct pm_field){
		.known = longest,
		.value = longest ? pm_snapshot_ns(s, (double)step->longest) : 0,
	};
	fields[OF_MEDIAN] = (struct pm_field){
		.known = shown->median > 0,
		.value = mean / shown->median,
	};
}

static bool fill(void *argument, uint32_t n, struct pm_field *fields)
{
	struct shown *shown = argument;
	const struct pm_report_model *model = shown->tree->model;
	const struct pm_path_visits *visits = &pm_path(shown->tree, n)->visits;
	struct pm_field times[FIXED], *field = fields;
	struct pm_legend before = *shown->legend;

	memset(times, 0, sizeof(times));
	if (visits->ended)
		fill_times(shown, n, times);
	else
		strcpy(times[OF_MEDIAN].text, "open");
	/* Times of a profile that was counted exactly are not those of the machine. */
	if (model->exact) {
		*shown->legend = before;
	} else {
		*field++ = times[MEAN];
		if (shown->longest)
			*field++ = times[LONGEST];
	}
	*field++ = times[OF_MEDIAN];
	for (uint32_t i = 0; i < shown->events; i++, field++) {
		uint32_t e = shown->column[i];
		struct pm_value value = pm_report_count(shown->tree, n, e, false);

		*field = (struct pm_field){.known = false};
		if (visits->ended)
			pm_field_value(field, &value,
				       value.value * model->events[e].first->scale /
					       (double)visits->ended,
				       shown->legend);
	}
	for (uint32_t i = 0; i < shown->metrics; i++, field++) {
		uint32_t m = shown->column[shown->events + i];
		struct pm_value value = pm_report_metric(shown->tree, n, m, false);

		*field = (struct pm_field){.known = false};
		if (visits->ended)
			pm_field_value(field, &value, value.value, shown->legend);
	}
	return true;
}

/* Returns true if steps have counts of EVENT: not of packages, nor of another run. */
static bool is_counted(const struct pm_report_event *event)
{
	return !event->quantity && !event->package && !event->joined;
}

/* Finds the events and metrics that some row has. */
static void columns_find(struct shown *shown)
{
	const struct pm_report_tree *tree = shown->tree;
	const struct pm_report_model *model = tree->model;

	for (uint32_t n = 1; n < tree->node_count; n++)
		shown->longest |= !model->exact && has_longest(step_at(shown, n));
	for (uint32_t e = 0; e < model->event_count; e++)
		if (is_counted(&model->events[e]))
			shown->column[shown->events++] = e;
	for (uint32_t m = 0; m < model->metric_count; m++) {
		bool some = false;

		for (uint32_t n = 1; n < tree->node_count; n++)
			some |= pm_report_metric(tree, n, m, false).state == PM_COUNTED;
		if (some)
			shown->column[shown->events + shown->metrics++] = m;
	}
}

static int table_write(struct shown *shown, struct pm_out *out)
{
	static const struct pm_column fixed[FIXED] = {
		[MEAN] = {.title = "mean", .kind = PM_COLUMN_VISIT, .begins = true},
		[LONGEST] = {.title = "longest", .kind = PM_COLUMN_VISIT},
		[OF_MEDIAN] = {.title = "x median", .kind = PM_COLUMN_RATIO},
	};
	const struct pm_report_model *model = shown->tree->model;
	struct pm_table table = {
		.tree = shown->tree,
		.fill = fill,
		.argument = shown,
		.rows = "step",
		.name = name,
	};
	struct pm_column *column;
	int err = -ENOMEM;

	shown->column = calloc((size_t)model->event_count + model->metric_count + 1,
			       sizeof(*shown->column));
	table.columns = calloc((size_t)FIXED + model->event_count + model->metric_count,
			       sizeof(*table.columns));
	if (!shown->column || !table.columns)
		goto out;
	columns_find(shown);
	column = table.columns;
	for (int c = model->exact ? OF_MEDIAN : 0; c < FIXED; c++)
		if (c != LONGEST || shown->longest)
			*column++ = fixed[c];
	if (shown->longest)
		table.columns[LONGEST].like = &table.columns[MEAN];
	for (uint32_t i = 0; i < shown->events; i++, column++) {
		const struct pm_report_event *event = &model->events[shown->column[i]];

		column->title = event->name;
		column->kind = model->exact ? PM_COLUMN_EXACT : PM_COLUMN_EVENT;
		column->unit = event->first->unit;
	}
	for (uint32_t i = 0; i < shown->metrics; i++, column++) {
		const struct pm_report_metric *metric =
			&model->metrics[shown->column[shown->events + i]];

		column->title = pm_report_metric_heading(metric);
		column->kind =
			metric->metric->heading ? PM_COLUMN_RATIO : PM_COLUMN_METRIC;
		column->unit = metric->metric->unit;
	}
	table.count = (uint32_t)(column - table.columns);
	err = pm_table_write(&table, out);
out:
	free(table.columns);
	free(shown->column);
	return err;
}

static void title_write(const struct pm_report *report,
			const struct pm_snapshot_steps *steps, struct pm_out *out)
{
	uint32_t node = pm_report_steps_path(report->all, steps);
	uint64_t last = steps->step[steps->count - 1].last;
	bool counts = false;

	for (uint32_t e = 0; e < report->model->event_count; e++)
		counts |= is_counted(&report->model->events[e]);
	pm_out_fold(out, out->columns, strlen("steps of "));
	pm_out_text(out, "\nsteps of ");
	if (node)
		pm_report_path_write(report->all, node, out);
	pm_out_text(out, ": ");
	pm_out_plural(out, last, "visit");
	pm_out_text(out, " of ");
	pm_report_thread_write(&steps->thread.record, out);
	pm_out_text(out, counts ? "; counts are of one visit\n" : "\n");
	pm_out_fold_end(out);
}

static int path_write(const struct pm_report *report,
		      const struct pm_snapshot_steps *steps, struct pm_out *out,
		      struct pm_legend *legend)
{
	bool *apart = calloc((size_t)steps->thread.node_count + 1, sizeof(*apart));
	struct shown shown = {.steps = steps, .apart = apart, .legend = legend};
	struct pm_report_tree tree;
	int err = apart ? choose(report, steps, apart, &shown.median) : -ENOMEM;

	if (!err)
		err = pm_report_tree_steps(&tree, report->model, steps, apart);
	if (err)
		goto out;
	shown.tree = &tree;
	for (uint32_t i = 0; i < steps->count; i++)
		if (!apart[i + 2])
			shown.others += steps->step[i].last - steps->step[i].first + 1;
	title_write(report, steps, out);
	err = table_write(&shown, out);
	pm_report_tree_free(&tree);
out:
	free(apart);
	return err;
}

int pm_report_steps_text(const struct pm_report *report, struct pm_out *out,
			 struct pm_legend *legend)
{
	const struct pm_snapshot *s = report->snapshot;
	int err = 0;

	for (uint32_t i = 0; !err && i < s->steps_count && i < PATHS; i++)
		err = path_write(report, &s->steps[i], out, legend);
	if (!err && s->steps_count > PATHS)
		pm_out_format(out, "\nsteps of %u more paths are in JSON and CSV\n",
			      s->steps_count - PATHS);
	return err;
}
