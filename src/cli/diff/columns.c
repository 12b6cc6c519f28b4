/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The numbers of a run that are tested for a change of times.
 *
 * On a busy machine the mean over the visits of a run varies by more than the changes that
 * are looked for, since a visit that is interrupted counts a hundredfold. The fastest
 * visit and the median hardly vary, but do not see a change of some visits alone. So all
 * three are tested, each as a logarithm. Machines also change their speed from run to run,
 * by the clock of the CPU or by neighbours. What most regions of a run have in common is
 * that speed, and each column also has a form from which it was taken out.
 *
 * The speed is found from all runs together, without regard to their sides. So a split of
 * the runs at random means for adjusted columns what it means for the others.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "cli/diff/data.h"

/* Regions with less of the time do not tell a run's speed, and none counts for more. */
#define SHARE_LEAST 0.01
#define SHARE_MOST  0.15
/* So many other regions must tell it. */
#define REGIONS_LEAST 4
/* Shorter times, in ns, are not measured by any clock. */
#define TIME_LEAST 0.1

static double log_of(double time_ns)
{
	return log(fmax(time_ns, TIME_LEAST));
}

/* Returns the median of the values of COLUMN in TOTAL runs. ROOM has as many numbers. */
static double center_of(const struct diff_column *column, uint32_t total, double *room)
{
	uint32_t count = 0;

	for (uint32_t r = 0; r < total; r++)
		if (column->runs[r].there)
			room[count++] = column->runs[r].value;
	return diff_median(room, count);
}

/* Sets the value of run R in column OF of ROW. */
static void point_set(struct diff_row *row, enum diff_of of, uint32_t r,
		      const struct diff_visits *visits)
{
	struct diff_run *point = &row->columns[of].runs[r];

	point->there = row->runs[r].there;
	if (of == DIFF_MEAN)
		point->value = log_of(row->runs[r].value);
	else if (!(visits->tick_ns > 0))
		point->there = false;
	else if (of == DIFF_FASTEST)
		point->value = log_of(diff_visits_fastest(visits));
	else
		point->value = log_of(diff_visits_median(visits));
}

/* Makes as many columns as ROW has of the visits, with room for as many adjusted ones. */
static int columns_fill(struct diff_row *row, uint32_t total,
			const struct diff_visits *visits, double *room)
{
	uint32_t count = 2 * row->column_count;

	row->columns = calloc(count, sizeof(*row->columns));
	row->points = calloc((size_t)count * total + 1, sizeof(*row->points));
	if (!row->columns || !row->points)
		return -ENOMEM;
	for (uint32_t c = 0; c < count; c++) {
		struct diff_column *column = &row->columns[c];

		column->of = (enum diff_of)(c % row->column_count);
		column->log = true;
		column->runs = row->points + (size_t)c * total;
		for (uint32_t r = 0; r < total && c < row->column_count; r++)
			point_set(row, column->of, r, &visits[r]);
		column->center = center_of(column, total, room);
	}
	return 0;
}

/* Sets how often a run visited the region of ROW. Returns whether any did so twice. */
static bool visits_set(struct diff_row *row, uint32_t total, double *room)
{
	uint32_t count = 0;
	bool twice = false;

	for (uint32_t r = 0; r < total; r++) {
		if (!row->runs[r].there)
			continue;
		room[count++] = row->runs[r].visits;
		twice |= row->runs[r].visits > 1;
	}
	row->visits = diff_median(room, count);
	return twice;
}

int diff_columns_make(struct diff_row *row, const struct diff_data *data,
		      const struct diff_entry *from, const struct diff_entry *to)
{
	uint32_t total = data->runs[0] + data->runs[1];
	struct diff_visits *visits = calloc((size_t)total + 1, sizeof(*visits));
	double *room = calloc((size_t)total + 1, sizeof(*room));
	bool known = false;
	int err = visits && room ? 0 : -ENOMEM;

	for (; !err && from < to; from++) {
		const struct diff_file *file = &data->files[from->file];

		row->nested |= from->nested;
		if (!from->seen)
			continue;
		known = true;
		diff_visits_add(&visits[file->run + (file->side ? data->runs[0] : 0)],
				&data->visits[from->seen - 1]);
	}
	if (!err) {
		/* If there is one visit, its time is the mean. */
		row->column_count = visits_set(row, total, room) && known ? DIFF_OFS : 1;
		err = columns_fill(row, total, visits, room);
	}
	if (!err)
		row->fastest =
			exp(row->columns[row->column_count > 1 ? DIFF_FASTEST : DIFF_MEAN]
				    .center);
	free(visits);
	free(room);
	return err;
}

/* Returns whether ROW has a part in telling the speed of runs. */
static bool tells_speed(const struct diff_row *row)
{
	return row->quantity == DIFF_TIME && row->region != DIFF_TOTAL &&
	       row->column_count && row->share >= SHARE_LEAST;
}

/* Returns by how much run R was slower than usual in the regions other than ROW's, by the
 * columns OF. ROOM has a place for each row. */
static double speed_of(const struct diff_result *result, const struct diff_row *row,
		       enum diff_of of, uint32_t r, struct diff_weighted *room)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < result->row_count; i++) {
		const struct diff_row *other = &result->rows[i];
		const struct diff_column *column;

		if (other == row || !tells_speed(other))
			continue;
		column = &other->columns[other->column_count < DIFF_OFS ? DIFF_MEAN : of];
		if (column->runs[r].there)
			room[count++] = (struct diff_weighted){
				column->runs[r].value - column->center,
				fmin(other->share, SHARE_MOST)};
	}
	return diff_weighted_median(room, count);
}

/* Adds the adjusted forms of ROW's columns. */
static void adjust(const struct diff_result *result, struct diff_row *row, uint32_t total,
		   struct diff_weighted *room)
{
	for (uint32_t c = 0; c < row->column_count; c++) {
		struct diff_column *raw = &row->columns[c];
		struct diff_column *to = &row->columns[row->column_count + c];

		to->raw = raw;
		for (uint32_t r = 0; r < total; r++) {
			to->runs[r] = raw->runs[r];
			to->runs[r].value -= speed_of(result, row, raw->of, r, room);
		}
	}
	row->column_count *= 2;
}

int diff_columns_adjust(struct diff_result *result, const uint32_t runs[2])
{
	struct diff_weighted *room = calloc((size_t)result->row_count + 1, sizeof(*room));
	uint32_t telling = 0;

	if (!room)
		return -ENOMEM;
	for (uint32_t i = 0; i < result->row_count; i++)
		telling += tells_speed(&result->rows[i]);
	for (uint32_t i = 0; i < result->row_count; i++) {
		struct diff_row *row = &result->rows[i];

		if (row->quantity == DIFF_TIME && row->column_count &&
		    row->region != DIFF_TOTAL &&
		    telling - tells_speed(row) >= REGIONS_LEAST)
			adjust(result, row, runs[0] + runs[1], room);
	}
	free(room);
	return 0;
}

/* Sets the mean of SIDE in COLUMN. Returns the variance of that mean, or -1 if it is not
 * known. */
static double mean_set(struct diff_column *column, uint32_t side, uint32_t from,
		       uint32_t to)
{
	struct pm_sum sum = {0};

	for (uint32_t r = from; r < to; r++)
		if (column->runs[r].there)
			pm_sum_add(&sum, column->runs[r].value);
	column->mean[side] = sum.mean;
	return sum.runs > 1 ? pm_sum_variance(&sum) / (double)sum.runs : -1;
}

static void measure(struct diff_column *column, const uint32_t runs[2], double effect,
		    double factor)
{
	double a = mean_set(column, 0, 0, runs[0]),
	       b = mean_set(column, 1, runs[0], runs[0] + runs[1]), beyond;

	column->difference = column->mean[1] - column->mean[0];
	column->error = a < 0 || b < 0 ? INFINITY : factor * sqrt(a + b);
	beyond = fmax(column->difference - log1p(effect),
		      log1p(-effect) - column->difference);
	if (column->raw && !(column->difference * column->raw->difference > 0))
		beyond = 0;
	column->excess = beyond > 0 ? beyond / column->error : 0;
}

void diff_columns_measure(struct diff_row *row, const uint32_t runs[2], double effect,
			  double factor)
{
	for (uint32_t c = 0; c < row->column_count; c++)
		measure(&row->columns[c], runs, effect, factor);
}
