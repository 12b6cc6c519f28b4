/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/diff/math.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

void diff_sample_make(struct diff_sample *sample, const double *values, uint32_t count)
{
	struct pm_sum plain = {0}, damped = {0};

	for (uint32_t i = 0; i < count; i++)
		pm_sum_add(&plain, values[i]);
	for (uint32_t i = 0; plain.min > 0 && i < count; i++)
		pm_sum_add(&damped, diff_damped(values[i]));
	*sample = (struct diff_sample){
		.runs = count,
		.mean = plain.mean,
		.variance = pm_sum_variance(&plain),
		.min = plain.min,
		.max = plain.max,
		.damped_mean = damped.mean,
		.damped_variance = pm_sum_variance(&damped),
	};
}

double diff_damped(double value)
{
	return 1 / sqrt(value);
}

void diff_samples_damp(struct diff_sample *a, struct diff_sample *b)
{
	if (!(a->min > 0) || !(b->min > 0))
		return;
	a->damped = b->damped = true;
	/* Equal numbers keep their last digit. */
	if (a->min < a->max)
		a->mean = 1 / (a->damped_mean * a->damped_mean);
	if (b->min < b->max)
		b->mean = 1 / (b->damped_mean * b->damped_mean);
}

double diff_variance_least(double sum, double visits, double runs)
{
	/* The variance of a run's sum is the sum; that of the mean over its visits, the
	 * mean divided by them. */
	return visits > 0 ? fmax(sum, 1) / visits / (visits / runs) : 0;
}

double diff_distance(const struct diff_sample *a, const struct diff_sample *b,
		     double ratio)
{
	double difference, variance;

	if (a->damped) {
		/* If B takes RATIO times as long, A's number is sqrt(RATIO) times B's. */
		difference = a->damped_mean - sqrt(ratio) * b->damped_mean;
		variance = a->damped_variance / a->runs +
			   ratio * b->damped_variance / b->runs;
	} else {
		difference = b->mean - ratio * a->mean;
		variance = b->variance / b->runs + ratio * ratio * a->variance / a->runs;
	}
	if (variance > 0)
		return difference / sqrt(variance);
	return difference > 0 ? INFINITY : difference < 0 ? -INFINITY : 0;
}

double diff_excess(const struct diff_sample *a, const struct diff_sample *b,
		   double effect)
{
	double more = diff_distance(a, b, 1 + effect),
	       less = -diff_distance(a, b, fmax(0, 1 - effect));

	return fmax(0, fmax(more, less));
}

/* A larger ratio only says that A is close to zero. */
#define RATIO_MOST 1e12

/* Returns whether B is more than CRITICAL above RATIO times A (SIGN 1), or below (-1). */
static bool is_beyond(const struct diff_sample *a, const struct diff_sample *b,
		      double ratio, double sign, double critical)
{
	return sign * diff_distance(a, b, ratio) > critical;
}

/* Returns the ratio between INSIDE and OUTSIDE at which is_beyond() becomes true, on the
 * side of OUTSIDE. */
static double bound(const struct diff_sample *a, const struct diff_sample *b, double sign,
		    double critical, double inside, double outside)
{
	for (int i = 0; i < 100; i++) {
		double middle = (inside + outside) / 2;

		if (is_beyond(a, b, middle, sign, critical))
			outside = middle;
		else
			inside = middle;
	}
	return outside;
}

bool diff_interval(const struct diff_sample *a, const struct diff_sample *b,
		   double effect, double critical, double *low, double *high)
{
	double ratio = a->mean > 0 ? b->mean / a->mean : INFINITY, more = 1 + effect,
	       less = fmax(0, 1 - effect), at;

	/* The bound comes from the tested hypothesis, so that both agree. */
	*low = 0;
	if (is_beyond(a, b, more, 1, critical)) {
		for (at = more; at < fmin(ratio, RATIO_MOST); at *= 2)
			if (!is_beyond(a, b, at, 1, critical))
				break;
		at = fmin(at, ratio);
		if (at < RATIO_MOST)
			*low = bound(a, b, 1, critical, at, more);
	} else if (is_beyond(a, b, 0, 1, critical)) {
		*low = bound(a, b, 1, critical, fmin(more, ratio), 0);
	}
	*high = INFINITY;
	if (is_beyond(a, b, less, -1, critical)) {
		*high = bound(a, b, -1, critical, ratio, less);
	} else if (ratio < RATIO_MOST) {
		double inside = fmax(less, ratio);

		for (at = inside; at < RATIO_MOST; at *= 2)
			if (is_beyond(a, b, at, -1, critical))
				break;
		if (at < RATIO_MOST)
			*high = bound(a, b, -1, critical, inside, at);
	}
	return *low > 0 || isfinite(*high);
}

double diff_ways(uint32_t n, uint32_t m)
{
	double ways = 1;

	if (!n || !m)
		return 1;
	for (uint32_t i = 1; i <= n; i++)
		ways = ways * ((double)m + i) / i;
	return round(n == m ? ways / 2 : ways);
}

uint32_t diff_runs_needed(double alpha)
{
	uint32_t runs = DIFF_RUNS;

	while (diff_ways(runs, runs) * alpha <= 1 && runs < 1000)
		runs++;
	return runs;
}

/* --- ranks -------------------------------------------------------------------------- */

/* The chance that the truth is beyond a bound. */
#define BEYOND 0.05
/* The quantile of the normal distribution for it. */
#define NORMAL_BEYOND 1.6448536269514722
/* The exact distribution is made for so many differences, and approximated for more. */
#define EXACT_MOST 2500

static int ascending(const void *a, const void *b)
{
	return DIFF_ORDER(*(const double *)a, *(const double *)b);
}

double diff_median(double *values, uint32_t count)
{
	if (!count)
		return 0;
	qsort(values, count, sizeof(*values), ascending);
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static int by_value(const void *a, const void *b)
{
	const struct diff_weighted *x = a, *y = b;

	return DIFF_ORDER(x->value, y->value);
}

double diff_weighted_median(struct diff_weighted *values, uint32_t count)
{
	double all = 0, below = 0;
	uint32_t i;

	qsort(values, count, sizeof(*values), by_value);
	for (i = 0; i < count; i++)
		all += values[i].weight;
	for (i = 0; i + 1 < count && below + values[i].weight < all / 2; i++)
		below += values[i].weight;
	return count ? values[i].value : 0;
}

/*
 * Makes AT the chances of each number of pairs in which B is below A, with N values of A
 * and M of B. The largest of all values is A's, which is above all of B, or B's. AT has
 * the chances with one value of A less, and LAST those with one value of B less.
 */
static void step(double *at, const double *last, uint32_t n, uint32_t m, uint32_t most)
{
	double of_a = (double)n / (n + m);

	for (uint32_t u = most; u-- > 0;)
		at[u] = (u >= m ? of_a * at[u - m] : 0) + (1 - of_a) * last[u];
}

/* Returns how many of the least numbers of pairs together have the chance BEYOND. */
static uint32_t count_beyond(const double *chance, uint32_t most)
{
	double sum = 0;
	uint32_t u = 0;

	while (u < most && sum + chance[u] <= BEYOND * (1 + 1e-12))
		sum += chance[u++];
	return u;
}

static uint32_t rank_exact(uint32_t n, uint32_t m)
{
	uint32_t most = n * m + 1;
	/* The chances for each number of values of B. */
	double *table = calloc((size_t)(m + 1) * most, sizeof(*table));
	uint32_t rank;

	if (!table)
		return 0;
	for (uint32_t j = 0; j <= m; j++)
		table[(size_t)j * most] = 1;
	for (uint32_t i = 1; i <= n; i++)
		for (uint32_t j = 1; j <= m; j++)
			step(&table[(size_t)j * most], &table[(size_t)(j - 1) * most], i,
			     j, most);
	rank = count_beyond(&table[(size_t)m * most], most);
	free(table);
	return rank;
}

uint32_t diff_bound_rank(uint32_t n, uint32_t m)
{
	double pairs = (double)n * m, rank;

	if (pairs <= EXACT_MOST)
		return rank_exact(n, m);
	rank = pairs / 2 - NORMAL_BEYOND * sqrt(pairs * ((double)n + m + 1) / 12);
	return rank > 1 ? (uint32_t)rank : 0;
}

int diff_bounds_make(struct diff_bounds *bounds, const double *a, uint32_t n,
		     const double *b, uint32_t m)
{
	uint32_t rank = diff_bound_rank(n, m);
	size_t count = 0;
	double *apart;

	*bounds = (struct diff_bounds){0};
	if (!rank)
		return 0;
	apart = calloc((size_t)n * m, sizeof(*apart));
	if (!apart)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < m; j++)
			apart[count++] = b[j] - a[i];
	qsort(apart, count, sizeof(*apart), ascending);
	*bounds = (struct diff_bounds){true, apart[rank - 1], apart[count - rank]};
	free(apart);
	return 0;
}

/* Usual limits of programs with 11 and 35 regions. Those for 5 and 40 runs are extrapolated. They
 * only scale the number of runs that a note recommends. */
static const struct {
	double runs, critical;
} usual[] = {{5, 7.5}, {6, 5.65}, {8, 4.8}, {12, 4.25}, {20, 3.9}, {40, 3.7}};

double diff_critical_usual(double runs)
{
	size_t i = 1, last = sizeof(usual) / sizeof(usual[0]) - 1;
	double part;

	while (i < last && usual[i].runs < runs)
		i++;
	part = (runs - usual[i - 1].runs) / (usual[i].runs - usual[i - 1].runs);
	part = fmax(0, fmin(1, part));
	return usual[i - 1].critical + part * (usual[i].critical - usual[i - 1].critical);
}

uint32_t diff_runs_wanted(double error, double critical, double runs, double effect,
			  double wanted)
{
	double ratio = critical / diff_critical_usual(runs);

	for (uint32_t n = 5; n <= DIFF_RUNS_MOST; n++) {
		double limit = ratio * diff_critical_usual(n);

		if (effect + 1.5 * (limit + 1) * error * sqrt(runs / n) <= wanted)
			return n;
	}
	return 0;
}

double diff_seen(double error, double critical, double effect)
{
	return effect + 1.2 * (critical + 1) * error;
}

/* --- visits ------------------------------------------------------------------------- */

void diff_visits_add(struct diff_visits *to, const struct diff_visits *from)
{
	double ratio;
	int shift;

	if (!(from->tick_ns > 0))
		return;
	if (!(to->tick_ns > 0)) {
		*to = *from;
		return;
	}
	ratio = from->tick_ns / to->tick_ns;
	shift = (int)lround(log2(ratio));
	to->fastest = fmin(to->fastest, from->fastest * ratio);
	to->slowest = fmax(to->slowest, from->slowest * ratio);
	for (int i = 0; i < PERFMON_PROFILE_BINS; i++) {
		int bin = i + shift;

		bin = bin < 0 ? 0 : bin;
		bin = bin < PERFMON_PROFILE_BINS ? bin : PERFMON_PROFILE_BINS - 1;
		to->bins[bin] += from->bins[i];
	}
}

double diff_visits_count(const struct diff_visits *visits)
{
	double count = 0;

	for (int i = 0; i < PERFMON_PROFILE_BINS; i++)
		count += visits->bins[i];
	return count;
}

double diff_visits_fastest(const struct diff_visits *visits)
{
	return visits->fastest * visits->tick_ns;
}

double diff_visits_median(const struct diff_visits *visits)
{
	double half = diff_visits_count(visits) / 2, before = 0, low, high;
	int i = 0;

	while (i + 1 < PERFMON_PROFILE_BINS && before + visits->bins[i] < half)
		before += visits->bins[i++];
	/* Nothing in the bin is faster than the fastest visit, or slower than the slowest. */
	low = fmax(fmax(visits->fastest, 1), ldexp(1, i));
	high = fmax(low, fmin(visits->slowest + 1, ldexp(1, i + 1)));
	if (!(visits->bins[i] > 0))
		return low * visits->tick_ns;
	return low * pow(high / low, (half - before) / visits->bins[i]) * visits->tick_ns;
}
