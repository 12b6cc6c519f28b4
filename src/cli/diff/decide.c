/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides which differences between the two sides are changes.
 *
 * A difference counts if it is larger than the minimum effect and not due to chance. The
 * test is Welch's t of the runs' numbers, against the hypothesis that B differs from A by
 * at most the minimum effect. It must be above the limit that shuffle.c finds by
 * splitting the runs into sides at random. The interval uses the same t. Times have
 * several numbers in a run, and all of them are tested (columns.c). Times that are counted
 * as events are compared on a scale of their own. Rare events come at random, so the
 * variance of a count is at least that of a Poisson process.
 *
 * A time of which no change was found is the same if bounds show that (bounds.c).
 *
 * Instructions and branches in user mode repeat. They need no test if they did repeat, to
 * half the minimum effect in all runs of a side, and if the difference is more than the
 * one-time work of a thread may be. One run on each side is enough if the region ran in
 * one thread; threads that wait for each other execute instructions. For all other
 * quantities one run decides nothing: the change may be the program's or the machine's.
 *
 * Counts of the Valgrind tool, and visits under it, are used to the last digit even from
 * one run, since no machine affects them. Notes name runs of a side that disagree. If
 * they disagree by more than half the minimum effect, they are tested like everything
 * else.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diff/data.h"

/* A count with one of these marks is not right to the last digit. */
#define MARKS_INEXACT                                                                    \
	(PM_MARK_MULTIPLEXED | PM_MARK_PART | PM_MARK_IN_FLIGHT | PM_MARK_TORN |         \
	 PM_MARK_DROPPED | PM_MARK_THREADS | PM_MARK_DEFECT | PM_MARK_ERRATUM |          \
	 PM_MARK_SAMPLED | PM_MARK_LEFT_OUT | PM_MARK_FRACTION | PM_MARK_RUNS)

/*
 * The number of instructions by which the one-time work of a thread (dynamic linker,
 * first use of memory, setting up regions) may differ between runs. In the emulated
 * machine it was up to 4,300, depending on addresses.
 */
#define ONCE 10000

/* Regions with less of the time, and times below that of the clock, decide nothing. */
#define SHARE_LEAST   0.002
#define FASTEST_LEAST 8.0
/* The cost of measuring is known to a third, and between two builds it varies by less. */
#define COST_VARIES (1. / 3)
/* In strict turns, regions with fewer visits fall in step with the machine. */
#define VISITS_IN_TURNS 10
/* Notes say how many runs find such a change, or twice the minimum effect. */
#define WANTED 0.1

struct decision {
	struct diff_result *result;
	const struct diff_data *data; /* the result's */
	double effect;		      /* the minimum */
	double *values;		      /* memory for the runs of a side */
	double *weights; /* time of each region in a run of both sides together */
	double weight;	 /* of all regions */
};

static int by_place(const void *a, const void *b, void *argument)
{
	const struct diff_entry *x = a, *y = b;
	const struct diff_file *files = argument;

	return DIFF_ORDER(x->region, y->region)
		       ?: DIFF_ORDER(x->quantity, y->quantity)
		       ?: DIFF_ORDER(files[x->file].side, files[y->file].side)
		       ?: DIFF_ORDER(x->file, y->file);
}

/* Makes the sample of SIDE from the entries FROM to TO of one quantity of one region. */
static void sample_make(struct decision *decision, struct diff_row *row, uint32_t side,
			const struct diff_entry *from, const struct diff_entry *to)
{
	uint32_t count = 0;
	double sum = 0, visits = 0, slack = 0, threads = 0, squares = 0, cost = 0;
	struct diff_run *runs = row->runs + (side ? decision->data->runs[0] : 0);
	struct diff_sample *sample = &row->sample[side];
	struct pm_value *total = &row->total[side];

	*total = (struct pm_value){.state = PM_COUNTED, .coverage = 1};
	for (; from < to; from++) {
		struct diff_run *run = &runs[decision->data->files[from->file].run];

		run->sum += from->sum;
		run->visits += from->visits;
		slack += from->slack + ONCE * from->threads;
		threads += from->threads;
		cost += from->cost;
		squares += from->error * from->error;
		total->value += from->sum;
		total->coverage = fmin(total->coverage, from->coverage);
		total->marks |= from->marks;
		row->lacks |= from->lacks;
	}
	total->error = sqrt(squares);
	for (uint32_t r = 0; r < decision->data->runs[side]; r++) {
		struct diff_run *run = &runs[r];

		run->there = run->visits > 0 || row->quantity == DIFF_VISITS;
		if (!run->there)
			continue;
		/* The whole run is one number, which is not divided by its processes. */
		if (row->region == DIFF_TOTAL || row->quantity == DIFF_VISITS)
			run->visits = 1;
		run->value = run->sum / run->visits;
		sum += run->sum;
		visits += run->visits;
		decision->values[count++] = run->value;
	}
	diff_sample_make(sample, decision->values, count);
	row->cost[side] = visits > 0 ? cost / visits : 0;
	row->several |= threads > count;
	row->slack[side] = sum > 0 ? slack / sum : INFINITY;
	if (row->rare && count)
		sample->variance =
			fmax(sample->variance, diff_variance_least(sum, visits, count));
}

static bool did_repeat(const struct diff_sample *sample, double effect)
{
	return sample->max - sample->min <= effect / 2 * sample->mean;
}

static double change_of(const struct diff_row *row)
{
	double a = row->sample[0].mean, b = row->sample[1].mean;

	return a > 0 ? b / a - 1 : b > 0 ? INFINITY : 0;
}

/* Returns whether a program that does the same twice has the same QUANTITY. */
static bool does_repeat(const struct diff_data *data, uint32_t quantity)
{
	if (quantity < DIFF_EVENT)
		return data->exact && quantity == DIFF_VISITS;
	return data->events[quantity - DIFF_EVENT].repeats;
}

/* Decides by counts that repeat. Returns false if that is not possible. */
static bool decide_by_repeats(const struct decision *decision, struct diff_row *row)
{
	double effect = decision->effect, change = change_of(row);
	bool single = row->sample[0].runs == 1 || row->sample[1].runs == 1;

	if (!does_repeat(decision->data, row->quantity) ||
	    (row->total[0].marks | row->total[1].marks) & MARKS_INEXACT ||
	    !did_repeat(&row->sample[0], effect) || !did_repeat(&row->sample[1], effect))
		return false;
	if (single && row->several && !decision->data->exact) {
		row->threads = true;
		return false;
	}
	/* A change that may come from the way of reading is not one. More runs may
	 * decide. */
	if (!decision->data->exact && fabs(change) > effect &&
	    fabs(change) <= effect + fmax(row->slack[0], row->slack[1]))
		return false;
	row->without_p = true;
	row->verdict = fabs(change) <= effect ? DIFF_SAME
		       : change > 0	      ? DIFF_MORE
					      : DIFF_LESS;
	return true;
}

/* Returns why times in ROW decide nothing. */
static enum diff_listed listed_of(const struct diff_row *row)
{
	if (row->quantity != DIFF_TIME || row->region == DIFF_TOTAL)
		return DIFF_LISTED_NOT;
	if (row->share < SHARE_LEAST)
		return DIFF_LISTED_TIME;
	return row->fastest < FASTEST_LEAST ? DIFF_LISTED_SHORT : DIFF_LISTED_NOT;
}

/* Makes the one column of a row that is not of times. */
static int column_make(struct diff_row *row)
{
	row->columns = calloc(1, sizeof(*row->columns));
	if (!row->columns)
		return -ENOMEM;
	row->column_count = 1;
	row->columns->runs = row->runs;
	return 0;
}

static void row_decide(struct decision *decision, struct diff_row *row)
{
	const struct diff_sample *a = &row->sample[0], *b = &row->sample[1];

	row->verdict = DIFF_OPEN;
	/* More runs do not help if no run counted a part. */
	if (row->lacks)
		return;
	if (a->min == b->max && a->max == b->min) {
		/* All runs have the same number, so there is no change. */
		row->verdict = DIFF_SAME;
		return;
	}
	if (decide_by_repeats(decision, row))
		return;
	row->listed = listed_of(row);
	if (row->listed) {
		row->verdict = DIFF_LISTED;
		return;
	}
	if (a->runs < DIFF_RUNS || b->runs < DIFF_RUNS) {
		row->too_few = !row->threads;
		return;
	}
	row->tested = true;
	if (!row->columns->log)
		row->columns->excess = diff_excess(a, b, decision->effect);
}

/* Returns the length of the quantity's name with which TEXT begins, up to a comma or the
 * end, or 0. An event's name may lack its modifiers, and may contain commas. */
static size_t name_at(const struct diff_data *data, const char *text, uint32_t quantity)
{
	const char *name = diff_quantity(data, quantity);
	const char *bare = pm_event_short_name(name);
	const struct {
		const char *name;
		size_t length;
	} names[] = {{name, strlen(name)},
		     {name, pm_event_name_of(name).stem},
		     {bare, strlen(bare)}};

	for (int i = 0; i < 3; i++)
		if (!strncmp(text, names[i].name, names[i].length) &&
		    (!text[names[i].length] || text[names[i].length] == ','))
			return names[i].length;
	return 0;
}

/* Returns the text behind the name at TEXT and its comma, or NULL if there is no name. */
static const char *name_skip(const struct diff_data *data, const char *text)
{
	size_t length = 0;

	for (uint32_t q = 0; q < DIFF_EVENT + data->event_count; q++)
		if (name_at(data, text, q) > length)
			length = name_at(data, text, q);
	if (!length)
		return NULL;
	text += length;
	return *text == ',' ? text + 1 : text;
}

const char *diff_only_check(const struct diff_data *data, const char *only)
{
	/* An empty list is not valid. */
	if (only && !*only)
		return only;
	while (only && *only) {
		const char *next = name_skip(data, only);

		if (!next)
			return only;
		only = next;
	}
	return NULL;
}

static bool wanted(const struct decision *decision, uint32_t quantity)
{
	const char *only = decision->result->options->only;

	if (!only)
		return true;
	for (; only && *only; only = name_skip(decision->data, only))
		if (name_at(decision->data, only, quantity))
			return true;
	return false;
}

/* Times of unknown length cannot be compared, and neither can times under the Valgrind
 * tool. */
static bool comparable(const struct diff_data *data, uint32_t quantity)
{
	if (quantity == DIFF_TIME && data->exact)
		return false;
	for (uint32_t i = 0; quantity == DIFF_TIME && i < data->file_count; i++)
		if (data->files[i].ticks)
			return false;
	return quantity < DIFF_EVENT || (data->events[quantity - DIFF_EVENT].there[0] &&
					 data->events[quantity - DIFF_EVENT].there[1]);
}

static bool is_time(const struct diff_data *data, uint32_t quantity)
{
	return quantity == DIFF_TIME ||
	       (quantity >= DIFF_EVENT &&
		!strcmp(data->events[quantity - DIFF_EVENT].counter.unit, "ns"));
}

/* A value with a unit is not a number of events. */
static bool is_rare(const struct diff_data *data, uint32_t quantity)
{
	const struct diff_event *event;

	if (quantity < DIFF_EVENT)
		return false;
	event = &data->events[quantity - DIFF_EVENT];
	return !event->repeats && !event->counter.unit[0];
}

/* Clears the next row, of what FROM is of. */
static struct diff_row *row_begin(struct decision *decision,
				  const struct diff_entry *from)
{
	const struct diff_data *data = decision->data;
	uint32_t total = data->runs[0] + data->runs[1];
	struct diff_row *row = &decision->result->rows[decision->result->row_count];

	memset(row, 0, sizeof(*row));
	row->region = from->region;
	row->quantity = from->quantity;
	row->rare = is_rare(data, row->quantity);
	row->runs = &decision->result->runs[(size_t)decision->result->row_count * total];
	/* The memory may have been used by a row that is not compared. */
	memset(row->runs, 0, total * sizeof(*row->runs));
	if (row->region == DIFF_TOTAL)
		return row;
	row->weight = decision->weights[row->region];
	row->share = decision->weight > 0 ? row->weight / decision->weight : 0;
	return row;
}

/* Compares what both sides have, from the entries FROM to TO. */
static int row_compare(struct decision *decision, struct diff_row *row,
		       const struct diff_entry *from, const struct diff_entry *to)
{
	int err = row->quantity == DIFF_TIME
			  ? diff_columns_make(row, decision->data, from, to)
			  : column_make(row);

	if (err)
		return err;
	if (!row->columns->log && is_time(decision->data, row->quantity))
		diff_samples_damp(&row->sample[0], &row->sample[1]);
	row->shown = row->columns;
	row_decide(decision, row);
	return 0;
}

/* Makes a row from the entries FROM to TO of one quantity of one region. */
static int row_make(struct decision *decision, const struct diff_entry *from,
		    const struct diff_entry *to)
{
	struct diff_row *row = row_begin(decision, from);
	const struct diff_entry *middle = from;
	bool both;
	int err = 0;

	while (middle < to && !decision->data->files[middle->file].side)
		middle++;
	row->there[0] = middle > from;
	row->there[1] = middle < to;
	both = row->there[0] && row->there[1];
	/* A region of one side is reported once, by its visits. */
	if (both ? !wanted(decision, row->quantity) ||
			    !comparable(decision->data, row->quantity)
		 : row->quantity != DIFF_VISITS)
		return 0;
	sample_make(decision, row, 0, from, middle);
	sample_make(decision, row, 1, middle, to);
	row->verdict = DIFF_ONE_SIDE;
	if (both)
		err = row_compare(decision, row, from, to);
	decision->result->row_count++;
	return err;
}

/* Makes COLUMN's bounds, which are of the level of the test. */
static void column_conclude(const struct diff_row *row, struct diff_column *column,
			    double effect)
{
	double within = column->critical * column->error;

	if (!column->log) {
		column->bounded =
			diff_interval(&row->sample[0], &row->sample[1], effect,
				      column->critical, &column->low, &column->high);
		return;
	}
	column->bounded = isfinite(within);
	column->low = exp(column->difference - within);
	column->high = exp(column->difference + within);
}

/* Returns the number of A, or B, in COLUMN, in the unit of ROW. */
static double number_of(const struct diff_row *row, const struct diff_column *column,
			uint32_t side)
{
	if (!column->log)
		return row->sample[side].mean;
	return exp((column->raw ? column->raw : column)->mean[side]);
}

/* Returns whether the difference in COLUMN may be the cost of measuring, which is in the
 * values of both sides. */
static bool may_be_cost(const struct diff_row *row, const struct diff_column *column)
{
	double apart = number_of(row, column, 1) - number_of(row, column, 0);

	return (row->total[0].marks | row->total[1].marks) & PM_MARK_SHORT &&
	       fabs(apart) <= COST_VARIES * fmax(row->cost[0], row->cost[1]);
}

/* Returns whether B is above A (1) or below (-1) in COLUMN, or 0 if that is open. */
static int sign_of(const struct diff_row *row, const struct diff_column *column)
{
	if (!(column->excess > column->critical))
		return 0;
	return number_of(row, column, 1) > number_of(row, column, 0) ? 1 : -1;
}

/* Chooses the column that is shown: the first that changed, for the worse if there is one.
 * Another that changed the other way is against it. Returns whether the change is one only
 * if it is not the cost of measuring. */
static bool choose(struct diff_row *row)
{
	const struct diff_column *first[2] = {NULL, NULL};
	bool cost = false;

	for (uint32_t c = 0; c < row->column_count; c++) {
		const struct diff_column *column = &row->columns[c];
		int sign = sign_of(row, column);

		if (sign && may_be_cost(row, column))
			cost = true;
		else if (sign && !first[sign > 0])
			first[sign > 0] = column;
	}
	if (first[1]) {
		row->shown = first[1];
		row->against = first[0];
		row->verdict = DIFF_MORE;
	} else if (first[0]) {
		row->shown = first[0];
		row->verdict = DIFF_LESS;
	}
	return cost;
}

/* Decides a row of times of which no change was found. */
static void conclude_same(struct diff_row *row, double effect)
{
	row->verdict = diff_row_same(row, effect);
	if (row->verdict == DIFF_OPEN)
		return;
	row->too_few = false;
	row->bounded = true;
	row->low = exp(row->of_mean.low);
	row->high = exp(row->of_mean.high);
}

/* Sets the verdict of a test, and bounds of the same level. */
static void conclude_test(struct diff_row *row, const struct decision *decision)
{
	double effect = decision->effect;
	bool cost;

	for (uint32_t c = 0; c < row->column_count; c++)
		column_conclude(row, &row->columns[c], effect);
	row->turns = decision->data->order == DIFF_TURNS && row->columns->log &&
		     row->visits < VISITS_IN_TURNS;
	cost = row->turns ? false : choose(row);
	row->bounded = row->shown->bounded;
	row->low = row->shown->low;
	row->high = row->shown->high;
	if (row->verdict != DIFF_OPEN || row->turns)
		return;
	if (row->columns->log)
		conclude_same(row, effect);
	else if (row->bounded && row->low >= 1 - effect && row->high <= 1 + effect)
		row->verdict = DIFF_SAME;
	if (row->verdict == DIFF_OPEN && (cost || may_be_cost(row, row->columns))) {
		row->verdict = DIFF_LISTED;
		row->listed = DIFF_LISTED_COST;
	}
}

/* Sets the means of times: of their logarithms, so that a run that was disturbed does not
 * outweigh all others. Equal numbers keep their last digit. */
static void means_set(struct diff_row *row)
{
	for (uint32_t side = 0; side < 2; side++) {
		struct diff_sample *sample = &row->sample[side];

		if (sample->min > 0 && sample->min < sample->max)
			sample->mean = exp(row->columns->mean[side]);
	}
}

static int conclude(struct diff_row *row, const struct decision *decision)
{
	const uint32_t *runs = decision->data->runs;
	double effect = decision->effect;
	double factor = diff_order_factor(decision->data);

	if (row->column_count && row->columns->log) {
		means_set(row);
		if (diff_row_bounds(row, runs))
			return -ENOMEM;
	}
	if (row->tested && !row->too_few)
		conclude_test(row, decision);
	else if (row->tested && row->columns->log)
		conclude_same(row, effect);
	if (row->tested && row->columns->log &&
	    (row->verdict == DIFF_OPEN || row->verdict == DIFF_TYPICAL))
		diff_row_seen(row, runs, effect, factor, decision->result->wanted);
	return 0;
}

/* Totals come first, then regions by the time in them. */
static int by_weight(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;

	return DIFF_ORDER(y->region == DIFF_TOTAL, x->region == DIFF_TOTAL)
		       ?: DIFF_ORDER(y->weight, x->weight)
		       ?: DIFF_ORDER(x->region, y->region)
		       ?: DIFF_ORDER(x->quantity, y->quantity);
}

/* Adds up the time of each region in a run, on both sides. */
static void weigh(struct decision *decision)
{
	const struct diff_data *data = decision->data;

	for (uint32_t i = 0; i < data->entry_count; i++) {
		const struct diff_entry *entry = &data->entries[i];
		double weight = entry->sum / data->runs[data->files[entry->file].side];

		if (entry->quantity != DIFF_TIME)
			continue;
		if (entry->region != DIFF_TOTAL)
			decision->weights[entry->region] += weight;
		else
			decision->weight += weight;
	}
	/* A program that was counted as a whole is its own total. */
	if (data->whole)
		for (uint32_t r = 0; r < data->regions.count; r++)
			decision->weight += decision->weights[r];
}

/* Returns the index behind the last entry of the same quantity and region as entry I. */
static uint32_t next_place(const struct diff_data *data, uint32_t i)
{
	const struct diff_entry *first = &data->entries[i];

	while (++i < data->entry_count && data->entries[i].region == first->region &&
	       data->entries[i].quantity == first->quantity)
		;
	return i;
}

/* Makes all rows, and memory for them. */
static int rows_make(struct decision *decision)
{
	const struct diff_data *data = decision->data;
	struct diff_result *result = decision->result;
	size_t runs = (size_t)data->runs[0] + data->runs[1], rows = 1;
	int err = 0;

	for (uint32_t i = 0; i < data->entry_count; i = next_place(data, i))
		rows++;
	decision->values = calloc(runs + 1, sizeof(*decision->values));
	decision->weights =
		calloc((size_t)data->regions.count + 1, sizeof(*decision->weights));
	result->rows = calloc(rows, sizeof(*result->rows));
	result->runs = calloc(rows * runs, sizeof(*result->runs));
	if (!decision->values || !decision->weights || !result->rows || !result->runs)
		return -ENOMEM;
	weigh(decision);
	for (uint32_t i = 0, next; !err && i < data->entry_count; i = next) {
		next = next_place(data, i);
		err = row_make(decision, &data->entries[i], &data->entries[next]);
	}
	return err;
}

/* Tests all rows together. */
static int rows_test(struct decision *decision)
{
	const struct diff_data *data = decision->data;
	struct diff_result *result = decision->result;
	double factor = diff_order_factor(data);
	int err = diff_columns_adjust(result, data->runs);

	for (uint32_t i = 0; !err && i < result->row_count; i++)
		if (result->rows[i].column_count && result->rows[i].columns->log)
			diff_columns_measure(&result->rows[i], data->runs,
					     decision->effect, factor);
	return err ?: diff_shuffle(result, data->runs, result->options->alpha);
}

/* Sets the verdicts of all rows, and counts them. */
static int rows_conclude(struct decision *decision)
{
	struct diff_result *result = decision->result;
	int err = 0;

	result->wanted = fmax(WANTED, 2 * decision->effect);
	for (uint32_t i = 0; !err && i < result->row_count; i++) {
		struct diff_row *row = &result->rows[i];

		err = conclude(row, decision);
		result->by[row->verdict]++;
		result->too_few += row->too_few || row->threads;
	}
	return err;
}

int diff_decide(struct diff_result *result, const struct diff_data *data,
		const struct diff_options *options)
{
	struct decision decision = {
		.result = result, .data = data, .effect = options->min_effect};
	int err;

	*result = (struct diff_result){.data = data, .options = options};
	if (data->entry_count)
		qsort_r(data->entries, data->entry_count, sizeof(*data->entries),
			by_place, data->files);
	err = rows_make(&decision) ?: rows_test(&decision) ?: rows_conclude(&decision);
	if (!err) {
		qsort(result->rows, result->row_count, sizeof(*result->rows), by_weight);
		err = diff_metrics(result);
	}
	free(decision.values);
	free(decision.weights);
	if (err)
		diff_result_free(result);
	return err;
}

void diff_result_free(struct diff_result *result)
{
	for (uint32_t i = 0; i < result->row_count; i++) {
		free(result->rows[i].columns);
		free(result->rows[i].points);
	}
	free(result->rows);
	free(result->runs);
	free(result->metrics);
	memset(result, 0, sizeof(*result));
}

const char *diff_verdict_name(const struct diff_row *row)
{
	static const char *const names[DIFF_VERDICTS] = {[DIFF_SAME] = "same",
							 [DIFF_LISTED] = "not tested",
							 [DIFF_TYPICAL] = "fastest same",
							 [DIFF_OPEN] = "open",
							 [DIFF_LESS] = "less",
							 [DIFF_MORE] = "more",
							 [DIFF_ONE_SIDE] = "only in B"};

	if (row->verdict == DIFF_ONE_SIDE && row->there[0])
		return "only in A";
	if (row->quantity == DIFF_TIME && row->verdict == DIFF_MORE)
		return "slower";
	if (row->quantity == DIFF_TIME && row->verdict == DIFF_LESS)
		return "faster";
	if (row->verdict == DIFF_TYPICAL && row->typical == DIFF_MEDIAN)
		return "median same";
	return names[row->verdict];
}

const char *diff_of_name(enum diff_of of)
{
	static const char *const names[DIFF_OFS] = {"mean", "fastest", "median"};

	return names[of];
}
