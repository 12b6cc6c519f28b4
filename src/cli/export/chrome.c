/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Chrome's trace format, which Perfetto reads, too: an object with an array of events,
 * and times in microseconds. A profile has sums but no times of day, so the trace is a
 * picture of the sums. Each path of a thread is one event, as long as all its visits
 * together. The paths below it follow each other from its begin. Overlapping visits are in no other
 * path, and so their events are the format's asynchronous ones: a begin and an end.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/export/export.h"
#include "core/report/model/groups.h"
#include "core/report/output/json.h"

static void put_ns(struct pm_json *j, const char *name, uint64_t ns)
{
	pm_json_key(j, name);
	pm_out_format(j->out, "%" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
}

/* Writes the name of a process or thread, which viewers show. */
static void put_name(struct pm_json *j, const struct export_profile *profile,
		     const char *kind, int64_t tid, const char *text)
{
	pm_json_begin_line(j);
	pm_json_string(j, "ph", "M");
	pm_json_number(j, "pid", profile->pid);
	if (tid >= 0)
		pm_json_signed(j, "tid", tid);
	pm_json_string(j, "name", kind);
	pm_json_begin(j, "args", "{");
	pm_json_string(j, strcmp(kind, "process_labels") ? "name" : "labels", text);
	pm_json_close(j, "}}");
}

static void put_process(struct pm_json *j, const struct export_profile *profile)
{
	const struct perfmon_profile_header *header = &profile->snapshot->header;
	char text[400];
	int used = snprintf(text, sizeof(text), "%s, pid %u on %s", header->program,
			    header->pid, header->host);

	if (header->rank >= 0 && (size_t)used < sizeof(text))
		snprintf(text + used, sizeof(text) - (size_t)used, ", rank %d",
			 header->rank);
	put_name(j, profile, "process_name", -1, text);
	if (profile->model->exact)
		used = snprintf(text, sizeof(text),
				PM_REPORT_EXACT "; a nanosecond here is one of %.100s; ",
				profile->model->events[0].name);
	else
		used = 0;
	snprintf(text + used, sizeof(text) - (size_t)used,
		 "sums of visits, not moments%s%s",
		 profile->snapshot->partial ? "; partial: " : "",
		 profile->snapshot->problem);
	put_name(j, profile, "process_labels", -1, text);
}

static void put_marks(struct pm_json *j, const char *name, const struct pm_value *value,
		      bool *any)
{
	struct pm_diag words = {0};

	if (!value->marks || value->state != PM_COUNTED)
		return;
	if (!*any)
		pm_json_begin(j, "marks", "{");
	*any = true;
	pm_report_mark_words(value->marks, " ", &words);
	pm_json_string(j, name, words.text);
}

static void put_metrics(struct pm_json *j, const struct pm_report_tree *tree, uint32_t n)
{
	const struct pm_report_model *model = tree->model;

	if (!model->metric_count)
		return;
	pm_json_begin(j, "metrics", "{");
	for (uint32_t m = 0; m < model->metric_count; m++) {
		struct pm_value value = pm_report_metric(tree, n, m, false);

		pm_json_real(j, model->metrics[m].metric->name, value.value,
			     value.state == PM_COUNTED);
	}
	pm_json_close(j, "}");
}

/* Writes all marks of these numbers, with the names of JSON reports. */
static void put_all_marks(struct pm_json *j, const struct pm_report_tree *tree,
			  uint32_t n)
{
	const struct pm_report_model *model = tree->model;
	struct pm_value value = pm_report_time(tree, n, false);
	bool any = false;

	if (!model->exact)
		put_marks(j, "time", &value, &any);
	for (uint32_t e = 0; e < model->event_count; e++) {
		value = pm_report_count(tree, n, e, false);
		put_marks(j, model->events[e].name, &value, &any);
	}
	for (uint32_t m = 0; m < model->metric_count; m++) {
		value = pm_report_metric(tree, n, m, false);
		put_marks(j, model->metrics[m].metric->name, &value, &any);
	}
	if (any)
		pm_json_close(j, "}");
}

/* Begins an event with the members that all kinds have. */
static void put_kind(struct pm_json *j, const struct export_profile *profile,
		     const char *kind, int64_t tid, const char *name, uint64_t time)
{
	pm_json_begin_line(j);
	pm_json_string(j, "ph", kind);
	pm_json_string(j, "cat", "region");
	pm_json_string(j, "name", name);
	pm_json_number(j, "pid", profile->pid);
	pm_json_signed(j, "tid", tid);
	put_ns(j, "ts", time);
}

/* The number by which a begin and an end belong together. */
static void put_id(struct pm_json *j, const struct export_profile *profile, int64_t tid,
		   uint32_t n)
{
	pm_json_key(j, "id");
	pm_out_format(j->out, "\"%u.%" PRId64 ".%" PRIu32 "\"", profile->pid, tid, n);
}

static void put_event(struct pm_json *j, const struct export_profile *profile,
		      int64_t tid, const struct pm_report_tree *tree, uint32_t n,
		      uint64_t begin, uint64_t length)
{
	const struct pm_path_visits *visits = &pm_path(tree, n)->visits;
	bool overlapping = pm_path(tree, n)->is_overlapping;
	struct pm_value value;

	put_kind(j, profile, overlapping ? "b" : "X", tid, pm_path_name(tree, n), begin);
	if (overlapping)
		put_id(j, profile, tid, n);
	else
		put_ns(j, "dur", length);
	pm_json_begin(j, "args", "{");
	pm_json_number(j, "visits", visits->ended);
	if (!tree->model->exact)
		pm_json_real(j, "exclusive_ns",
			     pm_snapshot_ns(profile->snapshot,
					    pm_report_time(tree, n, true).value),
			     true);
	if (pm_path_is_open(tree, n))
		pm_json_number(j, "visits not ended",
			       pm_less(visits->entered, visits->ended));
	for (uint32_t e = 0; e < tree->model->event_count; e++) {
		value = pm_report_count(tree, n, e, false);
		pm_json_real(j, tree->model->events[e].name,
			     value.value * tree->model->events[e].first->scale,
			     value.state == PM_COUNTED);
	}
	put_metrics(j, tree, n);
	put_all_marks(j, tree, n);
	pm_json_close(j, "}}");
	if (!overlapping)
		return;
	put_kind(j, profile, "e", tid, pm_path_name(tree, n), pm_plus(begin, length));
	put_id(j, profile, tid, n);
	pm_json_close(j, "}");
}

/*
 * Computes the length of each node's event: its time, or that of the nodes below if that
 * is more because a visit is open. Under the Valgrind tool, one count of the first event
 * is one nanosecond long.
 */
static uint64_t *lengths(const struct export_profile *profile,
			 const struct pm_report_tree *tree)
{
	uint64_t *length = calloc(2 * (size_t)tree->node_count, sizeof(*length));
	uint64_t *below;

	if (!length)
		return NULL;
	below = length + tree->node_count;
	for (uint32_t n = tree->node_count; n-- > 0;) {
		double ticks = (double)pm_path(tree, n)->times.inclusive;
		double ns = tree->model->exact ? ticks
					       : pm_snapshot_ns(profile->snapshot, ticks);

		/* More than a century is not possible. */
		length[n] = ns > 0 && ns < 4e18 ? (uint64_t)ns : 0;
		if (length[n] < below[n])
			length[n] = below[n];
		if (n && !pm_path(tree, n)->is_overlapping)
			below[pm_path(tree, n)->parent] =
				pm_plus(below[pm_path(tree, n)->parent], length[n]);
	}
	return length;
}

/* SUMS is the number of earlier sums of ended threads. Each has a track: there is one sum
 * for each set of CPUs on which threads could run. */
static int put_thread(struct pm_json *j, const struct export_profile *profile, uint32_t t,
		      uint32_t *sums)
{
	const struct perfmon_profile_thread *record =
		&profile->snapshot->threads[t].record;
	bool summed = record->state == PERFMON_PROFILE_THREAD_STATE_AGGREGATE;
	/* Viewers take 0 for the idle thread. */
	int64_t tid = summed ? EXPORT_NO_NUMBER + (*sums)++ : record->tid;
	struct pm_report_tree tree;
	uint64_t *length, *begin;
	char text[200], cpus[128];
	int err = pm_report_tree_make(&tree, profile->model, &t, 1);

	if (err)
		return err;
	length = lengths(profile, &tree);
	begin = calloc((size_t)tree.node_count + 1, sizeof(*begin));
	if (!length || !begin) {
		err = -ENOMEM;
		goto out;
	}
	pm_report_cpus(record, cpus, sizeof(cpus));
	if (summed)
		snprintf(text, sizeof(text), "%u ended threads, summed%s%s%s",
			 record->aggregated, cpus[0] ? " (CPU " : "", cpus,
			 cpus[0] ? ")" : "");
	else
		snprintf(text, sizeof(text), "%s", record->name);
	put_name(j, profile, "thread_name", tid, text);
	begin[0] = tree.model->exact ? 0 : profile->delay_ns;
	if (!summed && !tree.model->exact)
		begin[0] = pm_plus(
			begin[0],
			(uint64_t)pm_snapshot_ns(
				profile->snapshot,
				(double)pm_less(record->begin_ticks,
						profile->snapshot->header.begin_ticks)));
	/* Parents first; begin[] is the place of the next child of a node. */
	for (uint32_t n = pm_path_next(&tree, 0); n; n = pm_path_next(&tree, n)) {
		uint64_t *next = &begin[pm_path(&tree, n)->parent];

		begin[n] = *next;
		if (!pm_path(&tree, n)->is_overlapping)
			*next = pm_plus(*next, length[n]);
		put_event(j, profile, tid, &tree, n, begin[n], length[n]);
	}
out:
	free(length);
	free(begin);
	pm_report_tree_free(&tree);
	return err;
}

int export_chrome(struct pm_out *out, struct export_profile *profile,
		  struct export_job *job)
{
	struct pm_json j = {.out = out, .first = profile->first};
	uint32_t sums = 0;
	int err = 0;

	(void)job;
	if (profile->first)
		pm_out_text(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"layout\":"
				 "\"An aggregate: each event is all visits of a path of "
				 "regions in a thread, as long as they took together. "
				 "When they were is not known.\"},\n\"traceEvents\":[");
	put_process(&j, profile);
	for (uint32_t t = 0; !err && t < profile->snapshot->thread_count; t++)
		err = put_thread(&j, profile, t, &sums);
	return err;
}

int export_chrome_end(struct pm_out *out, struct export_job *job)
{
	(void)job;
	pm_out_text(out, "\n]}\n");
	return 0;
}
