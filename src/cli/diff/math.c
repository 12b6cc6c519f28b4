/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/diff/math.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

void diff_sample_make(struct diff_sample *sample, const double *values, uint32_t count)
{
	double mean = 0, squares = 0;

	sample->runs = count;
	sample->min = sample->max = count ? values[0] : 0;
	/* One by one (Welford): counts of 10^12 that differ in their last digits. */
	for (uint32_t i = 0; i < count; i++) {
		double d = values[i] - mean;

		mean += d / (i + 1);
		squares += d * (values[i] - mean);
		sample->min = fmin(sample->min, values[i]);
		sample->max = fmax(sample->max, values[i]);
	}
	sample->mean = mean;
	sample->variance = count > 1 ? squares / (count - 1) : 0;
}

/* The continued fraction of the incomplete beta function (DLMF 8.17.22), evaluated from
 * the front by Lentz's method. */
static double beta_fraction(double x, double a, double b)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), value;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	value = d;
	for (int m = 1; m < 1000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		value *= c * d;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		step = c * d;
		value *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return value;
}

/* The regularised incomplete beta function I_x(a, b). */
static double beta(double x, double a, double b)
{
	double front;

	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	/* The fraction converges fast on this side of the mean. */
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double diff_t_tail(double t, double df)
{
	double tail;

	if (isinf(t))
		return t > 0 ? 0 : 1;
	tail = 0.5 * beta(df / (df + t * t), df / 2, 0.5);
	return t > 0 ? tail : 1 - tail;
}

double diff_t_quantile(double tail, double df)
{
	double low = 0, high = 1;

	while (diff_t_tail(high, df) > tail && high < 1e150)
		high *= 2;
	for (int i = 0; i < 200; i++) {
		double middle = (low + high) / 2;

		if (diff_t_tail(middle, df) > tail)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* Welch's degrees of freedom of mean(B) - ratio * mean(A), and its standard error. */
static double standard_error(const struct diff_sample *a, const struct diff_sample *b,
			     double ratio, double *df)
{
	double va = ratio * ratio * a->variance / a->runs, vb = b->variance / b->runs;
	double below = va * va / (a->runs - 1) + vb * vb / (b->runs - 1);

	*df = below > 0 ? (va + vb) * (va + vb) / below : a->runs + b->runs - 2;
	return sqrt(va + vb);
}

/* How far mean(B) is above RATIO times mean(A), as the tail beyond it. */
static double tail_beyond(const struct diff_sample *a, const struct diff_sample *b,
			  double ratio, double sign)
{
	double df, error = standard_error(a, b, ratio, &df);
	double difference = sign * (b->mean - ratio * a->mean);

	if (error <= 0)
		return difference > 0 ? 0 : 1;
	return diff_t_tail(difference / error, df);
}

double diff_p_least(uint32_t n, uint32_t m)
{
	double x = n, y = m;

	/* 2 q^n (1 - q)^m is highest at q = n / (n + m). */
	return fmin(1, 2 * exp(x * log(x) + y * log(y) - (x + y) * log(x + y)));
}

uint32_t diff_runs_needed(double p)
{
	uint32_t runs = DIFF_RUNS;

	while (diff_p_least(runs, runs) > p && runs < 1000)
		runs++;
	return runs;
}

double diff_p(const struct diff_sample *a, const struct diff_sample *b, double effect)
{
	double more = tail_beyond(a, b, 1 + effect, 1);
	double less = tail_beyond(a, b, fmax(0, 1 - effect), -1);

	return fmax(fmin(1, 2 * fmin(more, less)), diff_p_least(a->runs, b->runs));
}

bool diff_interval(const struct diff_sample *a, const struct diff_sample *b, double tail,
		   double *low, double *high)
{
	double df, c, va = a->variance / a->runs, vb = b->variance / b->runs, g, root;
	double ratio = b->mean / a->mean;

	if (!(a->mean > 0))
		return false;
	standard_error(a, b, ratio, &df);
	c = diff_t_quantile(tail, df);
	/* The ratios r with (mean(B) - r mean(A))^2 = c^2 (vb + r^2 va). */
	g = c * c * va / (a->mean * a->mean);
	if (!(g < 1))
		return false;
	root = sqrt(ratio * ratio * g + (1 - g) * c * c * vb / (a->mean * a->mean));
	*low = fmax(0, (ratio - root) / (1 - g));
	*high = (ratio + root) / (1 - g);
	return true;
}

static int by_p(const void *a, const void *b)
{
	double x = **(double *const *)a, y = **(double *const *)b;

	return x < y ? -1 : x > y;
}

int diff_holm(double *p, size_t count)
{
	double **order = malloc((count + 1) * sizeof(*order)), most = 0;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		order[i] = &p[i];
	qsort(order, count, sizeof(*order), by_p);
	for (size_t i = 0; i < count; i++) {
		most = fmax(most, fmin(1, *order[i] * (double)(count - i)));
		*order[i] = most;
	}
	free(order);
	return 0;
}
