/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/truth/decide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A quarter of the least error that has to be found. What true counters differ by is far
 * below it. */
#define TOLERANCE 0.0025
/* Counts of less than this part of the instructions are compared with the instructions:
 * one event more or less would be a large part of them. */
#define MUCH 0.1
/* The range of the middle half of the repetitions from which on an error is not decided. */
#define UNSTEADY 0.01
/* The same where only bounds are known: cycles of a chain are steady on a CPU. Where they are
 * not, they come from an emulator's time. */
#define UNSTEADY_BOUNDED 0.002
/* Errors of blocks that differ by more than this part of them are not the same error. */
#define ALIKE 0.3
/* An error above this part is not a small one. */
#define GROSS 0.5

const char *truth_verdict_name(enum truth_verdict verdict)
{
	static const char *const names[TRUTH_VERDICTS] = {
		[TRUTH_EXACT] = "exact",
		[TRUTH_PLAUSIBLE] = "plausible",
		[TRUTH_SPECULATION] = "counts speculation",
		[TRUTH_OFF] = "off",
		[TRUTH_WRONG] = "wrong",
		[TRUTH_NOTHING] = "counts nothing",
		[TRUTH_UNSTEADY] = "unsteady",
		[TRUTH_UNJUDGED] = "not judged",
		[TRUTH_ABSENT] = "not there",
	};

	return names[verdict];
}

bool truth_is_bad(enum truth_verdict verdict)
{
	return verdict == TRUTH_OFF || verdict == TRUTH_WRONG || verdict == TRUTH_NOTHING;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

void truth_sort(int64_t *numbers, size_t count)
{
	qsort(numbers, count, sizeof(numbers[0]), compare);
}

void truth_row_fill(struct truth_row *row, int64_t *differences, size_t count,
		    double turns)
{
	truth_sort(differences, count);
	row->lower = (double)differences[count / 4] / turns;
	row->median = (double)differences[count / 2] / turns;
	row->upper = (double)differences[count - 1 - count / 4] / turns;
}

/* Returns whether the truth of ROW is enough to tell an error as a part of it. */
static bool is_much(const struct truth_row *row)
{
	return row->least >= MUCH * row->instructions;
}

/* Returns how far the count is from the nearest value that may be true, as a part of the
 * truth, or of the instructions if the truth is little. */
static double error_of(const struct truth_row *row)
{
	double by = is_much(row) ? row->least : row->instructions;

	if (row->median > row->most)
		return (row->median - row->most) / by;
	return row->median < row->least ? (row->median - row->least) / by : 0;
}

static bool is_unsteady(const struct truth_row *row)
{
	double by = is_much(row) ? row->least : row->instructions;

	return (row->upper - row->lower) / by >
	       (row->least < row->most ? UNSTEADY_BOUNDED : UNSTEADY);
}

/* Returns the row of those that do (not) mislead whose error is largest and above the
 * tolerance, or NULL. */
static const struct truth_row *worst_of(const struct truth_row *rows, size_t count,
					bool misleads)
{
	const struct truth_row *worst = NULL;

	for (size_t i = 0; i < count; i++) {
		double error = fabs(error_of(&rows[i]));

		if (rows[i].misleads == misleads && error > TOLERANCE &&
		    (!worst || error > fabs(error_of(worst))))
			worst = &rows[i];
	}
	return worst;
}

/* Returns whether nothing was counted where there was much. */
static bool counts_nothing(const struct truth_row *rows, size_t count)
{
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		if (rows[i].lower != 0 || rows[i].upper != 0)
			return false;
		any |= is_much(&rows[i]);
	}
	return any;
}

/*
 * Returns whether all rows have the same error, as a part of what they count, and stores
 * the median row's in *ERROR. Rows of little truth must have no more than their part.
 */
static bool same_error(const struct truth_row *rows, size_t count, double *error)
{
	double least = INFINITY, most = -INFINITY, middle;

	for (size_t i = 0; i < count; i++) {
		if (rows[i].misleads || !is_much(&rows[i]))
			continue;
		least = fmin(least, error_of(&rows[i]));
		most = fmax(most, error_of(&rows[i]));
	}
	middle = *error = (least + most) / 2;
	if (least > most || fabs(middle) > GROSS ||
	    most - least > ALIKE * fabs(middle) + TOLERANCE)
		return false;
	for (size_t i = 0; i < count; i++) {
		double part = rows[i].least * fabs(middle) / rows[i].instructions;

		if (!rows[i].misleads && !is_much(&rows[i]) &&
		    fabs(error_of(&rows[i])) > part + TOLERANCE)
			return false;
	}
	return true;
}

struct truth_judgement truth_decide(const struct truth_row *rows, size_t count)
{
	struct truth_judgement out = {.verdict = TRUTH_EXACT};
	const struct truth_row *misled = worst_of(rows, count, true);
	bool measured = false;

	for (size_t i = 0; i < count; i++)
		measured |= is_much(&rows[i]);
	out.worst = worst_of(rows, count, false);
	if (!measured)
		out.verdict = TRUTH_UNJUDGED;
	else if (counts_nothing(rows, count))
		out.verdict = TRUTH_NOTHING;
	else if (out.worst && is_unsteady(out.worst))
		out.verdict = TRUTH_UNSTEADY;
	else if (out.worst)
		out.verdict =
			same_error(rows, count, &out.error) ? TRUTH_OFF : TRUTH_WRONG;
	else if (misled) {
		out.worst = misled;
		out.verdict = error_of(misled) > 0  ? TRUTH_SPECULATION
			      : is_unsteady(misled) ? TRUTH_UNSTEADY
						    : TRUTH_WRONG;
	}
	return out;
}

/* Mispredictions of a random branch, as a part of its executions: half of them, if the
 * predictor knows nothing. */
#define FEWEST 0.2
#define MOST   0.8

struct truth_judgement truth_decide_mispredicted(const struct truth_row *rows,
						 size_t count)
{
	struct truth_judgement out = {.verdict =
					      count ? TRUTH_PLAUSIBLE : TRUTH_UNJUDGED};

	for (size_t i = 0; i < count; i++) {
		const struct truth_row *row = &rows[i];
		double least = row->misleads ? FEWEST : 0;
		double most = row->misleads ? MOST : TOLERANCE * row->instructions;

		if (row->median >= least && row->median <= most)
			continue;
		out.worst = row;
		out.verdict =
			row->misleads && row->median == 0 ? TRUTH_NOTHING : TRUTH_WRONG;
	}
	return out;
}
