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

#include "cli/diff/diff.h"
#include "cli/common/common.h"
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

Test(diff_math, tail_is_that_of_student)
{
	static const double dfs[] = {1, 1.5, 2, 3.7, 4, 10, 100, 5000};

	for (size_t i = 0; i < sizeof(dfs) / sizeof(dfs[0]); i++) {
		for (double t = 0.1; t < 8; t += 0.3) {
			double want = tail_by_sum(t, dfs[i]),
			       got = diff_t_tail(t, dfs[i]);

			cr_assert_lt(fabs(got - want), 1e-9, "t %g df %g: %g, not %g", t,
				     dfs[i], got, want);
			cr_assert_lt(fabs(diff_t_tail(-t, dfs[i]) - (1 - want)), 1e-9);
		}
	}
	/* Of tables. */
	cr_assert_lt(fabs(diff_t_tail(2.776445, 4) - 0.025), 1e-7);
	cr_assert_lt(fabs(diff_t_tail(63.656741, 1) - 0.005), 1e-7);
	cr_assert_eq(diff_t_tail(INFINITY, 3), 0);
	cr_assert_eq(diff_t_tail(-INFINITY, 3), 1);
}

Test(diff_math, quantile_undoes_the_tail)
{
	for (double tail = 0.4; tail > 1e-12; tail /= 3)
		for (double df = 1.3; df < 1000; df *= 2) {
			double t = diff_t_quantile(tail, df);

			cr_assert_lt(fabs(diff_t_tail(t, df) / tail - 1), 1e-6,
				     "tail %g df %g", tail, df);
		}
}

/* What reports and estimates use is near enough to the exact one. */
Test(diff_math, quantile_of_reports_is_that_of_student)
{
	for (int df = 1; df < 2000; df++) {
		double want = diff_t_quantile(0.005, df), got = pm_student_99(df);

		cr_assert_lt(fabs(got / want - 1), 0.001, "df %d: %g, not %g", df, got,
			     want);
	}
	cr_assert(isinf(pm_student_99(0)));
	cr_assert_lt(fabs(pm_student_99(1e9) - PM_NORMAL_99), 1e-6);
}

Test(diff_math, holm)
{
	double p[] = {0.01, 0.04, 0.03, 0.005}, one[] = {0.7}, big[] = {0.6, 0.9};
	static const double want[] = {0.03, 0.06, 0.06, 0.02};

	cr_assert_eq(diff_holm(p, 4), 0);
	for (int i = 0; i < 4; i++)
		cr_assert_lt(fabs(p[i] - want[i]), 1e-12, "%d: %g", i, p[i]);
	cr_assert_eq(diff_holm(one, 1), 0);
	cr_assert_eq(one[0], 0.7);
	cr_assert_eq(diff_holm(big, 2), 0);
	cr_assert_eq(big[0], 1);
	cr_assert_eq(big[1], 1);
	cr_assert_eq(diff_holm(NULL, 0), 0);
}

Test(diff_math, least_p)
{
	cr_assert_lt(fabs(diff_p_least(3, 3) - 2. / 64), 1e-12);
	cr_assert_lt(fabs(diff_p_least(5, 5) - 2. / 1024), 1e-12);
	cr_assert_lt(diff_p_least(1, 1), 0.5 + 1e-12);
	/* Never less than the chance at any other share. */
	for (double q = 0.05; q < 1; q += 0.05)
		cr_assert_geq(diff_p_least(4, 7), 2 * pow(q, 4) * pow(1 - q, 7));
	cr_assert_eq(diff_runs_needed(0.01), 4);
	cr_assert_eq(diff_runs_needed(0.01 / 12), 6);
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

/* How many of COMPARISONS find a change in any of 12 quantities, in RUNS runs a side, of
 * which B's are CHANGE times the drawn ones. */
static uint32_t found(enum shape shape, uint32_t runs, double change, double effect,
		      uint32_t comparisons)
{
	uint64_t state = 88172645463325252u + runs;
	uint32_t count = 0;

	for (uint32_t c = 0; c < comparisons; c++) {
		double p[12], values[2][16];
		bool any = false;

		for (int q = 0; q < 12; q++) {
			struct diff_sample a, b;

			for (uint32_t r = 0; r < runs; r++) {
				values[0][r] = draw(shape, &state);
				values[1][r] = change * draw(shape, &state);
			}
			diff_sample_make(&a, values[0], runs);
			diff_sample_make(&b, values[1], runs);
			p[q] = diff_p(&a, &b, effect);
		}
		cr_assert_eq(diff_holm(p, 12), 0);
		for (int q = 0; q < 12; q++)
			any |= p[q] < 0.01;
		count += any;
	}
	return count;
}

/* In a thousand comparisons of equals at 1 % there are ten false alarms on average, and
 * more than 23 with a chance of 0.0001. Without a minimum effect, to try the test itself;
 * the worst that distributions far from normal do must stay below 5 in 100. */
Test(diff_statistics, false_alarms)
{
	static const uint32_t runs[] = {2, 3, 5, 6, 10};

	for (int shape = 0; shape < SHAPES; shape++)
		for (size_t i = 0; i < 5; i++) {
			uint32_t alarms = found((enum shape)shape, runs[i], 1, 0, 1000);

			printf("%s, %u runs: %u false alarms of 1000\n",
			       shape_names[shape], runs[i], alarms);
			cr_assert_leq(alarms, shape == NORMAL ? 23 : 50,
				      "%s, %u runs: %u", shape_names[shape], runs[i],
				      alarms);
			cr_assert_leq(found((enum shape)shape, runs[i], 1, 0.01, 1000),
				      alarms);
		}
}

/* Differences of the minimum effect and less are no changes, however exact. */
Test(diff_statistics, minimum_effect)
{
	cr_assert_leq(found(NORMAL, 10, 1.01, 0.01, 1000), 23);
	cr_assert_leq(found(NORMAL, 10, 0.99, 0.01, 1000), 23);
}

Test(diff_statistics, changes_are_found)
{
	uint32_t six = found(NORMAL, 6, 1.2, 0.01, 200),
		 ten = found(NORMAL, 10, 1.1, 0.01, 200);

	cr_assert_geq(six, 198, "of 20 %%: %u", six);
	cr_assert_geq(ten, 198, "of 10 %%: %u", ten);
}

/* The interval misses the true ratio as often as it says. */
Test(diff_statistics, interval)
{
	uint64_t state = 4711;
	uint32_t misses = 0, rounds = 4000;

	for (uint32_t i = 0; i < rounds; i++) {
		double values[2][5], low, high;
		struct diff_sample a, b;

		for (int r = 0; r < 5; r++) {
			values[0][r] = 100 + 5 * normal(&state);
			values[1][r] = 120 + 5 * normal(&state);
		}
		diff_sample_make(&a, values[0], 5);
		diff_sample_make(&b, values[1], 5);
		cr_assert(diff_interval(&a, &b, 0.025, &low, &high));
		misses += 1.2 < low || 1.2 > high;
	}
	/* 200 on average; 4 standard deviations. */
	cr_assert(misses > 145 && misses < 255, "%u", misses);
}

Test(diff_statistics, interval_without_bounds)
{
	struct diff_sample a = {3, 1, 100, 0, 2}, b = {3, 1, 1, 0, 2},
			   zero = {3, 0, 0, 0, 0};
	double low, high;

	cr_assert(!diff_interval(&a, &b, 0.005, &low, &high));
	cr_assert(!diff_interval(&zero, &b, 0.005, &low, &high));
}

/* --- judgement ---------------------------------------------------------------------- */

/* A profile with one region, "work". */
struct made {
	struct profile_builder b;
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_node *node;
};

/* Each began a second after the one before. */
static uint64_t moment = UINT64_C(1700000000) * 1000000000u;

static struct made make(const char *event, uint64_t count, uint32_t visits)
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
	builder_region(&m.b, "work");
	m.thread = builder_thread(&m.b, 1, 1, 1);
	builder_nodes(&m.b, m.thread, 4);
	builder_node(&m.b, m.thread, 0, 0);
	m.node = builder_node(&m.b, m.thread, 1, 1);
	for (uint32_t i = 0; i < visits; i++)
		builder_visit(m.node, 1000);
	m.node->count[0].sum = count;
	return m;
}

struct comparison {
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

static const struct diff_row *row_of(const struct comparison *c, const char *what)
{
	for (uint32_t i = 0; i < c->result.row_count; i++)
		if (!strcmp(diff_quantity(&c->data, c->result.rows[i].quantity), what))
			return &c->result.rows[i];
	return NULL;
}

static bool noted(const struct comparison *c, const char *text)
{
	char note[DIFF_NOTE];

	for (uint32_t i = 0; diff_note(&c->data, &c->result, &by_default, i, note); i++)
		if (strstr(note, text))
			return true;
	return false;
}

static void done(struct comparison *c)
{
	diff_result_free(&c->result);
	diff_data_free(&c->data);
	memset(c, 0, sizeof(*c));
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
	for (uint32_t i = 0; i < 8; i++)
		load(&c, i % 2, make("instructions", i % 2 ? 103000 : 100000, 100));
	judge(&c);
	cr_assert_eq(row_of(&c, "instructions")->verdict, DIFF_MORE);
	cr_assert(!row_of(&c, "instructions")->exact);
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
			bool outer = !strcmp(c.data.regions[row->region], "work");

			if (row->quantity == DIFF_VISITS)
				continue;
			marked += row->total[0].marks == PM_MARK_IN_FLIGHT;
			lacking += row->lacks;
			cr_assert_eq(row->lacks, outer && !inclusive);
			cr_assert(!row->exact);
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

Test(diff_decide, rare_events_come_at_random)
{
	/* All runs of A saw 4, all of B saw 5: no difference for what is rare,
	 * a large one for what is frequent. */
	for (uint64_t scale = 1; scale <= 1000; scale *= 1000) {
		struct comparison c = {0};

		for (uint32_t i = 0; i < 16; i++)
			load(&c, i % 2,
			     make("context-switches", scale * (i % 2 ? 5 : 4), 100));
		judge(&c);
		cr_assert_eq(row_of(&c, "context-switches")->verdict,
			     scale == 1 ? DIFF_OPEN : DIFF_MORE);
		cr_assert(!noted(&c, "in turns"));
		done(&c);
	}
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
	done(&c);
}
