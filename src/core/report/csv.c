/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CSV (RFC 4180): a header line, then a row per path, first of all threads together, then
 * per thread. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/cells.h"
#include "core/report/formats.h"
#include "core/report/output/escape.h"

#define END_OF_LINE "\r\n"

static void number(struct pm_out *out, uint64_t value)
{
	pm_out_format(out, ",%llu", (unsigned long long)value);
}

static void real(struct pm_out *out, double value, bool known)
{
	pm_out_text(out, ",");
	if (known && isfinite(value))
		pm_out_double(out, value);
}

static void heading(struct pm_out *out, const char *name, const char *part)
{
	char text[200];

	snprintf(text, sizeof(text), "%s%s", name, part);
	pm_out_text(out, ",");
	pm_out_csv(out, text);
}

static void range_heading(struct pm_out *out, const char *name)
{
	static const char *const parts[] = {".mean",	    ".min",
					    ".min_process", ".max",
					    ".max_process", ".imbalance_percent"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		heading(out, name, parts[i]);
}

/* Words with blanks between. */
static void marks_write(struct pm_out *out, uint32_t marks)
{
	struct pm_diag words = {0};

	pm_report_mark_words(marks, " ", &words);
	pm_out_text(out, ",");
	pm_out_csv(out, words.text);
}

/* At the end of a row, so that no other column moves. */
static void marks_header(const struct pm_report *report, struct pm_out *out)
{
	const struct pm_report_model *model = report->model;

	pm_out_text(out, ",time_ns.marks,exclusive_ns.marks");
	for (uint32_t e = 0; e < model->event_count; e++) {
		heading(out, model->events[e].name, ".marks");
		heading(out, model->events[e].name, ".exclusive_marks");
	}
	for (uint32_t m = 0; m < model->metric_count; m++)
		heading(out, model->metrics[m].metric->name, ".marks");
	if (!report->paths)
		return;
	pm_out_text(out, ",time_ns.process_marks,exclusive_ns.process_marks");
	for (uint32_t e = 0; e < model->event_count; e++)
		heading(out, model->events[e].name, ".process_marks");
}

static void row_marks(const struct pm_report *report, const struct pm_report_tree *tree,
		      uint32_t n, bool steps, struct pm_out *out)
{
	const struct pm_merge *merge = report->options->merge;
	uint32_t path;

	marks_write(out, pm_report_time(tree, n, false).marks);
	marks_write(out, steps ? 0 : pm_report_time(tree, n, true).marks);
	for (uint32_t e = 0; e < tree->model->event_count; e++) {
		marks_write(out, pm_report_count(tree, n, e, false).marks);
		marks_write(out, steps ? 0 : pm_report_count(tree, n, e, true).marks);
	}
	for (uint32_t m = 0; m < tree->model->metric_count; m++)
		marks_write(out, pm_report_metric(tree, n, m, false).marks);
	if (!report->paths)
		return;
	path = tree == report->all ? report->paths[n] : 0;
	marks_write(out, pm_merge_range(merge, false, path, PM_RANGE_TIME).marks);
	marks_write(out, pm_merge_range(merge, false, path, PM_RANGE_EXCLUSIVE).marks);
	for (uint32_t e = 0; e < tree->model->event_count; e++)
		marks_write(out,
			    pm_report_range(merge, false, path, &tree->model->events[e])
				    .marks);
}

static void header(const struct pm_report *report, struct pm_out *out)
{
	const struct pm_report_model *model = report->model;

	pm_out_text(out, "thread,thread_name,id,parent,depth,path,region,entered,visits,"
			 "time_ns,exclusive_ns,mean_ns,stddev_ns,min_ns,max_ns,off_cpu_"
			 "ns,threads,fallback_reads,retries,migrations,mismatched_ends,"
			 "dropped_counts,defects,torn");
	if (model->sampled)
		pm_out_text(out, ",measured,time_error_ns,exclusive_error_ns");
	for (uint32_t e = 0; e < model->event_count; e++) {
		const char *name = model->events[e].name;

		heading(out, name, "");
		heading(out, name, ".exclusive");
		heading(out, name, ".sum");
		heading(out, name, ".coverage");
		heading(out, name, ".status");
		if (model->sampled)
			heading(out, name, ".error");
	}
	for (uint32_t m = 0; m < model->metric_count; m++)
		heading(out, model->metrics[m].metric->name, "");
	if (report->paths) {
		pm_out_text(out, ",processes");
		range_heading(out, "time_ns");
		range_heading(out, "exclusive_ns");
		for (uint32_t e = 0; e < model->event_count; e++)
			range_heading(out, model->events[e].name);
	}
	marks_header(report, out);
	pm_out_text(out, ",median_ns,p95_ns,thread_min_ns,thread_max_ns,"
			 "thread_min_tid,thread_max_tid");
	pm_out_text(out, END_OF_LINE);
}

static void range_write(const struct pm_merge *merge, const struct pm_range *range,
			double scale, struct pm_out *out)
{
	bool known = range->counted > 0;
	char label[PM_MERGE_LABEL];

	real(out, range->mean * scale, known);
	real(out, range->min * scale, known);
	pm_out_text(out, ",");
	if (known)
		pm_out_csv(out, pm_merge_label(merge, range->min_process, label));
	real(out, range->max * scale, known);
	pm_out_text(out, ",");
	if (known)
		pm_out_csv(out, pm_merge_label(merge, range->max_process, label));
	real(out, range->imbalance, range->imbalance >= 0);
}

/* How a node, whose number in the ranges is PATH, differs between processes. */
static void ranges_write(const struct pm_report *report, uint32_t path,
			 struct pm_out *out)
{
	const struct pm_merge *merge = report->options->merge;
	const struct pm_report_model *model = report->model;
	struct pm_range range = pm_merge_range(merge, false, path, PM_RANGE_TIME);

	number(out, range.present);
	if (model->exact)
		range.counted = 0, range.imbalance = -1;
	range_write(merge, &range, 1, out);
	if (!model->exact)
		range = pm_merge_range(merge, false, path, PM_RANGE_EXCLUSIVE);
	range_write(merge, &range, 1, out);
	for (uint32_t e = 0; e < model->event_count; e++) {
		range = pm_report_range(merge, false, path, &model->events[e]);
		range_write(merge, &range, model->events[e].first->scale, out);
	}
}

/* The names from the top down, with ";" between and "\" before ";" and "\" in a name. */
static int path_write(const struct pm_report_tree *tree, uint32_t n, struct pm_out *out)
{
	uint32_t line[PM_PATH_NODES];
	uint32_t count = pm_report_path(tree, n, PM_PATH_BYTES, line);
	size_t size = 1;
	char *path, *to;

	for (uint32_t i = 0; i < count; i++)
		size += 2 * strlen(pm_path_name(tree, line[i])) + sizeof(PM_PATH_LEFT);
	path = to = malloc(size);
	if (!path)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		if (i)
			*to++ = ';';
		if (!line[i])
			to = stpcpy(to, PM_PATH_LEFT);
		for (const char *c = pm_path_name(tree, line[i]); *c; c++) {
			if (*c == ';' || *c == '\\')
				*to++ = '\\';
			*to++ = *c;
		}
	}
	*to = '\0';
	pm_out_csv(out, path);
	free(path);
	return 0;
}

static void count_write(const struct pm_report_tree *tree, uint32_t n, uint32_t e,
			bool steps, struct pm_out *out)
{
	double scale = tree->model->events[e].first->scale;
	struct pm_value inclusive = pm_report_count(tree, n, e, false);
	struct pm_value exclusive = pm_report_count(tree, n, e, true);

	real(out, inclusive.value * scale, inclusive.state == PM_COUNTED);
	real(out, exclusive.value * scale, exclusive.state == PM_COUNTED && !steps);
	if (inclusive.state >= PM_NEVER_OPENED)
		pm_out_text(out, ",");
	else
		number(out, inclusive.sum);
	real(out, inclusive.coverage, inclusive.state < PM_NEVER_OPENED);
	pm_out_format(out, ",%s", pm_report_state_name(inclusive.state));
	if (tree->model->sampled)
		real(out, inclusive.error * scale, inclusive.state == PM_COUNTED);
}

static void quantiles_write(const struct pm_report_tree *tree, uint32_t n, bool visited,
			    struct pm_out *out)
{
	static const double parts[] = {0.5, 0.95};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		double ticks = pm_path_quantile(tree, n, parts[i]);

		real(out, pm_snapshot_ns(tree->model->snapshot, ticks),
		     visited && ticks >= 0);
	}
}

static void spread_write(const struct pm_report_model *model,
			 const struct pm_path_threads *threads, struct pm_out *out)
{
	const struct pm_snapshot *s = model->snapshot;
	const uint32_t at[] = {threads->min_at, threads->max_at};
	bool known = threads->min <= threads->max && !model->exact;

	real(out, pm_snapshot_ns(s, (double)threads->min), known);
	real(out, pm_snapshot_ns(s, (double)threads->max), known);
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		if (known && at[i])
			number(out, s->threads[at[i] - 1].record.tid);
		else
			pm_out_text(out, ",");
	}
}

/* PATH: the node of the tree of all threads that the tree's nodes are steps of; 0: they are paths. */
static int row(const struct pm_report *report, const struct pm_report_tree *tree,
	       uint32_t n, uint32_t path, const char *thread, const char *thread_name,
	       struct pm_out *out)
{
	const struct pm_report_model *model = tree->model;
	const struct pm_snapshot *s = model->snapshot;
	const struct pm_path *node = pm_path(tree, n);
	/* An exact profile's times are not the machine's. */
	bool visited = node->visits.measured > 0 && !model->exact;
	bool valued = pm_path_has_values(tree, n) && !model->exact;
	bool ends_known = visited && node->times.min <= node->times.max;
	struct pm_value time = pm_report_time(tree, n, false);
	struct pm_value own = pm_report_time(tree, n, true);
	int err;

	pm_out_text(out, thread);
	pm_out_text(out, ",");
	pm_out_csv(out, thread_name);
	number(out, n);
	number(out, node->parent);
	number(out, node->depth);
	pm_out_text(out, ",");
	err = path ? path_write(report->all, path, out) : path_write(tree, n, out);
	if (err)
		return err;
	pm_out_text(out, ",");
	pm_out_csv(out, pm_path_name(tree, n));
	/* Another run alone may have visited the path. */
	if (node->threads.count) {
		number(out, node->visits.entered);
		number(out, node->visits.ended);
	} else {
		pm_out_text(out, ",,");
	}
	real(out, pm_snapshot_ns(s, (double)node->times.inclusive), valued);
	real(out, pm_snapshot_ns(s, own.value), valued && !path);
	real(out, pm_snapshot_ns(s, pm_path_mean(tree, n)), visited);
	real(out, pm_snapshot_ns(s, pm_path_deviation(tree, n)),
	     visited && node->visits.measured > 1);
	real(out, pm_snapshot_ns(s, (double)node->times.min), ends_known);
	real(out, pm_snapshot_ns(s, (double)node->times.max), ends_known);
	if (model->exact)
		pm_out_text(out, ",");
	else
		number(out, node->times.off_cpu_ns);
	number(out, node->threads.count);
	number(out, node->visits.fallback_reads);
	number(out, node->visits.retries);
	number(out, node->visits.migrations);
	number(out, node->visits.mismatched_ends);
	number(out, node->visits.dropped_counts);
	number(out, node->visits.defects);
	number(out, node->visits.torn);
	if (model->sampled) {
		number(out, node->visits.measured);
		real(out, pm_snapshot_ns(s, time.error), visited);
		real(out, pm_snapshot_ns(s, own.error), visited && !path);
	}
	for (uint32_t e = 0; e < model->event_count; e++)
		count_write(tree, n, e, path, out);
	for (uint32_t m = 0; m < model->metric_count; m++) {
		struct pm_value value = pm_report_metric(tree, n, m, false);

		real(out, value.value, value.state == PM_COUNTED);
	}
	if (report->paths)
		ranges_write(report, tree == report->all ? report->paths[n] : 0, out);
	row_marks(report, tree, n, path, out);
	quantiles_write(tree, n, visited, out);
	spread_write(model, &node->threads, out);
	pm_out_text(out, END_OF_LINE);
	return 0;
}

/* A row of what no region has, of each event: NAME stands in place of a path. */
static void rest_row(const struct pm_report *report, const char *name, bool measuring,
		     struct pm_out *out)
{
	const struct pm_report_model *model = report->model;

	pm_out_format(out, "all,,,,,%s", name);
	/* region up to torn, and what a stride adds */
	pm_out_repeat(out, ',', 18 + (model->sampled ? 3 : 0));
	for (uint32_t e = 0; e < model->event_count; e++) {
		struct pm_report_rest rest = pm_report_rest(report->all, e);
		uint64_t count = measuring ? rest.measuring : rest.outside;
		double value = (double)count * model->events[e].first->scale;

		real(out, value, rest.known);
		real(out, value, rest.known);
		if (rest.known)
			number(out, count);
		pm_out_format(out, rest.known ? ",1,counted" : ",,,not counted");
		pm_out_repeat(out, ',', model->sampled);
	}
	pm_out_repeat(out, ',', model->metric_count);
	if (report->paths)
		pm_out_repeat(out, ',', 1 + 6 * (2 + model->event_count));
	pm_out_repeat(out, ',', 2 + 2 * model->event_count + model->metric_count);
	if (report->paths)
		pm_out_repeat(out, ',', 2 + model->event_count);
	/* of visits, and of threads */
	pm_out_repeat(out, ',', 2 + 4);
	pm_out_text(out, END_OF_LINE);
}

static int rows(const struct pm_report *report, const struct pm_report_tree *tree,
		const char *thread, const char *thread_name, struct pm_out *out)
{
	int err = 0;

	for (uint32_t n = 1; !err && n < tree->node_count; n++)
		err = row(report, tree, n, 0, thread, thread_name, out);
	return err;
}

/* In place of a thread's name each row of a step has the numbers of its visits. */
static int steps_rows(const struct pm_report *report,
		      const struct pm_snapshot_steps *steps, struct pm_out *out)
{
	uint32_t path = pm_report_steps_path(report->all, steps);
	struct pm_report_tree tree;
	char name[50];
	int err = path ? pm_report_tree_steps(&tree, report->model, steps, NULL) : 0;

	if (!path || err)
		return err;
	for (uint32_t n = 1; !err && n < tree.node_count; n++) {
		pm_report_step_name(&steps->step[n - 1], name);
		err = row(report, &tree, n, path, "step", name, out);
	}
	pm_report_tree_free(&tree);
	return err;
}

int pm_report_csv(const struct pm_report *report, struct pm_out *out)
{
	const struct pm_snapshot *s = report->snapshot;
	int err;

	header(report, out);
	err = rows(report, report->all, "all", "", out);
	/* With the exclusive values of all paths these add up to the total. */
	if (!err && report->model->exact)
		rest_row(report, "(outside regions)", false, out);
	if (!err && report->model->exact && report->model->subtract_bias)
		rest_row(report, "(measuring)", true, out);
	for (uint32_t i = 0; !err && i < s->steps_count; i++)
		err = steps_rows(report, &s->steps[i], out);
	for (uint32_t g = 0; !err && g < report->groups.count; g++) {
		const struct pm_report_group *group = &report->groups.groups[g];
		struct pm_report_tree tree;

		err = pm_report_tree_make(&tree, report->model, group->threads,
					  group->count);
		if (err)
			break;
		err = rows(report, &tree, group->name, group->cpus, out);
		pm_report_tree_free(&tree);
	}
	for (uint32_t t = 0; !err && report->options->per_thread && t < s->thread_count;
	     t++) {
		const struct perfmon_profile_thread *record = &s->threads[t].record;
		struct pm_report_tree tree;
		char thread[24] = "ended", cpus[128];
		const char *name = record->name;

		if (record->state != PERFMON_PROFILE_THREAD_STATE_AGGREGATE)
			snprintf(thread, sizeof(thread), "%u", record->tid);
		else
			name = pm_report_cpus(record, cpus, sizeof(cpus));
		err = pm_report_tree_make(&tree, report->model, &t, 1);
		if (err)
			break;
		err = rows(report, &tree, thread, name, out);
		pm_report_tree_free(&tree);
	}
	return err;
}
