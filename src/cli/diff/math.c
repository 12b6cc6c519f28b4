/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/diff/math.h"

#include <math.h>

/* Mean and variance, one value at a time (Welford). Counts of 10^12 may differ only in
 * their last digits. */
struct moments {
	uint32_t count;
	double mean, squares;
};

static void moments_add(struct moments *m, double value)
{
	double d = value - m->mean;

	m->mean += d / ++m->count;
	m->squares += d * (value - m->mean);
}

static double moments_variance(const struct moments *m)
{
	return m->count > 1 ? m->squares / (m->count - 1) : 0;
}

void diff_sample_make(struct diff_sample *sample, const double *values, uint32_t count)
{
	struct moments plain = {0}, damped = {0};

	*sample = (struct diff_sample){.runs = count};
	sample->min = sample->max = count ? values[0] : 0;
	for (uint32_t i = 0; i < count; i++) {
		moments_add(&plain, values[i]);
		sample->min = fmin(sample->min, values[i]);
		sample->max = fmax(sample->max, values[i]);
	}
	sample->mean = plain.mean;
	sample->variance = moments_variance(&plain);
	for (uint32_t i = 0; sample->min > 0 && i < count; i++)
		moments_add(&damped, diff_damped(values[i]));
	sample->damped_mean = damped.mean;
	sample->damped_variance = moments_variance(&damped);
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
