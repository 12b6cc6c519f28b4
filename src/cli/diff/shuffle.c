/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds how often the runs differ this much if chance decides which of them are A's.
 *
 * If A and B are the same program, the runs could have been split into sides in any other
 * way. So all runs are split again, in all ways or in many random ones, and of each split
 * the largest difference of any row is kept. A row has changed if its own difference,
 * beyond the minimum effect, is above nearly all of these. Then the chance that equal
 * programs show any change is at most alpha, for any number of rows, any distribution of
 * their runs, and any dependence between the rows of a run (Westfall and Young,
 * Resampling-Based Multiple Testing, 1993). Rows that have changed are removed, and the
 * test is repeated with the rest (step-down). Totals come first, with half of alpha, so
 * that a small disturbed region does not hide that everything became slower. If all
 * totals have changed, the regions have alpha, and vice versa.
 *
 * A correction by the number of rows, such as Holm's, cannot decide many rows with few
 * runs. Six runs on each side can be split in 462 ways, so no p is below 1/462; with 35
 * rows that is more than 1 %. Here all rows share the ways in which runs can be split.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "cli/diff/data.h"

struct shuffle {
	uint32_t runs[2];
	uint32_t count; /* the number of splits that are tried; the true one is first */
	bool all;
	uint8_t *side;	 /* of each run */
	uint32_t *order; /* for random splits */
	uint64_t random;
	double *most; /* of each split */
};

static uint32_t below(struct shuffle *s, uint32_t limit)
{
	/* xorshift64*: the same splits each time. */
	s->random ^= s->random >> 12;
	s->random ^= s->random << 25;
	s->random ^= s->random >> 27;
	return (uint32_t)((s->random * UINT64_C(2685821657736338717) >> 32) * limit >>
			  32);
}

static void first(struct shuffle *s)
{
	s->random = UINT64_C(88172645463325252);
	for (uint32_t r = 0; r < s->runs[0] + s->runs[1]; r++) {
		s->side[r] = r >= s->runs[0];
		s->order[r] = r;
	}
}

static void next_at_random(struct shuffle *s)
{
	uint32_t total = s->runs[0] + s->runs[1];

	for (uint32_t r = 0; r < total; r++) {
		uint32_t other = r < s->runs[0] ? r + below(s, total - r) : r, run;

		run = s->order[other];
		s->order[other] = s->order[r];
		s->order[r] = run;
		s->side[run] = r >= s->runs[0];
	}
}

/* Makes the next split in lexical order. If the sides have one size, the first run stays
 * in A: the second half of all splits has A and B exchanged. */
static void next(struct shuffle *s)
{
	uint32_t total = s->runs[0] + s->runs[1], r = total - 1, ones = 0, at;

	if (!s->all) {
		next_at_random(s);
		return;
	}
	/* The last 0 that a 1 follows becomes 1; behind it, the 0 come first. */
	while (r && !(s->side[r] && !s->side[r - 1]))
		ones += s->side[r--];
	if (!r)
		return;
	ones += s->side[r];
	s->side[r - 1] = 1;
	for (at = total; at-- > r;)
		s->side[at] = total - at < ones;
}

/* Returns the difference of the sides in ROW, in standard errors. */
static double difference(const struct shuffle *s, const struct diff_row *row)
{
	uint32_t total = s->runs[0] + s->runs[1];
	double n[2] = {0}, sum[2] = {0}, squares[2] = {0}, events[2] = {0},
	       visits[2] = {0}, variance = 0, apart;

	for (uint32_t r = 0; r < total; r++) {
		const struct diff_run *run = &row->runs[r];

		if (!run->there)
			continue;
		n[s->side[r]]++;
		sum[s->side[r]] += run->score;
		squares[s->side[r]] += run->score * run->score;
		events[s->side[r]] += run->sum;
		visits[s->side[r]] += run->visits;
	}
	if (n[0] < DIFF_RUNS || n[1] < DIFF_RUNS)
		return 0;
	for (int i = 0; i < 2; i++) {
		double v = fmax(0, squares[i] - sum[i] * sum[i] / n[i]) / (n[i] - 1);

		if (row->rare)
			v = fmax(v, diff_variance_least(events[i], visits[i], n[i]));
		variance += v / n[i];
	}
	apart = fabs(sum[0] / n[0] - sum[1] / n[1]);
	/* Equal numbers differ only by the rounding of sums. */
	if (!(apart > row->rounding))
		return 0;
	return variance > 0 ? apart / sqrt(variance) : INFINITY;
}

/* Scores are values, damped or not, minus their mean, so that sums of squares keep the
 * last digits. */
static void score(struct diff_row *row, uint32_t total)
{
	double mean = 0, count = 0;

	for (uint32_t r = 0; r < total; r++) {
		struct diff_run *run = &row->runs[r];

		run->score = row->sample[0].damped ? diff_damped(run->value) : run->value;
		if (run->there)
			mean += (run->score - mean) / ++count;
	}
	row->rounding = fabs(mean) * 1e-14;
	for (uint32_t r = 0; r < total; r++)
		row->runs[r].score -= mean;
}

/* Finds the largest difference of the COUNT rows for each split. */
static void look(struct shuffle *s, struct diff_row **rows, uint32_t count)
{
	first(s);
	for (uint32_t w = 0; w < s->count; w++) {
		double most = 0;

		if (w)
			next(s);
		for (uint32_t i = 0; i < count; i++)
			most = fmax(most, difference(s, rows[i]));
		/* The true split always counts as one of the largest. */
		s->most[w] = w ? most : INFINITY;
	}
}

static int descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x > y ? -1 : x < y;
}

/* Returns the part of the splits whose largest difference is VALUE or more. */
static double share_of(const struct shuffle *s, double value)
{
	uint32_t low = 0, high = s->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (s->most[middle] >= value)
			low = middle + 1;
		else
			high = middle;
	}
	return (double)low / s->count;
}

/* Decides the COUNT rows by a PART of ALPHA. Returns how many have not changed, which are
 * then the first of ROWS; *MOST becomes the largest p of the others. */
static uint32_t step_down(struct shuffle *s, struct diff_row **rows, uint32_t count,
			  double alpha, double part, double *most)
{
	uint32_t late = (uint32_t)ceil(alpha * part * s->count), left;

	/* The true split alone is this part of all splits. */
	for (uint32_t i = 0; i < count; i++)
		rows[i]->too_few = late < 2;
	for (; count && late >= 2; count = left) {
		double critical, before = *most;

		look(s, rows, count);
		qsort(s->most, s->count, sizeof(*s->most), descending);
		critical = s->most[late - 1];
		left = 0;
		for (uint32_t i = 0; i < count; i++) {
			struct diff_row *row = rows[i];

			row->critical = critical;
			row->p = fmax(before, fmin(1, share_of(s, row->excess) / part));
			if (row->excess > critical)
				*most = fmax(*most, row->p);
			else
				rows[left++] = row;
		}
		if (left == count)
			break;
	}
	return count;
}

/* Splits the COUNT rows into totals and regions, if both can have a part of ALPHA. */
static void decide(struct shuffle *s, struct diff_row **rows, uint32_t count,
		   double alpha)
{
	struct diff_row **totals = rows;
	uint32_t t = 0;
	double most = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct diff_row *row = rows[i];

		if (row->region != DIFF_TOTAL)
			continue;
		rows[i] = rows[t];
		rows[t++] = row;
	}
	rows += t;
	count -= t;
	if (!t || !count || alpha / 2 * s->count <= 1) {
		step_down(s, totals, t + count, alpha, 1, &most);
		return;
	}
	t = step_down(s, totals, t, alpha, 0.5, &most);
	if (t)
		most = 0;
	count = step_down(s, rows, count, alpha, t ? 0.5 : 1, &most);
	if (t && !count)
		step_down(s, totals, t, alpha, 1, &most);
}

int diff_shuffle(struct diff_result *result, const uint32_t runs[2], double alpha)
{
	uint32_t total = runs[0] + runs[1], tests = 0;
	double ways = diff_ways(runs[0], runs[1]), wanted = fmin(100 / alpha, 1e6);
	struct shuffle s = {.runs = {runs[0], runs[1]}, .all = ways <= wanted};
	struct diff_row **rows = malloc(((size_t)result->row_count + 1) * sizeof(*rows));
	int err = -ENOMEM;

	s.count = (uint32_t)(s.all ? ways : wanted);
	s.side = malloc((size_t)total + 1);
	s.order = malloc(((size_t)total + 1) * sizeof(*s.order));
	s.most = malloc((size_t)s.count * sizeof(*s.most));
	if (!rows || !s.side || !s.order || !s.most)
		goto out;
	err = 0;
	for (uint32_t i = 0; i < result->row_count; i++) {
		if (!result->rows[i].tested)
			continue;
		score(&result->rows[i], total);
		rows[tests++] = &result->rows[i];
	}
	result->tests = tests;
	decide(&s, rows, tests, alpha);
out:
	free(rows);
	free(s.side);
	free(s.order);
	free(s.most);
	return err;
}
