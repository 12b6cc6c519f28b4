/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides which differences between the two sides are changes.
 *
 * A difference counts if it is larger than the minimum effect and not due to chance. The
 * test is Welch's t of the runs' means, against the hypothesis that B differs from A by
 * at most the minimum effect. It must be above the limit that shuffle.c finds by
 * splitting the runs into sides at random. The interval uses the same t. Times are
 * compared on a scale of their own. Rare events come at random, so the variance of a
 * count is at least that of a Poisson process.
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diff/data.h"

/* A count with one of these marks is not right to the last digit. */
#define MARKS_INEXACT                                                                    \
	(PM_MARK_MULTIPLEXED | PM_MARK_PART | PM_MARK_IN_FLIGHT | PM_MARK_TORN |         \
	 PM_MARK_DROPPED | PM_MARK_THREADS | PM_MARK_DEFECT | PM_MARK_ERRATUM |          \
	 PM_MARK_SAMPLED)

/*
 * The number of instructions by which the one-time work of a thread (dynamic linker,
 * first use of memory, setting up regions) may differ between runs. In the emulated
 * machine it was up to 4,300, depending on addresses.
 */
#define ONCE 10000

struct decision {
	const struct diff_data *data;
	const struct diff_options *options;
	struct diff_result *result;
	double *values; /* memory for the runs of a side */
};

/* One quantity of one region. */
struct cell {
	struct diff_row *row;
	bool threads;	 /* a run has several */
	double slack[2]; /* of the sums, as fractions */
};

static int by_place(const void *a, const void *b, void *argument)
{
	const struct diff_entry *x = a, *y = b;
	const struct diff_data *data = argument;

	if (x->region != y->region)
		return x->region < y->region ? -1 : 1;
	if (x->quantity != y->quantity)
		return x->quantity < y->quantity ? -1 : 1;
	if (data->files[x->file].side != data->files[y->file].side)
		return data->files[x->file].side ? 1 : -1;
	return x->file < y->file ? -1 : x->file > y->file;
}

/* Makes the sample of SIDE from the entries FROM to TO of one quantity of one region. */
static void sample_make(struct decision *decision, struct cell *cell, uint32_t side,
			const struct diff_entry *from, const struct diff_entry *to)
{
	uint32_t count = 0;
	double sum = 0, visits = 0, slack = 0, threads = 0, squares = 0;
	struct diff_row *row = cell->row;
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
	cell->threads |= threads > count;
	cell->slack[side] = sum > 0 ? slack / sum : INFINITY;
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
static bool decide_by_repeats(const struct decision *decision, struct cell *cell)
{
	struct diff_row *row = cell->row;
	double effect = decision->options->min_effect, change = change_of(row);
	bool single = row->sample[0].runs == 1 || row->sample[1].runs == 1;

	if (!does_repeat(decision->data, row->quantity) ||
	    (row->total[0].marks | row->total[1].marks) & MARKS_INEXACT ||
	    !did_repeat(&row->sample[0], effect) || !did_repeat(&row->sample[1], effect))
		return false;
	if (single && cell->threads && !decision->data->exact) {
		row->threads = true;
		return false;
	}
	/* A change that may come from the way of reading is not one. More runs may
	 * decide. */
	if (!decision->data->exact && fabs(change) > effect &&
	    fabs(change) <= effect + fmax(cell->slack[0], cell->slack[1]))
		return false;
	row->without_p = true;
	row->verdict = fabs(change) <= effect ? DIFF_SAME
		       : change > 0	      ? DIFF_MORE
					      : DIFF_LESS;
	return true;
}

static void decide_cell(struct decision *decision, struct cell *cell)
{
	struct diff_row *row = cell->row;
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
	if (decide_by_repeats(decision, cell))
		return;
	if (a->runs < DIFF_RUNS || b->runs < DIFF_RUNS) {
		row->too_few = !row->threads;
		return;
	}
	row->tested = true;
	row->excess = diff_excess(a, b, decision->options->min_effect);
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
	const char *only = decision->options->only;

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

/* Makes a row from the entries FROM to TO of one quantity of one region. */
static void row_make(struct decision *decision, const struct diff_entry *from,
		     const struct diff_entry *to)
{
	struct diff_row *row = &decision->result->rows[decision->result->row_count];
	struct cell cell = {.row = row};
	const struct diff_entry *middle = from;

	while (middle < to && !decision->data->files[middle->file].side)
		middle++;
	memset(row, 0, sizeof(*row));
	row->region = from->region;
	row->quantity = from->quantity;
	row->rare = is_rare(decision->data, row->quantity);
	row->runs = &decision->result
			     ->runs[(size_t)decision->result->row_count *
				    (decision->data->runs[0] + decision->data->runs[1])];
	/* The memory may have been used by a row that is not compared. */
	memset(row->runs, 0,
	       (decision->data->runs[0] + decision->data->runs[1]) * sizeof(*row->runs));
	row->there[0] = middle > from;
	row->there[1] = middle < to;
	sample_make(decision, &cell, 0, from, middle);
	sample_make(decision, &cell, 1, middle, to);
	if (!row->there[0] || !row->there[1]) {
		/* Reported once for the region, by its visits. */
		if (row->quantity != DIFF_VISITS)
			return;
		row->verdict = DIFF_ONE_SIDE;
	} else if (!wanted(decision, row->quantity) ||
		   !comparable(decision->data, row->quantity)) {
		return;
	} else {
		if (is_time(decision->data, row->quantity))
			diff_samples_damp(&row->sample[0], &row->sample[1]);
		decide_cell(decision, &cell);
	}
	decision->result->row_count++;
}

/* Sets the verdict of a test, and bounds of the same level. */
static void conclude(struct diff_row *row, const struct diff_options *options)
{
	const struct diff_sample *a = &row->sample[0], *b = &row->sample[1];

	if (!row->tested || row->too_few)
		return;
	row->bounded = diff_interval(a, b, options->min_effect, row->critical, &row->low,
				     &row->high);
	if (row->excess > row->critical)
		row->verdict = b->mean > a->mean ? DIFF_MORE : DIFF_LESS;
	else if (row->bounded && row->low >= 1 - options->min_effect &&
		 row->high <= 1 + options->min_effect)
		row->verdict = DIFF_SAME;
}

/* Totals come first, then regions by the time in them. */
static int by_weight(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;

	if ((x->region == DIFF_TOTAL) != (y->region == DIFF_TOTAL))
		return x->region == DIFF_TOTAL ? -1 : 1;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->region != y->region)
		return x->region < y->region ? -1 : 1;
	return x->quantity < y->quantity ? -1 : x->quantity > y->quantity;
}

/* Sorts regions by the time in them, on both sides. */
static int order(struct diff_result *result, const struct diff_data *data)
{
	double *weights = calloc((size_t)data->region_count + 1, sizeof(*weights));

	if (!weights)
		return -ENOMEM;
	for (uint32_t i = 0; i < data->entry_count; i++) {
		const struct diff_entry *entry = &data->entries[i];

		if (entry->quantity == DIFF_TIME && entry->region != DIFF_TOTAL)
			weights[entry->region] +=
				entry->sum / data->runs[data->files[entry->file].side];
	}
	for (uint32_t i = 0; i < result->row_count; i++)
		if (result->rows[i].region != DIFF_TOTAL)
			result->rows[i].weight = weights[result->rows[i].region];
	qsort(result->rows, result->row_count, sizeof(*result->rows), by_weight);
	free(weights);
	return 0;
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

int diff_decide(struct diff_result *result, const struct diff_data *data,
		const struct diff_options *options)
{
	struct decision decision = {.data = data, .options = options, .result = result};
	size_t runs = (size_t)data->runs[0] + data->runs[1], rows = 1;
	struct diff_entry *entries = data->entries;
	int err = -ENOMEM;

	memset(result, 0, sizeof(*result));
	if (data->entry_count)
		qsort_r(entries, data->entry_count, sizeof(*entries), by_place,
			(void *)(uintptr_t)data);
	for (uint32_t i = 0; i < data->entry_count; i = next_place(data, i))
		rows++;
	decision.values = calloc(runs + 1, sizeof(*decision.values));
	result->rows = calloc(rows, sizeof(*result->rows));
	result->runs = calloc(rows * runs, sizeof(*result->runs));
	if (!decision.values || !result->rows || !result->runs)
		goto out;
	for (uint32_t i = 0, next; i < data->entry_count; i = next) {
		next = next_place(data, i);
		row_make(&decision, &entries[i], &entries[next]);
	}
	err = diff_shuffle(result, data->runs, options->alpha);
	if (!err)
		err = order(result, data);
	if (!err)
		err = diff_metrics(result, data);
	for (uint32_t i = 0; !err && i < result->row_count; i++) {
		struct diff_row *row = &result->rows[i];

		conclude(row, options);
		result->by[row->verdict]++;
		result->too_few += row->too_few || row->threads;
	}
out:
	free(decision.values);
	if (err)
		diff_result_free(result);
	return err;
}

void diff_result_free(struct diff_result *result)
{
	free(result->rows);
	free(result->runs);
	free(result->metrics);
	memset(result, 0, sizeof(*result));
}

const char *diff_verdict_name(const struct diff_row *row)
{
	static const char *const names[DIFF_VERDICTS] = {[DIFF_SAME] = "same",
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
	return names[row->verdict];
}
