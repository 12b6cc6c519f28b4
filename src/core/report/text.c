/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A text report: its tables, and what is between them. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/cells.h"
#include "core/report/formats.h"
#include "core/report/model/times.h"
#include "core/report/output/escape.h"

enum fixed { VISITS, TIME, TIME_SHARE, OWN, OWN_SHARE, MEAN, DEVIATION, FIXED };

/* Columns behind all others, of paths with so many visits: 95 % of fewer are all. */
#define QUANTILES_VISITS 20
enum quantile { MEDIAN, MOST_VISITS, QUANTILES };

/* The values that fill the main table. */
struct values {
	const struct pm_report_tree *tree;
	struct pm_legend *legend;
	uint32_t count;	      /* columns before the events, */
	uint8_t shown[FIXED]; /* and which these are */
	bool quantiles;	      /* there are those behind the metrics */
	double *least; /* by node and event: of open visits, what is inside of them;
			       * NULL: no visit is open */
};

/* VALUE, if it is known, with its marks. "At least" stands before it. */
static void field_value(struct values *values, struct pm_field *field,
			const struct pm_value *value, double shown)
{
	pm_field_value(field, value, shown, values->legend);
	field->at_least = field->known && value->marks & PM_MARK_IN_FLIGHT;
	values->legend->marks |= field->at_least ? PM_CELL_AT_LEAST : 0;
}

static void field_plain(struct pm_field *field, bool known, double value)
{
	*field = (struct pm_field){.known = known, .value = value};
}

/* The times of node N, 0 for the sum. */
static void fill_times(struct values *values, uint32_t n, struct pm_field *fields)
{
	const struct pm_report_tree *tree = values->tree;
	const struct pm_snapshot *s = tree->model->snapshot;
	const struct pm_path_times *times = &pm_path(tree, n)->times;
	double total = (double)pm_path(tree, 0)->times.least;

	for (int own = 0; own < 2; own++) {
		struct pm_field *field = &fields[own ? OWN : TIME];
		struct pm_value value = pm_report_time(tree, n, own && n);
		double ticks = value.value;

		/* A node that takes nearly no time may consist of anything. */
		if (ticks < total / 100)
			value.marks &= ~PM_MARK_SHORT;
		if (!n && own && tree->total_ticks) {
			/* Estimates of parts may come to more than the whole. */
			ticks = fmin((double)tree->total_ticks, total);
			value.state = PM_COUNTED;
		}
		/* An open visit has taken what is inside of it, at least. */
		if (!own && times->least && pm_path_is_open(tree, n)) {
			ticks = (double)times->least;
			value.state = PM_COUNTED;
			value.marks &= ~PM_MARK_SHORT;
		}
		field_value(values, field, &value, pm_snapshot_ns(s, ticks));
		/* "At least nothing" says nothing. */
		if (field->at_least && ticks <= 0)
			*field = (struct pm_field){0};
		/* A time that may be nothing, or twice as much, has no useful share. */
		field_plain(&fields[own ? OWN_SHARE : TIME_SHARE],
			    field->known && total > 0 &&
				    !pm_path(tree, n)->is_overlapping &&
				    (!n || !(value.error > ticks)),
			    100 * ticks / total);
	}
}

/* Times of a profile that was counted exactly are not those of the machine. */
static bool is_shown(const struct pm_report_model *model, enum fixed column)
{
	return !model->exact || column == VISITS || column == TIME_SHARE ||
	       column == OWN_SHARE;
}

static void fill_fixed(struct values *values, uint32_t n, struct pm_field *fields)
{
	const struct pm_report_tree *tree = values->tree;
	const struct pm_report_model *model = tree->model;
	const struct pm_path_visits *visits = &pm_path(tree, n)->visits;
	double mean = pm_path_mean(tree, n), deviation = pm_path_deviation(tree, n);
	struct pm_legend before = *values->legend;
	struct pm_field all[FIXED];

	field_plain(&all[VISITS], n != 0, (double)visits->ended);
	if (n && pm_path(tree, n)->is_team && !visits->entered)
		all[VISITS] = (struct pm_field){.text = "adopted"};
	/* Another run alone has visited the path. */
	if (n && !pm_path(tree, n)->threads.count)
		all[VISITS] = (struct pm_field){.text = "-"};
	fill_times(values, n, all);
	field_plain(&all[MEAN], n && mean >= 0, pm_snapshot_ns(model->snapshot, mean));
	field_plain(&all[DEVIATION], n && deviation >= 0 && mean > 0,
		    100 * deviation / mean);
	/* Columns that are not shown need no explanation. */
	if (!is_shown(model, TIME))
		*values->legend = before;
	for (uint32_t c = 0; c < values->count; c++)
		fields[c] = all[values->shown[c]];
}

/*
 * An open visit has counted what was counted inside of it, at least. What is flat has
 * exclusive values, which are parts of the sum alone: as they were counted, since estimates
 * of parts may come to more than the whole.
 */
static void least_fill_event(struct values *values, uint32_t e)
{
	const struct pm_report_tree *tree = values->tree;
	size_t events = tree->model->event_count;
	double *least = values->least + e, most = 0;

	/* Complete: children have higher numbers. */
	for (uint32_t n = tree->node_count; n-- > 0;) {
		struct pm_value value = pm_report_count(tree, n, e, tree->flat);
		double inside = least[n * events], *around;

		if (value.state != PM_COUNTED)
			value.value = 0;
		if (pm_path_is_open(tree, n))
			value.value = fmax(value.value, inside);
		most = fmax(most, value.value);
		least[n * events] = n ? value.value : fmax(most, inside);
		if (tree->flat)
			value.value = fmin(value.value, (double)value.sum);
		around = &least[pm_path(tree, n)->parent * events];
		if (n && tree->model->events[e].package)
			*around = fmax(*around, value.value);
		else if (n)
			*around += value.value;
	}
}

static int least_fill(struct values *values)
{
	const struct pm_report_tree *tree = values->tree;
	size_t events = tree->model->event_count;

	if (pm_path(tree, 0)->visits.entered == pm_path(tree, 0)->visits.ended || !events)
		return 0;
	values->least = calloc(tree->node_count * events, sizeof(*values->least));
	if (!values->least)
		return -ENOMEM;
	for (uint32_t e = 0; e < events; e++)
		least_fill_event(values, e);
	return 0;
}

/* The count of event E in node N, 0 for the sum. */
static struct pm_value count_at(const struct values *values, uint32_t n, uint32_t e)
{
	const struct pm_report_tree *tree = values->tree;
	struct pm_value value = pm_report_count(tree, n, e, tree->flat);
	double known = value.state == PM_COUNTED ? value.value : 0, least = 0;

	if (values->least && pm_path_is_open(tree, n))
		least = values->least[n * tree->model->event_count + e];
	if (least > known) {
		value.state = PM_COUNTED;
		value.value = least;
		value.marks &= ~PM_MARK_SHORT;
	}
	return value;
}

static void fill_quantiles(struct values *values, uint32_t n, struct pm_field *fields)
{
	static const double parts[QUANTILES] = {[MEDIAN] = 0.5, [MOST_VISITS] = 0.95};
	const struct pm_report_tree *tree = values->tree;

	for (int q = 0; q < QUANTILES; q++) {
		bool several = n && pm_path(tree, n)->visits.measured >= QUANTILES_VISITS;
		double ticks = several ? pm_path_quantile(tree, n, parts[q]) : -1;

		field_plain(&fields[q], ticks >= 0,
			    pm_snapshot_ns(tree->model->snapshot, ticks));
	}
	values->legend->marks |= PM_CELL_HISTOGRAM;
}

static bool fill(void *argument, uint32_t n, struct pm_field *fields)
{
	struct values *values = argument;
	const struct pm_report_tree *tree = values->tree;
	const struct pm_report_model *model = tree->model;
	struct pm_field *field = fields + values->count;

	fill_fixed(values, n, fields);
	for (uint32_t e = 0; e < model->event_count; e++, field++) {
		struct pm_value value = count_at(values, n, e);

		field_value(values, field, &value,
			    value.value * model->events[e].first->scale);
	}
	for (uint32_t m = 0; m < model->metric_count; m++, field++) {
		struct pm_value value = pm_report_metric(tree, n, m, tree->flat);

		/* A metric is right for the visits that have ended. */
		value.marks &= ~PM_MARK_IN_FLIGHT;
		field_value(values, field, &value, value.value);
	}
	if (values->quantiles)
		fill_quantiles(values, n, field);
	return true;
}

/* Returns whether some path has the columns. */
static bool has_quantiles(const struct pm_report_tree *tree)
{
	for (uint32_t n = 1; n < tree->node_count && !tree->model->exact; n++)
		if (pm_path(tree, n)->visits.measured >= QUANTILES_VISITS &&
		    pm_path_quantile(tree, n, 0.5) >= 0)
			return true;
	return false;
}

static int table_write(const struct pm_report_tree *tree, struct pm_out *out,
		       struct pm_legend *legend)
{
	static const struct pm_column fixed[FIXED] = {
		[VISITS] = {.title = "visits", .kind = PM_COLUMN_EXACT, .begins = true},
		[TIME] = {.title = NULL, .kind = PM_COLUMN_TIME},
		[TIME_SHARE] = {.title = "inclusive", .kind = PM_COLUMN_SHARE},
		[OWN] = {.title = NULL, .kind = PM_COLUMN_TIME},
		[OWN_SHARE] = {.title = "exclusive", .kind = PM_COLUMN_SHARE},
		[MEAN] = {.title = "mean", .kind = PM_COLUMN_VISIT},
		[DEVIATION] = {.title = "stddev", .kind = PM_COLUMN_SHARE},
	};
	const struct pm_report_model *model = tree->model;
	static const struct pm_column quantiles[QUANTILES] = {
		[MEDIAN] = {.title = "~median", .kind = PM_COLUMN_VISIT, .begins = true},
		[MOST_VISITS] = {.title = "~95 %", .kind = PM_COLUMN_VISIT},
	};
	struct values values = {
		.tree = tree,
		.legend = legend,
		.quantiles = has_quantiles(tree),
	};
	struct pm_table table = {
		.tree = tree,
		.fill = fill,
		.argument = &values,
		.total = true,
	};
	struct pm_column *column;
	int err;

	for (uint8_t c = 0; c < FIXED; c++)
		if (is_shown(model, c))
			values.shown[values.count++] = c;
	table.count = values.count + model->event_count + model->metric_count +
		      (values.quantiles ? QUANTILES : 0);
	table.columns = calloc(table.count, sizeof(*table.columns));
	err = table.columns ? least_fill(&values) : -ENOMEM;
	if (err)
		goto out;
	for (uint32_t c = 0; c < values.count; c++)
		table.columns[c] = fixed[values.shown[c]];
	if (!model->exact)
		table.columns[OWN].like = &table.columns[TIME];
	column = table.columns + values.count;
	if (model->event_count + model->metric_count)
		column->begins = true;
	for (uint32_t e = 0; e < model->event_count; e++, column++) {
		column->title = model->events[e].name;
		/* An exact count repeats to the last digit. */
		column->kind =
			model->events[e].first->flags & PERFMON_PROFILE_COUNTER_EXACT
				? PM_COLUMN_EXACT
				: PM_COLUMN_EVENT;
		column->unit = model->events[e].first->unit;
	}
	for (uint32_t m = 0; m < model->metric_count; m++, column++) {
		const struct pm_metric *metric = model->metrics[m].metric;

		column->title = pm_report_metric_heading(&model->metrics[m]);
		column->kind = metric->heading ? PM_COLUMN_RATIO : PM_COLUMN_METRIC;
		column->unit = metric->unit;
	}
	if (values.quantiles)
		memcpy(column, quantiles, sizeof(quantiles));
	err = pm_table_write(&table, out);
out:
	free(values.least);
	free(table.columns);
	return err;
}

static void left_out_write(const struct pm_report_tree *tree,
			   const struct pm_report_left_out *left, struct pm_out *out)
{
	double total = (double)pm_path(tree, 0)->times.least;
	char share[PM_CELL];

	if (!left->nodes)
		return;
	pm_cell_fixed(share, total > 0 ? 100 * left->ticks / total : 0, 1);
	pm_out_fold(out, out->columns, strlen("  left out "));
	pm_out_format(out, "\n  left out %u row%s, with %s %% of ", left->nodes,
		      left->nodes == 1 ? "" : "s", share);
	pm_out_plain(out, pm_report_weight_name(tree->model), 0);
	pm_out_format(out, " in %s\n", left->nodes == 1 ? "itself" : "themselves");
	pm_out_fold_end(out);
}

/* The table, how the time is spread over threads or processes, and the hottest path. LEFT
 * is not in the table. */
static int tables_write(const struct pm_report *report, const struct pm_report_tree *tree,
			const struct pm_report_left_out *left, struct pm_out *out,
			struct pm_legend *legend)
{
	int err = table_write(tree, out, legend);

	if (err)
		return err;
	left_out_write(tree, left, out);
	pm_report_hottest_write(tree, out);
	err = report->options->merge ? pm_report_ranks(report, tree, out, legend)
				     : pm_report_spread(tree, out);
	return err ?: pm_report_imbalance(report, tree, out);
}

/* TREE as it is, or by region, or the dearest of it. */
static int tree_write(const struct pm_report *report, const struct pm_report_tree *tree,
		      struct pm_out *out, struct pm_legend *legend)
{
	bool flat = report->options->format == PM_FORMAT_FLAT;
	struct pm_report_left_out left = {.nodes = 0};
	struct pm_report_tree own;
	int err;

	if (tree->node_count < 2) {
		pm_out_text(out, "no region was entered\n");
		return 0;
	}
	if (!flat && !report->options->top)
		return tables_write(report, tree, &left, out, legend);
	err = flat ? pm_report_tree_flatten(&own, tree) : pm_report_tree_copy(&own, tree);
	if (err)
		return err;
	if (report->options->top)
		err = pm_report_tree_keep_top(&own, report->options->top, &left);
	if (!err)
		err = tables_write(report, &own, &left, out, legend);
	pm_report_tree_free(&own);
	return err;
}

/* The trees of the machine's objects. */
static int groups_write(const struct pm_report *report, struct pm_out *out,
			struct pm_legend *legend)
{
	int err = 0;

	for (uint32_t g = 0; g < report->groups.count && !err; g++) {
		const struct pm_report_group *group = &report->groups.groups[g];
		struct pm_report_tree tree;

		err = pm_report_tree_make(&tree, report->model, group->threads,
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
		pm_out_text(out, ", ");
		pm_out_plural(out, group->weight, "thread");
		pm_out_text(out, ":\n");
		err = tree_write(report, &tree, out, legend);
		pm_report_tree_free(&tree);
	}
	return err;
}

/* Writes the counts outside of regions, and of measuring. */
static void rest_write(const struct pm_report *report, struct pm_out *out)
{
	const char *head = "\n  rest     ";

	pm_out_fold(out, out->columns, strlen("  rest     "));
	for (uint32_t e = 0; e < report->model->event_count; e++) {
		struct pm_report_rest rest = pm_report_rest(report->all, e);
		double total = (double)rest.total;

		if (!rest.known)
			continue;
		pm_out_format(out, "%soutside regions%s %s%llu ", head,
			      rest.open ? ", and in visits that had not ended," : "",
			      rest.about ? "about " : "",
			      (unsigned long long)rest.outside);
		pm_out_plain(out, report->model->events[e].name, 0);
		pm_out_format(out, " of %llu (%.1f %%)", (unsigned long long)rest.total,
			      total > 0 ? 100 * (double)rest.outside / total : 0);
		if (report->model->subtract_bias)
			pm_out_format(out, "; measuring took %llu (%.1f %%)",
				      (unsigned long long)rest.measuring,
				      total > 0 ? 100 * (double)rest.measuring / total
						: 0);
		pm_out_text(out, "\n");
		head = "           ";
	}
	pm_out_fold_end(out);
}

static void thread_title(const struct pm_report *report, uint32_t t, struct pm_out *out)
{
	const struct pm_snapshot *s = report->snapshot;
	const struct pm_snapshot_thread *thread = &s->threads[t];
	bool ended = thread->record.state != PERFMON_PROFILE_THREAD_STATE_LIVE;
	bool known = pm_report_time_is_known(s);
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
	pm_out_text(out, "\n");
	pm_report_thread_write(&thread->record, out);
	pm_out_text(out, ended ? ", ended" : known ? ", running" : ", not ended");
	if (!report->model->exact)
		pm_out_format(out, ", %s%s", ended || known ? "" : "at least ", time);
	pm_out_text(out, ":\n");
}

int pm_report_text(const struct pm_report *report, struct pm_out *out)
{
	struct pm_legend legend = {0};
	int err;

	pm_report_text_head(report, out);
	err = tree_write(report, report->all, out, &legend);
	if (!err)
		rest_write(report, out);
	err = err ?: pm_report_steps_text(report, out, &legend);
	err = err ?: groups_write(report, out, &legend);
	for (uint32_t t = 0;
	     !err && report->options->per_thread && t < report->snapshot->thread_count;
	     t++) {
		struct pm_report_tree tree;

		err = pm_report_tree_make(&tree, report->model, &t, 1);
		if (err)
			break;
		thread_title(report, t, out);
		err = tree_write(report, &tree, out, &legend);
		pm_report_tree_free(&tree);
	}
	if (err)
		return err;
	pm_report_text_legend(out, legend.marks, legend.states);
	pm_report_text_notes(report, out);
	return 0;
}
