/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of perfmon diff: its statistics, on numbers whose distribution is known, and
 * its judgement, on profiles made by hand.
 * Row: DC-02
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/diff/data.h"
#include "cli/common/common.h"
#include "core/text/diag.h"
#include "core/text/statistics.h"
#include "bounds.h"
#include "profile_builder.h"

/* --- mathematics -------------------------------------------------------------------- */

/* The tail of Student's T by summing its density up to T, from which the library's way is
 * independent. */
static double tail_by_sum(double t, double df)
{
	double front = exp(lgamma((df + 1) / 2) - lgamma(df / 2)) / sqrt(df * M_PI),
	       sum = 0;
	int steps = 20000;

	for (int i = 0; i <= steps; i++) {
		double x = t * i / steps, weight = i == 0 || i == steps ? 1
						   : i % 2		? 4
									: 2;

		sum += weight * pow(1 + x * x / df, -(df + 1) / 2);
	}
	return 0.5 - front * sum * t / steps / 3;
}

/* What reports and estimates use is near enough to the exact one. */
Test(diff_math, quantile_of_reports_is_that_of_student)
{
	for (int df = 1; df < 2000; df++) {
		double got = pm_student_99(df);

		/* Beyond that the sum is of differences of large numbers. */
		if (df == 1 || df > 400)
			continue;
		cr_assert_gt(tail_by_sum(got * 0.999, df), 0.005, "df %d: %g", df, got);
		cr_assert_lt(tail_by_sum(got * 1.001, df), 0.005, "df %d: %g", df, got);
	}
	cr_assert(isinf(pm_student_99(0)));
	cr_assert_lt(fabs(pm_student_99(1e9) - PM_NORMAL_99), 1e-6);
}

Test(diff_math, ways)
{
	cr_assert_eq(diff_ways(1, 1), 1);
	cr_assert_eq(diff_ways(5, 5), 126);
	cr_assert_eq(diff_ways(6, 6), 462);
	cr_assert_lt(fabs(diff_ways(3, 8) - 165), 1e-9);
	cr_assert_lt(fabs(diff_ways(8, 3) - 165), 1e-9);
	cr_assert_eq(diff_runs_needed(0.01), 5);
	cr_assert_eq(diff_runs_needed(0.05), 4);
	cr_assert_eq(diff_runs_needed(0.001), 7);
}

Test(diff_math, sample_of_large_numbers)
{
	double values[] = {1e15 + 1, 1e15 + 2, 1e15 + 3};
	struct diff_sample sample;

	diff_sample_make(&sample, values, 3);
	cr_assert_eq(sample.mean, 1e15 + 2);
	cr_assert_lt(fabs(sample.variance - 1), 1e-3);
	cr_assert_eq(sample.min, 1e15 + 1);
	cr_assert_eq(sample.max, 1e15 + 3);
	diff_sample_make(&sample, NULL, 0);
	cr_assert_eq(sample.runs, 0);
}

/* A run that took a hundred times as long as the others does not hide that all take a tenth
 * of the time, as it would in the mean. Where a run has a 0 there is no such scale. */
Test(diff_math, one_disturbed_run)
{
	double slow[] = {1, 1.01, 0.99, 100, 1, 1.02, 0.98, 1.01},
	       fast[] = {0.1, 0.1, 0.101, 0.099, 0.1, 0.1, 0.102, 0.1};
	struct diff_sample a, b;

	diff_sample_make(&a, slow, 8);
	diff_sample_make(&b, fast, 8);
	cr_assert_lt(diff_excess(&a, &b, 0.01), 1.1);
	diff_samples_damp(&a, &b);
	cr_assert(a.damped && b.damped);
	cr_assert_gt(diff_excess(&a, &b, 0.01), 10);
	cr_assert(a.mean > 1.2 && a.mean < 1.3, "%g", a.mean);
	cr_assert_lt(fabs(b.mean - 0.1), 0.01, "%g", b.mean);
	fast[3] = 0;
	diff_sample_make(&a, slow, 8);
	diff_sample_make(&b, fast, 8);
	diff_samples_damp(&a, &b);
	cr_assert(!a.damped && !b.damped);
	cr_assert_lt(fabs(a.mean - 107.01 / 8), 1e-9);
}

/* --- numbers drawn ------------------------------------------------------------------ */

/* The same numbers each time (xorshift64*). */
static double uniform(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return ((double)(*state * UINT64_C(2685821657736338717) >> 11) + 0.5) / 0x1p53;
}

static double normal(uint64_t *state)
{
	return sqrt(-2 * log(uniform(state))) * cos(2 * M_PI * uniform(state));
}

/* How a run's time may be distributed around 1. */
enum shape { NORMAL, LOG_NORMAL, OUTLIERS, TWO_STATES, LONG_TAIL, SHAPES };

static const char *const shape_names[SHAPES] = {"normal", "log-normal", "outliers",
						"two states", "long tail"};

static double draw(enum shape shape, uint64_t *state)
{
	switch (shape) {
	case NORMAL:
		return 1 + 0.02 * normal(state);
	case LOG_NORMAL:
		return exp(0.3 * normal(state));
	case OUTLIERS: /* of ten runs one is disturbed */
		return 1 + 0.01 * normal(state) + (uniform(state) < 0.1 ? 0.5 : 0);
	case TWO_STATES: /* by the layout of memory, say */
		return (uniform(state) < 0.5 ? 1 : 1.1) + 0.005 * normal(state);
	default:
		return 1 - 0.1 * log(uniform(state));
	}
}

#define REGIONS 35

/* What is found in RUNS runs a side of a program with 35 regions and their total: of A's
 * as drawn, of B's CHANGE times as much. The region with the number i has a share of 1 / i
 * of the time. */
struct drawn {
	struct diff_row rows[REGIONS + 1];
	struct diff_column columns[REGIONS + 1];
	struct diff_run runs[REGIONS + 1][32];
	struct diff_result result;
};

static void compare(struct drawn *d, enum shape shape, uint32_t runs, double change,
		    double effect, uint64_t *state)
{
	const uint32_t sides[2] = {runs, runs};

	memset(d, 0, sizeof(*d));
	d->result.rows = d->rows;
	d->result.row_count = REGIONS + 1;
	for (int q = 1; q <= REGIONS; q++)
		for (uint32_t r = 0; r < 2 * runs; r++) {
			double value = draw(shape, state) / q * (r < runs ? 1 : change);

			d->runs[q][r].value = value;
			d->runs[0][r].value += value;
		}
	for (int q = 0; q <= REGIONS; q++) {
		struct diff_row *row = &d->rows[q];
		double values[32];

		row->region = q ? (uint32_t)q : DIFF_TOTAL;
		row->runs = d->runs[q];
		row->columns = &d->columns[q];
		row->columns->runs = row->runs;
		row->column_count = 1;
		row->tested = true;
		for (uint32_t r = 0; r < 2 * runs; r++) {
			row->runs[r].there = true;
			values[r] = row->runs[r].value;
		}
		diff_sample_make(&row->sample[0], values, runs);
		diff_sample_make(&row->sample[1], values + runs, runs);
		diff_samples_damp(&row->sample[0], &row->sample[1]);
		row->columns->excess =
			diff_excess(&row->sample[0], &row->sample[1], effect);
	}
	cr_assert_eq(diff_shuffle(&d->result, sides, 0.01), 0);
	cr_assert_eq(d->result.tests, REGIONS + 1);
}

static bool is_found(const struct diff_row *row)
{
	const struct diff_column *column = row->columns;

	cr_assert(row->too_few ||
		  (column->p < 0.01) == (column->excess > column->critical));
	return !row->too_few && column->p < 0.01;
}

/* Whether a row's interval says what its p says. */
static bool agrees(const struct diff_row *row, double effect)
{
	double low, high;
	bool bounds = diff_interval(&row->sample[0], &row->sample[1], effect,
				    row->columns->critical, &low, &high);
	bool excluded = bounds && (low > 1 + effect || high < 1 - effect);

	return excluded == is_found(row);
}

/* How many of COMPARISONS find a change in any of the quantities. */
static uint32_t found(enum shape shape, uint32_t runs, double change, double effect,
		      uint32_t comparisons)
{
	static struct drawn d;
	uint64_t state = 88172645463325252u + runs;
	uint32_t count = 0;

	for (uint32_t c = 0; c < comparisons; c++) {
		bool any = false;

		compare(&d, shape, runs, change, effect, &state);
		for (int q = 0; q <= REGIONS; q++) {
			any |= is_found(&d.rows[q]);
			cr_assert(d.rows[q].too_few || agrees(&d.rows[q], effect));
		}
		count += any;
	}
	return count;
}

/* In a thousand comparisons of equals at 1 % there are ten false alarms on average, and
 * more than 23 (of 400 more than 13) with a chance of 0.0001, however the runs are distributed. Without a minimum
 * effect, to try the test itself. */
Test(diff_statistics, false_alarms)
{
	static const uint32_t runs[] = {3, 4, 5, 6, 7};

	for (int shape = 0; shape < SHAPES; shape++)
		for (size_t i = 0; i < 5; i++) {
			uint32_t comparisons = runs[i] == 7   ? 50
					       : runs[i] == 6 ? 400
							      : 1000,
				 most = runs[i] == 7   ? 5
					: runs[i] == 6 ? 13
						       : 23,
				 alarms = found((enum shape)shape, runs[i], 1, 0,
						comparisons);

			printf("%s, %u runs: %u false alarms of %u\n", shape_names[shape],
			       runs[i], alarms, comparisons);
			cr_assert_leq(alarms, most, "%s, %u runs: %u", shape_names[shape],
				      runs[i], alarms);
			/* Too few to show anything. */
			cr_assert(runs[i] >= 5 || !alarms);
		}
	/* Of ways that are drawn. */
	cr_assert_leq(found(NORMAL, 12, 1, 0, 5), 1);
}

/* Differences of the minimum effect and less are no changes, however exact. */
Test(diff_statistics, minimum_effect)
{
	cr_assert_leq(found(NORMAL, 5, 1.01, 0.01, 1000), 23);
	cr_assert_leq(found(NORMAL, 5, 0.99, 0.01, 1000), 23);
}

Test(diff_statistics, changes_are_found)
{
	uint32_t five = found(NORMAL, 5, 1.2, 0.01, 200),
		 six = found(NORMAL, 6, 1.1, 0.01, 200);

	cr_assert_geq(five, 198, "of 20 %%: %u", five);
	cr_assert_geq(six, 198, "of 10 %%: %u", six);
}

/* If all regions take half of their time, six runs find each of them, or a tenth if the
 * runs themselves differ by a third; and five runs, too. */
Test(diff_statistics, six_runs_decide_35_regions)
{
	static struct drawn d;

	for (int shape = 0; shape < SHAPES; shape++)
		for (uint32_t runs = 5; runs <= 6; runs++) {
			double change = shape == LOG_NORMAL ? 0.1 : 0.5;
			uint64_t state = 20260101;
			uint32_t count = 0;

			for (int c = 0; c < 100; c++) {
				compare(&d, (enum shape)shape, runs, change, 0.01,
					&state);
				for (int q = 1; q <= REGIONS; q++)
					count += is_found(&d.rows[q]) &&
						 d.rows[q].sample[1].mean <
							 d.rows[q].sample[0].mean;
				cr_assert(is_found(&d.rows[0]));
			}
			printf("%s, %u runs: %.2f of 35 regions\n", shape_names[shape],
			       runs, count / 100.);
			cr_assert_geq(count, runs == 5 ? 3485 : 3500);
		}
}

/* An adjusted column counts only in splits in which the plain one has its direction. Here
 * the two always disagree, and one split would set the adjusted one far apart. */
Test(diff_statistics, adjusted_columns_need_the_plain_direction)
{
	const uint32_t sides[2] = {5, 5};
	double limit[2];

	for (int opposite = 0; opposite < 2; opposite++) {
		struct diff_run runs[2][10] = {0};
		struct diff_column columns[2] = {
			{.log = true, .runs = runs[0]},
			{.log = true, .runs = runs[1], .raw = &columns[0]}};
		struct diff_row row = {.region = 1,
				       .tested = true,
				       .columns = columns,
				       .column_count = 2};
		struct diff_result result = {.rows = &row, .row_count = 1};
		uint64_t state = 20261133;

		for (int r = 0; r < 10; r++) {
			double way = r % 2 ? 1 : -1, noise = normal(&state);

			runs[0][r] = (struct diff_run){.there = true,
						       .value = way + 0.5 * noise};
			runs[1][r] = (struct diff_run){.there = true,
						       .value = (opposite ? -way : way) +
								0.001 * noise};
		}
		cr_assert_eq(diff_shuffle(&result, sides, 0.01), 0);
		limit[opposite] = columns[0].critical;
	}
	cr_assert_gt(limit[0], 1000);
	cr_assert_lt(limit[1], 20);
}

/* The bounds are where the distance is what is critical, on both scales. */
Test(diff_statistics, interval)
{
	uint64_t state = 4711;

	for (uint32_t i = 0; i < 400; i++) {
		double values[2][5], low, high, critical = 1 + i % 7;
		struct diff_sample a, b;

		for (int r = 0; r < 5; r++) {
			values[0][r] = 100 + 5 * normal(&state);
			values[1][r] = 120 + 5 * normal(&state);
		}
		diff_sample_make(&a, values[0], 5);
		diff_sample_make(&b, values[1], 5);
		if (i % 2)
			diff_samples_damp(&a, &b);
		cr_assert(diff_interval(&a, &b, 0.01, critical, &low, &high));
		cr_assert_lt(fabs(diff_distance(&a, &b, low) - critical), 1e-6);
		cr_assert_lt(fabs(diff_distance(&a, &b, high) + critical), 1e-6);
		cr_assert(low < b.mean / a.mean && b.mean / a.mean < high);
	}
}

Test(diff_statistics, interval_without_bounds)
{
	struct diff_sample a = {.runs = 3, .mean = 1, .variance = 100, .max = 2},
			   b = {.runs = 3, .mean = 1, .variance = 1, .max = 2},
			   some = {.runs = 3, .mean = 100, .variance = 1, .max = 101},
			   zero = {.runs = 3}, little = {.runs = 3, .variance = 0.01};
	double low, high;

	cr_assert(!diff_interval(&a, &b, 0.01, 5, &low, &high));
	cr_assert(!diff_interval(&zero, &b, 0.01, 5, &low, &high));
	cr_assert(!diff_interval(&zero, &some, 0.01, 5, &low, &high));
	/* A that may be 0 bounds B from below. */
	cr_assert(diff_interval(&little, &some, 0.01, 5, &low, &high));
	cr_assert(low > 100 && isinf(high), "%g", low);
}

/* --- ranks -------------------------------------------------------------------------- */

/* In how many of all splits of N + M ranks fewer than RANK pairs have B below A: by trying
 * each of them. Returns their part. */
static double part_below(uint32_t n, uint32_t m, uint32_t rank)
{
	uint32_t count = 0, all = 0;

	for (uint32_t set = 0; set < 1u << (n + m); set++) {
		uint32_t pairs = 0, of_a = 0;

		/* A set bit is a value of A. */
		for (uint32_t i = 0; i < n + m; i++) {
			of_a += set >> i & 1;
			pairs += set >> i & 1 ? i + 1 - of_a : 0;
		}
		if (of_a != n)
			continue;
		all++;
		count += pairs < rank;
	}
	return (double)count / all;
}

Test(diff_ranks, bounds_are_beyond_the_truth_in_a_twentieth)
{
	static const uint32_t known[][2] = {{3, 1},  {4, 2},   {5, 5},	 {6, 8},
					    {8, 16}, {10, 28}, {12, 43}, {20, 139}};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		cr_assert_eq(diff_bound_rank(known[i][0], known[i][0]), known[i][1]);
	for (uint32_t n = 1; n <= 6; n++)
		for (uint32_t m = 1; m <= 8; m++) {
			uint32_t rank = diff_bound_rank(n, m);

			cr_assert_eq(rank, diff_bound_rank(m, n));
			cr_assert_leq(part_below(n, m, rank), 0.05 + 1e-12);
			cr_assert_gt(part_below(n, m, rank + 1), 0.05);
		}
	cr_assert_eq(diff_bound_rank(2, 2), 0);
	/* What is approximated continues what is exact. */
	cr_assert(diff_bound_rank(51, 50) > diff_bound_rank(50, 50));
	cr_assert(diff_bound_rank(51, 50) < diff_bound_rank(50, 50) + 40);
}

/* The shift between two samples lies outside of its bounds in at most 10 % of all cases,
 * and in not much fewer. */
Test(diff_ranks, bounds_hold)
{
	uint64_t state = 20261124;
	uint32_t outside = 0;

	for (int i = 0; i < 2000; i++) {
		double a[6], b[9];
		struct diff_bounds bounds;

		for (int r = 0; r < 6; r++)
			a[r] = log(draw(LONG_TAIL, &state));
		for (int r = 0; r < 9; r++)
			b[r] = 0.3 + log(draw(LONG_TAIL, &state));
		cr_assert_eq(diff_bounds_make(&bounds, a, 6, b, 9), 0);
		cr_assert(bounds.known);
		outside += bounds.low > 0.3 || bounds.high < 0.3;
	}
	printf("%u of 2000 outside\n", outside);
	cr_assert(outside > 120 && outside < 240, "%u", outside);
}

Test(diff_ranks, medians)
{
	double values[] = {5, 1, 4, 2};
	struct diff_weighted weighted[] = {{9, 0.1}, {1, 0.15}, {2, 0.15}, {3, 0.15}};

	cr_assert_eq(diff_median(values, 4), 3);
	cr_assert_eq(diff_median(values, 3), 2);
	cr_assert_eq(diff_median(values, 0), 0);
	cr_assert_eq(diff_weighted_median(weighted, 4), 2);
	weighted[3].weight = 1;
	cr_assert_eq(diff_weighted_median(weighted, 4), 9);
	cr_assert_eq(diff_weighted_median(weighted, 0), 0);
}

/* More runs see less, and are asked for until they see what is wanted. */
Test(diff_ranks, runs_wanted)
{
	uint32_t some = diff_runs_wanted(0.02, 5.65, 6, 0.01, 0.1),
		 more = diff_runs_wanted(0.04, 5.65, 6, 0.01, 0.1);

	cr_assert(some > 6 && more > 2 * some, "%u %u", some, more);
	cr_assert_eq(diff_runs_wanted(0.001, 5.65, 6, 0.01, 0.1), 5);
	cr_assert_eq(diff_runs_wanted(1, 5.65, 6, 0.01, 0.1), 0);
	/* A limit above the usual one asks for more. */
	cr_assert_gt(diff_runs_wanted(0.02, 8, 6, 0.01, 0.1), some);
	for (int n = 5; n < 50; n++)
		cr_assert_leq(diff_critical_usual(n + 1), diff_critical_usual(n));
}

/* --- single visits ------------------------------------------------------------------ */

static struct diff_visits visits_of(double tick_ns, double fastest, double slowest)
{
	return (struct diff_visits){
		.tick_ns = tick_ns, .fastest = fastest, .slowest = slowest};
}

Test(diff_visits, median_is_where_half_of_the_visits_are)
{
	struct diff_visits v = visits_of(1, 100, 100), other;

	/* One visit is its own median, to a tick. */
	v.bins[6] = 1;
	cr_assert_lt(fabs(diff_visits_median(&v) - 100), 1);
	/* Half of those of 128 to 255 are below the square root of the ends. */
	v = visits_of(1, 100, 4000);
	v.bins[6] = 10;
	v.bins[7] = 80;
	v.bins[11] = 10;
	cr_assert_lt(fabs(diff_visits_median(&v) - sqrt(128 * 256)), 1e-9);
	/* Ticks of 4 ns: two bins further up. */
	other = visits_of(4, 25, 1000);
	memcpy(other.bins, (double[]){[4] = 10, [5] = 80, [9] = 10}, 10 * sizeof(double));
	cr_assert_lt(fabs(diff_visits_median(&other) - sqrt(128 * 256)), 1e-9);
	diff_visits_add(&v, &other);
	cr_assert_eq(v.bins[7], 160);
	cr_assert_eq(diff_visits_count(&v), 200);
	cr_assert_eq(diff_visits_fastest(&v), 100);
	cr_assert_lt(fabs(diff_visits_median(&v) - sqrt(128 * 256)), 1e-9);
}

/* What was not visited adds nothing, and nothing adds up to what is added. */
Test(diff_visits, none)
{
	struct diff_visits v = {0}, none = {0}, some = visits_of(2, 10, 10);

	some.bins[3] = 4;
	diff_visits_add(&v, &none);
	cr_assert_eq(v.tick_ns, 0);
	diff_visits_add(&v, &some);
	diff_visits_add(&v, &none);
	cr_assert_eq(diff_visits_count(&v), 4);
	cr_assert_eq(diff_visits_fastest(&v), 20);
}

/* --- judgement ---------------------------------------------------------------------- */

/* A profile with one region. */
struct made {
	struct profile_builder b;
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_node *node;
};

/* Each began a second after the one before. */
static uint64_t moment = UINT64_C(1700000000) * 1000000000u;

static struct made make_of(const char *region, const char *event, uint64_t count,
			   uint32_t visits)
{
	struct made m;
	struct perfmon_profile_plan *plan;

	builder_begin(&m.b, 1 << 16);
	moment += 1000000000u;
	builder_header(&m.b)->begin_realtime_ns = moment;
	builder_header(&m.b)->parent_pid = 0;
	plan = builder_plan(&m.b, 1, 1);
	strcpy(plan->counter[0].name, event);
	plan->counter[0].cost.bias = 10;
	plan->counter[0].cost.known = 1;
	builder_region(&m.b, region);
	m.thread = builder_thread(&m.b, 1, 1, 1);
	builder_nodes(&m.b, m.thread, 4);
	builder_node(&m.b, m.thread, 0, 0);
	m.node = builder_node(&m.b, m.thread, 1, 1);
	for (uint32_t i = 0; i < visits; i++)
		builder_visit(m.node, 1000);
	m.node->count[0].sum = count;
	return m;
}

static struct made make(const char *event, uint64_t count, uint32_t visits)
{
	return make_of("work", event, count, visits);
}

struct comparison {
	struct diff_options options;
	struct diff_data data;
	struct diff_result result;
	struct pm_diag diag;
};

/* Ends M's life in a file that is loaded as one of SIDE. */
static void load_as(struct comparison *c, uint32_t side, struct made m, bool inclusive)
{
	char path[] = "/tmp/perfmon-diff-XXXXXX";
	int fd = mkstemp(path);
	ssize_t size = (ssize_t)builder_used(&m.b);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, m.b.base, (size_t)size), size);
	close(fd);
	cr_assert_eq(diff_load(&c->data, side, path, inclusive, &c->diag), 0, "%s",
		     c->diag.text);
	unlink(path);
	builder_end(&m.b);
}

static void load(struct comparison *c, uint32_t side, struct made m)
{
	load_as(c, side, m, false);
}

static const struct diff_options by_default = {.alpha = 0.01, .min_effect = 0.01};

static void judge(struct comparison *c)
{
	cr_assert_eq(diff_load_end(&c->data, &c->diag), 0, "%s", c->diag.text);
	cr_assert_eq(diff_decide(&c->result, &c->data, &by_default), 0);
}

static const struct diff_row *find_row(const struct comparison *c, const char *what,
				       bool total)
{
	for (uint32_t i = 0; i < c->result.row_count; i++)
		if (!strcmp(diff_quantity(&c->data, c->result.rows[i].quantity), what) &&
		    (c->result.rows[i].region == DIFF_TOTAL) == total)
			return &c->result.rows[i];
	return NULL;
}

static const struct diff_row *row_of(const struct comparison *c, const char *what)
{
	return find_row(c, what, false);
}

static const struct diff_row *total_of(const struct comparison *c, const char *what)
{
	return find_row(c, what, true);
}

struct looking {
	const char *text;
	bool found;
};

static void look_at(void *argument, const char *note)
{
	struct looking *looking = argument;

	looking->found |= strstr(note, looking->text) != NULL;
}

static bool noted(const struct comparison *c, const char *text)
{
	struct looking looking = {.text = text};
	const struct cli_notes notes = {look_at, &looking};

	diff_notes(&c->result, &notes);
	return looking.found;
}

static void done(struct comparison *c)
{
	diff_result_free(&c->result);
	diff_data_free(&c->data);
	memset(c, 0, sizeof(*c));
}

/* --- a program of 35 regions -------------------------------------------------------- */

/* A run: the region with the number i, of a share of 1 / i of the time, takes what is drawn
 * of SHAPE times CHANGE, and an event at random, of 100 / i on average. */
static struct made make_regions(enum shape shape, double change, uint64_t *state)
{
	struct made m = make("page-faults", 0, 0);

	builder_nodes(&m.b, m.thread, REGIONS + 2);
	for (uint32_t i = 1; i <= REGIONS; i++) {
		char name[16];
		struct perfmon_profile_node *node;
		double mean = 100. / i * change;

		snprintf(name, sizeof(name), "region%u", i);
		node = builder_node(&m.b, m.thread, 1, builder_region(&m.b, name));
		builder_visit(node, (uint64_t)(1e9 / i * change * draw(shape, state)));
		/* Of a Poisson process: the gaps are exponential. */
		for (double at = -log(uniform(state)); at < mean;
		     at -= log(uniform(state)))
			node->count[0].sum++;
	}
	return m;
}

/* Of region I of make_regions(). */
static struct perfmon_profile_node *region_node(const struct made *m, uint32_t i)
{
	struct perfmon_profile_nodes *nodes = (void *)(m->b.base + m->thread->nodes);
	uint32_t number = 2 + i;

	while (number >= nodes->first + nodes->capacity)
		nodes = (void *)(m->b.base + nodes->next);
	return (void *)((unsigned char *)nodes->node +
			(size_t)(number - nodes->first) * nodes->node_size);
}

/* The side of run R in the order ABBA BAAB. */
static uint32_t side_of(uint32_t r)
{
	return (r % 4 == 1 || r % 4 == 2) ^ (r / 4 % 2);
}

/* Compares RUNS runs a side, run in turns, of which those of B take CHANGE times as long. */
static void compare_runs(struct comparison *c, enum shape shape, uint32_t runs,
			 double change, uint64_t *state)
{
	for (uint32_t r = 0; r < 2 * runs; r++)
		load(c, side_of(r), make_regions(shape, side_of(r) ? change : 1, state));
	judge(c);
}

static uint32_t times_found(const struct comparison *c, enum diff_verdict verdict)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < c->result.row_count; i++)
		count += c->result.rows[i].quantity == DIFF_TIME &&
			 c->result.rows[i].region != DIFF_TOTAL &&
			 c->result.rows[i].verdict == verdict;
	return count;
}

/* Six runs a side find that each of 35 regions takes 30 % or 2 % of its time, and half of
 * it if the runs differ by a few per cent. */
Test(diff_regions, six_runs_find_all)
{
	static const double changes[] = {0.02, 0.3, 0.5};
	uint64_t state = 20260102;
	struct comparison c = {0};

	for (int shape = 0; shape < SHAPES; shape++)
		for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
			const struct diff_row *total;
			uint32_t less;

			/* Runs that differ by a third cannot show that for each. */
			if ((shape == LOG_NORMAL && changes[i] > 0.1) ||
			    (shape == OUTLIERS && changes[i] > 0.4))
				continue;
			compare_runs(&c, (enum shape)shape, 6, changes[i], &state);
			less = times_found(&c, DIFF_LESS);
			cr_assert_eq(less, REGIONS, "%s, %g: %u", shape_names[shape],
				     changes[i], less);
			total = total_of(&c, "time");
			cr_assert_eq(total->verdict, DIFF_LESS);
			cr_assert_lt(fabs(total->sample[1].mean / total->sample[0].mean /
						  changes[i] -
					  1),
				     0.2);
			cr_assert_eq(c.result.rows[0].region, DIFF_TOTAL);
			done(&c);
		}
}

/* If one region of 35 changed, that is found, and the total if that is much of it. */
Test(diff_regions, one_of_them)
{
	static const uint32_t which[] = {1, 35};

	for (size_t i = 0; i < 2; i++) {
		uint64_t state = 20260105;
		struct comparison c = {0};

		for (uint32_t r = 0; r < 12; r++) {
			struct made m = make_regions(NORMAL, 1, &state);

			/* Behind the root and "work". */
			if (side_of(r))
				region_node(&m, which[i])->time_ticks *= 2;
			load(&c, side_of(r), m);
		}
		judge(&c);
		cr_assert_eq(times_found(&c, DIFF_MORE), 1, "%u: %u", which[i],
			     times_found(&c, DIFF_MORE));
		cr_assert_eq(total_of(&c, "time")->verdict == DIFF_MORE, which[i] == 1);
		for (uint32_t row = 0; row < c.result.row_count; row++) {
			const struct diff_row *at = &c.result.rows[row];

			cr_assert(!at->too_few);
			cr_assert_eq(at->region == DIFF_TOTAL, row < 2);
			cr_assert(row < 3 || at->weight <= at[-1].weight);
		}
		cr_assert(!noted(&c, "too few runs"));
		done(&c);
	}
}

/* Four runs on each side can be split in 35 ways, five in 126. */
Test(diff_regions, too_few)
{
	uint64_t state = 20260106;
	struct comparison c = {0};

	compare_runs(&c, NORMAL, 4, 0.1, &state);
	cr_assert_eq(times_found(&c, DIFF_OPEN), REGIONS);
	cr_assert(row_of(&c, "time")->too_few && !row_of(&c, "time")->bounded);
	cr_assert(noted(&c,
			"4 runs of A and 4 of B; this alpha needs 5 runs on each side"));
	done(&c);
	compare_runs(&c, NORMAL, 5, 0.1, &state);
	cr_assert_eq(times_found(&c, DIFF_LESS), REGIONS);
	cr_assert(!noted(&c, "too few runs"));
	done(&c);
}

/* Under a sanitizer, which takes ten times as long, memory is what is tested. */
#ifdef TESTS_SANITIZED
enum { COMPARISONS = 10 };
#else
enum { COMPARISONS = 100 };
#endif

/* In 100 comparisons of equal programs at most 5 find a change. */
Test(diff_regions, equal_programs)
{
	uint64_t state = 20260103;
	struct comparison c = {0};

	for (int shape = 0; shape < SHAPES; shape++) {
		uint32_t alarms = 0;

		for (int i = 0; i < COMPARISONS; i++) {
			compare_runs(&c, (enum shape)shape, 6, 1, &state);
			alarms += c.result.by[DIFF_MORE] || c.result.by[DIFF_LESS];
			done(&c);
		}
		printf("%s: %u false alarms of %d\n", shape_names[shape], alarms,
		       COMPARISONS);
		cr_assert_leq(alarms, 5, "%s: %u", shape_names[shape], alarms);
	}
}

/* What a row shows is one statement: an interval that excludes no change stands beside a
 * change, and only there; one within the minimum effect beside "same". */
Test(diff_regions, intervals_agree_with_verdicts)
{
	uint64_t state = 20260104;
	struct comparison c = {0};
	uint32_t seen[DIFF_VERDICTS] = {0};
	static const double changes[] = {1, 1.01, 0.99, 1.05, 0.93, 1.2, 3};

	for (int i = 0; i < 70; i++) {
		compare_runs(&c, (enum shape)(i % SHAPES), 4 + (uint32_t)i % 4,
			     changes[i % 7], &state);
		for (uint32_t r = 0; r < c.result.row_count; r++) {
			const struct diff_row *row = &c.result.rows[r];
			enum diff_verdict want = row->low > 1.01    ? DIFF_MORE
						 : row->high < 0.99 ? DIFF_LESS
						 : row->low >= 0.99 && row->high <= 1.01
							 ? DIFF_SAME
							 : DIFF_OPEN;
			double ratio = row->sample[1].mean / row->sample[0].mean;

			if (!row->bounded || row->verdict == DIFF_LISTED)
				continue;
			cr_assert_eq(row->verdict, want, "%g .. %g: %s", row->low,
				     row->high, diff_verdict_name(row));
			/* The bounds of what is the same are of ranks, not of means. */
			cr_assert(row->verdict == DIFF_SAME ||
				  (row->low <= ratio && ratio <= row->high));
			cr_assert_eq(row->shown->p<0.01, want> DIFF_OPEN);
			seen[row->verdict]++;
		}
		done(&c);
	}
	cr_assert(seen[DIFF_MORE] && seen[DIFF_LESS] && seen[DIFF_OPEN]);
}

/* --- a program on a busy machine ---------------------------------------------------- */

#define BUSY_REGIONS 10
#define BUSY_VISITS  40

/* How a run of the busy machine differs from another. */
struct busy {
	uint32_t region; /* that one, from 1, is changed; 0: none */
	double change;	 /* its time, as a ratio */
	bool tail;	 /* of one visit in BUSY_VISITS alone */
	double speed;	 /* how much the speed of runs varies */
	uint32_t regions;
};

/* A visit of TICKS, now and then interrupted for a hundred times as long. */
static void busy_visit(struct perfmon_profile_node *node, double ticks, uint64_t *state)
{
	double disturbed = uniform(state) < 0.05 ? 100 * ticks * uniform(state) : 0;

	builder_visit(node,
		      (uint64_t)(ticks * (1 - 0.02 * log(uniform(state))) + disturbed));
}

static struct made make_busy(const struct busy *how, bool changed, uint64_t *state)
{
	struct made m = make("page-faults", 0, 0);
	double speed = exp(how->speed * normal(state));

	builder_nodes(&m.b, m.thread, BUSY_REGIONS + 2);
	for (uint32_t i = 1; i <= how->regions; i++) {
		char name[16];
		struct perfmon_profile_node *node;
		double ticks = 1e6 * speed * exp(0.01 * normal(state));
		bool this = changed && i == how->region;

		snprintf(name, sizeof(name), "region%u", i);
		node = builder_node(&m.b, m.thread, 1, builder_region(&m.b, name));
		for (uint32_t v = 0; v < BUSY_VISITS; v++)
			busy_visit(node,
				   this && (!how->tail || !v) ? ticks * how->change
							      : ticks,
				   state);
	}
	return m;
}

/* Compares A runs with B runs, of which those of B are changed. */
static void compare_busy(struct comparison *c, const struct busy *how, uint32_t a,
			 uint32_t b, uint64_t *state)
{
	while (a || b) {
		/* By a coin that lands as often as there are runs left. */
		bool of_b = uniform(state) * (a + b) < b;

		load(c, of_b, make_busy(how, of_b, state));
		*(of_b ? &b : &a) -= 1;
	}
	judge(c);
}

static const struct diff_row *time_row(const struct comparison *c, uint32_t region)
{
	char name[16];

	snprintf(name, sizeof(name), "region%u", region);
	for (uint32_t i = 0; i < c->result.row_count; i++) {
		const struct diff_row *row = &c->result.rows[i];

		if (row->quantity == DIFF_TIME && row->region != DIFF_TOTAL &&
		    !strcmp(diff_region(&c->data, row->region), name))
			return row;
	}
	cr_assert_fail("no %s", name);
	return NULL;
}

/* Of equal programs at 5 % there are five false alarms in 100 comparisons on average, with
 * equal sides and with others, and more than 14 with a chance of 0.0001. Without a minimum
 * effect, to try the test itself. */
Test(diff_busy, equal_programs)
{
	static const uint32_t sides[][2] = {{6, 6}, {4, 8}, {9, 3}};
	const struct busy how = {.speed = 0.05, .regions = BUSY_REGIONS};
	const struct diff_options sharp = {.alpha = 0.05, .min_effect = 0};

	for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++) {
		uint64_t state = 20261125 + i;
		uint32_t alarms = 0;
		struct comparison c = {0};

		for (int n = 0; n < COMPARISONS; n++) {
			compare_busy(&c, &how, sides[i][0], sides[i][1], &state);
			cr_assert_eq(time_row(&c, 1)->column_count, 6);
			cr_assert_not(time_row(&c, 1)->too_few);
			diff_result_free(&c.result);
			cr_assert_eq(diff_decide(&c.result, &c.data, &sharp), 0);
			alarms += c.result.by[DIFF_MORE] || c.result.by[DIFF_LESS];
			done(&c);
		}
		printf("%u and %u: %u false alarms\n", sides[i][0], sides[i][1], alarms);
		cr_assert_leq(alarms, 14);
	}
}

/* A change of 10 % in one region of ten is found, although the means of runs differ by
 * more, and its neighbours did not change. */
Test(diff_busy, a_change_is_found)
{
	const struct busy how = {
		.region = 3, .change = 1.1, .speed = 0.05, .regions = BUSY_REGIONS};
	uint64_t state = 20261126;
	uint32_t found = 0, others = 0;
	struct comparison c = {0};

	for (int n = 0; n < COMPARISONS; n++) {
		compare_busy(&c, &how, 6, 6, &state);
		found += time_row(&c, 3)->verdict == DIFF_MORE;
		for (uint32_t i = 1; i <= BUSY_REGIONS; i++)
			others += i != 3 && time_row(&c, i)->verdict >= DIFF_LESS;
		if (time_row(&c, 3)->verdict == DIFF_MORE)
			cr_assert_neq(time_row(&c, 3)->shown->of, DIFF_MEAN);
		done(&c);
	}
	printf("found %u of %d, others %u\n", found, COMPARISONS, others);
	cr_assert_geq(found, COMPARISONS * 9 / 10);
	cr_assert_leq(others, COMPARISONS / 20);
}

/* If the speed of the machine varies by 20 %, only adjusted columns find the change. */
Test(diff_busy, the_speed_of_runs_is_taken_out)
{
	const struct busy how = {
		.region = 3, .change = 1.15, .speed = 0.2, .regions = BUSY_REGIONS};
	uint64_t state = 20261127;
	uint32_t adjusted = 0, raw = 0;
	struct comparison c = {0};

	for (int n = 0; n < COMPARISONS; n++) {
		const struct diff_row *row;

		compare_busy(&c, &how, 6, 6, &state);
		row = time_row(&c, 3);
		adjusted += row->verdict == DIFF_MORE && row->shown->raw;
		raw += row->verdict == DIFF_MORE && !row->shown->raw;
		for (uint32_t i = 3; i < row->column_count; i++)
			cr_assert(row->columns[i].excess <= 0 ||
				  row->columns[i].difference *
						  row->columns[i].raw->difference >
					  0);
		done(&c);
	}
	printf("found %u adjusted, %u not\n", adjusted, raw);
	cr_assert_geq(adjusted, COMPARISONS / 3);
	cr_assert_leq(raw, COMPARISONS / 10);
}

/* Three regions do not tell the speed of a run to a fourth. */
Test(diff_busy, few_regions_are_not_adjusted)
{
	for (uint32_t regions = 3; regions <= 5; regions++) {
		const struct busy how = {.speed = 0.05, .regions = regions};
		uint64_t state = 20261128;
		struct comparison c = {0};

		compare_busy(&c, &how, 6, 6, &state);
		cr_assert_eq(time_row(&c, 1)->column_count, regions < 5 ? 3 : 6);
		cr_assert_eq(total_of(&c, "time")->column_count, 1);
		done(&c);
	}
}

/* One visit in forty takes twenty times as long: the mean rises by half, and the fastest
 * visit and the median are the same. That is never called the same, however many runs. */
Test(diff_busy, a_tail_is_never_the_same)
{
	const struct busy how = {.region = 3,
				 .change = 20,
				 .tail = true,
				 .speed = 0.0001,
				 .regions = BUSY_REGIONS};
	const struct diff_options wide = {.alpha = 0.01, .min_effect = 0.05};
	uint64_t state = 20261129;
	uint32_t typical = 0;
	struct comparison c = {0};

	for (int n = 0; n < COMPARISONS / 5; n++) {
		const struct diff_row *row;

		compare_busy(&c, &how, n % 2 ? 6 : 12, n % 2 ? 6 : 12, &state);
		diff_result_free(&c.result);
		cr_assert_eq(diff_decide(&c.result, &c.data, &wide), 0);
		row = time_row(&c, 3);
		cr_assert_neq(row->verdict, DIFF_SAME);
		typical += row->verdict == DIFF_TYPICAL;
		done(&c);
	}
	cr_assert_gt(typical, 0);
}

/* Without disturbance, equal runs are the same, from three of each side on. Then too few
 * runs are no reason to leave it open, but two are. */
Test(diff_busy, same_is_shown_by_three_runs)
{
	for (uint32_t runs = 2; runs <= 4; runs++) {
		uint64_t state = 20261130;
		struct comparison c = {0};
		uint32_t unproven;

		for (uint32_t r = 0; r < 2 * runs; r++) {
			struct made m = make("page-faults", 100, 0);

			for (uint32_t v = 0; v < 20; v++)
				builder_visit(m.node,
					      1000000 + r * 7 +
						      (uint64_t)(100 * uniform(&state)));
			load(&c, side_of(r), m);
		}
		judge(&c);
		cr_assert_eq(row_of(&c, "time")->verdict,
			     runs < 3 ? DIFF_OPEN : DIFF_SAME);
		cr_assert_eq(row_of(&c, "time")->too_few, runs < 3);
		cr_assert_eq(row_of(&c, "time")->bounded, runs >= 3);
		cr_assert_eq(diff_proven(&c.result, 0.1, &unproven), runs >= 3);
		cr_assert_eq(unproven, runs < 3);
		done(&c);
	}
}

/* A comparison that is open says what it could have seen, and how many runs see a tenth.
 * With so many, it is found. */
Test(diff_busy, runs_wanted_are_enough)
{
	struct busy how = {.region = 3, .change = 1, .speed = 0.05, .regions = 10};
	uint64_t state = 20261131;
	uint32_t found = 0, most = 0;
	struct comparison c = {0};

	compare_busy(&c, &how, 6, 6, &state);
	cr_assert_gt(time_row(&c, 3)->seen, 0.01);
	most = time_row(&c, 3)->wanted;
	cr_assert(most >= 5 && most < 30, "%u", most);
	cr_assert(noted(&c, "a change of 10 % in each open region"));
	done(&c);
	how.change = 1.1;
	for (int n = 0; n < COMPARISONS / 5; n++) {
		compare_busy(&c, &how, most, most, &state);
		found += time_row(&c, 3)->verdict == DIFF_MORE;
		done(&c);
	}
	cr_assert_geq(found, COMPARISONS / 5 * 8 / 10, "%u", found);
}

/* Regions that mean nothing are listed, whatever their change, and leave nothing open. */
Test(diff_decide, rows_without_meaning)
{
	struct comparison c = {0};
	uint64_t state = 20261132;

	for (uint32_t r = 0; r < 12; r++) {
		struct made m = make("page-faults", 100, 0);
		struct perfmon_profile_node *tiny, *rare;

		builder_nodes(&m.b, m.thread, 4);
		tiny = builder_node(&m.b, m.thread, 1, builder_region(&m.b, "tiny"));
		rare = builder_node(&m.b, m.thread, 1, builder_region(&m.b, "rare"));
		/* 5 and 7 ns of visits that take a second together. */
		for (uint32_t v = 0; v < 1000; v++)
			builder_visit(tiny, side_of(r) ? 7 : 5);
		tiny->time_ticks += 500000000;
		builder_visit(rare, side_of(r) ? 900000 : 300000 + r);
		for (uint32_t v = 0; v < 20; v++)
			builder_visit(m.node,
				      50000000 + (uint64_t)(100 * uniform(&state)));
		load(&c, side_of(r), m);
	}
	judge(&c);
	for (uint32_t i = 0; i < c.result.row_count; i++) {
		const struct diff_row *row = &c.result.rows[i];
		const char *name = diff_region(&c.data, row->region);

		if (row->quantity != DIFF_TIME)
			continue;
		cr_assert_eq(row->listed, !strcmp(name, "tiny")	  ? DIFF_LISTED_SHORT
					  : !strcmp(name, "rare") ? DIFF_LISTED_TIME
								  : DIFF_LISTED_NOT);
		cr_assert_eq(row->verdict == DIFF_LISTED, row->listed != DIFF_LISTED_NOT);
	}
	cr_assert_eq(c.result.by[DIFF_LISTED], 2);
	cr_assert_not(diff_is_undecided(&c.result));
	done(&c);
}

/* The same runs in another order: strict turns and blocks ask for more than ABBA, and in
 * strict turns a region with few visits stays open. */
Test(diff_decide, orders_of_runs)
{
	static const enum diff_order want[] = {DIFF_MIXED, DIFF_TURNS, DIFF_BLOCKS};
	static const double factors[] = {1, 1.25, 1.5};
	double excess = 0;

	for (uint32_t order = 0; order < 3; order++) {
		struct comparison c = {0};
		const struct diff_row *row;
		uint32_t of_side[2] = {0};

		for (uint32_t r = 0; r < 12; r++) {
			uint32_t side = order == 0   ? side_of(r)
					: order == 1 ? r % 2
						     : r >= 6;
			struct made m = make("page-faults", 100, 0);

			/* The same numbers on each side, whatever the order. */
			for (uint32_t v = 0; v < 9; v++)
				builder_visit(m.node, 1000000 * (side + 1) +
							      1000 * of_side[side]);
			of_side[side]++;
			load(&c, side, m);
		}
		judge(&c);
		cr_assert_eq(c.data.order, want[order]);
		row = row_of(&c, "time");
		cr_assert_eq(row->verdict, order == 1 ? DIFF_OPEN : DIFF_MORE);
		cr_assert_eq(row->turns, order == 1);
		if (!order)
			excess = row->columns->excess;
		cr_assert_lt(fabs(row->columns->excess * factors[order] / excess - 1),
			     1e-9);
		cr_assert_eq(noted(&c, "strict turns"), order == 1);
		cr_assert_eq(noted(&c, "came before"), order == 2);
		done(&c);
	}
}

/* The verdict on one run each of EVENT, A and B times in 100 visits. */
static enum diff_verdict single(struct comparison *c, struct made a, struct made b)
{
	const char *name =
		((struct perfmon_profile_plan *)(a.b.base +
						 sizeof(struct perfmon_profile_header)))
			->counter[0]
			.name;
	const struct diff_row *row;
	char event[104];

	strcpy(event, name);
	load(c, 0, a);
	load(c, 1, b);
	judge(c);
	row = row_of(c, event);
	cr_assert_not_null(row, "%s", event);
	return row->verdict;
}

Test(diff_decide, counts_that_repeat)
{
	static const struct {
		const char *event;
		uint64_t a, b;
		enum diff_verdict want;
	} cases[] = {
		{"instructions", 10000000, 10300000, DIFF_MORE},
		{"instructions:u", 10000000, 9700000, DIFF_LESS},
		{"branches", 10000000, 10120000, DIFF_MORE},
		{"instructions", 10000000, 10090000, DIFF_SAME},
		{"instructions", 10000000, 10000000, DIFF_SAME},
		{"instructions:k", 10000000, 20000000, DIFF_OPEN},
		{"cycles", 10000000, 20000000, DIFF_OPEN},
		{"page-faults", 0, 100, DIFF_OPEN},
		{"page-faults", 100, 100, DIFF_SAME},
	};
	struct comparison c = {0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		enum diff_verdict got = single(&c, make(cases[i].event, cases[i].a, 100),
					       make(cases[i].event, cases[i].b, 100));

		cr_assert_eq(got, cases[i].want, "case %zu: %d", i, got);
		cr_assert_eq(noted(&c, "are assumed to repeat"),
			     !strstr(cases[i].event, "page") &&
				     !strstr(cases[i].event, "cycles") &&
				     !strstr(cases[i].event, ":k") &&
				     cases[i].a != cases[i].b);
		done(&c);
	}
}

/* What is marked is not taken at its word. */
Test(diff_decide, counts_that_do_not)
{
	struct comparison c = {0};
	struct made b;

	b = make("instructions", 10300000, 100);
	b.node->count[0].lost_ns = 50000; /* half of the time: estimated */
	cr_assert_eq(single(&c, make("instructions", 10000000, 100), b), DIFF_OPEN);
	done(&c);

	b = make("instructions", 10300000, 100);
	b.node->dropped_counts = 1;
	cr_assert_eq(single(&c, make("instructions", 10000000, 100), b), DIFF_OPEN);
	done(&c);

	/* 30,000 more reads of 10 instructions each may be the 3 %. */
	b = make("instructions", 10300000, 100);
	b.node->retries = 30000;
	cr_assert_eq(single(&c, make("instructions", 10000000, 100), b), DIFF_OPEN);
	done(&c);
	b = make("instructions", 10300000, 100);
	b.node->retries = 1000;
	cr_assert_eq(single(&c, make("instructions", 10000000, 100), b), DIFF_MORE);
	done(&c);

	/* What happens once in a run may be as much as 3 % of a short region; in all runs
	 * of a side, often enough, it does not. */
	cr_assert_eq(single(&c, make("instructions", 100000, 100),
			    make("instructions", 103000, 100)),
		     DIFF_OPEN);
	done(&c);
	for (uint32_t i = 0; i < 10; i++)
		load(&c, i % 2, make("instructions", i % 2 ? 103000 : 100000, 100));
	judge(&c);
	cr_assert_eq(row_of(&c, "instructions")->verdict, DIFF_MORE);
	cr_assert(!row_of(&c, "instructions")->without_p);
	done(&c);

	/* A run of its own each: their spread says that they do not repeat. */
	load(&c, 0, make("instructions", 10000000, 100));
	load(&c, 0, make("instructions", 10200000, 100));
	load(&c, 1, make("instructions", 12000000, 100));
	load(&c, 1, make("instructions", 12200000, 100));
	judge(&c);
	cr_assert_eq(row_of(&c, "instructions")->verdict, DIFF_OPEN);
	cr_assert(row_of(&c, "instructions")->too_few);
	cr_assert(noted(&c, "run the two in turns"));
	done(&c);
}

static const struct pm_machine *the_machine;

const struct pm_machine *cli_machine_of(const struct pm_snapshot *snapshot)
{
	(void)snapshot;
	return the_machine;
}

/* What the CPU is known to count wrong may differ between equal runs. */
Test(diff_decide, counts_with_an_erratum)
{
	static const struct pm_machine skylake = {
		.kinds = {.count = 1, .kind = {{PM_CPU_INTEL, 6, 0x4e}}}};
	struct comparison c = {0};

	for (int known = 0; known < 2; known++) {
		the_machine = known ? &skylake : NULL;
		cr_assert_eq(single(&c, make("branches", 10000000, 100),
				    make("branches", 10300000, 100)),
			     known ? DIFF_OPEN : DIFF_MORE);
		cr_assert_eq(row_of(&c, "branches")->total[0].marks,
			     known ? PM_MARK_ERRATUM : 0);
		done(&c);
	}
}

/* A profile as of make(), of which one visit in ten was measured; in half of these the
 * event came twice as often. */
static struct made make_strided(uint64_t count)
{
	struct made m;
	struct perfmon_profile_plan *plan;
	struct perfmon_profile_stride *stride;

	builder_begin(&m.b, 1 << 16);
	moment += 1000000000u;
	builder_header(&m.b)->begin_realtime_ns = moment;
	builder_header(&m.b)->parent_pid = 0;
	plan = builder_plan(&m.b, 1, 1);
	strcpy(plan->counter[0].name, "instructions");
	builder_region(&m.b, "work");
	m.thread = builder_thread(&m.b, 1, 1, 1);
	m.thread->flags = PERFMON_PROFILE_THREAD_STRIDE;
	m.thread->node_size += sizeof(*stride) + sizeof(double);
	builder_nodes(&m.b, m.thread, 4);
	builder_node(&m.b, m.thread, 0, 0);
	m.node = builder_node(&m.b, m.thread, 1, 1);
	stride = (void *)&m.node->count[1];
	stride->stride = 10;
	for (uint32_t v = 0; v < 10; v++) {
		double part = (double)count * (v % 2 ? 4 : 2) / 300;

		builder_visit(m.node, 1000 + v);
		m.node->entered += 9;
		stride->skipped += 9;
		m.node->count[0].squares += part * part;
		stride->cubes[0] += part * part * part;
	}
	m.node->count[0].sum = count / 10;
	return m;
}

/* What was drawn at random does not repeat, however large the counts. */
Test(diff_decide, visits_at_random)
{
	struct comparison c = {0};
	const struct diff_row *row;

	cr_assert_eq(single(&c, make_strided(100000000), make_strided(120000000)),
		     DIFF_OPEN);
	row = row_of(&c, "instructions");
	cr_assert(row->too_few);
	for (int side = 0; side < 2; side++) {
		cr_assert_eq(row->total[side].marks, PM_MARK_SAMPLED, "%x",
			     row->total[side].marks);
		cr_assert_gt(row->total[side].error, 0.05 * row->total[side].value);
	}
	/* The total of all visits, though a tenth was measured. */
	cr_assert_eq(row->total[0].value, 100000000);
	cr_assert_eq(row_of(&c, "time")->total[0].marks, PM_MARK_SAMPLED);
	cr_assert_eq(row_of(&c, "visits")->total[0].marks, 0);
	done(&c);
	/* The error of runs together is less than the sum of theirs. */
	for (uint32_t i = 0; i < 4; i++)
		load(&c, i % 2, make_strided(100000000));
	judge(&c);
	row = row_of(&c, "instructions");
	cr_assert_eq(row->total[0].value, 200000000);
	cr_assert_lt(row->total[0].error, 0.4 * row->total[0].value);
	done(&c);
}

/* What was counted on one kind of core of two is less than what happened, in every
 * run. */
Test(diff_decide, part_of_the_time)
{
	struct comparison c = {0};
	const struct diff_row *row;

	for (uint32_t i = 0; i < 16; i++) {
		struct perfmon_profile_plan *plan;
		struct made m;

		builder_begin(&m.b, 1 << 16);
		moment += 1000000000u;
		builder_header(&m.b)->begin_realtime_ns = moment;
		builder_header(&m.b)->parent_pid = 0;
		/* A hybrid event's two parts. */
		plan = builder_plan(&m.b, 1, 2);
		for (uint32_t k = 0; k < 2; k++) {
			strcpy(plan->counter[k].name, "page-faults");
			plan->counter[k].logical = 0;
		}
		builder_region(&m.b, "work");
		m.thread = builder_thread(&m.b, 1, 1, 2);
		builder_nodes(&m.b, m.thread, 4);
		builder_node(&m.b, m.thread, 0, 0);
		m.node = builder_node(&m.b, m.thread, 1, 1);
		for (uint32_t v = 0; v < 100; v++)
			builder_visit(m.node, 1000);
		m.node->count[0].sum = i % 2 ? 20000000 : 10000000;
		m.node->count[0].lost_ns = i % 2 ? 50000 : 75000;
		m.node->count[1].lost_ns = 100000;
		load(&c, i % 2, m);
	}
	judge(&c);
	row = row_of(&c, "page-faults");
	cr_assert_eq(row->verdict, DIFF_OPEN);
	cr_assert(row->lacks && !row->tested && !row->too_few);
	cr_assert_eq(row->total[0].marks, PM_MARK_PART);
	cr_assert_eq(row->total[0].coverage, 0.25);
	cr_assert_eq(row->total[1].coverage, 0.5);
	cr_assert_eq(row_of(&c, "time")->verdict, DIFF_SAME);
	done(&c);
}

/* A visit that had not ended is in no value, but what is nested in it is: what is left of
 * its region without it is too little. The nested region itself lacks nothing. */
Test(diff_decide, visits_that_had_not_ended)
{
	struct comparison c = {0};

	for (int inclusive = 0; inclusive < 2; inclusive++) {
		uint32_t lacking = 0, marked = 0;

		for (uint32_t i = 0; i < 16; i++) {
			struct made m = make("instructions", 60000000, 100);
			struct perfmon_profile_node *inner;

			inner = builder_node(&m.b, m.thread, 2,
					     builder_region(&m.b, "inner"));
			for (uint32_t v = 0; v < 90; v++)
				builder_visit(inner, 100);
			inner->count[0].sum = i % 2 ? 40000000 : 30000000;
			m.node->entered++;
			inner->entered++;
			load_as(&c, i % 2, m, inclusive);
		}
		judge(&c);
		for (uint32_t i = 0; i < c.result.row_count; i++) {
			const struct diff_row *row = &c.result.rows[i];
			bool outer = !strcmp(diff_region(&c.data, row->region), "work");

			if (row->quantity == DIFF_VISITS)
				continue;
			/* All regions are without those nested in them. */
			if (row->region == DIFF_TOTAL) {
				cr_assert(row->lacks);
				continue;
			}
			marked += row->total[0].marks == PM_MARK_IN_FLIGHT;
			lacking += row->lacks;
			cr_assert_eq(row->lacks, outer && !inclusive);
			cr_assert(!row->without_p);
			if (row->lacks)
				cr_assert_eq(row->verdict, DIFF_OPEN);
			else if (!outer && row->quantity >= DIFF_EVENT)
				cr_assert_eq(row->verdict, DIFF_MORE);
		}
		cr_assert_eq(marked, 4);
		cr_assert_eq(lacking, inclusive ? 0 : 2);
		done(&c);
	}
	/* Nor is one run with such a visit taken at its word. */
	{
		struct made b = make("instructions", 10300000, 100);

		b.node->entered++;
		cr_assert_eq(single(&c, make("instructions", 10000000, 100), b),
			     DIFF_OPEN);
		done(&c);
	}
}

Test(diff_decide, threads_of_one_run)
{
	struct comparison c = {0};

	for (int runs = 1; runs <= 2; runs++) {
		for (int i = 0; i < 2 * runs; i++) {
			struct made m =
				make("instructions", i % 2 ? 10300000 : 10000000, 100);
			struct perfmon_profile_thread *other =
				builder_thread(&m.b, 2, 1, 1);

			builder_nodes(&m.b, other, 4);
			builder_node(&m.b, other, 0, 0);
			builder_visit(builder_node(&m.b, other, 1, 1), 1000);
			load(&c, (uint32_t)(i % 2), m);
		}
		judge(&c);
		cr_assert_eq(row_of(&c, "instructions")->verdict,
			     runs == 1 ? DIFF_OPEN : DIFF_MORE);
		cr_assert_eq(row_of(&c, "instructions")->threads, runs == 1);
		done(&c);
	}
}

Test(diff_decide, ranks_are_of_one_run)
{
	struct comparison c = {0};

	for (int i = 0; i < 8; i++) {
		struct made m = make("page-faults", 100, 100);

		builder_header(&m.b)->rank = i % 2;
		builder_header(&m.b)->ranks = 2;
		load(&c, i >= 4, m);
	}
	judge(&c);
	cr_assert_eq(c.data.runs[0], 2);
	cr_assert_eq(c.data.runs[1], 2);
	cr_assert_eq(row_of(&c, "visits")->sample[0].mean, 200);
	cr_assert_eq(row_of(&c, "page-faults")->sample[0].mean, 1);
	cr_assert_eq(total_of(&c, "page-faults")->sample[0].mean, 200);
	diff_result_free(&c.result);

	/* One more of rank 0. */
	struct made m = make("page-faults", 100, 100);

	builder_header(&m.b)->rank = 0;
	load(&c, 1, m);
	cr_assert_eq(diff_load_end(&c.data, &c.diag), -EINVAL);
	cr_assert_not_null(strstr(c.diag.text, "rank 1 has 2 profiles"), "%s",
			   c.diag.text);
	/* And one of no rank. */
	load(&c, 1, make("page-faults", 100, 100));
	cr_assert_eq(diff_load_end(&c.data, &c.diag), -EINVAL);
	cr_assert_not_null(strstr(c.diag.text, "some have none"), "%s", c.diag.text);
	done(&c);
}

Test(diff_decide, forked_children_are_of_their_parents_run)
{
	struct comparison c = {0};

	for (uint32_t i = 0; i < 6; i++) {
		struct made m = make("page-faults", 100, 100);

		builder_header(&m.b)->pid = 100 + i;
		builder_header(&m.b)->start_time = 1000 + i;
		if (i == 1 || i == 2) { /* the child of 0, and its child */
			builder_header(&m.b)->parent_pid = 99 + i;
			builder_header(&m.b)->parent_start_time = 999 + i;
		}
		if (i == 5) { /* the number of 4, but of another process */
			builder_header(&m.b)->parent_pid = 104;
			builder_header(&m.b)->parent_start_time = 7;
		}
		load(&c, i > 3, m);
	}
	judge(&c);
	cr_assert_eq(c.data.runs[0], 2);
	cr_assert_eq(c.data.runs[1], 2);
	cr_assert_eq(row_of(&c, "visits")->sample[0].max, 300);
	cr_assert_eq(row_of(&c, "visits")->sample[0].min, 100);
	done(&c);
}

/* Regions, events and clocks that are not on both sides. */
/* Their number is that of a program that forks for each request: what grows as the square
 * of it takes minutes, and as the cube a day. */
Test(diff_decide, many_forked_children, .timeout = 60)
{
	const uint32_t children = 100000;
	struct diff_data data = {.file_count = 2 * (children + 2)};
	struct pm_diag diag = {0};

	data.files = calloc(data.file_count, sizeof(*data.files));
	cr_assert(data.files);
	for (uint32_t i = 0; i < data.file_count; i++) {
		struct diff_file *file = &data.files[i];
		/* Parents stand behind their children. */
		uint32_t place = children + 1 - i / 2;

		file->side = i % 2;
		file->header.rank = -1;
		file->header.pid = place + 1;
		file->header.start_time = 7;
		file->header.begin_realtime_ns = 100 + place;
		/* The first is a run of its own, and the second's are all others. */
		if (place > 1) {
			file->header.parent_pid = place < 4 ? place : 2;
			file->header.parent_start_time = 7;
		}
	}
	cr_assert_eq(diff_load_end(&data, &diag), 0, "%s", diag.text);
	for (uint32_t i = 0; i < data.file_count; i++)
		cr_assert_eq(data.files[i].run, i / 2 <= children, "file %u: run %u", i,
			     data.files[i].run);
	cr_assert_eq(data.runs[0], 2);
	cr_assert_eq(data.runs[1], 2);
	free(data.files);
}

Test(diff_decide, what_cannot_be_compared)
{
	struct comparison c = {0};
	struct made m = make("instructions", 100000, 100);
	struct perfmon_profile_plan *plan =
		(void *)(m.b.base + sizeof(*builder_header(&m.b)));

	/* The same name, another event. */
	plan->counter[0].config[0] = 99;
	builder_visit(builder_node(&m.b, m.thread, 1, builder_region(&m.b, "new")), 5);
	builder_header(&m.b)->clock = PERFMON_PROFILE_CLOCK_TIMESTAMP;
	builder_header(&m.b)->end_ticks = builder_header(&m.b)->begin_ticks;
	strcpy(builder_header(&m.b)->host, "elsewhere");
	builder_header(&m.b)->state = PERFMON_PROFILE_STATE_RUNNING;
	load(&c, 0, make("instructions", 100000, 100));
	load(&c, 1, m);
	judge(&c);
	cr_assert_null(row_of(&c, "instructions"));
	cr_assert_null(row_of(&c, "time"));
	cr_assert_eq(c.result.by[DIFF_ONE_SIDE], 1);
	cr_assert_eq(c.result.row_count, 2);
	cr_assert(noted(&c, "only A counted instructions"));
	cr_assert(noted(&c, "only B counted instructions"));
	cr_assert(noted(&c, "of unknown rate"));
	cr_assert(noted(&c, "A ran on node7 and B on elsewhere"));
	cr_assert(noted(&c, "programs without a normal end: 1;"));
	done(&c);
}

/* As make(), counted exactly by translation. */
static struct made make_exact_of(const char *region, uint64_t count, uint32_t visits)
{
	struct made m = make_of(region, "exact::instructions", count, visits);
	struct perfmon_profile_plan *plan =
		(void *)(m.b.base + sizeof(*builder_header(&m.b)));

	plan->counter[0].flags = PERFMON_PROFILE_COUNTER_EXACT;
	return m;
}

static struct made make_exact(uint64_t count, uint32_t visits)
{
	return make_exact_of("work", count, visits);
}

static void judge_with(struct comparison *c, double effect)
{
	c->options = (struct diff_options){.alpha = 0.01, .min_effect = effect};
	cr_assert_eq(diff_load_end(&c->data, &c->diag), 0, "%s", c->diag.text);
	cr_assert_eq(diff_decide(&c->result, &c->data, &c->options), 0);
}

/* A thread more in M, in which "work" has COUNT instructions in no visit. */
static void again(struct made *m, uint64_t count)
{
	struct perfmon_profile_thread *thread = builder_thread(&m->b, 2, 1, 1);

	builder_nodes(&m->b, thread, 4);
	builder_node(&m->b, thread, 0, 0);
	builder_node(&m->b, thread, 1, 1)->count[0].sum = count;
}

/* One run on each side decides, however little was counted and however small the change;
 * times are not compared. */
Test(diff_decide, exact_counts)
{
	static const struct {
		uint64_t a, b;
		double effect;
		enum diff_verdict want;
	} cases[] = {
		{1000000, 1001000, 0.0005, DIFF_MORE},
		{1001000, 1000000, 0.0005, DIFF_LESS},
		{1000000, 1000400, 0.0005, DIFF_SAME},
		{1000000, 1000001, 0, DIFF_MORE},
		{1000000, 1000000, 0, DIFF_SAME},
		{1000, 1002, 0.001, DIFF_MORE},
	};
	struct comparison c = {0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (uint32_t threads = 1; threads <= 2; threads++) {
			struct made a = make_exact(cases[i].a, 10);
			const struct diff_row *row;

			/* The time is another, and tells nothing. */
			a.node->time_ticks *= 3;
			if (threads == 2)
				again(&a, 0);
			load(&c, 0, a);
			load(&c, 1, make_exact(cases[i].b, 10));
			judge_with(&c, cases[i].effect);
			row = row_of(&c, "exact::instructions");
			cr_assert_eq(row->verdict, cases[i].want, "case %zu: %d", i,
				     row->verdict);
			cr_assert_eq(total_of(&c, "exact::instructions")->verdict,
				     cases[i].want);
			cr_assert_eq(row_of(&c, "visits")->verdict, DIFF_SAME);
			cr_assert_null(row_of(&c, "time"));
			cr_assert_null(total_of(&c, "time"));
			cr_assert(noted(&c, "times are not those of the machine"));
			done(&c);
		}
	}
	/* Visits are counts, too. */
	load(&c, 0, make_exact(1000, 10));
	load(&c, 1, make_exact(1100, 11));
	judge_with(&c, 0.001);
	cr_assert_eq(row_of(&c, "exact::instructions")->verdict, DIFF_SAME);
	cr_assert_eq(row_of(&c, "visits")->verdict, DIFF_MORE);
	done(&c);
}

/* What is marked is no exact count: a visit that had not ended. */
Test(diff_decide, exact_counts_that_are_not_whole)
{
	struct comparison c = {0};
	struct made b = make_exact(2000, 10);

	b.node->entered++;
	load(&c, 0, make_exact(1000, 10));
	load(&c, 1, b);
	judge_with(&c, 0.001);
	cr_assert_eq(row_of(&c, "exact::instructions")->verdict, DIFF_OPEN);
	done(&c);
}

Test(diff_decide, exact_runs_that_do_not_agree)
{
	struct comparison c = {0};

	load(&c, 0, make_exact(10000000, 10));
	load(&c, 0, make_exact(10000020, 10));
	load(&c, 1, make_exact(10000000, 10));
	load(&c, 1, make_exact(10000000, 10));
	judge_with(&c, 0.001);
	cr_assert_eq(row_of(&c, "exact::instructions")->verdict, DIFF_SAME);
	cr_assert(noted(&c, "runs of A do not agree: work, exact::instructions a visit: "
			    "1000000 in run 1, 1000002 in run 2"));
	cr_assert(noted(&c, "the 2 runs of B agree to the last count"));
	cr_assert_not(noted(&c, "runs of B do not"));
	cr_assert_not(noted(&c, "runs of A agree"));
	done(&c);
	/* Runs that differ by more than what is looked for are not taken at their word. */
	load(&c, 0, make_exact(10000, 10));
	load(&c, 0, make_exact(20000, 10));
	load(&c, 1, make_exact(40000, 10));
	load(&c, 1, make_exact(50000, 10));
	judge_with(&c, 0.001);
	cr_assert_eq(row_of(&c, "exact::instructions")->verdict, DIFF_OPEN);
	cr_assert(row_of(&c, "exact::instructions")->too_few);
	cr_assert(noted(&c, "runs of B do not agree"));
	done(&c);
}

/* A name is cut between two characters: each of these has three bytes, of 100 that are shown. */
Test(diff_decide, a_long_name_is_cut_between_characters)
{
	struct comparison c = {0};
	char name[301] = "", shown[200];

	for (int i = 0; i < 100; i++)
		strcat(name, "\u6d4b");
	snprintf(shown, sizeof(shown), "runs of A do not agree: %.99s, exact", name);
	for (int i = 0; i < 4; i++)
		load(&c, i / 2, make_exact_of(name, i == 1 ? 10000020 : 10000000, 10));
	judge_with(&c, 0.001);
	cr_assert(noted(&c, shown));
	done(&c);
}

static int keep_text(void *argument, const char *text, size_t size)
{
	strncat(argument, text, size);
	return 0;
}

/* And that of an event in the table, in its middle: each takes two of 60 columns. */
Test(diff_decide, a_long_event_is_cut_between_characters)
{
	static char text[65536];
	struct pm_out out = {.sink = keep_text, .argument = text};
	struct comparison c = {0};
	char name[100] = "";

	for (int i = 0; i < 32; i++)
		strcat(name, "\u6d4b");
	load(&c, 0, make_of("work", name, 1000, 10));
	load(&c, 1, make_of("work", name, 1000, 10));
	judge_with(&c, 0.001);
	c.options.all = true;
	cr_assert_eq(diff_text(&out, &c.result), 0);
	cr_assert_eq(pm_out_end(&out), 0);
	cr_assert(strstr(text, "\u6d4b...\u6d4b"), "%s", text);
	cr_assert_not(strstr(text, "\\x"), "%s", text);
	done(&c);
}

Test(diff_decide, exact_counts_and_those_of_a_machine)
{
	static const char of_both[] = "A was counted exactly by translation, B by the "
				      "machine's counters: their counts are not compared";
	struct comparison c = {0};

	load(&c, 0, make_exact(1000, 10));
	load(&c, 1, make("instructions:u", 1000, 10));
	cr_assert_eq(diff_load_end(&c.data, &c.diag), -EINVAL);
	cr_assert_str_eq(c.diag.text, of_both);
	done(&c);
	load(&c, 0, make("instructions:u", 1000, 10));
	load(&c, 1, make_exact(1000, 10));
	cr_assert_eq(diff_load_end(&c.data, &c.diag), -EINVAL);
	cr_assert(strstr(c.diag.text, "B was counted exactly"), "%s", c.diag.text);
	done(&c);
	load(&c, 0, make_exact(1000, 10));
	load(&c, 0, make("instructions:u", 1000, 10));
	load(&c, 1, make_exact(1000, 10));
	cr_assert_eq(diff_load_end(&c.data, &c.diag), -EINVAL);
	cr_assert(strstr(c.diag.text, "these are not repeated runs"), "%s", c.diag.text);
	done(&c);
}

/* An event that came once in half of the runs may have come in all of one side by any
 * split of them. Such a row for each region must not hide that all regions are faster. */
Test(diff_decide, rare_events_come_at_random)
{
	struct comparison c = {0};
	uint64_t state = 20260107;

	for (uint32_t r = 0; r < 12; r++) {
		struct made m = make_regions(NORMAL, side_of(r) ? 0.5 : 1, &state);

		for (uint32_t i = 1; i <= REGIONS; i++)
			region_node(&m, i)->count[0].sum = uniform(&state) < 0.5;
		load(&c, side_of(r), m);
	}
	judge(&c);
	cr_assert_eq(times_found(&c, DIFF_LESS), REGIONS, "%u",
		     times_found(&c, DIFF_LESS));
	done(&c);
}

/* A metric of a run is of the sums of its files, and that of a side the mean of its runs. It
 * is shown and not tested. */
Test(diff_decide, metrics)
{
	struct comparison c = {0};
	struct pm_metrics *metrics;
	const struct diff_metric_row *row;
	uint32_t count;

	cr_assert_eq(pm_metrics_parse("none; per_visit = page-faults / visits;"
				      "inverse = 1 / page-faults; mpki = LLC-load-misses",
				      &metrics, NULL),
		     0);
	c.data.metrics = metrics;
	/* Of B's second run one rank counts nothing. */
	for (int i = 0; i < 8; i++) {
		static const uint64_t faults[] = {100, 300, 400, 800, 200, 600, 0, 0};
		struct made m = make("page-faults", faults[i], i % 2 ? 300 : 100);

		builder_header(&m.b)->rank = i % 2;
		builder_header(&m.b)->ranks = 2;
		if (i == 5)
			m.node->retries = 1;
		load(&c, i >= 4, m);
	}
	judge(&c);
	cr_assert_eq(c.result.metric_count, 4);
	for (int total = 0; total < 2; total++) {
		row = diff_metrics_of(&c.result, total ? DIFF_TOTAL : 0, &count);
		cr_assert_eq(count, 2);
		cr_assert_str_eq(metrics->metrics[row[0].metric].name, "per_visit");
		cr_assert_eq(row[0].sample[0].runs, 2);
		cr_assert_lt(fabs(row[0].sample[0].mean - 2), 1e-12); /* 1 and 3 */
		cr_assert_eq(row[0].sample[0].max, 3);
		cr_assert_lt(fabs(row[0].sample[1].mean - 1), 1e-12); /* 2 and 0 */
		cr_assert(!(row[0].total[0].marks & PM_MARK_RETRIED));
		cr_assert(row[0].total[1].marks & PM_MARK_RETRIED);
		/* 1 / 0 is no value, and the other run has one. */
		cr_assert_eq(row[1].sample[0].runs, 2);
		cr_assert_eq(row[1].sample[1].runs, 1);
		cr_assert_lt(fabs(row[1].sample[1].mean - 1. / 800), 1e-12);
	}
	diff_metrics_of(&c.result, 7, &count);
	cr_assert_eq(count, 0);
	cr_assert(noted(&c, "no metric mpki"));
	/* Time, visits and the event, and the totals of two. */
	cr_assert_eq(c.result.row_count, 5);
	done(&c);
	pm_metrics_free(metrics);
}

Test(diff_decide, only)
{
	struct comparison c = {0};

	load(&c, 0, make("cpu/event=1,umask=2/", 1, 1));
	load(&c, 1, make("cpu/event=1,umask=2/", 1, 1));
	cr_assert_null(diff_only_check(&c.data, NULL));
	cr_assert_null(diff_only_check(&c.data, "time"));
	cr_assert_null(diff_only_check(&c.data, "visits,cpu/event=1,umask=2/,time"));
	cr_assert_str_eq(diff_only_check(&c.data, "time,umask=2/"), "umask=2/");
	cr_assert_str_eq(diff_only_check(&c.data, "times"), "times");
	cr_assert_str_eq(diff_only_check(&c.data, ""), "");
	done(&c);
}
