/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The nodes of a tree in JSON, with their values, marks and ranges. */
#include "core/report/cells.h"
#include "core/report/formats.h"
#include "core/report/model/value.h"

void pm_json_marks(struct pm_json *j, const char *name, uint32_t marks)
{
	pm_json_begin(j, name, "[");
	for (uint32_t i = 0; i < PM_MARKS; i++)
		if (marks & 1u << i)
			pm_json_string(j, NULL, pm_report_mark_name(1u << i));
	pm_json_close(j, "]");
}

static void put_range(struct pm_json *j, const char *name, struct pm_range range)
{
	bool known = range.counted > 0;

	pm_json_begin(j, name, "{");
	pm_json_number(j, "of", range.of);
	pm_json_number(j, "present", range.present);
	pm_json_number(j, "counted", range.counted);
	pm_json_real(j, "sum", range.sum, known);
	pm_json_real(j, "mean", range.mean, known);
	pm_json_real(j, "min", range.min, known);
	pm_json_known(j, "min_process", range.min_process, known);
	pm_json_real(j, "max", range.max, known);
	pm_json_known(j, "max_process", range.max_process, known);
	pm_json_real(j, "imbalance_percent", range.imbalance, range.imbalance >= 0);
	pm_json_marks(j, "marks", range.marks);
	pm_json_close(j, "}");
}

/* How node N, whose number in the ranges is PATH, differs between processes. */
static void put_ranges(struct pm_json *j, const struct pm_report *report, uint32_t path)
{
	const struct pm_merge *merge = report->options->merge;
	const struct pm_report_model *model = report->model;

	pm_json_begin(j, "processes", "{");
	if (!model->exact) {
		put_range(j, "time_ns",
			  pm_merge_range(merge, false, path, PM_RANGE_TIME));
		put_range(j, "exclusive_ns",
			  pm_merge_range(merge, false, path, PM_RANGE_EXCLUSIVE));
	}
	pm_json_begin(j, "counts", "[");
	for (uint32_t e = 0; e < model->event_count; e++)
		put_range(j, NULL,
			  pm_report_range(merge, false, path, &model->events[e]));
	pm_json_close(j, "]");
	pm_json_close(j, "}");
}

static void put_count(struct pm_json *j, const struct pm_report_tree *tree, uint32_t n,
		      uint32_t e)
{
	const struct pm_report_event *event = &tree->model->events[e];
	struct pm_report_count count = pm_report_sums(tree, n, e, false);
	struct pm_value in = pm_report_count(tree, n, e, false);
	struct pm_value ex = pm_report_count(tree, n, e, true);
	bool open = in.state < PM_NEVER_OPENED, biased;
	struct pm_short against;

	pm_json_begin(j, NULL, "{");
	pm_json_string(j, "status", pm_report_state_name(in.state));
	pm_json_known(j, "sum", in.sum, open);
	pm_json_known(j, "exclusive_sum", ex.sum, open);
	pm_json_real(j, "value", in.value, in.state == PM_COUNTED);
	pm_json_real(j, "exclusive_value", ex.value, ex.state == PM_COUNTED);
	pm_json_real(j, "coverage", in.coverage, open);
	pm_json_real(j, "exclusive_coverage", ex.coverage, open);
	pm_json_bool(j, "estimated", in.marks & PM_MARK_MULTIPLEXED);
	pm_json_known(j, "lost_ns", count.lost_ns,
		      !tree->model->exact &&
			      !(event->first->flags & PERFMON_PROFILE_COUNTER_EXACT));
	pm_json_real(j, "error", in.error, in.state == PM_COUNTED);
	pm_json_real(j, "exclusive_error", ex.error, ex.state == PM_COUNTED);
	pm_json_number(j, "measured", count.measured);
	pm_json_number(j, "sampled", count.sampled);
	pm_json_number(j, "threads", count.threads);
	pm_json_real(j, "squares", count.squares, count.squares > 0);
	pm_json_marks(j, "marks", in.marks);
	pm_json_marks(j, "exclusive_marks", ex.marks);
	pm_report_is_short(tree, n, e, false, &against);
	biased = in.state == PM_COUNTED && tree->model->events[e].cost.known;
	pm_json_real(j, "bias_error", against.error, biased);
	pm_json_real(j, "bias_per_visit", against.bias, biased);
	pm_json_real(j, "needed_per_visit", against.needed, biased);
	pm_json_real(j, "needed_batch", against.batch, biased && against.batch > 0);
	pm_json_close(j, "}");
}

static void put_metric(struct pm_json *j, const struct pm_report_tree *tree, uint32_t n,
		       uint32_t m)
{
	struct pm_value in = pm_report_metric(tree, n, m, false);
	struct pm_value ex = pm_report_metric(tree, n, m, true);
	const struct pm_report_metric *formula;
	double limit;

	pm_json_begin(j, NULL, "{");
	pm_json_real(j, "value", in.value, in.state == PM_COUNTED);
	pm_json_real(j, "exclusive_value", ex.value, ex.state == PM_COUNTED);
	pm_json_real(j, "coverage", in.coverage, in.state < PM_NEVER_OPENED);
	pm_json_bool(j, "estimated", in.marks & PM_MARK_MULTIPLEXED);
	pm_json_real(j, "error", in.error, in.state == PM_COUNTED);
	pm_json_real(j, "exclusive_error", ex.error, ex.state == PM_COUNTED);
	pm_json_marks(j, "marks", in.marks);
	pm_json_marks(j, "exclusive_marks", ex.marks);
	formula = pm_report_metric_of(tree->model, m, pm_path_name(tree, n));
	limit = formula ? pm_report_metric_limit(tree->model, formula) : 0;
	pm_json_real(j, "limit", limit, limit > 0);
	pm_json_close(j, "}");
}

static void put_quality(struct pm_json *j, const struct pm_path_visits *visits)
{
	pm_json_begin(j, "quality", "{");
	pm_json_number(j, "fallback_reads", visits->fallback_reads);
	pm_json_number(j, "retries", visits->retries);
	pm_json_number(j, "migrations", visits->migrations);
	pm_json_number(j, "mismatched_ends", visits->mismatched_ends);
	pm_json_number(j, "dropped_counts", visits->dropped_counts);
	pm_json_number(j, "defects", visits->defects);
	pm_json_number(j, "spilled", visits->spilled);
	pm_json_number(j, "torn", visits->torn);
	pm_json_close(j, "}");
}

/* Without the empty bins at its end; none at all if the times are not KNOWN. */
static void put_histogram(struct pm_json *j, const struct pm_path_visits *visits,
			  bool known)
{
	int last = known ? PERFMON_PROFILE_BINS : 0;

	while (last && !visits->histogram[last - 1])
		last--;
	pm_json_begin(j, "histogram", "[");
	for (int i = 0; i < last; i++) {
		pm_json_number(j, NULL, visits->histogram[i]);
	}
	pm_json_close(j, "]");
}

/* Thread number AT of the snapshot and 1; 0: not known. */
static void put_tid(struct pm_json *j, const char *key,
		    const struct pm_report_model *model, uint32_t at, bool known)
{
	known = known && at;
	pm_json_known(j, key, known ? model->snapshot->threads[at - 1].record.tid : 0,
		      known);
}

static void put_node(struct pm_json *j, const struct pm_report *report,
		     const struct pm_report_tree *tree, uint32_t n)
{
	const struct pm_report_model *model = tree->model;
	const struct pm_snapshot *s = model->snapshot;
	const struct pm_path *node = pm_path(tree, n);
	/* The ticks of an exact profile are counts, which the events have. */
	bool visited = node->visits.measured > 0 && !model->exact;
	bool ends_known = visited && node->times.min <= node->times.max;
	bool valued = pm_path_has_values(tree, n) && !model->exact;
	bool threads_known = node->threads.min <= node->threads.max && !model->exact;
	struct pm_value time = pm_report_time(tree, n, false);
	struct pm_value own = pm_report_time(tree, n, true);
	double median = pm_path_quantile(tree, n, 0.5);
	double p95 = pm_path_quantile(tree, n, 0.95);

	pm_json_begin_line(j);
	pm_json_number(j, "id", n);
	pm_json_number(j, "parent", node->parent);
	pm_json_string(j, "region", pm_path_name(tree, n));
	/* Another run alone may have visited the path. */
	pm_json_known(j, "entered", node->visits.entered, node->threads.count);
	pm_json_known(j, "visits", node->visits.ended, node->threads.count);
	pm_json_known(j, "measured", node->visits.measured, node->threads.count);
	pm_json_known(j, "time_ticks", node->times.inclusive, valued);
	pm_json_known(j, "exclusive_ticks", pm_path_exclusive(tree, n), valued);
	pm_json_real(j, "time_ns", pm_snapshot_ns(s, time.value), valued);
	pm_json_real(j, "exclusive_ns", pm_snapshot_ns(s, own.value), valued);
	pm_json_real(j, "time_error_ns", pm_snapshot_ns(s, time.error), valued);
	pm_json_real(j, "exclusive_error_ns", pm_snapshot_ns(s, own.error), valued);
	pm_json_real(j, "mean_ticks", pm_path_mean(tree, n), visited);
	pm_json_real(j, "stddev_ticks", pm_path_deviation(tree, n),
		     visited && node->visits.measured > 1);
	pm_json_real(j, "median_ticks", median, visited && median >= 0);
	pm_json_real(j, "p95_ticks", p95, visited && p95 >= 0);
	pm_json_known(j, "min_ticks", node->times.min, ends_known);
	pm_json_known(j, "max_ticks", node->times.max, ends_known);
	pm_json_real(j, "added_ns", pm_snapshot_ns(s, node->times.added), visited);
	pm_json_known(j, "off_cpu_ns", node->times.off_cpu_ns, !model->exact);
	pm_json_number(j, "threads", node->threads.count);
	pm_json_bool(j, "team", node->is_team);
	pm_json_bool(j, "overlapping", node->is_overlapping);
	pm_json_known(j, "thread_min_ticks", node->threads.min, threads_known);
	pm_json_known(j, "thread_max_ticks", node->threads.max, threads_known);
	put_tid(j, "thread_min_tid", model, node->threads.min_at, threads_known);
	put_tid(j, "thread_max_tid", model, node->threads.max_at, threads_known);
	put_quality(j, &node->visits);
	put_histogram(j, &node->visits, !model->exact);
	pm_json_marks(j, "marks", time.marks);
	pm_json_marks(j, "exclusive_marks", own.marks);
	pm_json_begin(j, "counts", "[");
	for (uint32_t e = 0; e < model->event_count; e++)
		put_count(j, tree, n, e);
	pm_json_close(j, "]");
	pm_json_begin(j, "ratios", "[");
	for (uint32_t m = 0; m < model->metric_count; m++) {
		struct pm_value value = pm_report_metric(tree, n, m, false);

		pm_json_real(j, NULL, value.value, value.state == PM_COUNTED);
	}
	pm_json_close(j, "]");
	pm_json_begin(j, "metrics", "[");
	for (uint32_t m = 0; m < model->metric_count; m++)
		put_metric(j, tree, n, m);
	pm_json_close(j, "]");
	if (tree == report->all && report->paths)
		put_ranges(j, report, report->paths[n]);
	pm_json_close(j, "}");
}

void pm_json_nodes(struct pm_json *j, const struct pm_report *report,
		   const struct pm_report_tree *tree)
{
	pm_json_begin(j, "nodes", "[");
	for (uint32_t n = 1; n < tree->node_count; n++)
		put_node(j, report, tree, n);
	pm_json_close(j, "]");
}

static void put_step_value(struct pm_json *j, const struct pm_value *value)
{
	pm_json_begin(j, NULL, "{");
	pm_json_real(j, "value", value->value, value->state == PM_COUNTED);
	pm_json_marks(j, "marks", value->state == PM_COUNTED ? value->marks : 0);
	pm_json_close(j, "}");
}

/* STEP is node N of TREE. */
static void put_step(struct pm_json *j, const struct pm_report_tree *tree, uint32_t n,
		     const struct pm_snapshot_step *step)
{
	const struct pm_report_model *model = tree->model;
	const struct pm_snapshot *s = model->snapshot;
	const struct pm_path_visits *visits = &pm_path(tree, n)->visits;
	struct pm_value value = pm_report_time(tree, n, false);
	double begin = (double)pm_less(step->begin_ticks, s->header.begin_ticks);

	pm_json_begin_line(j);
	pm_json_number(j, "first", step->first);
	pm_json_number(j, "last", step->last);
	pm_json_number(j, "visits", visits->ended);
	pm_json_real(j, "begin_ns", pm_snapshot_ns(s, begin), !model->exact);
	pm_json_real(j, "time_ns", pm_snapshot_ns(s, value.value),
		     value.state == PM_COUNTED && !model->exact);
	pm_json_real(j, "longest_ns", pm_snapshot_ns(s, (double)step->longest),
		     step->longest && !model->exact);
	pm_json_known(j, "off_cpu_ns", pm_path(tree, n)->times.off_cpu_ns, !model->exact);
	pm_json_number(j, "migrations", visits->migrations);
	pm_json_marks(j, "marks", value.marks);
	pm_json_begin(j, "counts", "[");
	for (uint32_t e = 0; e < model->event_count; e++) {
		value = pm_report_count(tree, n, e, false);
		put_step_value(j, &value);
	}
	pm_json_close(j, "]");
	pm_json_begin(j, "metrics", "[");
	for (uint32_t m = 0; m < model->metric_count; m++) {
		value = pm_report_metric(tree, n, m, false);
		put_step_value(j, &value);
	}
	pm_json_close(j, "]");
	pm_json_close(j, "}");
}

int pm_json_steps(struct pm_json *j, const struct pm_report *report)
{
	const struct pm_snapshot *s = report->snapshot;
	int err;

	pm_json_begin(j, "steps", "[");
	for (uint32_t i = 0; i < s->steps_count; i++) {
		const struct pm_snapshot_steps *steps = &s->steps[i];
		uint32_t node = pm_report_steps_path(report->all, steps);
		struct pm_report_tree tree;

		err = pm_report_tree_steps(&tree, report->model, steps, NULL);
		if (err)
			return err;
		pm_json_begin_line(j);
		pm_json_known(j, "node", node, node);
		pm_json_string(j, "region", s->regions[steps->path[steps->depth - 1]]);
		pm_json_number(j, "tid", steps->thread.record.tid);
		pm_json_string(j, "thread", steps->thread.record.name);
		pm_json_begin(j, "steps", "[");
		for (uint32_t n = 1; n < tree.node_count; n++)
			put_step(j, &tree, n, &steps->step[n - 1]);
		pm_json_close(j, "]");
		pm_json_close(j, "}");
		pm_report_tree_free(&tree);
	}
	pm_json_close(j, "]");
	return 0;
}
