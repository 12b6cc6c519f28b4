/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* JSON. Integers are written in full: 64 bits, which some readers cannot hold. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/merge.h"
#include "report/formats.h"

/* Members: a comma before each but the first of its object or array. */
struct json {
	struct pm_out *out;
	bool first;
};

static void next(struct json *j)
{
	if (!j->first)
		pm_out_text(j->out, ",");
	j->first = false;
}

static void key(struct json *j, const char *name)
{
	next(j);
	pm_out_json(j->out, name);
	pm_out_text(j->out, ":");
}

static void open_as(struct json *j, const char *bracket)
{
	pm_out_text(j->out, bracket);
	j->first = true;
}

static void close_as(struct json *j, const char *bracket)
{
	pm_out_text(j->out, bracket);
	j->first = false;
}

static void put_string(struct json *j, const char *name, const char *value)
{
	key(j, name);
	pm_out_json(j->out, value);
}

static void put_number(struct json *j, const char *name, uint64_t value)
{
	key(j, name);
	pm_out_format(j->out, "%llu", (unsigned long long)value);
}

static void put_signed(struct json *j, const char *name, int64_t value)
{
	key(j, name);
	pm_out_format(j->out, "%lld", (long long)value);
}

static void put_null(struct json *j, const char *name)
{
	key(j, name);
	pm_out_text(j->out, "null");
}

static void put_bool(struct json *j, const char *name, bool value)
{
	key(j, name);
	pm_out_text(j->out, value ? "true" : "false");
}

static void put_real(struct json *j, const char *name, double value, bool known)
{
	key(j, name);
	if (known)
		pm_out_double(j->out, value);
	else
		pm_out_text(j->out, "null");
}

static void put_known(struct json *j, const char *name, uint64_t value, bool known)
{
	if (known)
		put_number(j, name, value);
	else
		put_null(j, name);
}

static void put_text(struct json *j, const char *name, const char *value, bool known)
{
	if (known)
		put_string(j, name, value);
	else
		put_null(j, name);
}

static void put_machine(struct json *j, const struct pm_machine *machine)
{
	if (!machine) {
		put_null(j, "machine");
		return;
	}
	key(j, "machine");
	open_as(j, "{");
	put_string(j, "cpu_model", machine->cpu_model);
	put_string(j, "architecture", machine->architecture);
	put_string(j, "kernel", machine->kernel);
	put_number(j, "packages", machine->packages);
	put_number(j, "cores", machine->cores);
	put_number(j, "cpus", machine->cpus);
	close_as(j, "}");
}

static const char *state_name(enum pm_snapshot_writer writer)
{
	static const char *const names[] = {
		[PM_WRITER_UNKNOWN] = "unknown",
		[PM_WRITER_RUNS] = "running",
		[PM_WRITER_ENDED] = "ended",
		[PM_WRITER_GONE] = "died",
	};

	return names[writer];
}

static void put_head(struct json *j, const struct pm_report *report)
{
	const struct pm_snapshot *s = report->snapshot;
	const struct perfmon_profile_header *header = &s->header;
	bool one = !report->options->merge;
	char date[40];

	put_number(j, "format", 1);
	put_string(j, "perfmon", PACKAGE_VERSION);
	put_string(j, "program", header->program);
	put_known(j, "pid", header->pid, one);
	put_known(j, "start_time", header->start_time, one);
	put_known(j, "parent_pid", header->parent_pid, one);
	put_text(j, "host", header->host, one || header->host[0]);
	put_text(j, "boot_id", header->boot_id, one || header->boot_id[0]);
	if (header->rank >= 0)
		put_signed(j, "rank", header->rank);
	else
		put_null(j, "rank");
	put_known(j, "ranks", (uint64_t)header->ranks, header->ranks > 0);
	pm_report_date(date, sizeof(date), header->begin_realtime_ns, true);
	put_string(j, "began", date);
	put_number(j, "began_realtime_ns", header->begin_realtime_ns);
	put_real(j, "duration_ns", pm_report_duration(s), true);
	put_string(j, "state", state_name(s->writer));
	put_bool(j, "partial", s->partial);
	if (s->partial)
		put_string(j, "problem", s->problem);
	put_machine(j, report->options->machine);
	key(j, "clock");
	open_as(j, "{");
	put_string(j, "name",
		   header->clock == PERFMON_CLOCK_MONOTONIC ? "monotonic" : "timestamp");
	put_real(j, "tick_ns", s->tick_ns, s->tick_ns > 0);
	close_as(j, "}");
	put_bool(j, "bias_subtracted", report->options->subtract_bias);
}

/* The processes of a merge, to which its ranges refer by number. */
static void put_processes(struct json *j, const struct pm_merge *merge)
{
	key(j, "processes");
	open_as(j, "[");
	for (uint32_t p = 0; p < pm_merge_process_count(merge); p++) {
		const struct pm_merge_process *process = pm_merge_process(merge, p);

		next(j);
		pm_out_text(j->out, "\n");
		open_as(j, "{");
		put_known(j, "rank", (uint64_t)process->rank, process->rank >= 0);
		put_number(j, "pid", process->pid);
		put_string(j, "host", pm_merge_host(merge, process->host));
		put_string(j, "state", state_name(process->writer));
		put_bool(j, "partial", process->partial);
		put_number(j, "threads", process->threads);
		put_real(j, "duration_ns", process->duration_ns, true);
		close_as(j, "}");
	}
	close_as(j, "]");
}

static void put_marks(struct json *j, const char *name, uint32_t marks)
{
	key(j, name);
	open_as(j, "[");
	for (uint32_t i = 0; i < PM_MARKS; i++) {
		if (!(marks & 1u << i))
			continue;
		next(j);
		pm_out_json(j->out, pm_report_mark_name(1u << i));
	}
	close_as(j, "]");
}

static void put_range(struct json *j, struct pm_range range)
{
	bool known = range.counted > 0;

	open_as(j, "{");
	put_number(j, "of", range.of);
	put_number(j, "present", range.present);
	put_number(j, "counted", range.counted);
	put_real(j, "sum", range.sum, known);
	put_real(j, "mean", range.mean, known);
	put_real(j, "min", range.min, known);
	put_known(j, "min_process", range.min_process, known);
	put_real(j, "max", range.max, known);
	put_known(j, "max_process", range.max_process, known);
	put_real(j, "imbalance_percent", range.imbalance, range.imbalance >= 0);
	put_marks(j, "marks", range.marks);
	close_as(j, "}");
}

/* How node N, whose number in the ranges is PATH, differs between processes. */
static void put_ranges(struct json *j, const struct pm_report *report, uint32_t path)
{
	const struct pm_merge *merge = report->options->merge;
	const struct pm_report_model *model = report->model;

	key(j, "processes");
	open_as(j, "{");
	key(j, "time_ns");
	put_range(j, pm_merge_range(merge, false, path, PM_RANGE_TIME));
	key(j, "exclusive_ns");
	put_range(j, pm_merge_range(merge, false, path, PM_RANGE_EXCLUSIVE));
	key(j, "counts");
	open_as(j, "[");
	for (uint32_t e = 0; e < model->event_count; e++) {
		next(j);
		put_range(j, pm_report_range(merge, false, path, &model->events[e]));
	}
	close_as(j, "]");
	close_as(j, "}");
}

static void put_counter(struct json *j, const struct perfmon_profile_counter *counter)
{
	next(j);
	open_as(j, "{");
	put_string(j, "name", counter->name);
	put_string(j, "pmu", counter->pmu);
	put_number(j, "type", counter->type);
	key(j, "config");
	pm_out_format(j->out, "[%llu,%llu,%llu]", (unsigned long long)counter->config[0],
		      (unsigned long long)counter->config[1],
		      (unsigned long long)counter->config[2]);
	put_bool(j, "hardware", counter->flags & PERFMON_COUNTER_HARDWARE);
	put_signed(j, "error", counter->error);
	put_known(j, "bias", counter->bias, counter->bias_known & PERFMON_BIAS_USER);
	put_known(j, "call_bias", counter->call_bias,
		  counter->bias_known & PERFMON_BIAS_CALL);
	close_as(j, "}");
}

static void put_erratum(struct json *j, const struct pm_erratum *erratum)
{
	if (!erratum) {
		put_null(j, "erratum");
		return;
	}
	key(j, "erratum");
	open_as(j, "{");
	put_string(j, "number", erratum->number);
	put_string(j, "document", erratum->document);
	put_string(j, "effect", erratum->effect);
	close_as(j, "}");
}

static void put_events(struct json *j, const struct pm_report *report)
{
	const struct pm_report_model *model = report->model;
	const struct pm_snapshot *s = report->snapshot;

	key(j, "events");
	open_as(j, "[");
	for (uint32_t e = 0; e < model->event_count; e++) {
		const struct pm_report_event *event = &model->events[e];
		bool done = false;

		next(j);
		open_as(j, "{");
		put_string(j, "name", event->name);
		put_string(j, "unit", event->first->unit);
		put_real(j, "scale", event->first->scale, true);
		put_bool(j, "kernel_only", event->kernel_only);
		put_bool(j, "refused", event->refused == event->parts);
		put_string(j, "read",
			   event->user_read && event->syscall_read ? "both"
			   : event->user_read			   ? "user"
			   : event->syscall_read		   ? "syscall"
								   : "none");
		put_known(j, "bias", event->bias, event->bias_known & PERFMON_BIAS_USER);
		put_known(j, "call_bias", event->call_bias,
			  event->bias_known & PERFMON_BIAS_CALL);
		put_erratum(j, event->erratum);
		key(j, "counters");
		open_as(j, "[");
		/* Those of the first plan that has the event. */
		for (uint32_t p = 0; p < s->plan_count && !done; p++) {
			for (uint32_t c = 0; c < s->plans[p].counter_count; c++) {
				if (model->event_of[p][c] != e)
					continue;
				put_counter(j, &s->plans[p].counters[c]);
				done = true;
			}
		}
		close_as(j, "]");
		close_as(j, "}");
	}
	close_as(j, "]");
	key(j, "ratios");
	open_as(j, "[");
	for (uint32_t m = 0; m < model->metric_count; m++) {
		const struct pm_metric *metric = model->metrics[m].metric;

		next(j);
		open_as(j, "{");
		put_string(j, "name", metric->name);
		put_string(j, "meaning",
			   metric->meaning ? metric->meaning : metric->formula);
		close_as(j, "}");
	}
	close_as(j, "]");
	key(j, "metrics");
	open_as(j, "[");
	for (uint32_t m = 0; m < model->metric_count; m++) {
		const struct pm_metric *metric = model->metrics[m].metric;

		next(j);
		open_as(j, "{");
		put_string(j, "name", metric->name);
		put_string(j, "formula", metric->formula);
		put_string(j, "unit", metric->unit);
		put_bool(j, "built_in", metric->heading != NULL);
		close_as(j, "}");
	}
	close_as(j, "]");
}

static void put_count(struct json *j, const struct pm_report_tree *tree, uint32_t n,
		      uint32_t e)
{
	static const char *const states[] = {
		[PM_COUNTED] = "counted",
		[PM_NOT_COUNTED] = "not counted",
		[PM_NEVER_OPENED] = "never opened",
	};
	const struct pm_report_count *count =
		&tree->counts[(size_t)n * tree->model->event_count + e];
	struct pm_value in = pm_report_count(tree, n, e, false);
	struct pm_value ex = pm_report_count(tree, n, e, true);
	bool open = in.state != PM_NEVER_OPENED, biased;
	struct pm_short against;

	next(j);
	open_as(j, "{");
	put_string(j, "status", states[in.state]);
	put_known(j, "sum", in.sum, open);
	put_known(j, "exclusive_sum", ex.sum, open);
	put_real(j, "value", in.value, in.state == PM_COUNTED);
	put_real(j, "exclusive_value", ex.value, ex.state == PM_COUNTED);
	put_real(j, "coverage", in.coverage, open);
	put_real(j, "exclusive_coverage", ex.coverage, open);
	put_bool(j, "estimated", in.marks & PM_MARK_MULTIPLEXED);
	put_number(j, "lost_ns", count->lost_ns);
	put_real(j, "error", in.error, in.state == PM_COUNTED);
	put_real(j, "exclusive_error", ex.error, ex.state == PM_COUNTED);
	put_number(j, "measured", count->measured);
	put_number(j, "sampled", count->sampled);
	put_number(j, "threads", count->threads);
	put_real(j, "squares", count->squares, count->squares > 0);
	put_marks(j, "marks", in.marks);
	put_marks(j, "exclusive_marks", ex.marks);
	pm_report_is_short(tree, n, e, false, &against);
	biased = in.state == PM_COUNTED && tree->model->events[e].bias_known;
	put_real(j, "bias_error", against.error, biased);
	put_real(j, "bias_per_visit", against.bias, biased);
	put_real(j, "needed_per_visit", against.needed, biased);
	put_real(j, "needed_batch", against.batch, biased && against.batch > 0);
	close_as(j, "}");
}

static void put_metric(struct json *j, const struct pm_report_tree *tree, uint32_t n,
		       uint32_t m)
{
	struct pm_value in = pm_report_metric(tree, n, m, false);
	struct pm_value ex = pm_report_metric(tree, n, m, true);
	double limit;

	next(j);
	open_as(j, "{");
	put_real(j, "value", in.value, in.state == PM_COUNTED);
	put_real(j, "exclusive_value", ex.value, ex.state == PM_COUNTED);
	put_real(j, "coverage", in.coverage, in.state != PM_NEVER_OPENED);
	put_bool(j, "estimated", in.marks & PM_MARK_MULTIPLEXED);
	put_marks(j, "marks", in.marks);
	put_marks(j, "exclusive_marks", ex.marks);
	pm_report_is_implausible(tree->model, m, in.value, &limit);
	put_real(j, "limit", limit, limit > 0);
	close_as(j, "}");
}

static void put_quality(struct json *j, const struct pm_report_node *node)
{
	key(j, "quality");
	open_as(j, "{");
	put_number(j, "fallback_reads", node->fallback_reads);
	put_number(j, "retries", node->retries);
	put_number(j, "migrations", node->migrations);
	put_number(j, "mismatched_ends", node->mismatched_ends);
	put_number(j, "dropped_counts", node->dropped_counts);
	put_number(j, "defects", node->defects);
	put_number(j, "spilled", node->spilled);
	put_number(j, "torn", node->torn);
	close_as(j, "}");
}

/* Without the empty bins at its end. */
static void put_histogram(struct json *j, const struct pm_report_node *node)
{
	int last = PERFMON_PROFILE_BINS;

	while (last && !node->histogram[last - 1])
		last--;
	key(j, "histogram");
	open_as(j, "[");
	for (int i = 0; i < last; i++) {
		next(j);
		pm_out_format(j->out, "%llu", (unsigned long long)node->histogram[i]);
	}
	close_as(j, "]");
}

static void put_node(struct json *j, const struct pm_report *report,
		     const struct pm_report_tree *tree, uint32_t n)
{
	const struct pm_report_model *model = tree->model;
	const struct pm_report_node *node = &tree->nodes[n];
	bool visited = node->measured > 0;
	bool threads_known = node->thread_min_ticks <= node->thread_max_ticks;

	next(j);
	pm_out_text(j->out, "\n");
	open_as(j, "{");
	put_number(j, "id", n);
	put_number(j, "parent", node->parent);
	put_string(j, "region", pm_report_name(tree, n));
	put_number(j, "entered", node->entered);
	put_number(j, "visits", node->visits);
	put_number(j, "measured", node->measured);
	put_known(j, "time_ticks", node->time_ticks, visited);
	put_known(j, "exclusive_ticks", pm_less(node->time_ticks, node->children_ticks),
		  visited);
	put_real(j, "time_ns", pm_snapshot_ns(model->snapshot, (double)node->time_ticks),
		 visited);
	put_real(j, "exclusive_ns",
		 pm_snapshot_ns(model->snapshot, pm_report_time(tree, n, true).value),
		 visited);
	put_real(j, "time_error_ns",
		 pm_snapshot_ns(model->snapshot, pm_report_time(tree, n, false).error),
		 visited);
	put_real(j, "exclusive_error_ns",
		 pm_snapshot_ns(model->snapshot, pm_report_time(tree, n, true).error),
		 visited);
	put_real(j, "mean_ticks", pm_report_mean(node), visited);
	put_real(j, "stddev_ticks", pm_report_deviation(node), node->measured > 1);
	put_known(j, "min_ticks", node->time_min, visited);
	put_known(j, "max_ticks", node->time_max, visited);
	put_number(j, "off_cpu_ns", node->off_cpu_ns);
	put_number(j, "threads", node->threads);
	put_known(j, "thread_min_ticks", node->thread_min_ticks, threads_known);
	put_known(j, "thread_max_ticks", node->thread_max_ticks, threads_known);
	put_quality(j, node);
	put_histogram(j, node);
	put_marks(j, "marks", pm_report_time(tree, n, false).marks);
	put_marks(j, "exclusive_marks", pm_report_time(tree, n, true).marks);
	key(j, "counts");
	open_as(j, "[");
	for (uint32_t e = 0; e < model->event_count; e++)
		put_count(j, tree, n, e);
	close_as(j, "]");
	key(j, "ratios");
	open_as(j, "[");
	for (uint32_t m = 0; m < model->metric_count; m++) {
		struct pm_value value = pm_report_metric(tree, n, m, false);

		next(j);
		if (value.state == PM_COUNTED)
			pm_out_double(j->out, value.value);
		else
			pm_out_text(j->out, "null");
	}
	close_as(j, "]");
	key(j, "metrics");
	open_as(j, "[");
	for (uint32_t m = 0; m < model->metric_count; m++)
		put_metric(j, tree, n, m);
	close_as(j, "]");
	if (tree == report->all && report->paths)
		put_ranges(j, report, report->paths[n]);
	close_as(j, "}");
}

static void put_nodes(struct json *j, const struct pm_report *report,
		      const struct pm_report_tree *tree)
{
	key(j, "nodes");
	open_as(j, "[");
	for (uint32_t n = 1; n < tree->node_count; n++)
		put_node(j, report, tree, n);
	close_as(j, "]");
}

static int put_groups(struct json *j, const struct pm_report *report)
{
	const struct pm_report_groups *groups = &report->groups;
	int err = 0;

	if (!groups->count)
		return 0;
	put_string(j, "level", pm_level_name(groups->level));
	key(j, "groups");
	open_as(j, "[");
	for (uint32_t g = 0; g < groups->count && !err; g++) {
		const struct pm_report_group *group = &groups->groups[g];
		struct pm_report_tree tree;

		err = pm_report_tree_make_of(&tree, report->model, group->threads,
					     group->count);
		if (err)
			return err;
		next(j);
		pm_out_text(j->out, "\n");
		open_as(j, "{");
		put_string(j, "name", group->name);
		put_string(j, "cpus", group->cpus);
		put_number(j, "threads", group->weight);
		put_nodes(j, report, &tree);
		close_as(j, "}");
		pm_report_tree_free(&tree);
	}
	close_as(j, "]");
	return err;
}

static void put_thread(struct json *j, const struct pm_report *report, uint32_t t)
{
	const struct pm_snapshot *s = report->snapshot;
	const struct pm_snapshot_thread *thread = &s->threads[t];
	const struct perfmon_profile_thread *record = &thread->record;
	bool aggregate = record->state == PERFMON_THREAD_FOLDED;
	char cpus[8 * PERFMON_PROFILE_CPUS];

	put_known(j, "tid", record->tid, !aggregate);
	put_string(j, "name", record->name);
	put_string(j, "state", pm_report_thread_state(thread));
	put_string(j, "cpus", pm_report_cpus(record, cpus, sizeof(cpus)));
	put_number(j, "threads", aggregate ? record->folded : 1);
	put_real(j, "begin_ns",
		 pm_snapshot_ns(
			 s, (double)pm_less(record->begin_ticks, s->header.begin_ticks)),
		 !aggregate);
	put_real(j, "lifetime_ns", pm_report_lifetime(s, thread), !aggregate);
	put_number(j, "torn", thread->torn);
	key(j, "status");
	open_as(j, "[");
	for (uint32_t c = 0; thread->plan && c < thread->plan->counter_count; c++) {
		next(j);
		pm_out_format(j->out, "%d", record->status[c]);
	}
	close_as(j, "]");
}

static int put_threads(struct json *j, const struct pm_report *report)
{
	int err = 0;

	key(j, "threads");
	open_as(j, "[");
	for (uint32_t t = 0; t < report->snapshot->thread_count; t++) {
		next(j);
		pm_out_text(j->out, "\n");
		open_as(j, "{");
		put_thread(j, report, t);
		if (report->options->per_thread) {
			struct pm_report_tree tree;

			err = pm_report_tree_make(&tree, report->model, t);
			if (err)
				return err;
			put_nodes(j, report, &tree);
			pm_report_tree_free(&tree);
		}
		close_as(j, "}");
	}
	close_as(j, "]");
	return 0;
}

int pm_report_json(const struct pm_report *report, struct pm_out *out)
{
	struct json j = {.out = out, .first = true};
	struct pm_lost lost[PM_LOST];
	const char *note;
	int err;

	open_as(&j, "{");
	put_head(&j, report);
	if (report->options->merge)
		put_processes(&j, report->options->merge);
	put_events(&j, report);
	put_nodes(&j, report, report->all);
	err = put_groups(&j, report) ?: put_threads(&j, report);
	if (err)
		return err;
	key(&j, "lost");
	open_as(&j, "{");
	for (uint32_t i = 0; i < pm_report_lost(report->snapshot, lost); i++)
		put_number(&j, lost[i].key, lost[i].count);
	close_as(&j, "}");
	key(&j, "notes");
	open_as(&j, "[");
	for (uint32_t i = 0; (note = pm_report_note(report, i)); i++) {
		next(&j);
		pm_out_json(out, note);
	}
	close_as(&j, "]");
	close_as(&j, "}");
	pm_out_text(out, "\n");
	return 0;
}
