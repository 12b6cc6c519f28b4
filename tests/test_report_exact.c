/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reports of profiles that were counted exactly by translation: no time is shown as if it
 * were the machine's, the first event gives the weight, and what no region has is told. */
#include <errno.h>
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/merge/merge.h"
#include "core/report/report.h"
#include "profile_builder.h"
#include "report_text.h"

static struct perfmon_profile_node *
visited(struct profile_builder *b, struct perfmon_profile_thread *thread, uint32_t parent,
	uint32_t region, uint64_t ticks, uint64_t instructions, uint64_t loads)
{
	struct perfmon_profile_node *node = builder_node(b, thread, parent, region);

	builder_visit(node, ticks);
	node->count[0].sum = instructions;
	node->count[1].sum = loads;
	return node;
}

/* "step" has most instructions and "io" most of the time; 400 instructions are outside.
 * Totals of TOTAL instructions, none for 0. Each empty region counts BIAS, and takes twice
 * as much from what is around it. */
static void built(struct profile_builder *b, uint32_t threads, uint64_t total,
		  uint32_t bias)
{
	uint64_t totals[2] = {total, 700};
	struct perfmon_profile_plan *plan;
	uint32_t run, step, io;

	builder_begin(b, 1 << 17);
	plan = builder_exact_plan(b, 1, 2);
	plan->counter[0].cost = (struct perfmon_profile_cost){
		.known = bias ? PERFMON_PROFILE_COST_USER : 0,
		.bias = bias,
		.pair = 2 * bias,
	};
	run = builder_region(b, "run");
	step = builder_region(b, "step");
	io = builder_region(b, "io");
	for (uint32_t t = 0; t < threads; t++) {
		struct perfmon_profile_thread *thread = builder_thread(b, 10 + t, 1, 2);

		builder_nodes(b, thread, 8);
		builder_node(b, thread, 0, 0);
		visited(b, thread, 1, run, 90000, 1000 + 1000 * t, 300);
		visited(b, thread, 2, step, 1000, 700 + 1000 * t, 200);
		visited(b, thread, 2, io, 80000, 100, 50);
	}
	if (total)
		builder_totals(b, 1, totals, 2);
}

static char *report_of(uint32_t threads, uint64_t total, uint32_t bias,
		       struct pm_report_options options)
{
	struct profile_builder b;
	char *text;

	built(&b, threads, total, bias);
	text = report_built(&b, &options);
	builder_end(&b);
	return text;
}

Test(report_exact, text_has_no_times)
{
	char *got = report_of(1, 1400, 0, (struct pm_report_options){0});

	has(got, "  exact    counted exactly by translation, 3 to 20 times slower; times "
		 "are not those of the machine");
	has_not(got, "clock");
	has_not(got, " us ");
	has_not(got, " ms ");
	has_not(got, "2.000 s");
	has_not(got, "mean");
	has_not(got, "stddev");
	has(got, "visits");
	has(got, "exact::instructions");
	free(got);
}

/* By instructions, not by the time, in which io is far ahead. */
Test(report_exact, order_shares_and_hottest_are_of_the_first_event)
{
	char *got = report_of(1, 1400, 0, (struct pm_report_options){0});

	cr_expect_lt(strstr(got, "\n  step "), strstr(got, "\n  io "), "%s", got);
	has(got, "hottest  run > step, with 70.0 % of exact::instructions in itself");
	has(got, "  step       1       70.0       70.0");
	has(got, "  io         1       10.0       10.0");
	has(got, "run          1      100.0       20.0");
	free(got);
}

Test(report_exact, what_no_region_has_is_told)
{
	char *got = report_of(1, 1400, 0, (struct pm_report_options){0});

	has(got, "  rest     outside regions 400 exact::instructions of 1400 (28.6 %)\n");
	has(got, "           outside regions 400 exact::loads of 700 (57.1 %)\n");
	free(got);
	/* A program that was killed told no totals, and one that runs on told them early. */
	got = report_of(1, 0, 0, (struct pm_report_options){0});
	has_not(got, "outside");
	free(got);
	got = report_of(1, 999, 0, (struct pm_report_options){0});
	has_not(got, "outside regions 0");
	has_not(got, "of 999");
	free(got);
}

static uint64_t number_behind(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	cr_assert(at, "'%s' is not in:\n%s", key, text);
	return strtoull(at + strlen(key), NULL, 10);
}

/* Exclusive values, measuring and the rest come to the total, whatever is subtracted. */
Test(report_exact, parts_come_to_the_total)
{
	for (uint32_t bias = 0; bias < 30; bias++) {
		struct pm_report_options options = {.format = PM_FORMAT_JSON,
						    .subtract_bias = bias != 0};
		char *got = report_of(1, 1400, bias, options);
		uint64_t sum = 0;

		has(got, "\"exact\":true");
		for (const char *at = got; (at = strstr(at, "\"counts\":[")); at++)
			sum += number_behind(at, "\"exclusive_value\":");
		cr_expect_eq(number_behind(got, "\"total\":"), 1400);
		cr_expect_eq(number_behind(got, "\"regions\":"), sum, "bias %u", bias);
		cr_expect_eq(sum + number_behind(got, "\"outside\":") +
				     (bias ? number_behind(got, "\"measuring\":") : 0),
			     1400, "bias %u", bias);
		/* Three visits, of which two are inside of the third. */
		if (bias)
			cr_expect_eq(number_behind(got, "\"measuring\":"), 6 * bias);
		else
			has(got, "\"measuring\":null");
		free(got);
	}
}

Test(report_exact, measuring_is_named_in_text)
{
	char *got = report_of(1, 1400, 5, (struct pm_report_options){0});

	has(got, "cost     a visit takes about 10 exact::instructions; measuring took "
		 "about 3 % of exact::instructions, most of it in ");
	has(got, "outside regions 400 exact::instructions of 1400");
	has_not(got, "; measuring took 3");
	free(got);
	got = report_of(1, 1400, 5, (struct pm_report_options){.subtract_bias = true});
	has(got,
	    "outside regions 395 exact::instructions of 1400 (28.2 %); measuring took "
	    "30 (2.1 %)\n");
	has(got, "note: counts exclude what measuring added");
	free(got);
}

/* A visit that had not ended has counted what is below it, at least. */
Test(report_exact, open_visits_hold_what_is_below)
{
	struct pm_report_options options = {.subtract_bias = true};
	uint64_t total = 5000;
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_plan *plan;
	struct profile_builder b;
	char *got;

	builder_begin(&b, 1 << 17);
	plan = builder_exact_plan(&b, 1, 1);
	plan->counter[0].cost = (struct perfmon_profile_cost){
		.known = PERFMON_PROFILE_COST_USER, .bias = 50, .pair = 100};
	thread = builder_tree(&b, 10, 1, 1, 8);
	builder_node(&b, thread, 1, builder_region(&b, "open"))->entered = 1;
	for (uint32_t i = 0; i < 2; i++) {
		struct perfmon_profile_node *node = builder_node(
			&b, thread, 2 - i, builder_region(&b, i ? "done" : "step"));

		builder_visit(node, 5);
		node->count[0].sum = 1000;
	}
	builder_totals(&b, 1, &total, 1);
	got = report_built(&b, &options);
	/* 200 of the 2000 in regions, and of the 50 around "done". */
	has(got, "measuring took about 10 % of exact::instructions, most of it in ");
	has(got, "\ntotal               100.0      100.0               >=1900\n");
	has(got, "outside regions, and in visits that had not ended, 2900 "
		 "exact::instructions of 5000 (58.0 %); measuring took 200 (4.0 %)\n");
	free(got);
	builder_end(&b);
}

Test(report_exact, spread_over_threads_is_that_of_the_first_event)
{
	char *got = report_of(2, 5000, 0, (struct pm_report_options){0});

	has(got,
	    "inclusive exact::instructions of a thread (imbalance: how far the most is "
	    "above the mean):\n");
	/* 1000 and 2000: the most is a third above 1500. */
	has(got, "run           2   1000  1500  2000       33.3\n");
	has(got, "counts are summed over them");
	has_not(got, "times and counts");
	free(got);
}

Test(report_exact, json_and_csv_have_no_times)
{
	static const char *const times[] = {
		"time_ns",    "exclusive_ns", "time_ticks", "exclusive_ticks",
		"mean_ticks", "stddev_ticks", "min_ticks",  "max_ticks",
		"off_cpu_ns", "duration_ns",  "added_ns",   "thread_max_ticks",
		"begin_ns",   "lifetime_ns"};
	struct pm_report_options options = {.format = PM_FORMAT_JSON};
	char *got = report_of(2, 5000, 0, options), key[64], *row;

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		snprintf(key, sizeof(key), "\"%s\":", times[i]);
		has(got, key);
		for (const char *at = got; (at = strstr(at, key)); at++)
			cr_expect(!strncmp(at + strlen(key), "null", 4), "%.60s", at);
	}
	has(got, "\"histogram\":[]");
	has(got, "\"notes\":[\"counted exactly by translation");
	free(got);
	options.format = PM_FORMAT_CSV;
	got = report_of(1, 1400, 0, options);
	has(got, "\r\nall,,2,1,2,run;step,step,1,1,,,,,,,,1,");
	row = strstr(got, "\r\nall,,,,,(outside regions),,");
	cr_assert(row, "%s", got);
	has(row, ",400,400,400,1,counted,400,400,400,1,counted");
	/* Every row has as many fields. */
	{
		uint32_t commas = 0, first = 0;

		for (const char *c = got; *c; c++) {
			commas += *c == ',';
			if (*c != '\n')
				continue;
			first = first ? first : commas;
			cr_expect_eq(commas, first, "%u and not %u:\n%s", commas, first,
				     got);
			commas = 0;
		}
	}
	free(got);
}

/* What is not exact has nothing of this. */
Test(report_exact, others_are_as_they_were)
{
	struct perfmon_profile_thread *thread;
	struct profile_builder b;
	char *got;

	builder_begin(&b, 1 << 17);
	builder_plan(&b, 1, 2);
	thread = builder_tree(&b, 10, 1, 2, 8);
	visited(&b, thread, 1, builder_region(&b, "run"), 90000, 1000, 300);
	got = report_built(&b, &(struct pm_report_options){.format = PM_FORMAT_JSON});
	has_not(got, "\"exact\"");
	has_not(got, "\"totals\"");
	has(got, "\"time_ns\":90000");
	free(got);
	got = report_built(&b, &(struct pm_report_options){0});
	has_not(got, "translation");
	has(got, "CLOCK_MONOTONIC");
	free(got);
	builder_end(&b);
}

Test(report_exact, metrics_find_their_events)
{
	struct pm_metrics *metrics;
	struct pm_report_options options = {0};
	char *got;

	cr_assert_eq(pm_metrics_parse("per_load = instructions / loads; "
				      "rate = instructions / time_ns",
				      &metrics, NULL),
		     0);
	options.metrics = metrics;
	got = report_of(1, 1400, 0, options);
	has(got, "per_load");
	has(got, "note: no metric rate: time_ns is not that of the machine");
	has_not(got, "IPC");
	free(got);
	pm_metrics_free(metrics);
	cr_expect(pm_event_is_called("exact::instructions", "instructions"));
	cr_expect(pm_event_is_called("exact::instructions", "exact::instructions"));
	cr_expect_not(pm_event_is_called("exact::instructions", "loads"));
	cr_expect_not(pm_event_is_called("inexact::instructions", "instructions"));
}

static struct pm_snapshot *taken(struct profile_builder *b)
{
	struct pm_diag diag = {0};
	struct pm_snapshot *s;

	cr_assert_eq(pm_snapshot_take(b->base, builder_used(b), &s, &diag), 0, "%s",
		     diag.text);
	return s;
}

Test(report_exact, ranks_are_summed_with_their_totals)
{
	struct profile_builder b;
	struct pm_merge *merge;
	struct pm_report_options options = {0};
	char *got;

	cr_assert_eq(pm_merge_create(&merge, false), 0);
	for (int i = 0; i < 2; i++) {
		struct pm_snapshot *s;

		built(&b, 1, 1400, 0);
		builder_header(&b)->pid = 100 + (uint32_t)i;
		s = taken(&b);
		cr_assert_eq(pm_merge_add(merge, s, NULL), 0);
		pm_snapshot_free(s);
		builder_end(&b);
	}
	cr_assert_eq(pm_merge_end(merge), 0);
	options.merge = merge;
	got = report_text(pm_merge_sum(merge), &options);
	has(got, "outside regions 800 exact::instructions of 2800 (28.6 %)\n");
	has(got, "exact::instructions over 2 processes");
	has_not(got, "time over");
	free(got);
	options.format = PM_FORMAT_CSV;
	got = report_text(pm_merge_sum(merge), &options);
	has(got, "\r\nall,,,,,(outside regions),,");
	free(got);
	pm_merge_free(merge);
}

Test(report_exact, others_are_not_summed_with_exact_ones)
{
	struct profile_builder b;
	struct pm_merge *merge;
	struct pm_snapshot *exact, *other;
	struct pm_diag diag = {0};
	struct perfmon_profile_thread *thread;

	built(&b, 1, 1400, 0);
	exact = taken(&b);
	builder_end(&b);
	builder_begin(&b, 1 << 17);
	builder_plan(&b, 1, 2);
	thread = builder_tree(&b, 10, 1, 2, 8);
	visited(&b, thread, 1, builder_region(&b, "run"), 90000, 1000, 300);
	other = taken(&b);
	builder_end(&b);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(pm_merge_create(&merge, false), 0);
		cr_assert_eq(pm_merge_add(merge, i ? other : exact, NULL), 0);
		cr_expect_eq(pm_merge_add(merge, i ? exact : other, &diag), -EINVAL);
		has(diag.text, "exactly by translation");
		has(diag.text, "they are not summed");
		cr_expect_eq(pm_merge_process_count(merge), 1);
		cr_expect_eq(pm_merge_add(merge, i ? other : exact, NULL), 0);
		pm_merge_free(merge);
	}
	pm_snapshot_free(exact);
	pm_snapshot_free(other);
}
