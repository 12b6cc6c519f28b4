/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds how often the runs differ this much if chance decides which of them are A's.
 *
 * If A and B are the same program, the runs could have been split into sides in any other
 * way. So all runs are split again, in all ways or in many random ones, and of each split
 * the largest difference of any column is kept. A column has changed if its own
 * difference, beyond the minimum effect, is above nearly all of these. Then the chance
 * that equal programs show any change is at most alpha, for any number of columns and
 * rows, any distribution of their runs, and any dependence between the rows of a run
 * (Westfall and Young, Resampling-Based Multiple Testing, 1993). Columns that have changed
 * are removed, and the test is repeated with the rest (step-down). Totals come first, with
 * half of alpha, so that a small disturbed region does not hide that everything became
 * slower. If all totals have changed, the regions have alpha, and vice versa.
 *
 * A column that is adjusted for the speed of the runs counts only in splits where the
 * plain one differs in the same direction. If a program as a whole became slower, the
 * regions that did not are no faster.
 *
 * A correction by the number of rows, such as Holm's, cannot decide many rows with few
 * runs. Six runs on each side can be split in 462 ways, so no p is below 1/462; with 35
 * rows that is more than 1 %. Here all rows share the ways in which runs can be split.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "cli/diff/data.h"

/* A column that is tested, and its sums over all runs. */
struct tried {
	struct diff_row *row;
	struct diff_column *column;
	double n, sum, squares;
};

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

/* Returns the variance of a side's mean: of N scores with these sums. */
static double variance_of(const struct tried *tried, double n, double sum, double squares,
			  double events, double visits)
{
	double v = fmax(0, squares - sum * sum / n) / (n - 1);

	if (tried->row->rare)
		v = fmax(v, diff_variance_least(events, visits, n));
	return v / n;
}

/* Returns the difference of the sides, in standard errors, positive if B is above A. */
static double difference(const struct shuffle *s, const struct tried *tried)
{
	uint32_t total = s->runs[0] + s->runs[1];
	double n = 0, sum = 0, squares = 0, events[2] = {0}, visits[2] = {0}, variance,
	       apart;

	for (uint32_t r = 0; r < total; r++) {
		const struct diff_run *run = &tried->column->runs[r];

		if (!run->there)
			continue;
		events[s->side[r]] += run->sum;
		visits[s->side[r]] += run->visits;
		if (!s->side[r])
			continue;
		n++;
		sum += run->score;
		squares += run->score * run->score;
	}
	if (n < DIFF_RUNS || tried->n - n < DIFF_RUNS)
		return 0;
	variance = variance_of(tried, n, sum, squares, events[1], visits[1]) +
		   variance_of(tried, tried->n - n, tried->sum - sum,
			       tried->squares - squares, events[0], visits[0]);
	apart = sum / n - (tried->sum - sum) / (tried->n - n);
	/* Equal numbers differ only by the rounding of sums. */
	if (!(fabs(apart) > tried->column->rounding))
		return 0;
	return variance > 0 ? apart / sqrt(variance) : copysign(INFINITY, apart);
}

/* Returns the sign of B's mean score less A's in COLUMN. */
static double direction(const struct shuffle *s, const struct diff_column *column)
{
	uint32_t total = s->runs[0] + s->runs[1];
	double n[2] = {0}, sum[2] = {0};

	for (uint32_t r = 0; r < total; r++) {
		n[s->side[r]] += column->runs[r].there;
		sum[s->side[r]] += column->runs[r].there ? column->runs[r].score : 0;
	}
	return n[0] > 0 && n[1] > 0 ? sum[1] / n[1] - sum[0] / n[0] : 0;
}

/* Returns by how many standard errors the sides differ in what counts. */
static double distance(const struct shuffle *s, const struct tried *tried)
{
	double apart = difference(s, tried);

	if (tried->column->raw && !(apart * direction(s, tried->column->raw) > 0))
		return 0;
	return fabs(apart);
}

/* Scores are values, damped or not, minus their mean, so that sums of squares keep the
 * last digits. */
static void score(struct tried *tried, uint32_t total)
{
	struct diff_column *column = tried->column;
	bool damped = !column->log && tried->row->sample[0].damped;
	double mean = 0;

	for (uint32_t r = 0; r < total; r++) {
		struct diff_run *run = &column->runs[r];

		run->score = damped ? diff_damped(run->value) : run->value;
		if (run->there)
			mean += (run->score - mean) / ++tried->n;
	}
	column->rounding = fabs(mean) * 1e-14;
	for (uint32_t r = 0; r < total; r++) {
		struct diff_run *run = &column->runs[r];

		run->score -= mean;
		tried->sum += run->there ? run->score : 0;
		tried->squares += run->there ? run->score * run->score : 0;
	}
}

/* Finds the largest difference of the COUNT columns for each split. */
static void look(struct shuffle *s, const struct tried *tried, uint32_t count)
{
	first(s);
	for (uint32_t w = 0; w < s->count; w++) {
		double most = 0;

		if (w)
			next(s);
		for (uint32_t i = 0; i < count; i++)
			most = fmax(most, distance(s, &tried[i]));
		/* The true split always counts as one of the largest. */
		s->most[w] = w ? most : INFINITY;
	}
}

static int descending(const void *a, const void *b)
{
	return DIFF_ORDER(*(const double *)b, *(const double *)a);
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

/* Sets what a look at COUNT columns says of them. Returns how many have not changed,
 * which are then the first; *MOST becomes the largest p of the others. */
static uint32_t conclude(struct shuffle *s, struct tried *tried, uint32_t count,
			 double critical, double part, double *most)
{
	double before = *most;
	uint32_t left = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct diff_column *column = tried[i].column;
		double share = share_of(s, column->excess) / part;

		column->critical = critical;
		column->p = fmax(before, fmin(1, share));
		if (column->excess > critical)
			*most = fmax(*most, column->p);
		else
			tried[left++] = tried[i];
	}
	return left;
}

/* Decides the COUNT columns by a PART of ALPHA. Returns how many have not changed, which
 * are then the first; *MOST becomes the largest p of the others. */
static uint32_t step_down(struct shuffle *s, struct tried *tried, uint32_t count,
			  double alpha, double part, double *most)
{
	uint32_t late = (uint32_t)ceil(alpha * part * s->count), left;

	/* The true split alone is this part of all splits. */
	for (uint32_t i = 0; i < count; i++)
		tried[i].row->too_few = late < 2;
	for (; count && late >= 2; count = left) {
		look(s, tried, count);
		qsort(s->most, s->count, sizeof(*s->most), descending);
		left = conclude(s, tried, count, s->most[late - 1], part, most);
		if (left == count)
			break;
	}
	return count;
}

/* Moves the totals of the COUNT columns to the front. Returns how many they are. */
static uint32_t totals_first(struct tried *tried, uint32_t count)
{
	uint32_t t = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct tried at = tried[i];

		if (at.row->region != DIFF_TOTAL)
			continue;
		tried[i] = tried[t];
		tried[t++] = at;
	}
	return t;
}

/* Splits the COUNT columns into totals and regions, if both can have a part of ALPHA. */
static void decide(struct shuffle *s, struct tried *totals, uint32_t count, double alpha)
{
	uint32_t t = totals_first(totals, count);
	struct tried *regions = totals + t;
	double most = 0, ways = s->runs[0] == s->runs[1] ? 1 : 2;

	count -= t;
	/* If the sides have one size, no split stands for another with A and B exchanged. */
	if (alpha * s->count < ways) {
		for (uint32_t i = 0; i < t + count; i++)
			totals[i].row->too_few = true;
		return;
	}
	if (!t || !count || alpha / 2 * s->count <= 1) {
		step_down(s, totals, t + count, alpha, 1, &most);
		return;
	}
	t = step_down(s, totals, t, alpha, 0.5, &most);
	if (t)
		most = 0;
	count = step_down(s, regions, count, alpha, t ? 0.5 : 1, &most);
	if (t && !count)
		step_down(s, totals, t, alpha, 1, &most);
}

/* Returns the tested columns of RESULT and their number, or NULL without memory. */
static struct tried *tried_make(struct diff_result *result, uint32_t total,
				uint32_t *count)
{
	struct tried *tried;
	uint32_t room = 1;

	for (uint32_t i = 0; i < result->row_count; i++)
		room += result->rows[i].column_count;
	tried = calloc(room, sizeof(*tried));
	*count = 0;
	for (uint32_t i = 0; tried && i < result->row_count; i++) {
		struct diff_row *row = &result->rows[i];

		result->tests += row->tested;
		for (uint32_t c = 0; row->tested && c < row->column_count; c++) {
			tried[*count].row = row;
			tried[*count].column = &row->columns[c];
			score(&tried[(*count)++], total);
		}
	}
	return tried;
}

int diff_shuffle(struct diff_result *result, const uint32_t runs[2], double alpha)
{
	uint32_t total = runs[0] + runs[1], count;
	double ways = diff_ways(runs[0], runs[1]), wanted = fmin(100 / alpha, 1e6);
	struct shuffle s = {.runs = {runs[0], runs[1]}, .all = ways <= wanted};
	struct tried *tried = tried_make(result, total, &count);
	int err = -ENOMEM;

	s.count = (uint32_t)(s.all ? ways : wanted);
	s.side = malloc((size_t)total + 1);
	s.order = malloc(((size_t)total + 1) * sizeof(*s.order));
	s.most = malloc((size_t)s.count * sizeof(*s.most));
	if (tried && s.side && s.order && s.most) {
		err = 0;
		decide(&s, tried, count, alpha);
	}
	free(tried);
	free(s.side);
	free(s.order);
	free(s.most);
	return err;
}
