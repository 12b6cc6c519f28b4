/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What perfmon top makes of two looks at a profile, and its table. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/top/top.h"
#include "core/report/model/tree_build.h"
#include "core/text/diag.h"
#include "profile_builder.h"

#define SECOND UINT64_C(1000000000)

static const struct top_options by_self = {.delay = 1, .sort = "self"};

static const struct pm_machine *the_machine;
static struct pm_metrics *the_metrics;

/* A look at B, SECONDS after its begin, at first without the groups of threads. */
static struct top_look *look_at_all(struct profile_builder *b, double seconds,
				    const struct top_look *before)
{
	struct perfmon_profile_header *header = builder_header(b);
	struct pm_snapshot *snapshot;
	struct pm_diag diag = {0};
	struct top_look *made;

	header->end_ticks = header->begin_ticks + (uint64_t)(seconds * 1e9);
	cr_assert_eq(pm_snapshot_take(b->base, builder_used(b), &snapshot, &diag), 0,
		     "%s", diag.text);
	cr_assert_eq(top_look_make(&made, snapshot, before, the_metrics, the_machine), 0);
	return made;
}

static struct top_look *look(struct profile_builder *b, double seconds,
			     const struct top_look *before)
{
	struct top_look *made = look_at_all(b, seconds, before);

	cr_assert_eq(top_look_threads(made, before), 0);
	return made;
}

static const struct top_group *group(const struct top_look *l, enum top_kind kind,
				     uint32_t tid)
{
	for (uint32_t g = 0; g < l->group_count; g++)
		if (l->groups[g].kind == kind &&
		    (kind != TOP_THREAD || l->groups[g].thread->tid == tid))
			return &l->groups[g];
	return NULL;
}

/* The node of TREE with this path, names with '/' between; 0: there is none. */
static uint32_t node_at(const struct pm_report_tree *tree, const char *path)
{
	uint32_t at = 0;

	while (*path) {
		size_t length = strcspn(path, "/");
		uint32_t n;

		for (n = 1; n < tree->node_count; n++)
			if (pm_path(tree, n)->parent == at &&
			    strlen(pm_path_name(tree, n)) == length &&
			    !strncmp(pm_path_name(tree, n), path, length))
				break;
		if (n == tree->node_count)
			return 0;
		at = n;
		path += length + (path[length] == '/');
	}
	return at;
}

static const struct pm_path_visits *changed(const struct top_look *l, enum top_kind kind,
					    uint32_t tid, const char *path)
{
	const struct top_group *g = group(l, kind, tid);
	uint32_t n;

	cr_assert(g, "no such group for %s", path);
	n = node_at(&g->change, path);
	cr_assert(n, "no path %s", path);
	return &pm_path(&g->change, n)->visits;
}

/* What the cell of the first group's PATH says in the column of that name. */
static void expect_cell(struct top_look *l, const struct top_options *options,
			const char *path, const char *column, const char *text,
			const char *marks)
{
	struct pm_diag diag = {0};
	struct top_table table;

	cr_assert_eq(top_table_make(&table, l, options, &diag), 0, "%s", diag.text);
	for (uint32_t r = 0; r < table.row_count; r++) {
		const struct top_row *row = &table.rows[r];

		if (!row->node || row->node != node_at(row->tree, path))
			continue;
		for (uint32_t c = 0; c < table.column_count; c++) {
			if (strcmp(table.columns[c].name, column) != 0)
				continue;
			cr_assert_str_eq(row->cells[c].text, text, "%s of %s: '%s'",
					 column, path, row->cells[c].text);
			cr_assert_str_eq(row->cells[c].marks, marks, "%s of %s: '%s'",
					 column, path, row->cells[c].marks);
			top_table_free(&table);
			return;
		}
	}
	cr_assert_fail("no %s of %s", column, path);
}

/* N visits that have ended, each of TICKS, with COUNT of the first event. */
static void visits(struct perfmon_profile_node *node, unsigned int n, uint64_t ticks,
		   uint64_t count)
{
	while (n--) {
		builder_visit(node, ticks);
		node->count[0].sum += count;
	}
}

static void visits_only(struct perfmon_profile_node *node, unsigned int n, uint64_t ticks)
{
	while (n--)
		builder_visit(node, ticks);
}

/* As reports say it of these numbers. */
Test(top, numbers_are_judged_by_the_machine)
{
	static const struct pm_machine skylake = {
		.kinds = {.count = 1, .kind = {{PM_CPU_INTEL, 6, 0x4e}}}};
	static const char *const names[] = {"cycles", "instructions", "branches"};
	static const uint64_t counts[] = {1000000, 9000000, 2000000};
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_plan *plan;
	struct perfmon_profile_node *node;
	struct profile_builder b;

	builder_begin(&b, 1 << 16);
	plan = builder_plan(&b, 1, 3);
	for (int i = 0; i < 3; i++)
		strcpy(plan->counter[i].name, names[i]);
	thread = builder_tree(&b, 1, 1, 3, 4);
	node = builder_node(&b, thread, 1, builder_region(&b, "r"));
	builder_visit(node, 1000);
	for (int i = 0; i < 3; i++)
		node->count[i].sum = counts[i];
	for (int known = 0; known < 2; known++) {
		struct top_look *first;

		the_machine = known ? &skylake : NULL;
		first = look(&b, 1, NULL);
		expect_cell(first, &by_self, "r", "IPC", "9.00", known ? " ^" : "");
		expect_cell(first, &by_self, "r", "branches", "2.000M",
			    known ? " #" : "");
		expect_cell(first, &by_self, "r", "instructions", "9.000M", "");
		top_look_free(first);
	}
	builder_end(&b);
}

Test(top, metrics_by_formulas)
{
	struct pm_diag diag = {0};
	struct top_look *first, *second;
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_node *node;
	struct profile_builder b;

	builder_begin(&b, 1 << 16);
	builder_plan(&b, 1, 1);
	thread = builder_tree(&b, 1, 1, 1, 4);
	node = builder_node(&b, thread, 1, builder_region(&b, "r"));
	cr_assert_eq(pm_metrics_parse("each = event0 / visits; x = lost / visits",
				      &the_metrics, &diag),
		     0, "%s", diag.text);
	visits(node, 10, 1000, 7);
	first = look(&b, 1, NULL);
	expect_cell(first, &by_self, "r", "each", "7.000", "");
	/* Of these visits alone. */
	visits(node, 10, 1000, 9);
	second = look(&b, 2, first);
	expect_cell(second, &by_self, "r", "each", "9.000", "");
	cr_assert_eq(second->model.note_count, 1);
	cr_assert_str_eq(second->model.notes[0], "no metric x: lost is not counted");
	top_look_free(first);
	top_look_free(second);
	pm_metrics_free(the_metrics);
	the_metrics = NULL;
	builder_end(&b);
}

Test(top, rates_are_of_the_time_between_two_looks)
{
	struct profile_builder b;
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_node *outer, *inner, *late;
	struct top_look *first, *second;
	uint32_t outer_id, inner_id;

	builder_begin(&b, 1 << 16);
	builder_plan(&b, 1, 1);
	outer_id = builder_region(&b, "outer");
	inner_id = builder_region(&b, "inner");
	thread = builder_tree(&b, 10, 1, 1, 8);
	outer = builder_node(&b, thread, 1, outer_id);
	inner = builder_node(&b, thread, 2, inner_id);
	visits(outer, 4, SECOND / 4, 1000);
	visits(inner, 8, SECOND / 16, 100);
	first = look(&b, 1, NULL);
	cr_assert(first->whole);
	cr_assert_float_eq(first->seconds, 1, 1e-9);
	expect_cell(first, &by_self, "outer", "visits", "4.0", "");
	expect_cell(first, &by_self, "outer", "time", "100.0", "");
	expect_cell(first, &by_self, "outer", "self", "50.0", "");

	/* Half a second with other rates, and a region that has not been there. */
	visits(outer, 1, SECOND / 2, 500);
	visits(inner, 100, SECOND / 1000, 3);
	late = builder_node(&b, thread, 3, builder_region(&b, "late"));
	visits(late, 7, 1000000, 1);
	second = look(&b, 1.5, first);
	cr_assert(!second->whole);
	cr_assert_float_eq(second->seconds, 0.5, 1e-9);
	/* The look before is not needed any more. */
	top_look_free(first);
	expect_cell(second, &by_self, "outer", "visits", "2.0", "");
	expect_cell(second, &by_self, "outer", "time", "100.0", "");
	expect_cell(second, &by_self, "outer", "self", "80.0", "");
	expect_cell(second, &by_self, "outer", "mean", "500.0 ms", "");
	expect_cell(second, &by_self, "outer", "event0", "1000", "");
	expect_cell(second, &by_self, "outer/inner", "visits", "200.0", "");
	expect_cell(second, &by_self, "outer/inner", "time", "20.0", "");
	expect_cell(second, &by_self, "outer/inner", "mean", "1.000 ms", "");
	expect_cell(second, &by_self, "outer/inner", "event0", "600", "");
	expect_cell(second, &by_self, "outer/inner/late", "visits", "14.0", "");
	expect_cell(second, &by_self, "outer/inner/late", "time", "1.4", "");

	/* And then nothing: that is zero, and known. */
	first = look(&b, 2, second);
	expect_cell(first, &by_self, "outer/inner", "visits", "0.0", "");
	expect_cell(first, &by_self, "outer/inner", "time", "0.0", "");
	expect_cell(first, &by_self, "outer/inner", "mean", "-", "");
	expect_cell(first, &by_self, "outer/inner", "event0", "0", "");
	top_look_free(first);

	/* In no time there is no rate. */
	first = look(&b, 1.5, second);
	expect_cell(first, &by_self, "outer", "visits", "-", "");
	expect_cell(first, &by_self, "outer", "time", "-", "");
	expect_cell(first, &by_self, "outer", "event0", "-", "");
	top_look_free(first);
	top_look_free(second);
	builder_end(&b);
}

/* A thread with the path "work", in which it has made VISITS visits of a microsecond. */
static struct perfmon_profile_node *worker(struct profile_builder *b, uint32_t tid,
					   uint64_t begin, uint32_t region,
					   unsigned int count, uint32_t state)
{
	struct perfmon_profile_thread *thread = builder_thread(b, tid, 0, 0);
	struct perfmon_profile_node *node;

	thread->begin_ticks = begin;
	builder_nodes(b, thread, 2);
	builder_node(b, thread, 0, 0);
	node = builder_node(b, thread, 1, region);
	visits_only(node, count, 1000);
	thread->state = state;
	if (state == PERFMON_PROFILE_THREAD_STATE_AGGREGATE)
		node->threads = thread->aggregated = 2;
	return node;
}

Test(top, threads_come_and_go_between_two_looks)
{
	struct profile_builder b, c;
	struct top_look *first, *second;
	const struct pm_report_tree *all;
	uint32_t id;

	builder_begin(&b, 1 << 16);
	id = builder_region(&b, "work");
	worker(&b, 20, 1, id, 5, PERFMON_PROFILE_THREAD_STATE_LIVE);
	worker(&b, 21, 2, id, 50, PERFMON_PROFILE_THREAD_STATE_LIVE);
	worker(&b, 22, 3, id, 500, PERFMON_PROFILE_THREAD_STATE_LIVE);
	worker(&b, 0, 0, id, 5000, PERFMON_PROFILE_THREAD_STATE_AGGREGATE);
	first = look(&b, 1, NULL);
	cr_assert_eq(first->threads_live, 3);
	cr_assert_eq(first->threads_ended, 2);

	/* 20 goes on; 21 has ended after 7 more visits; 22 has ended, and another thread
	 * has its number, and one has come and gone in between with 11 visits. */
	builder_begin(&c, 1 << 16);
	id = builder_region(&c, "work");
	worker(&c, 22, 9, id, 3, PERFMON_PROFILE_THREAD_STATE_LIVE);
	worker(&c, 20, 1, id, 6, PERFMON_PROFILE_THREAD_STATE_LIVE);
	worker(&c, 0, 0, id, 5000 + 57 + 500 + 11,
	       PERFMON_PROFILE_THREAD_STATE_AGGREGATE);
	second = look(&c, 2, first);
	cr_assert_eq(changed(second, TOP_THREAD, 20, "work")->ended, 1);
	cr_assert_eq(changed(second, TOP_THREAD, 22, "work")->ended, 3);
	cr_assert_eq(changed(second, TOP_ENDED, 0, "work")->ended, 7 + 11);
	cr_assert_eq(changed(second, TOP_ALL, 0, "work")->ended, 1 + 3 + 7 + 11);
	all = &group(second, TOP_ALL, 0)->change;
	cr_assert_eq(pm_path(all, node_at(all, "work"))->times.inclusive, 22 * 1000);
	cr_assert_eq(changed(second, TOP_ALL, 0, "work")->defects, 0);
	cr_assert_eq(second->group_count, 4);
	top_look_free(first);
	top_look_free(second);
	builder_end(&b);
	builder_end(&c);
}

/* Threads that nobody asked for are there when somebody does. */
Test(top, threads_can_be_had_later)
{
	struct profile_builder b;
	struct perfmon_profile_node *node;
	struct top_look *first, *second, *third;

	builder_begin(&b, 1 << 16);
	builder_region(&b, "work");
	node = worker(&b, 20, 1, 1, 5, PERFMON_PROFILE_THREAD_STATE_LIVE);
	worker(&b, 21, 2, 1, 50, PERFMON_PROFILE_THREAD_STATE_LIVE);
	first = look_at_all(&b, 1, NULL);
	visits_only(node, 3, 1000);
	second = look_at_all(&b, 2, first);
	cr_assert_eq(second->group_count, 1);
	cr_assert_eq(changed(second, TOP_ALL, 0, "work")->ended, 3);
	top_look_trim(first);
	cr_assert_eq(top_look_threads(first, NULL), 0);
	cr_assert_eq(top_look_threads(second, first), 0);
	cr_assert_eq(top_look_threads(second, first), 0);
	cr_assert_eq(second->group_count, 3);
	cr_assert_eq(changed(second, TOP_THREAD, 20, "work")->ended, 3);
	cr_assert_eq(changed(second, TOP_THREAD, 21, "work")->ended, 0);
	visits_only(node, 4, 1000);
	top_look_trim(second);
	third = look(&b, 3, second);
	cr_assert_eq(changed(third, TOP_THREAD, 20, "work")->ended, 4);
	cr_assert_eq(changed(third, TOP_ALL, 0, "work")->ended, 4);
	top_look_free(first);
	top_look_free(second);
	top_look_free(third);
	builder_end(&b);
}

Test(top, threads_that_are_kept_stay_themselves)
{
	struct profile_builder b;
	struct perfmon_profile_node *node;
	struct perfmon_profile_thread *thread;
	struct top_look *first, *second;
	uint32_t id;

	builder_begin(&b, 1 << 16);
	id = builder_region(&b, "work");
	thread = builder_tree(&b, 30, 0, 0, 2);
	node = builder_node(&b, thread, 1, id);
	visits_only(node, 10, 1000);
	node->entered++;
	first = look(&b, 1, NULL);
	expect_cell(first, &by_self, "work", "open", "1", "");
	visits_only(node, 2, 1000);
	thread->state = PERFMON_PROFILE_THREAD_STATE_ENDED;
	second = look(&b, 2, first);
	cr_assert_eq(changed(second, TOP_THREAD, 30, "work")->ended, 2);
	cr_assert_eq(second->threads_live, 0);
	cr_assert_eq(second->threads_ended, 1);
	/* What a thread had open at its end is not open: there is nobody to end it. */
	expect_cell(second, &by_self, "work", "open", "0", "");
	top_look_free(first);
	top_look_free(second);
	builder_end(&b);
}

/* A visit is in the values when it ends, and what was below it before: whatever the looks
 * find, the exclusive time of all of them together is what it is in the end, and each
 * part of it is there once. */
Test(top, open_visits_are_marked_and_counted_once)
{
	struct profile_builder b;
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_node *outer, *inner;
	struct top_look *last = NULL, *next;
	uint64_t own = 0, counts = 0;
	uint32_t outer_id, inner_id;

	builder_begin(&b, 1 << 16);
	builder_plan(&b, 1, 1);
	outer_id = builder_region(&b, "outer");
	inner_id = builder_region(&b, "inner");
	thread = builder_tree(&b, 10, 1, 1, 8);
	outer = builder_node(&b, thread, 1, outer_id);
	inner = builder_node(&b, thread, 2, inner_id);
	for (int round = 0; round < 3; round++) {
		/* Ten seconds of outer, of which six are inner's, seen second by
		 * second. */
		outer->entered++;
		for (int second = 1; second <= 10; second++) {
			struct pm_value value;
			uint32_t n;

			if (second <= 6)
				visits(inner, 1, SECOND, 100);
			if (second == 10) {
				outer->entered--;
				visits(outer, 1, 10 * SECOND, 1000);
			}
			next = look(&b, round * 10 + second, last);
			top_look_free(last);
			last = next;
			n = node_at(&next->groups[0].change, "outer");
			own += pm_path_exclusive(&next->groups[0].change, n);
			value = pm_report_count(&next->groups[0].change, n, 0, true);
			counts += value.sum;
			expect_cell(next, &by_self, "outer", "open",
				    second < 10 ? "1" : "0", "");
			expect_cell(next, &by_self, "outer", "time",
				    second < 10 ? "-" : "1000.0", " ?");
			expect_cell(next, &by_self, "outer", "self",
				    second < 10 ? "-" : "400.0", " ?");
			expect_cell(next, &by_self, "outer/inner", "self",
				    second <= 6 ? "100.0" : "0.0", "");
		}
		cr_assert_eq(own, (round + 1) * 4 * SECOND, "%llu",
			     (unsigned long long)own);
		cr_assert_eq(counts, (uint64_t)(round + 1) * 400);
	}
	top_look_free(last);
	builder_end(&b);
}

/* Coverage is that of the time between the looks, and so is what is scaled by it. */
Test(top, estimates_are_by_the_coverage_since_the_last_look)
{
	struct profile_builder b;
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_node *node;
	struct top_look *first, *second;

	builder_begin(&b, 1 << 16);
	builder_plan(&b, 1, 1);
	builder_region(&b, "work");
	thread = builder_tree(&b, 10, 1, 1, 2);
	node = builder_node(&b, thread, 1, 1);
	visits(node, 1, SECOND, 1000);
	node->count[0].lost_ns = SECOND * 9 / 10;
	first = look(&b, 1, NULL);
	expect_cell(first, &by_self, "work", "event0", "10000", " ~10%");
	/* The whole would now be less than it was: 2000 at 55 % are 3636. */
	visits(node, 1, SECOND, 1000);
	second = look(&b, 2, first);
	expect_cell(second, &by_self, "work", "event0", "1000", "");
	top_look_free(first);
	visits(node, 1, SECOND, 1000);
	node->count[0].lost_ns += SECOND / 2;
	first = look(&b, 3, second);
	expect_cell(first, &by_self, "work", "event0", "2000", " ~50%");
	top_look_free(first);
	top_look_free(second);
	builder_end(&b);
}

/* With a stride, between two looks visits may have ended of which none was measured. */
Test(top, a_mean_is_of_measured_visits)
{
	struct profile_builder b;
	struct top_options by_mean = {.delay = 1, .sort = "mean"};
	struct top_look *l;
	struct pm_report_node *node;

	builder_begin(&b, 1 << 16);
	builder_region(&b, "work");
	worker(&b, 20, 1, 1, 5, PERFMON_PROFILE_THREAD_STATE_LIVE);
	l = look(&b, 1, NULL);
	expect_cell(l, &by_mean, "work", "mean", "1.000 us", "");
	node = &l->groups[0].change.nodes[node_at(&l->groups[0].change, "work")];
	node->path.visits.measured = 0;
	expect_cell(l, &by_mean, "work", "mean", "-", "");
	top_look_free(l);
	builder_end(&b);
}

Test(top, events_may_change_between_two_looks)
{
	struct profile_builder b;
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_node *node;
	struct perfmon_profile_plan *plan;
	struct top_look *first, *second;

	builder_begin(&b, 1 << 16);
	builder_plan(&b, 1, 1);
	builder_region(&b, "work");
	thread = builder_tree(&b, 10, 1, 1, 2);
	node = builder_node(&b, thread, 1, 1);
	visits(node, 5, 1000, 10);
	first = look(&b, 1, NULL);
	/* Two events of which the second is the one that was there. */
	plan = builder_plan(&b, 2, 2);
	strcpy(plan->counter[0].name, "other");
	strcpy(plan->counter[1].name, "event0");
	thread = builder_tree(&b, 11, 2, 2, 2);
	node = builder_node(&b, thread, 1, 1);
	visits(node, 1, 1000, 7);
	node->count[1].sum = 3;
	second = look(&b, 2, first);
	expect_cell(second, &by_self, "work", "other", "7", " &");
	expect_cell(second, &by_self, "work", "event0", "3", "");
	top_look_free(first);
	top_look_free(second);
	builder_end(&b);
}

static uint64_t random_state = 88172645463325252u;

static uint64_t any(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % below;
}

static void any_profile(struct profile_builder *b)
{
	uint32_t counters = (uint32_t)any(3), regions = 1 + (uint32_t)any(5);

	builder_begin(b, 1 << 17);
	builder_plan(b, 1, counters);
	for (uint32_t r = 0; r < regions; r++) {
		char name[2] = {(char)('a' + any(4)), '\0'};

		builder_region(b, name);
	}
	for (uint64_t t = 0; t < 1 + any(4); t++) {
		struct perfmon_profile_thread *thread =
			builder_thread(b, (uint32_t)any(3), 1, counters);
		uint32_t count = 1 + (uint32_t)any(9);

		thread->begin_ticks = any(2);
		builder_nodes(b, thread, count + 1);
		builder_node(b, thread, 0, 0);
		for (uint32_t n = 1; n <= count; n++) {
			struct perfmon_profile_node *node =
				builder_node(b, thread, 1 + (uint32_t)any(n),
					     1 + (uint32_t)any(regions));

			/* Few are caught inside an update: the reader waits for these. */
			node->sequence = 2 * any(500) + !any(20);
			node->entered = any(600);
			node->time_ticks = any(SECOND);
			node->off_cpu_ns = any(SECOND);
			node->time_squares = any(SECOND);
			node->mismatched_ends = (uint32_t)any(2);
			for (uint32_t c = 0; c < counters; c++) {
				node->count[c].sum = any(SECOND);
				node->count[c].lost_ns = any(SECOND);
			}
		}
		thread->state = 1 + (uint32_t)any(4);
		thread->aggregated = 1;
	}
}

/* Of profiles that have nothing to do with each other, in any order: no number falls
 * below 0, nor is more than there is. */
Test(top, no_difference_is_negative)
{
	static const char *const sorts[] = {"self", "name", "visits", "open", "mean"};
	struct top_look *last = NULL;

	for (int round = 0; round < 1000; round++) {
		struct top_options options = {
			.delay = 1, .threads = any(2), .flat = any(2), .reverse = any(2)};
		struct profile_builder b;
		struct pm_diag diag = {0};
		struct top_table table;
		struct top_look *next;

		strcpy(options.sort, sorts[any(5)]);
		if (any(2))
			strcpy(options.filter, "a");
		any_profile(&b);
		next = look(&b, (double)any(5), last);
		cr_assert_eq(top_table_make(&table, next, &options, &diag), 0, "%s",
			     diag.text);
		for (uint32_t r = 0; r < table.row_count; r++) {
			const struct top_row *row = &table.rows[r];

			for (uint32_t c = 0; row->node && c < table.column_count; c++) {
				struct pm_value v =
					top_table_value(&table, row, &table.columns[c]);

				if (v.state == PM_COUNTED &&
				    !(isfinite(v.value) && v.value >= 0))
					cr_assert_fail("round %d: %s is %g", round,
						       table.columns[c].name, v.value);
			}
		}
		for (uint32_t g = 0; g < next->group_count; g++)
			for (uint32_t n = 1; n < next->groups[g].sums.node_count; n++) {
				const struct pm_path *sum =
					pm_path(&next->groups[g].sums, n);
				const struct pm_path *change =
					pm_path(&next->groups[g].change, n);

				if (change->visits.ended > sum->visits.ended ||
				    change->times.inclusive > sum->times.inclusive ||
				    change->times.children > change->times.inclusive)
					cr_assert_fail("round %d: more than there is",
						       round);
			}
		top_table_free(&table);
		top_look_free(last);
		last = next;
		builder_end(&b);
	}
	top_look_free(last);
}

Test(top, what_falls_is_marked)
{
	struct profile_builder b;
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_node *node;
	struct top_look *first, *second;

	builder_begin(&b, 1 << 16);
	builder_plan(&b, 1, 1);
	builder_region(&b, "work");
	thread = builder_tree(&b, 10, 1, 1, 2);
	node = builder_node(&b, thread, 1, 1);
	visits(node, 10, 1000, 10);
	first = look(&b, 1, NULL);
	visits(node, 10, 1000, 10);
	node->count[0].sum = 50;
	second = look(&b, 2, first);
	expect_cell(second, &by_self, "work", "event0", "0", " $");
	top_look_free(first);
	top_look_free(second);
	builder_end(&b);
}

/* Regions have CPU time where task-clock is counted, in percent as their wall time is. */
Test(top, cpu_time_stands_beside_wall_time)
{
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_plan *plan;
	struct perfmon_profile_node *node;
	struct top_options by_cpu = {.sort = "cpu"};
	struct pm_diag diag = {0};
	struct top_table table;
	struct profile_builder b;
	struct top_look *l;

	builder_begin(&b, 1 << 16);
	plan = builder_plan(&b, 1, 1);
	thread = builder_tree(&b, 1, 1, 1, 4);
	node = builder_node(&b, thread, 1, builder_region(&b, "r"));
	visits(node, 1, SECOND / 2, SECOND / 4);
	visits(builder_node(&b, thread, 2, builder_region(&b, "below")), 1, SECOND / 8,
	       SECOND / 8);
	l = look(&b, 1, NULL);
	cr_assert_eq(top_table_make(&table, l, &by_cpu, &diag), -EINVAL);
	top_table_free(&table);
	top_look_free(l);
	strcpy(plan->counter[0].name, "task-clock:u");
	strcpy(plan->counter[0].unit, "ns");
	l = look(&b, 1, NULL);
	expect_cell(l, &by_cpu, "r", "time", "50.0", "");
	expect_cell(l, &by_cpu, "r", "cpu", "25.0", "");
	expect_cell(l, &by_cpu, "r", "self", "37.5", "");
	expect_cell(l, &by_cpu, "r/below", "cpu", "12.5", "");
	top_look_free(l);
	builder_end(&b);
}

static void expect_common(struct top_look *l, const char *want)
{
	struct pm_diag diag = {0};
	struct top_table table;
	char got[200];

	cr_assert_eq(top_table_make(&table, l, &by_self, &diag), 0, "%s", diag.text);
	top_table_common(&table, got, sizeof(got));
	cr_assert_str_eq(got, want);
	top_table_free(&table);
}

/* A mark that all numbers of a column have is said once, and not in each row. */
Test(top, marks_of_all_rows_are_said_once)
{
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_node *nodes[3];
	struct profile_builder b;
	struct top_look *l;

	builder_begin(&b, 1 << 16);
	builder_plan(&b, 1, 2);
	thread = builder_tree(&b, 1, 1, 2, 4);
	for (int i = 0; i < 3; i++) {
		nodes[i] = builder_node(&b, thread, 1,
					builder_region(&b, (char[]){(char)('a' + i), 0}));
		/* Where nothing happens there is nothing to mark. */
		if (i == 2)
			break;
		visits(nodes[i], 2, 1000, 5);
		nodes[i]->count[1].sum = 7;
		nodes[i]->defects = 1;
	}
	nodes[0]->mismatched_ends = 1;
	l = look(&b, 1, NULL);
	expect_common(l, "$ on all numbers of event0/s, event1/s");
	expect_cell(l, &by_self, "a", "event0", "10", " !");
	expect_cell(l, &by_self, "b", "event1", "7", "");
	top_look_free(l);
	nodes[1]->defects = 0;
	l = look(&b, 1, NULL);
	expect_common(l, "");
	expect_cell(l, &by_self, "a", "event0", "10", " !$");
	expect_cell(l, &by_self, "b", "event0", "10", "");
	top_look_free(l);
	builder_end(&b);
}

/* The names of the rows, in their order, with blanks between. */
static void expect_rows(struct top_look *l, const char *sort, const char *filter,
			bool flat, bool threads, bool reverse, const char *want)
{
	struct top_options options = {
		.flat = flat, .threads = threads, .reverse = reverse};
	struct pm_diag diag = {0};
	struct top_table table;
	char got[500] = "";

	strcpy(options.sort, sort);
	strcpy(options.filter, filter);
	cr_assert_eq(top_table_make(&table, l, &options, &diag), 0, "%s", diag.text);
	for (uint32_t r = 0; r < table.row_count; r++) {
		const struct top_row *row = &table.rows[r];
		char title[100];

		top_group_title(l, row->group, title, sizeof(title));
		strcat(got, r ? " " : "");
		strcat(got, row->node ? pm_path_name(row->tree, row->node) : title);
	}
	cr_assert_str_eq(got, want, "'%s'", got);
	top_table_free(&table);
}

Test(top, rows_are_sorted_and_filtered)
{
	struct profile_builder b;
	struct perfmon_profile_thread *thread;
	struct top_look *l;
	struct top_options nothing = {.sort = "nosuch"};
	struct pm_diag diag = {0};
	struct top_table table;

	builder_begin(&b, 1 << 16);
	builder_plan(&b, 1, 1);
	for (const char *name = "abcd"; *name; name++)
		builder_region(&b, (const char[]){*name, '\0'});
	thread = builder_tree(&b, 10, 1, 1, 9);
	/* a, with b and c below; d, with b below. */
	visits(builder_node(&b, thread, 1, 1), 1, 100, 1);
	visits(builder_node(&b, thread, 2, 2), 5, 1, 2);
	visits(builder_node(&b, thread, 2, 3), 2, 20, 30);
	visits(builder_node(&b, thread, 1, 4), 3, 20, 4);
	visits(builder_node(&b, thread, 5, 2), 4, 10, 5);
	l = look(&b, 1, NULL);
	/* Self: a 55, a/b 5, a/c 40, d 20, d/b 40. */
	expect_rows(l, "self", "", false, false, false, "a c b d b");
	expect_rows(l, "self", "", false, false, true, "d b a b c");
	expect_rows(l, "visits", "", false, false, false, "a b c d b");
	expect_rows(l, "event0", "", false, false, false, "a c b d b");
	expect_rows(l, "EVENT0", "", false, false, false, "a c b d b");
	expect_rows(l, "name", "", false, false, false, "a b c d b");
	expect_rows(l, "name", "", false, false, true, "d b a c b");
	/* A leaf that is hot leads its parent, whatever that has itself. */
	expect_rows(l, "mean", "d", false, false, false, "d b");
	expect_rows(l, "self", "", true, false, false, "a b c d");
	expect_rows(l, "visits", "", true, false, false, "b d c a");
	expect_rows(l, "self", "C", false, false, false, "a c");
	expect_rows(l, "self", "b", false, false, false, "a b d b");
	expect_rows(l, "self", "b", true, false, false, "b");
	expect_rows(l, "self", "x", false, false, false, "");
	expect_rows(l, "self", "c", false, true, false,
		    "all threads a c thread 10 (thread10) a c");
	cr_assert_eq(top_table_make(&table, l, &nothing, &diag), -EINVAL);
	cr_assert(strstr(diag.text,
			 "'nosuch' is not a column: expects one of name, open") &&
			  strstr(diag.text, "event0"),
		  "%s", diag.text);
	top_table_free(&table);
	top_look_free(l);
	builder_end(&b);
}

Test(top, a_hot_leaf_leads_its_open_parents)
{
	struct profile_builder b;
	struct perfmon_profile_thread *thread;
	struct top_look *l;

	builder_begin(&b, 1 << 16);
	builder_plan(&b, 1, 0);
	for (const char *name = "abc"; *name; name++)
		builder_region(&b, (const char[]){*name, '\0'});
	thread = builder_tree(&b, 10, 1, 0, 9);
	visits_only(builder_node(&b, thread, 1, 1), 1, 1000);
	builder_node(&b, thread, 1, 2)->entered = 1;
	visits_only(builder_node(&b, thread, 3, 3), 1, 5000);
	l = look(&b, 1, NULL);
	expect_rows(l, "self", "", false, false, false, "b c a");
	top_look_free(l);
	builder_end(&b);
}
