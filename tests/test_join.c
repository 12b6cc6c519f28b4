/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Profiles of several runs as one: times of the first, counts of the others, by path.
 * Row: QU-01 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/profile/profile.h"
#include "core/report/merge/join.h"
#include "core/report/model/value.h"
#include "perfmon/profile.h"
#include "profile_builder.h"
#include "report_text.h"

/* A region of a run, below "main": visits, their time each, and a count each. */
struct region {
	const char *name;
	uint32_t visits;
	uint64_t ns, count;
};

/* Builds a run with a thread for each of THREADS. "main" is visited once and has all that its REGIONS
 * have. Without COUNT_NAME it counts nothing. */
static struct pm_snapshot *run_of(const char *count_name, bool exact, uint32_t threads,
				  const struct region *regions, size_t count)
{
	uint32_t counters = count_name ? 1 : 0, ids[8], run;
	struct perfmon_profile_plan *plan;
	struct profile_builder b;
	struct pm_diag diag = {0};
	struct pm_snapshot *s;

	builder_begin(&b, 1 << 17);
	plan = builder_plan(&b, 1, counters);
	if (count_name) {
		strcpy(plan->counter[0].name, count_name);
		plan->counter[0].flags = exact ? PERFMON_PROFILE_COUNTER_EXACT : 0;
	}
	run = builder_region(&b, "main");
	for (size_t r = 0; r < count; r++)
		ids[r] = builder_region(&b, regions[r].name);
	for (uint32_t t = 0; t < threads; t++) {
		struct perfmon_profile_thread *thread =
			builder_thread(&b, 10 + t, 1, counters);
		struct perfmon_profile_node *all, *node;
		uint64_t ns = 0, sum = 0;

		builder_nodes(&b, thread, 10);
		builder_node(&b, thread, 0, 0);
		all = builder_node(&b, thread, 1, run);
		for (size_t r = 0; r < count; r++) {
			node = builder_node(&b, thread, 2, ids[r]);
			for (uint32_t v = 0; v < regions[r].visits; v++)
				builder_visit(node, regions[r].ns);
			if (counters)
				node->count[0].sum = regions[r].visits * regions[r].count;
			ns += regions[r].visits * regions[r].ns;
			sum += regions[r].visits * regions[r].count;
		}
		builder_visit(all, ns);
		if (counters)
			all->count[0].sum = sum;
	}
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, &diag), 0);
	pm_snapshot_set_writer(s, PM_WRITER_ENDED);
	builder_end(&b);
	return s;
}

/* The run S as its own sum; frees S. */
static struct pm_merge *sum_of(struct pm_snapshot *s)
{
	struct pm_diag diag = {0};
	struct pm_merge *merge;

	cr_assert_eq(pm_merge_create(&merge, false), 0);
	cr_assert_eq(pm_merge_add(merge, s, &diag), 0, "%s", diag.text);
	cr_assert_eq(pm_merge_end(merge), 0);
	pm_snapshot_free(s);
	return merge;
}

/* Joins COUNTS, which is freed, to TIMED. */
static void join(struct pm_snapshot *timed, struct pm_snapshot *counts,
		 const char *reference)
{
	const struct pm_join_run run = {
		.name = "other.profile", .reference = reference, .tolerance = 0.01};
	struct pm_merge *merge = sum_of(counts);
	struct pm_diag diag = {0};

	cr_assert_eq(pm_join_add(timed, merge, &run, &diag), 0, "%s", diag.text);
	pm_merge_free(merge);
}

static char *report(const struct pm_snapshot *s, enum pm_format format,
		    const char *formulas)
{
	struct pm_report_options options = {.format = format};
	struct pm_metrics *metrics = NULL;
	struct pm_diag diag = {0};
	char *text;

	cr_assert_eq(pm_metrics_parse(formulas, &metrics, &diag), 0, "%s", diag.text);
	options.metrics = metrics;
	text = report_text(s, &options);
	pm_metrics_free(metrics);
	return text;
}

/* Returns the value of the metric or event NAME in REGION, by path. */
static struct pm_value value_of(const struct pm_snapshot *s, const char *region,
				const char *event)
{
	struct pm_value value = {.state = PM_NOT_SAID};
	struct pm_report_model model;
	struct pm_report_tree tree;

	cr_assert_eq(pm_report_model_make(&model, s, false, NULL), 0);
	cr_assert_eq(pm_report_tree_make(&tree, &model, NULL, 0), 0);
	for (uint32_t n = 1; n < tree.node_count; n++)
		for (uint32_t e = 0; e < model.event_count; e++)
			if (!strcmp(pm_path_name(&tree, n), region) &&
			    !strcmp(model.events[e].name, event))
				value = pm_report_count(&tree, n, e, false);
	pm_report_tree_free(&tree);
	pm_report_model_free(&model);
	return value;
}

static const struct region fast[] = {{"solve", 10, 100, 1000}, {"io", 2, 50, 0}};
/* The same work, 20 times as slow. */
static const struct region slow[] = {{"solve", 10, 2000, 600}, {"io", 2, 1000, 7}};

Test(join, counts_stand_beside_times_by_path)
{
	struct pm_snapshot *s = run_of(NULL, false, 2, fast, 2);
	char *text;

	join(s, run_of("exact::dp-flops", true, 2, slow, 2), NULL);
	text = report(
		s, PM_FORMAT_CSV,
		"GFLOP/s = exact::dp-flops / time_ns; each = exact::dp-flops / visits");
	/* Two threads: 20 visits of 100 ns, and 12000 flops. */
	has(text, "main;solve,solve,20,20,2000,2000,100,");
	has(text, ",12000,12000,12000,1,counted,6,600,");
	has(text, "main;io,io,4,4,200,200,50,");
	has(text, ",28,28,28,1,counted,0.14,7,");
	free(text);
	text = report(s, PM_FORMAT_TEXT, "none");
	has(text, "exact::dp-flops is of another run, other.profile, which was counted "
		  "exactly by translation: visits and times are of this run");
	has_not(text, "not alike");
	has_not(text, "<>");
	free(text);
	pm_snapshot_free(s);
}

Test(join, own_events_stay_and_mix_with_joined_ones)
{
	struct pm_snapshot *s = run_of("cycles:u", false, 1, fast, 2);
	char *text;

	join(s, run_of("exact::loads", true, 1, slow, 2), NULL);
	text = report(s, PM_FORMAT_CSV,
		      "x = exact::loads / cycles; y = cycles / time_ns");
	has(text, ",10000,10000,10000,1,counted,6000,6000,6000,1,counted,10,0.6,10,");
	free(text);
	cr_assert_eq(value_of(s, "main", "cycles:u").sum, 10000);
	pm_snapshot_free(s);
}

Test(join, what_differs_is_marked_and_told)
{
	static const struct region other[] = {{"solve", 11, 2000, 600},
					      {"plot", 1, 10, 5}};
	struct pm_snapshot *s = run_of(NULL, false, 1, fast, 2);
	struct pm_value value;
	char *text;

	join(s, run_of("exact::dp-flops", true, 1, other, 2), NULL);
	value = value_of(s, "solve", "exact::dp-flops");
	cr_assert_eq(value.sum, 6600);
	cr_assert_eq(value.marks, PM_MARK_RUNS);
	/* It has what differs inside. */
	cr_assert_eq(value_of(s, "main", "exact::dp-flops").marks, PM_MARK_RUNS);
	/* This run alone has it. */
	cr_assert_eq(value_of(s, "io", "exact::dp-flops").state, PM_NEVER_OPENED);
	text = report(s, PM_FORMAT_TEXT, "none");
	has(text, "note: the runs were not alike: other.profile visited 1 path more or "
		  "less often, and counts of it are marked there: 'main > solve' 11 "
		  "instead of 10");
	has(text, "note: other.profile did not visit 1 path of this run, which has no "
		  "counts of it: 'main > io'");
	has(text, "note: other.profile alone visited 1 path, which has no visits and "
		  "times here: 'main > plot'");
	free(text);
	/* No visits and no times, and a count that is known. */
	text = report(s, PM_FORMAT_CSV, "none");
	has(text, "main;plot,plot,,,,,,,,,0,0,");
	has(text, ",5,5,5,1,counted,");
	has(text, ",,,,,never opened,");
	free(text);
	pm_snapshot_free(s);
}

Test(join, totals_are_marked_if_a_path_is_in_one_run_alone)
{
	static const struct region more[] = {
		{"solve", 10, 100, 600}, {"io", 2, 50, 0}, {"plot", 1, 10, 0}};
	struct pm_snapshot *s = run_of(NULL, false, 1, more, 3);

	join(s, run_of("exact::dp-flops", true, 1, slow, 2), NULL);
	cr_assert_eq(value_of(s, "solve", "exact::dp-flops").marks, 0);
	cr_assert_eq(value_of(s, "main", "exact::dp-flops").marks, PM_MARK_RUNS);
	pm_snapshot_free(s);
}

Test(join, an_reference_tells_of_the_work_inside_of_visits)
{
	static const struct region differs[] = {{"solve", 10, 100, 1015},
						{"io", 2, 50, 0}};
	struct pm_snapshot *s = run_of("instructions:u", false, 1, fast, 2);
	char *text;

	/* The reference itself stays that of the first run. */
	join(s, run_of("instructions:u", false, 1, differs, 2), "instructions:u");
	cr_assert_eq(value_of(s, "solve", "instructions:u").sum, 10000);
	cr_assert_eq(value_of(s, "solve", "instructions:u").marks, 0);
	text = report(s, PM_FORMAT_TEXT, "none");
	has(text, "the runs were not alike: in other.profile, instructions:u differs by "
		  "more than 1 % in 2 paths, and counts of it are marked there: 'main' "
		  "+1.5 %, 'main > solve' +1.5 %");
	free(text);
	pm_snapshot_free(s);
}

Test(join, an_event_is_taken_once)
{
	struct pm_snapshot *s = run_of(NULL, false, 1, fast, 2);
	char *text;

	join(s, run_of("exact::loads", true, 1, slow, 2), NULL);
	join(s, run_of("exact::loads", true, 1, fast, 2), NULL);
	cr_assert_eq(value_of(s, "solve", "exact::loads").sum, 6000);
	text = report(s, PM_FORMAT_TEXT, "none");
	has(text, "an earlier run counted exact::loads, so that of other.profile is left "
		  "out");
	free(text);
	pm_snapshot_free(s);
}

Test(join, a_joined_profile_is_read_as_it_was_written)
{
	static const struct region other[] = {{"solve", 11, 2000, 600},
					      {"plot", 1, 10, 5}};
	struct pm_snapshot *s = run_of("cycles:u", false, 2, fast, 2), *again;
	struct pm_diag diag = {0};
	char *before, *after;
	void *bytes;
	size_t size;

	join(s, run_of("exact::loads", true, 1, slow, 2), NULL);
	join(s, run_of("branches:u", false, 2, other, 2), NULL);
	cr_assert_eq(pm_snapshot_pack(s, &bytes, &size), 0);
	cr_assert_eq(
		pm_snapshot_take_as(bytes, size, PM_SNAPSHOT_STILL, -1, &again, &diag), 0,
		"%s", diag.text);
	cr_assert(!again->partial, "%s", again->problem);
	pm_snapshot_set_writer(again, s->writer);
	for (enum pm_format format = 0; format < PM_FORMATS; format++) {
		before = report(s, format, NULL);
		after = report(again, format, NULL);
		cr_assert_str_eq(after, before);
		free(before);
		free(after);
	}
	pm_snapshot_free(again);
	pm_snapshot_free(s);
	free(bytes);
}

/* Row: QU-01: programs see what another run counted beside the times, path by path. */
Test(join, a_program_reads_the_counts_of_another_run)
{
	struct pm_snapshot *s = run_of(NULL, false, 2, fast, 2);
	struct perfmon_profile_thread_info thread = {.size = sizeof(thread)};
	struct perfmon_profile_event event = {.size = sizeof(event)};
	struct perfmon_profile_node_info node = {.size = sizeof(node)};
	struct perfmon_profile_info info = {.size = sizeof(info)};
	struct perfmon_profile_value value;
	struct perfmon_profile *profile;
	char path[] = "/tmp/perfmon-join.XXXXXX", name[64];
	int file = mkstemp(path);
	void *bytes;
	size_t size;

	join(s, run_of("exact::loads", true, 1, slow, 2), NULL);
	cr_assert_eq(pm_snapshot_pack(s, &bytes, &size), 0);
	cr_assert(file >= 0 && write(file, bytes, size) == (ssize_t)size);
	close(file);
	cr_assert_eq(perfmon_profile_open(&profile, path, 0, NULL, 0), 0);
	unlink(path);
	cr_assert_eq(perfmon_profile_get_info(profile, &info), 0);
	cr_assert_geq(info.threads, 2);
	cr_assert_eq(perfmon_profile_get_thread(profile, 0, &thread), 0);
	cr_expect_neq(thread.kind, PERFMON_PROFILE_THREAD_KIND_OTHER_RUN);
	cr_assert_eq(perfmon_profile_get_thread(profile, info.threads - 1, &thread), 0);
	cr_assert_eq(thread.kind, PERFMON_PROFILE_THREAD_KIND_OTHER_RUN);
	cr_assert_eq(perfmon_profile_get_event(profile, thread.first_event, &event), 0);
	cr_expect_str_eq(event.name, "exact::loads");
	cr_assert_eq(perfmon_profile_get_node(profile, info.threads - 1, 2, &node), 0);
	cr_expect_eq(node.kind, PERFMON_PROFILE_NODE_KIND_REGION);
	cr_assert_eq(perfmon_profile_get_path(profile, info.threads - 1, 2, name, 64),
		     10);
	cr_expect_str_eq(name, "main;solve");
	cr_assert_eq(perfmon_profile_get_values(profile, info.threads - 1, 2, &value, 1,
						sizeof(value)),
		     1);
	cr_expect_eq(value.value, value_of(s, "solve", "exact::loads").sum);
	perfmon_profile_close(profile);
	pm_snapshot_free(s);
	free(bytes);
}

Test(join, a_sum_of_processes_takes_counts_too)
{
	struct pm_merge *timed = sum_of(run_of(NULL, false, 2, fast, 2));
	struct pm_merge *counts = sum_of(run_of("exact::loads", true, 2, slow, 2));
	const struct pm_join_run run = {.name = "other.profile"};
	struct pm_diag diag = {0};

	cr_assert_eq(pm_join_add(pm_merge_sum(timed), counts, &run, &diag), 0, "%s",
		     diag.text);
	cr_assert_eq(value_of(pm_merge_sum(timed), "solve", "exact::loads").sum, 12000);
	pm_merge_free(counts);
	pm_merge_free(timed);
}

Test(join, profiles_that_do_not_fit_are_refused)
{
	const struct pm_join_run run = {.name = "other.profile"};
	struct pm_snapshot *exact = run_of("exact::loads", true, 1, slow, 2);
	struct pm_snapshot *plain = run_of(NULL, false, 1, fast, 2);
	struct pm_merge *counts = sum_of(run_of("exact::dp-flops", true, 1, slow, 2));
	struct pm_merge *none = sum_of(run_of(NULL, false, 1, fast, 2)), *merge;
	struct pm_diag diag = {0};

	cr_assert_eq(pm_join_add(exact, counts, &run, &diag), -EINVAL);
	has(diag.text, "'other.profile': the profile that it is joined to was counted "
		       "exactly");
	cr_assert_eq(pm_join_add(plain, none, &run, &diag), -EINVAL);
	has(diag.text, "'other.profile': has no counts of events");
	cr_assert_eq(plain->joined_count, 0);
	/* Sums of joined profiles would compare runs that were never compared. */
	cr_assert_eq(pm_join_add(plain, counts, &run, &diag), 0);
	cr_assert_eq(pm_merge_create(&merge, false), 0);
	cr_assert_eq(pm_merge_add(merge, plain, &diag), -EINVAL);
	has(diag.text, "joined from several runs");
	pm_merge_free(merge);
	pm_merge_free(none);
	pm_merge_free(counts);
	pm_snapshot_free(plain);
	pm_snapshot_free(exact);
}

/* Builds a run with a thread that counted "cycles" on two kinds of core, or was REFUSED it. */
static struct pm_snapshot *hybrid_run(bool refused)
{
	static const char *const pmus[] = {"cpu_core", "cpu_atom"};
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_plan *plan;
	struct perfmon_profile_node *node;
	struct profile_builder b;
	struct pm_diag diag = {0};
	struct pm_snapshot *s;

	builder_begin(&b, 1 << 16);
	plan = builder_plan(&b, 1, 2);
	thread = builder_tree(&b, 10, 1, 2, 4);
	for (int i = 0; i < 2; i++) {
		plan->counter[i].logical = 0;
		strcpy(plan->counter[i].pmu, pmus[i]);
		snprintf(plan->counter[i].name, sizeof(plan->counter[i].name),
			 "%s/cycles/", pmus[i]);
		if (refused) {
			plan->counter[i].flags |= PERFMON_PROFILE_COUNTER_REFUSED;
			thread->status[i] = -ENOENT;
		}
	}
	node = builder_node(&b, thread, 1, builder_region(&b, "main"));
	builder_visit(node, 1000);
	node->count[0].sum = refused ? 0 : 3000;
	node->count[1].sum = refused ? 0 : 400;
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, &diag), 0);
	pm_snapshot_set_writer(s, PM_WRITER_ENDED);
	builder_end(&b);
	return s;
}

/* An event that the first run was refused is that of the other run, on all kinds of core. */
Test(join, a_sum_over_kinds_of_core)
{
	struct pm_snapshot *timed = hybrid_run(true);
	char *text;

	join(timed, hybrid_run(false), NULL);
	cr_expect_eq(value_of(timed, "main", "cycles").value, 3400);
	text = report(timed, PM_FORMAT_TEXT, NULL);
	has(text, "           cycles: sum over 2 kinds of core, read in user space\n");
	free(text);
	pm_snapshot_free(timed);
}
