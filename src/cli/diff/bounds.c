/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides which rows are the same, and which changes the runs could have seen.
 *
 * A change that was not found may still be there. "Same" is a statement of its
 * own: bounds of the change, which the truth is beyond in at most 5 % of all cases each
 * way, lie within the minimum effect. The bounds hold for each row by itself. The typical
 * visit, which is the fastest one or the median, has such bounds even on a busy machine.
 * Visits of a tail are seen in the mean alone, so a row is the same only if the mean is.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "cli/diff/data.h"

/* If the median takes this many times as long as the fastest visit, visits are unlike, and
 * the fastest one is not typical. */
#define UNLIKE 2
/* Rows that have to be proven not slower have so much of the time, and so many visits. */
#define PROVEN_SHARE  0.05
#define PROVEN_VISITS 10
/* An error of fewer runs is a guess. */
#define RUNS_FOR_ERROR 3

static int column_bounds(struct diff_bounds *bounds, const struct diff_column *column,
			 const uint32_t runs[2], double *room)
{
	uint32_t count[2] = {0};

	for (uint32_t r = 0; r < runs[0] + runs[1]; r++) {
		uint32_t side = r >= runs[0];

		if (column->runs[r].there)
			room[(side ? runs[0] : 0) + count[side]++] =
				column->runs[r].value;
	}
	return diff_bounds_make(bounds, room, count[0], room + runs[0], count[1]);
}

static enum diff_of typical_of(const struct diff_row *row)
{
	if (row->column_count < DIFF_OFS)
		return DIFF_MEAN;
	return row->columns[DIFF_MEDIAN].center - row->columns[DIFF_FASTEST].center >=
			       log(UNLIKE)
		       ? DIFF_MEDIAN
		       : DIFF_FASTEST;
}

int diff_row_bounds(struct diff_row *row, const uint32_t runs[2])
{
	double *room = calloc((size_t)runs[0] + runs[1] + 1, sizeof(*room));
	int err;

	if (!room)
		return -ENOMEM;
	row->typical = typical_of(row);
	err = column_bounds(&row->of_mean, &row->columns[DIFF_MEAN], runs, room)
		      ?: column_bounds(&row->of_typical, &row->columns[row->typical],
				       runs, room);
	free(room);
	return err;
}

static bool is_within(const struct diff_bounds *bounds, double effect)
{
	return bounds->known && bounds->low >= log1p(-effect) &&
	       bounds->high <= log1p(effect);
}

enum diff_verdict diff_row_same(const struct diff_row *row, double effect)
{
	if (!is_within(&row->of_typical, effect))
		return DIFF_OPEN;
	return is_within(&row->of_mean, effect) ? DIFF_SAME : DIFF_TYPICAL;
}

/* Returns the least error of the means and of the fastest visits. */
static double least_error(const struct diff_row *row)
{
	double least = INFINITY;

	for (uint32_t c = 0; c < row->column_count; c++)
		if (row->columns[c].of != DIFF_MEDIAN)
			least = fmin(least, row->columns[c].error);
	return least;
}

void diff_row_seen(struct diff_row *row, const uint32_t runs[2], double effect,
		   double factor, double wanted)
{
	double error = least_error(row), n = 2 / (1. / runs[0] + 1. / runs[1]);
	double critical = row->too_few ? diff_critical_usual(n) : row->shown->critical;

	if (runs[0] < RUNS_FOR_ERROR || runs[1] < RUNS_FOR_ERROR || !isfinite(error))
		return;
	effect = log1p(effect);
	if (!row->too_few)
		row->seen = expm1(diff_seen(error, critical, effect));
	/* More runs can be taken in a better order. */
	row->wanted =
		diff_runs_wanted(error / factor, critical, n, effect, log1p(wanted));
}

bool diff_row_has_weight(const struct diff_row *row)
{
	return row->quantity == DIFF_TIME && row->region != DIFF_TOTAL &&
	       row->column_count && row->share >= PROVEN_SHARE &&
	       row->visits >= PROVEN_VISITS;
}

bool diff_row_is_proven(const struct diff_row *row, double limit)
{
	return row->of_typical.known && row->of_typical.high <= log1p(limit);
}

uint32_t diff_proven(const struct diff_result *result, double limit, uint32_t *unproven)
{
	uint32_t proven = 0;

	*unproven = 0;
	for (uint32_t i = 0; i < result->row_count; i++) {
		const struct diff_row *row = &result->rows[i];

		if (!diff_row_has_weight(row))
			continue;
		if (diff_row_is_proven(row, limit))
			proven++;
		else
			++*unproven;
	}
	return proven;
}
