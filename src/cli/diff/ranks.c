/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/diff/ranks.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* The chance that the truth is beyond a bound. */
#define BEYOND 0.05
/* The quantile of the normal distribution for it. */
#define NORMAL_BEYOND 1.6448536269514722
/* The exact distribution is made for so many differences, and approximated for more. */
#define EXACT_MOST 2500

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
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

	return x->value < y->value ? -1 : x->value > y->value;
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
