/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Strides: which visits are measured, what is said of the rest, and whether it is
 * true. */
#include "config.h"

#include "core/report/merge/merge.h"
#include "core/report/model/value.h"
#include "core/report/report.h"
#include "helpers.h"
#include "region_probe.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#ifdef HAVE_JANSSON
#include <jansson.h>
#endif

#include "bounds.h"
#include "profile_builder.h"
#include "report_text.h"

static void init(void)
{
	probe_quiet();
	setenv("PERFMON_EVENTS", "none", 1);
}

TestSuite(stride, .init = init, .timeout = 120);

static const struct perfmon_profile_stride *stride_of(const struct pm_snapshot *s,
						      const char *path)
{
	for (uint32_t i = 0; i < s->thread_count; i++) {
		const struct perfmon_profile_node *node =
			probe_node(s, &s->threads[i], path);

		if (node)
			return pm_snapshot_stride(&s->threads[i], node);
	}
	return NULL;
}

static void visit(const char *name, int times)
{
	for (int i = 0; i < times; i++) {
		perfmon_region_begin_name(name);
		perfmon_region_end_name(name);
	}
}

static uint64_t measured(const char *name)
{
	struct probe_values values = {0};

	cr_assert_eq(probe_read(name, &values), 0);
	return values.visits;
}

/* Row: DC-02: each visit is measured or counted as skipped: first as many as the stride is
 * long, and then one of each run; each region has its own stride. */
Test(stride, every_visit_is_accounted_for)
{
	struct pm_snapshot *s;

	setenv("PERFMON_STRIDE", "10, all=1 ,rare=1000", 1);
	visit("all", 1000);
	visit("ten", 1000);
	visit("rare", 5500);
	PERFMON_REGION_BEGIN("outer");
	visit("inner", 777);
	PERFMON_REGION_END("outer");
	s = probe_take();
	cr_assert_eq(probe_visits(s, "all"), 1000);
	cr_assert_eq(stride_of(s, "all")->skipped, 0);
	cr_assert_eq(probe_visits(s, "ten"), 10 + 99);
	cr_assert_eq(stride_of(s, "ten")->skipped, 99 * 9);
	cr_assert_eq(probe_entered(s, "ten"), 1000);
	cr_assert(probe_visits(s, "rare") == 1004 || probe_visits(s, "rare") == 1005);
	cr_assert_eq(probe_visits(s, "rare") + stride_of(s, "rare")->skipped, 5500);
	cr_assert(probe_visits(s, "outer/inner") == 10 + 76 ||
		  probe_visits(s, "outer/inner") == 10 + 77);
	cr_assert_eq(probe_visits(s, "outer/inner") +
			     stride_of(s, "outer/inner")->skipped,
		     777);
	pm_snapshot_free(s);
}

/* Each place in a run is as likely as any other, and does not follow from the last. */
Test(stride, the_measured_visit_is_anywhere_in_its_run)
{
	enum { RUN = 8, RUNS = 16000 };
	int at[RUN] = {0}, after[RUN][RUN] = {{0}}, last = -1;
	double expected = (double)RUNS / RUN, chi = 0, chi2 = 0;

	setenv("PERFMON_STRIDE", "8", 1);
	visit("r", RUN);
	cr_assert_eq(measured("r"), RUN);
	for (int run = 0; run < RUNS; run++) {
		int place = -1;

		for (int i = 0; i < RUN; i++) {
			uint64_t before = measured("r");

			visit("r", 1);
			if (measured("r") == before)
				continue;
			cr_assert_eq(place, -1, "two in run %d", run);
			place = i;
		}
		cr_assert_neq(place, -1, "none in run %d", run);
		at[place]++;
		if (last >= 0)
			after[last][place]++;
		last = place;
	}
	for (int i = 0; i < RUN; i++) {
		chi += (at[i] - expected) * (at[i] - expected) / expected;
		for (int k = 0; k < RUN; k++)
			chi2 += (after[i][k] - expected / RUN) *
				(after[i][k] - expected / RUN) / (expected / RUN);
	}
	/* Chi-squared of 7 and 63 degrees of freedom: beyond these once in 10^7. */
	cr_assert_lt(chi, 46.0, "%g", chi);
	cr_assert_lt(chi2, 142.0, "%g", chi2);
}

/* --- is the interval where it says
 * -------------------------------------------------------
 */

#define REPETITIONS 200
#define VISITS	    1000
#define STRIDE	    10
#define PAGES	    64

static uint64_t draw_state = 42;

static uint32_t draw(uint32_t below)
{
	draw_state = draw_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)((draw_state >> 33) * below >> 31);
}

/* Faults COUNT pages in, exactly. Sanitizers have shadows that fault, too. */
__attribute__((noinline, no_sanitize("address"), no_sanitize("thread"))) static void
fault(volatile char *pages, size_t size, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		pages[i * size] = 1;
}

/* P(at least FAILURES of N) where one fails with probability P. */
static double tail(int n, double p, int failures)
{
	double sum = 0;

	for (int k = failures; k <= n; k++)
		sum += exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) +
			   k * log(p) + (n - k) * log1p(-p));
	return sum;
}

/*
 * Row: DC-02: 200 times 1,000 visits of which 100 are measured, of a load whose total is
 * known: page faults, geometrically many in a visit (skewness 2). The intervals hold it
 * as often as 99 % allows, and are no wider than that takes.
 */
Test(stride, intervals_hold_and_are_no_wider_than_they_must)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, PAGES * size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static uint64_t total[REPETITIONS];
	struct probe_values values = {0};
	double squares = 0, widths = 0;
	struct pm_report_model model;
	struct pm_report_tree tree;
	int missed = 0, allowed = 0;
	struct pm_snapshot *s;
	char name[16];

	setenv("PERFMON_EVENTS", "page-faults", 1);
	setenv("PERFMON_STRIDE", "10,all=1", 1);
	cr_assert_neq(pages, MAP_FAILED);
	madvise(pages, PAGES * size, MADV_NOHUGEPAGE);
	fault(pages, size, PAGES);
	/* The code of these calls is in memory then. */
	perfmon_region_begin_name("before");
	perfmon_region_end_name("before");
	/* The measure itself: what is measured whole is the truth. */
	for (uint32_t i = 0; i < 20; i++) {
		madvise(pages, PAGES * size, MADV_DONTNEED);
		perfmon_region_begin_name("all");
		fault(pages, size, i);
		perfmon_region_end_name("all");
	}
	cr_assert_eq(probe_read("all", &values), 0);
	if (!values.counters || !(values.counted & 1)) {
		cr_skip_test("page-faults cannot be counted here");
		return;
	}
#ifdef TESTS_SANITIZED
	if (values.sum[0] != 190) {
		cr_skip_test("the sanitizer adds page faults of its own");
		return;
	}
#endif
	cr_assert_eq(values.sum[0], 190);
	for (int r = 0; r < REPETITIONS; r++) {
		snprintf(name, sizeof(name), "r%d", r);
		for (int v = 0; v < VISITS; v++) {
			uint32_t count = 0;

			while (count < PAGES && draw(3))
				count++;
			madvise(pages, PAGES * size, MADV_DONTNEED);
			perfmon_region_begin_name(name);
			fault(pages, size, count);
			perfmon_region_end_name(name);
			total[r] += count;
		}
	}
	s = probe_take();
	cr_assert_eq(pm_report_model_make(&model, s, false, NULL), 0);
	cr_assert_eq(pm_report_tree_make(&tree, &model, NULL, 0), 0);
	for (uint32_t n = 1; n < tree.node_count; n++) {
		struct pm_value value = pm_report_count(&tree, n, 0, false);
		int r = atoi(pm_path_name(&tree, n) + 1);
		double off;

		if (!strcmp(pm_path_name(&tree, n), "before"))
			continue;
		if (!strcmp(pm_path_name(&tree, n), "all")) {
			cr_assert_eq(value.error, 0);
			cr_assert_eq(value.marks & PM_MARK_SAMPLED, 0);
			continue;
		}
		off = value.value - (double)total[r];
		cr_assert_eq(pm_path(&tree, n)->visits.ended, VISITS);
		cr_assert_eq(pm_path(&tree, n)->visits.measured,
			     STRIDE + (VISITS - STRIDE) / STRIDE);
		cr_assert(value.marks & PM_MARK_SAMPLED);
		missed += fabs(off) > value.error;
		squares += off * off;
		widths += value.error;
	}
	pm_report_tree_free(&tree);
	pm_report_model_free(&model);
	pm_snapshot_free(s);
	/* As many failures as come once in a million where 99 % is true. */
	while (tail(REPETITIONS, 0.01, allowed + 1) > 1e-6)
		allowed++;
	cr_assert_leq(missed, allowed, "%d of %d are not in their intervals", missed,
		      REPETITIONS);
	/* 2.58 standard deviations, a little more for skewness and the unknown spread;
	 * the deviation of 200 is known to 5 %. */
	widths /= REPETITIONS * sqrt(squares / REPETITIONS);
	cr_assert(widths > 2.1 && widths < 3.7, "%g deviations wide", widths);
	munmap(pages, PAGES * size);
}

/* By hand, and against a table of Student's t. */
Test(stride, the_error_of_a_total)
{
	/* 1, 2, 3, 4 of 40: mean 2.5, variance 5/3, no skewness, t(3) = 5.841. */
	double want = 40 * 5.841 * sqrt(5.0 / 3 / 4 * 0.9);
	static const struct {
		double n, t;
	} rows[] = {{2, 63.657}, {10, 3.250}, {12, 3.106}, {32, 2.744}, {102, 2.6254}};

	cr_assert_float_eq(pm_report_error(10, 30, 100, 4, 40), want, 1e-9);
	/* All are measured: nothing is estimated. */
	cr_assert_eq(pm_report_error(10, 30, 100, 4, 4), 0);
	/* Of one nothing is known. */
	cr_assert(isinf(pm_report_error(10, 100, 1000, 1, 10)));
	cr_assert(isinf(pm_report_error(0, 0, 0, 0, 10)));
	/* All alike: six in ten of the others could be anything. */
	cr_assert(isinf(pm_report_error(15, 45, 135, 5, 5000)));
	cr_assert(isinf(pm_report_error(3 * 458, 9 * 458, 27 * 458, 458, 5000)));
	/* From here on one in a hundred; 0.01 ^ (1 / 4600) is 1 - 0.0010006. */
	cr_assert_float_eq(pm_report_error(3 * 459, 9 * 459, 27 * 459, 459, 5000), 149.7,
			   0.1);
	cr_assert_float_eq(pm_report_error(3 * 4600, 9 * 4600, 27 * 4600, 4600, 1e6),
			   3 * 1000.6, 0.1);
	/* No more of them are different than there are. */
	cr_assert_eq(pm_report_error(3 * 4600, 9 * 4600, 27 * 4600, 4600, 4602), 6);
	/* Twice nothing is nothing. */
	cr_assert(isinf(pm_report_error(0, 0, 0, 4600, 1e6)));
	/* Sums of which each step was rounded. */
	{
		double each = 123456789, sum = 0, squares = 0, cubes = 0;

		for (int i = 0; i < 100000; i++) {
			sum += each;
			squares += each * each;
			cubes += each * each * each;
		}
		cr_assert_float_eq(pm_report_error(sum, squares, cubes, 100000, 1e6),
				   each * 1e6 * 4.605e-5, each * 0.1);
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		/* Half -1, half 1: the variance is n / (n - 1). */
		double n = rows[i].n, all = 1e12;
		double t = pm_report_error(0, n, 0, n, all) / all * sqrt(n - 1);

		cr_assert_float_eq(t, rows[i].t, 0.001 * rows[i].t, "t(%g) is %g", n - 1,
				   t);
	}
	/* Skewness 2 of 100: (Z^4 + 2 Z^2 - 3) / 18 * 4 / 100 = 12.06 % wider. */
	want = pm_report_error(0, 100, 0, 100, 1e12) * 1.1206;
	cr_assert_float_eq(pm_report_error(0, 100, 200, 100, 1e12), want, want * 1e-4);
}

/* --- nothing else is broken by visits that are passed over
 * --------------------------------
 */

static uint64_t ended(const struct pm_snapshot *s, const char *path)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < s->thread_count; i++) {
		const struct pm_snapshot_thread *thread = &s->threads[i];
		const struct perfmon_profile_node *node = probe_node(s, thread, path);

		if (node)
			sum += pm_node_visits(node) +
			       pm_snapshot_stride(thread, node)->skipped;
	}
	return sum;
}

Test(stride, recursion_and_ends_that_do_not_match)
{
	struct pm_snapshot *s;

	setenv("PERFMON_STRIDE", "3", 1);
	for (int i = 0; i < 300; i++) {
		PERFMON_REGION_BEGIN("a");
		PERFMON_REGION_BEGIN("a");
		PERFMON_REGION_BEGIN("b");
		PERFMON_REGION_END("b");
		PERFMON_REGION_END("nobody's");
		PERFMON_REGION_END("a");
		PERFMON_REGION_BEGIN("c");
		/* Closes c, too. */
		PERFMON_REGION_END("a");
	}
	s = probe_take();
	cr_assert_eq(ended(s, "a"), 300);
	cr_assert_eq(ended(s, "a/a"), 300);
	cr_assert_eq(ended(s, "a/a/b"), 300);
	cr_assert_eq(ended(s, "a/c"), 0);
	cr_assert_eq(probe_entered(s, "a/c"), 300);
	cr_assert_eq(probe_node(s, &s->threads[0], "a/c")->mismatched_ends, 300);
	cr_assert_eq(probe_sum(s, unmatched_ends), 300);
	pm_snapshot_free(s);
}

static void *other_thread(void *argument)
{
	(void)argument;
	PERFMON_REGION_BEGIN("outer");
	visit("inner", 50);
	PERFMON_REGION_END("outer");
	return NULL;
}

/* Threads that end are summed with what they skipped, and theirs is used again. */
Test(stride, threads_that_end_are_summed)
{
	struct pm_report_model model;
	struct pm_report_tree tree;
	struct pm_snapshot *s;

	setenv("PERFMON_STRIDE", "10,outer=1", 1);
	for (int i = 0; i < 40; i++) {
		pthread_t thread;

		cr_assert_eq(pthread_create(&thread, NULL, other_thread, NULL), 0);
		pthread_join(thread, NULL);
	}
	s = probe_take();
	cr_assert_eq(ended(s, "outer"), 40);
	cr_assert_eq(ended(s, "outer/inner"), 2000);
	cr_assert_eq(probe_visits(s, "outer/inner"), 40 * (10 + 4));
	cr_assert_eq(pm_report_model_make(&model, s, false, NULL), 0);
	cr_assert_eq(pm_report_tree_make(&tree, &model, NULL, 0), 0);
	cr_assert_eq(pm_path(&tree, 2)->visits.ended, 2000);
	cr_assert_eq(pm_path(&tree, 2)->visits.measured, 40 * (10 + 4));
	pm_report_tree_free(&tree);
	pm_report_model_free(&model);
	pm_snapshot_free(s);
}

static int counts_on_in_child(void)
{
	struct pm_snapshot *s;

	PERFMON_REGION_END("outer");
	visit("inner", 100);
	if (pm_regions_snapshot(&s, NULL))
		return 1;
	CHILD_CHECK(ended(s, "outer") == 1);
	CHILD_CHECK(ended(s, "inner") == 100);
	CHILD_CHECK(probe_visits(s, "inner") == 10 + 9);
	pm_snapshot_free(s);
	return 0;
}

Test(stride, a_forked_child_goes_on_with_it)
{
	setenv("PERFMON_STRIDE", "10", 1);
	PERFMON_REGION_BEGIN("outer");
	visit("inner", 5);
	cr_assert_eq(probe_child(counts_on_in_child), 0);
	PERFMON_REGION_END("outer");
}

Test(stride, visits_open_while_disarmed_are_lost_as_ever)
{
	struct pm_snapshot *s;

	setenv("PERFMON_STRIDE", "5", 1);
	for (int i = 0; i < 20; i++) {
		PERFMON_REGION_BEGIN("r");
		perfmon_region_disarm();
		PERFMON_REGION_END("r");
		perfmon_region_arm();
	}
	visit("r", 100);
	s = probe_take();
	cr_assert_eq(probe_entered(s, "r"), 120);
	cr_assert_eq(ended(s, "r"), 100);
	cr_assert_eq(probe_sum(s, lost_other), 20);
	pm_snapshot_free(s);
}

static int judge_fd = -1;

static uint64_t judge(void)
{
	uint64_t value = 0;

	cr_assert_eq(read(judge_fd, &value, sizeof(value)), sizeof(value));
	return value;
}

/*
 * An outer visit that is measured counts all, though those inside are passed over and the
 * thread leaves the CPU meanwhile, so that the pages of its counters move.
 */
Test(stride, a_measured_visit_holds_those_that_are_passed_over)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.size = sizeof(attr),
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	struct probe_values values = {0};
	volatile uint64_t sink = 0;
	uint64_t own = 0;

	setenv("PERFMON_EVENTS", "instructions", 1);
	setenv("PERFMON_STRIDE", "1000000,outer=1", 1);
	judge_fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	if (judge_fd < 0) {
		cr_skip_test("instructions cannot be counted here");
		return;
	}
	for (int i = 0; i < 20; i++) {
		uint64_t before = judge();

		PERFMON_REGION_BEGIN("outer");
		for (int k = 0; k < 50; k++) {
			PERFMON_REGION_BEGIN("inner");
			for (int j = 0; j < 1000; j++)
				sink += (uint64_t)j;
			if (k % 7 == 3)
				let_time_pass_us(1);
			PERFMON_REGION_END("inner");
		}
		PERFMON_REGION_END("outer");
		own += judge() - before;
	}
	cr_assert_gt(sink, 0);
	cr_assert_eq(probe_read("outer", &values), 0);
	cr_assert_eq(values.visits, 20);
	cr_assert_gt(values.sum[0], 20u * 50 * 1000);
	/* The judge has its own system calls' user side and the first visits' set-up. */
	cr_assert_leq(values.sum[0], own);
	cr_assert_gt((double)values.sum[0], 0.9 * (double)own, "%llu of %llu",
		     (unsigned long long)values.sum[0], (unsigned long long)own);
	close(judge_fd);
}

/* --- what reports say
 * --------------------------------------------------------------------
 */

static char *report(struct profile_builder *b, enum pm_format format)
{
	struct pm_report_options options = {.format = format};

	return report_built(b, &options);
}

/* Four of 40 visits, of 1000 to 4000 ns and 1 to 4 events; one visit, of many; none. */
static void sample(struct profile_builder *b)
{
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_node *node;
	struct perfmon_profile_stride *stride;

	builder_begin(b, 1 << 16);
	builder_plan(b, 1, 1);
	thread = builder_thread(b, 1, 1, 1);
	thread->flags = PERFMON_PROFILE_THREAD_STRIDE;
	thread->node_size += sizeof(*stride) + sizeof(double);
	builder_nodes(b, thread, 5);
	builder_node(b, thread, 0, 0);
	for (int i = 0; i < 4; i++) {
		static const char *const names[] = {"some", "one", "none", "all"};
		int visits = i == 0 || i == 3 ? 4 : i == 1;

		node = builder_node(b, thread, 1, builder_region(b, names[i]));
		stride = (void *)&node->count[1];
		stride->stride = i == 3 ? 1 : 10;
		stride->skipped = i == 3 ? 0 : 40 - (uint64_t)visits;
		node->entered = stride->skipped;
		for (int v = 1; v <= visits; v++) {
			builder_visit(node, 1000 * (uint64_t)v);
			stride->time_cubes += pow(1000 * v, 3);
			node->count[0].sum += (uint64_t)v;
			node->count[0].squares += pow(v, 2);
			stride->cubes[0] += pow(v, 3);
		}
	}
}

Test(stride, totals_are_scaled_and_say_how_far_off_they_may_be)
{
	/* Of the 100 of "some", see above. */
	double want = 40 * 5.841 * sqrt(5.0 / 3 / 4 * 0.9);
	struct profile_builder b;
	char *got;

	sample(&b);
	got = report(&b, PM_FORMAT_TEXT);
	/* Of what may be nothing no share is told. */
	cr_assert(strstr(got, "some        40  100.000 +-143%      "), "%s", got);
	cr_assert_null(strstr(got, "66.7"), "%s", got);
	cr_assert(strstr(got, "  100 +-143%\n"), "%s", got);
	cr_assert(strstr(got, "one         40   40.000 +-? "), "%s", got);
	cr_assert(strstr(got, "none        40        - "), "%s", got);
	cr_assert(strstr(got, "all          4   10.000           6.7 "), "%s", got);
	cr_assert(strstr(got, "2.500    51.6"), "%s", got);
	cr_assert(strstr(got, "  +-N%  estimated from visits measured at random"), "%s",
		  got);
	free(got);
	got = report(&b, PM_FORMAT_CSV);
	cr_assert(strstr(got, ",torn,measured,time_error_ns,exclusive_error_ns,event0,"),
		  "%s", got);
	cr_assert(strstr(got, "event0.status,event0.error,time_ns.marks,"), "%s", got);
	cr_assert(strstr(got,
			 ",one,one,40,40,40000,40000,1000,,1000,1000,0,1,0,0,0,0,0,0,0,"
			 "1,,,40,40,40,1,counted,,sampled,sampled,sampled,sampled,"
			 "1000,1000,"),
		  "%s", got);
	cr_assert(strstr(got, ",all,all,4,4,10000,"), "%s", got);
	free(got);
#ifdef HAVE_JANSSON
	got = report(&b, PM_FORMAT_JSON);
	{
		json_t *all = json_loads(got, 0, NULL), *node, *c;

		cr_assert_not_null(all);
		node = json_array_get(json_object_get(all, "nodes"), 0);
		c = json_array_get(json_object_get(node, "counts"), 0);
		cr_assert_eq(json_integer_value(json_object_get(node, "visits")), 40);
		cr_assert_eq(json_integer_value(json_object_get(node, "measured")), 4);
		cr_assert_eq(json_number_value(json_object_get(node, "time_ns")), 100000);
		cr_assert_float_eq(
			json_number_value(json_object_get(node, "time_error_ns")),
			1000 * want, 1e-6);
		cr_assert_eq(json_number_value(json_object_get(c, "value")), 100);
		cr_assert_float_eq(json_number_value(json_object_get(c, "error")), want,
				   1e-9);
		cr_assert_eq(json_integer_value(json_object_get(c, "measured")), 40);
		cr_assert_eq(json_integer_value(json_object_get(c, "sampled")), 4);
		node = json_array_get(json_object_get(all, "nodes"), 1);
		cr_assert(json_is_null(json_object_get(node, "time_error_ns")));
		node = json_array_get(json_object_get(all, "nodes"), 2);
		cr_assert(json_is_null(json_object_get(node, "time_ns")));
		cr_assert_eq(json_integer_value(json_object_get(node, "visits")), 40);
		node = json_array_get(json_object_get(all, "nodes"), 3);
		cr_assert_eq(json_number_value(json_object_get(node, "time_error_ns")),
			     0);
		json_decref(all);
	}
	free(got);
#endif
	builder_end(&b);
}

/* Draws of a path and of what is below it are independent: their errors add as
 * squares. */
Test(stride, exclusive_values_have_the_errors_of_both)
{
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_stride *stride;
	struct perfmon_profile_node *node;
	struct pm_report_model model;
	struct pm_report_tree tree, flat;
	struct profile_builder b;
	struct pm_snapshot *s;
	double one, both;

	builder_begin(&b, 1 << 16);
	builder_plan(&b, 1, 1);
	thread = builder_thread(&b, 1, 1, 1);
	thread->flags = PERFMON_PROFILE_THREAD_STRIDE;
	thread->node_size += sizeof(*stride) + sizeof(double);
	builder_nodes(&b, thread, 5);
	builder_node(&b, thread, 0, 0);
	for (uint32_t i = 1; i < 3; i++) {
		node = builder_node(&b, thread, i,
				    builder_region(&b, i == 1 ? "o" : "i"));
		stride = (void *)&node->count[1];
		stride->stride = 10;
		stride->skipped = node->entered = 36;
		for (int v = 1; v <= 4; v++) {
			builder_visit(node, 1000 * (uint64_t)v / i);
			stride->time_cubes += pow(1000 * v / i, 3);
			node->count[0].sum += (uint64_t)v;
			node->count[0].squares += pow(v, 2);
			stride->cubes[0] += pow(v, 3);
		}
	}
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, NULL), 0);
	cr_assert_eq(pm_report_model_make(&model, s, false, NULL), 0);
	cr_assert_eq(pm_report_tree_make(&tree, &model, NULL, 0), 0);
	one = pm_report_count(&tree, 1, 0, false).error;
	both = pm_report_count(&tree, 1, 0, true).error;
	cr_assert_gt(one, 0);
	cr_assert_float_eq(both, one * sqrt(2), 1e-9);
	cr_assert_float_eq(pm_report_count(&tree, 2, 0, true).error, one, 1e-9);
	one = pm_report_time(&tree, 1, false).error;
	cr_assert_float_eq(pm_report_time(&tree, 1, true).error, one * sqrt(1.25), 1e-6);
	cr_assert_float_eq(pm_report_time(&tree, 2, true).error, one / 2, 1e-6);
	cr_assert_eq(pm_report_tree_flatten(&flat, &tree), 0);
	for (uint32_t n = 1; n < flat.node_count; n++) {
		uint32_t same = strcmp(pm_path_name(&flat, n), "o") ? 2 : 1;

		for (int exclusive = 0; exclusive < 2; exclusive++) {
			cr_assert_float_eq(
				pm_report_count(&flat, n, 0, exclusive).error,
				pm_report_count(&tree, same, 0, exclusive).error, 1e-9);
			cr_assert_float_eq(pm_report_time(&flat, n, exclusive).error,
					   pm_report_time(&tree, same, exclusive).error,
					   1e-6);
		}
	}
	pm_report_tree_free(&flat);
	pm_report_tree_free(&tree);
	pm_report_model_free(&model);
	pm_snapshot_free(s);
	builder_end(&b);
}

/* What was never measured is in the values of what is around it. */
Test(stride, exclusive_values_around_what_was_not_measured_have_no_known_error)
{
	struct profile_builder b;
	struct pm_report_model model;
	struct pm_report_tree tree, flat;
	struct pm_snapshot *s;
	char *got;

	/* In the first thread none of the inner visits is measured, in the second all. */
	builder_begin(&b, 1 << 16);
	builder_plan(&b, 1, 2);
	for (uint32_t t = 1; t <= 2; t++) {
		struct perfmon_profile_thread *thread = builder_thread(&b, t, 1, 2);
		struct perfmon_profile_stride *stride;
		struct perfmon_profile_node *node;

		thread->flags = PERFMON_PROFILE_THREAD_STRIDE;
		thread->node_size += sizeof(*stride) + 2 * sizeof(double);
		/* Not open where something is not measured: nothing of it is missing. */
		if (t == 1)
			thread->status[1] = -ENOENT;
		builder_nodes(&b, thread, 4);
		builder_node(&b, thread, 0, 0);
		node = builder_node(&b, thread, 1, builder_region(&b, "top"));
		builder_visit(node, 3000);
		node = builder_node(&b, thread, 2, builder_region(&b, "outer"));
		builder_visit(node, 2000);
		node->count[0].sum = node->count[1].sum = 700;
		node = builder_node(&b, thread, 3, builder_region(&b, "leaf"));
		stride = (void *)&node->count[2];
		stride->stride = 1000;
		if (t == 1) {
			stride->skipped = node->entered = 500;
			continue;
		}
		builder_visit(node, 500);
		node->count[0].sum = node->count[1].sum = 200;
	}
	got = report(&b, PM_FORMAT_TEXT);
	cr_assert(strstr(got, "  outer        2  4.000        66.7  3.500 +-? "), "%s",
		  got);
	cr_assert(strstr(got, "  0.500 +-?@  "), "%s", got);
	cr_assert(strstr(got, "  200 @&\n"), "%s", got);
	free(got);
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, NULL), 0);
	cr_assert_eq(pm_report_model_make(&model, s, false, NULL), 0);
	cr_assert_eq(pm_report_tree_make(&tree, &model, NULL, 0), 0);
	cr_assert_eq(pm_report_tree_flatten(&flat, &tree), 0);
	for (int f = 0; f < 2; f++) {
		const struct pm_report_tree *it = f ? &flat : &tree;

		for (uint32_t n = 1; n < it->node_count; n++) {
			const char *name = pm_path_name(it, n);

			/* Where nothing was measured is no thread that took 0. */
			cr_assert_gt(pm_path(it, n)->threads.min, 0);
			for (int own = 0; own < 2; own++) {
				struct pm_value time = pm_report_time(it, n, own);
				struct pm_value count = pm_report_count(it, n, 0, own);
				struct pm_value other = pm_report_count(it, n, 1, own);
				bool unknown = !strcmp(name, own ? "outer" : "leaf") ||
					       !strcmp(name, "leaf");

				cr_assert_eq(!!isinf(time.error), unknown, "%s", name);
				cr_assert_eq(!!isinf(count.error), unknown, "%s", name);
				cr_assert_eq(!!(count.marks & PM_MARK_SAMPLED), unknown);
				cr_assert_eq(other.error, 0, "%s", name);
			}
		}
	}
	pm_report_tree_free(&flat);
	pm_report_tree_free(&tree);
	pm_report_model_free(&model);
	pm_snapshot_free(s);
	builder_end(&b);
}

/* Two processes with strides of their own: each total is scaled by its own. */
Test(stride, sums_over_processes_keep_strides_apart)
{
	struct pm_merge *merge = NULL;
	struct pm_report_model model;
	struct pm_report_tree tree;
	struct profile_builder b;
	struct pm_snapshot *s;

	cr_assert_eq(pm_merge_create(&merge, false), 0);
	for (uint32_t p = 0; p < 3; p++) {
		struct perfmon_profile_thread *thread;

		sample(&b);
		builder_header(&b)->pid += p;
		if (p == 2) {
			struct pm_snapshot *own;
			struct perfmon_profile_stride *stride;

			cr_assert_eq(
				pm_snapshot_take(b.base, builder_used(&b), &own, NULL),
				0);
			thread = &own->threads[0].record;
			thread->flags |= 2;
			stride = (void *)(uintptr_t)pm_snapshot_stride(
				&own->threads[0], pm_snapshot_node(&own->threads[0], 2));
			stride->skipped = 396;
			cr_assert_eq(pm_merge_add(merge, own, NULL), 0);
			pm_snapshot_free(own);
		} else {
			cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, NULL),
				     0);
			cr_assert_eq(pm_merge_add(merge, s, NULL), 0);
			pm_snapshot_free(s);
		}
		builder_end(&b);
	}
	cr_assert_eq(pm_merge_end(merge), 0);
	cr_assert_eq(pm_report_model_make(&model, pm_merge_sum(merge), false, NULL), 0);
	cr_assert_eq(pm_report_tree_make(&tree, &model, NULL, 0), 0);
	for (uint32_t n = 1; n < tree.node_count; n++) {
		struct pm_value value = pm_report_count(&tree, n, 0, false);

		if (!strcmp(pm_path_name(&tree, n), "some")) {
			cr_assert_eq(pm_path(&tree, n)->visits.ended, 40 + 40 + 400);
			cr_assert_eq(pm_path(&tree, n)->visits.measured, 12);
			cr_assert_eq(value.value, 100 + 100 + 1000);
			cr_assert_eq(pm_report_time(&tree, n, false).value, 1200000);
			cr_assert_gt(value.error, 0);
		} else if (!strcmp(pm_path_name(&tree, n), "all")) {
			cr_assert_eq(value.value, 30);
			cr_assert_eq(value.error, 0);
		}
	}
	pm_report_tree_free(&tree);
	pm_report_model_free(&model);
	pm_merge_free(merge);
}

/* Of a process whose thread measured no visit the others tell nothing for certain. */
Test(stride, a_sum_with_what_was_not_measured_has_no_known_error)
{
	struct pm_merge *merge = NULL;
	struct pm_report_model model;
	struct pm_report_tree tree;
	bool found = false;

	cr_assert_eq(pm_merge_create(&merge, false), 0);
	for (uint32_t p = 0; p < 2; p++) {
		struct perfmon_profile_stride *stride;
		struct perfmon_profile_node *node;
		struct profile_builder b;
		struct pm_snapshot *s;

		sample(&b);
		builder_header(&b)->pid += p;
		cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, NULL), 0);
		if (p) {
			node = pm_snapshot_node(&s->threads[0], 2);
			stride = (void *)(uintptr_t)pm_snapshot_stride(&s->threads[0],
								       node);
			stride->skipped = 5;
			stride->time_cubes = stride->cubes[0] = 0;
			node->sequence = node->time_ticks = node->time_max = 0;
			node->time_squares = node->time_squares_high = 0;
			node->count[0].squares = 0;
			node->time_min = UINT64_MAX;
			node->count[0].sum = 0;
		}
		cr_assert_eq(pm_merge_add(merge, s, NULL), 0);
		pm_snapshot_free(s);
		builder_end(&b);
	}
	cr_assert_eq(pm_merge_end(merge), 0);
	cr_assert_eq(pm_report_model_make(&model, pm_merge_sum(merge), false, NULL), 0);
	cr_assert_eq(pm_report_tree_make(&tree, &model, NULL, 0), 0);
	for (uint32_t n = 1; n < tree.node_count; n++) {
		struct pm_value value = pm_report_count(&tree, n, 0, false);

		if (strcmp(pm_path_name(&tree, n), "some"))
			continue;
		found = true;
		cr_assert_eq(pm_path(&tree, n)->visits.ended, 45);
		cr_assert(value.marks & PM_MARK_SAMPLED);
		cr_assert(isinf(value.error));
		cr_assert(isinf(pm_report_time(&tree, n, false).error));
		cr_assert_gt(pm_path(&tree, n)->threads.min, 0);
	}
	cr_assert(found);
	pm_report_tree_free(&tree);
	pm_report_model_free(&model);
	pm_merge_free(merge);
}

static void *few_visits(void *unused)
{
	visit("rare", 5);
	return unused;
}

/* Threads that visit a path less often than its stride is long measure all of its visits. */
Test(stride, few_visits_are_measured_whole)
{
	struct pm_report_model model;
	struct pm_report_tree tree;
	struct pm_snapshot *s;

	setenv("PERFMON_STRIDE", "10", 1);
	for (int i = 0; i < 60; i++) {
		pthread_t thread;

		cr_assert_eq(pthread_create(&thread, NULL, few_visits, NULL), 0);
		pthread_join(thread, NULL);
	}
	s = probe_take();
	cr_assert_eq(ended(s, "rare"), 300);
	cr_assert_eq(probe_visits(s, "rare"), 300);
	cr_assert_eq(pm_report_model_make(&model, s, false, NULL), 0);
	cr_assert_eq(pm_report_tree_make(&tree, &model, NULL, 0), 0);
	cr_assert_eq(pm_report_time(&tree, 1, false).error, 0);
	cr_assert_gt(pm_path(&tree, 1)->threads.min, 0);
	pm_report_tree_free(&tree);
	pm_report_model_free(&model);
	pm_snapshot_free(s);
}

Test(stride, the_variable_is_read)
{
	struct pm_options o;

	setenv("PERFMON_STRIDE", "10,solve=100, a=b = 7,solve=50", 1);
	cr_assert_eq(pm_options_read(&o, NULL), 0);
	cr_assert_eq(o.note_count, 0);
	cr_assert_eq(pm_options_stride(&o, "other"), 10);
	cr_assert_eq(pm_options_stride(&o, "solve"), 50);
	cr_assert_eq(pm_options_stride(&o, "a=b"), 7);
	pm_options_free(&o);
	setenv("PERFMON_STRIDE", "solve=3,0,x,=4,y=,1000000001,-2", 1);
	cr_assert_eq(pm_options_read(&o, NULL), 0);
	cr_assert_eq(o.note_count, 6);
	cr_assert_str_eq(o.notes[0],
			 "PERFMON_STRIDE: \"0\" is ignored: expects a number from 1 to "
			 "1000000000, NAME=NUMBER, auto, or a share of the time from "
			 "auto:1% to auto:50%");
	cr_assert_eq(pm_options_stride(&o, "solve"), 3);
	cr_assert_eq(pm_options_stride(&o, "other"), 1);
	pm_options_free(&o);
	unsetenv("PERFMON_STRIDE");
	cr_assert_eq(pm_options_read(&o, NULL), 0);
	cr_assert_eq(o.stride_count, 0);
	cr_assert_eq(pm_options_stride(&o, "other"), 1);
	pm_options_free(&o);
}

static bool has_strides(const char *variable)
{
	struct pm_snapshot *s;
	bool has;

	setenv("PERFMON_STRIDE", variable, 1);
	visit("a", 3);
	s = probe_take();
	has = stride_of(s, "a") != NULL;
	cr_expect_eq(pm_region_general.stride != 0, has);
	pm_snapshot_free(s);
	return has;
}

/* A stride of 1 measures every visit, and is none: it costs nothing. */
Test(stride, one_is_none)
{
	cr_expect(!has_strides("1"));
}

Test(stride, one_by_name_is_none)
{
	cr_expect(!has_strides("1,a=1, b=1"));
}

Test(stride, one_beside_others_is_one)
{
	cr_expect(has_strides("1,b=2"));
}

Test(stride, one_beside_auto_is_one)
{
	cr_expect(has_strides("1,auto"));
}
