/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The text of perfmon diff: a table and notes. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>

#include "cli/common/common.h"
#include "cli/diff/data.h"
#include "core/report/cells.h"
#include "core/report/output/escape.h"

/* A value's marks are right behind it. */
enum column {
	REGION,
	WHAT,
	A,
	A_MARKS,
	B,
	B_MARKS,
	CHANGE,
	INTERVAL,
	P,
	VERDICT,
	COLUMNS
};

#define CELL	   64
#define NAME_WIDTH 40
#define WHAT_WIDTH 60
/* At most so many regions are named in a line. */
#define NAMED_MOST 4

struct row {
	const char *region; /* NULL: the same as above */
	const char *what;
	char cell[COLUMNS][CELL]; /* of the other columns */
	enum diff_verdict verdict;
};

static bool to_the_left(int column)
{
	return column == REGION || column == WHAT || column == A_MARKS ||
	       column == B_MARKS || column == VERDICT;
}

/* Returns the number of spaces after COLUMN. */
static size_t gap_after(int column)
{
	return column == A || column == B ? 0 : 2;
}

/* Also adds the value's marks to *MARKS. */
static void put_value(char *cell, char *marked, const struct diff_data *data,
		      const struct diff_row *row, uint32_t side, uint32_t *marks)
{
	const struct diff_column *column = row->shown;
	double mean = row->sample[side].mean;
	const char *unit = "";
	struct pm_cell total;
	uint32_t states = 0;

	if (!row->there[side]) {
		strcpy(cell, "-");
		return;
	}
	if (column && column->of != DIFF_MEAN)
		mean = exp((column->raw ? column->raw : column)->mean[side]);
	if (row->quantity >= DIFF_EVENT)
		unit = data->events[row->quantity - DIFF_EVENT].counter.unit;
	pm_cell_value(&total, &row->total[side], marks, &states);
	strcpy(marked, total.marks);
	if (data->exact && row->quantity >= DIFF_EVENT &&
	    data->events[row->quantity - DIFF_EVENT].exact && mean < 1e15)
		/* To the last count. */
		pm_cell_fixed(cell, mean, mean == floor(mean) ? 0 : 3);
	else if (row->quantity == DIFF_TIME || !strcmp(unit, "ns"))
		pm_cell_time(cell, mean);
	else if (*unit)
		pm_cell_unit(cell, mean, unit);
	else if (mean < 1000 && mean != floor(mean))
		pm_cell_fixed(cell, mean, mean < 10 ? 3 : mean < 100 ? 2 : 1);
	else
		pm_cell_count(cell, mean);
}

/* Formats RATIO as a change in percent, or from 10 on as a factor. */
static void put_change(char *cell, double ratio)
{
	double percent = 100 * (ratio - 1);
	char number[PM_CELL];

	if (ratio >= 10) {
		pm_cell_count(number, ratio);
		snprintf(cell, CELL, "x%s", number);
		return;
	}
	pm_cell_fixed(number, fabs(percent), fabs(percent) < 99.95 ? 2 : 0);
	snprintf(cell, CELL, "%c%s%%", percent < 0 ? '-' : '+', number);
}

static void put_p(char *cell, const struct diff_row *row)
{
	if (row->without_p)
		strcpy(cell, "exact");
	else if (!row->tested || row->too_few || row->verdict == DIFF_SAME ||
		 row->verdict == DIFF_TYPICAL)
		strcpy(cell, "");
	else if (row->shown->p < 0.0001)
		strcpy(cell, "<0.0001");
	else
		pm_cell_fixed(cell, row->shown->p, 4);
}

static void put_verdict(char *cell, const struct diff_row *row)
{
	static const char *const listed[] = {[DIFF_LISTED_TIME] =
						     ": below 0.2 % of the time",
					     [DIFF_LISTED_SHORT] = ": visits below 8 ns",
					     [DIFF_LISTED_COST] = ": may be measuring"};
	const char *why = "";
	char seen[40];

	if (row->listed)
		why = listed[row->listed];
	else if (row->against)
		why = row->against->of == DIFF_MEAN	 ? ", mean faster"
		      : row->against->of == DIFF_FASTEST ? ", fastest faster"
							 : ", median faster";
	else if (row->lacks)
		why = ": a part was not counted";
	else if (row->threads)
		why = ": one run of several threads";
	else if (row->too_few)
		why = ": too few runs";
	else if (row->turns)
		why = ": few visits, strict turns";
	else if (row->verdict == DIFF_OPEN && row->seen > 0) {
		snprintf(seen, sizeof(seen), ": could see %.3g %%",
			 ceil(100 * row->seen));
		why = seen;
	} else if (row->shown && row->shown->raw)
		why = ", adjusted";
	snprintf(cell, CELL, "%s%s", diff_verdict_name(row), why);
}

/* Writes the change of B against A in what is shown. */
static void put_changes(struct row *to, const struct diff_row *row)
{
	char low[CELL], high[CELL];

	if (row->shown->log && isfinite(row->shown->difference) &&
	    (row->shown->raw || row->shown->of != DIFF_MEAN))
		put_change(to->cell[CHANGE], exp(row->shown->difference));
	else if (row->sample[0].mean > 0)
		put_change(to->cell[CHANGE], row->sample[1].mean / row->sample[0].mean);
	else if (!(row->sample[1].mean > 0))
		put_change(to->cell[CHANGE], 1);
	if (row->bounded) {
		put_change(low, row->low);
		strcpy(high, "any");
		if (isfinite(row->high))
			put_change(high, row->high);
		snprintf(to->cell[INTERVAL], CELL, "%.24s .. %.24s", low, high);
	} else if (row->verdict == DIFF_OPEN && row->tested && !row->too_few) {
		strcpy(to->cell[INTERVAL], "any");
	}
	put_p(to->cell[P], row);
}

static void row_make(struct row *to, const struct diff_data *data,
		     const struct diff_row *row, const struct diff_row *above,
		     uint32_t *marks)
{
	memset(to, 0, sizeof(*to));
	to->verdict = row->verdict;
	if (!above || above->region != row->region)
		to->region = diff_region(data, row->region);
	/* Times of single visits have names of their own. */
	to->what = row->shown && row->shown->of != DIFF_MEAN
			   ? diff_of_name(row->shown->of)
			   : diff_quantity(data, row->quantity);
	put_value(to->cell[A], to->cell[A_MARKS], data, row, 0, marks);
	put_value(to->cell[B], to->cell[B_MARKS], data, row, 1, marks);
	put_verdict(to->cell[VERDICT], row);
	if (row->verdict != DIFF_ONE_SIDE)
		put_changes(to, row);
}

static void put_metric(char *cell, char *marked, const struct diff_metric_row *row,
		       uint32_t side, const struct pm_metric *metric, uint32_t *marks)
{
	struct pm_cell total;
	uint32_t states = 0;

	pm_cell_value(&total, &row->total[side], marks, &states);
	strcpy(marked, total.marks);
	if (row->total[side].state == PM_COUNTED)
		pm_cell_metric(&total, &row->total[side], metric);
	strcpy(cell, total.text);
}

/* A metric has no verdict: it is unknown which direction is better. */
static void metric_make(struct row *to, const struct diff_data *data,
			const struct diff_metric_row *row, uint32_t *marks)
{
	const struct pm_metric *metric = &data->metrics->metrics[row->metric];

	memset(to, 0, sizeof(*to));
	to->verdict = DIFF_SAME;
	to->what = metric->heading ?: metric->name;
	put_metric(to->cell[A], to->cell[A_MARKS], row, 0, metric, marks);
	put_metric(to->cell[B], to->cell[B_MARKS], row, 1, metric, marks);
	if (row->total[0].state == PM_COUNTED && row->total[1].state == PM_COUNTED &&
	    row->sample[0].mean > 0)
		put_change(to->cell[CHANGE], row->sample[1].mean / row->sample[0].mean);
}

static const char *cell_text(const struct row *row, int column)
{
	if (column == REGION)
		return row->region ?: "";
	return column == WHAT ? row->what : row->cell[column];
}

/* Returns the most columns of a terminal that the text of COLUMN takes; 0: any number. */
static size_t most_of(int column)
{
	return column == REGION ? NAME_WIDTH : column == WHAT ? WHAT_WIDTH : 0;
}

static void put_row(struct pm_out *out, const struct row *row, const size_t *width)
{
	struct pm_row line = {.out = out};

	for (int c = 0; c < COLUMNS; c++) {
		cli_style_row(&line, c != VERDICT		 ? CLI_PLAIN
				     : row->verdict == DIFF_MORE ? CLI_BAD
				     : row->verdict == DIFF_LESS ? CLI_GOOD
								 : CLI_PLAIN);
		if (to_the_left(c))
			pm_row_left(&line, cell_text(row, c), most_of(c), width[c]);
		else
			pm_row_right(&line, cell_text(row, c), most_of(c), width[c]);
		line.blanks += gap_after(c);
	}
	pm_row_end(&line);
}

/* Makes the rows of REGION's metrics and returns how many there are. */
static uint32_t metrics_make(struct row *to, const struct diff_result *result,
			     uint32_t region, uint32_t *marks)
{
	uint32_t count;
	const struct diff_metric_row *rows = diff_metrics_of(result, region, &count);

	for (uint32_t i = 0; i < count; i++)
		metric_make(&to[i], result->data, &rows[i], marks);
	return count;
}

/* Returns whether a row is shown: totals, changes, and, if there are too few runs, rows
 * that look changed. */
static bool is_shown(const struct diff_result *result, const struct diff_row *row)
{
	double a = row->sample[0].mean, b = row->sample[1].mean;

	if (result->options->all || result->data->whole || row->region == DIFF_TOTAL ||
	    row->verdict > DIFF_OPEN)
		return true;
	return (row->too_few || row->threads || row->lacks) &&
	       fabs(b - a) > result->options->min_effect * a;
}

static void put_percent(struct pm_out *out, double fraction)
{
	pm_out_double(out, 100 * fraction);
	pm_out_text(out, " %");
}

static void put_head(struct pm_out *out, const struct diff_result *result)
{
	const struct diff_data *data = result->data;
	const struct diff_options *options = result->options;

	for (uint32_t side = 0; side < 2; side++) {
		const struct diff_file *first = diff_first_file(data, side);

		pm_out_format(out, "%c  %u run%s of ", side ? 'B' : 'A', data->runs[side],
			      data->runs[side] == 1 ? "" : "s");
		pm_out_plain(out, first->header.program, 0);
		if (first->header.host[0]) {
			pm_out_text(out, " on ");
			pm_out_plain(out, first->header.host, 0);
		}
		pm_out_text(out, "\n");
	}
	if (data->whole)
		pm_out_text(out, "what a run takes; changes above ");
	else
		pm_out_format(out,
			      "what a visit takes, %s nested regions; changes above ",
			      options->inclusive ? "with" : "without");
	put_percent(out, options->min_effect);
	pm_out_text(out, "; chance of any false alarm ");
	put_percent(out, options->alpha);
	pm_out_text(out, "\n\n");
}

/* Names the regions that are not proven, the largest ones first. */
static void put_unproven(struct pm_out *out, const struct diff_result *result)
{
	double limit = result->options->not_slower;
	uint32_t named = 0;

	for (uint32_t i = 0; i < result->row_count && named < NAMED_MOST; i++) {
		const struct diff_row *row = &result->rows[i];

		if (!diff_row_has_weight(row) || diff_row_is_proven(row, limit))
			continue;
		pm_out_text(out, named++ ? ", " : ", not ");
		pm_out_plain(out, diff_region(result->data, row->region), NAME_WIDTH);
	}
}

/* Says whether it is proven that nothing became slower. */
static void put_proof(struct pm_out *out, const struct diff_result *result)
{
	double limit = result->options->not_slower;
	uint32_t unproven, proven = diff_proven(result, limit, &unproven);

	if (!proven && !unproven) {
		pm_out_text(out, "not proven: no region has 5 % of the time and 10 "
				 "visits\n");
		return;
	}
	pm_out_text(out, unproven ? "not proven" : "proven");
	pm_out_text(out, " that typical visits are slower by at most ");
	put_percent(out, limit);
	pm_out_format(out, ": %u of %u regions proven", proven, proven + unproven);
	put_unproven(out, result);
	pm_out_text(out, "\n");
}

static void put_summary(struct pm_out *out, const struct diff_result *result)
{
	const uint32_t *by = result->by;

	pm_out_format(out, "%u compared: %u more, %u less, %u the same, %u open",
		      by[DIFF_MORE] + by[DIFF_LESS] + by[DIFF_SAME] + by[DIFF_OPEN] +
			      by[DIFF_TYPICAL],
		      by[DIFF_MORE], by[DIFF_LESS], by[DIFF_SAME], by[DIFF_OPEN]);
	if (by[DIFF_TYPICAL])
		pm_out_format(out, ", %u the same in typical visits", by[DIFF_TYPICAL]);
	if (by[DIFF_LISTED])
		pm_out_format(out, "; %u not tested", by[DIFF_LISTED]);
	pm_out_text(out, "\n");
	if (diff_is_undecided(result))
		pm_out_text(out, "undecided: what is open may have changed\n");
	if (result->options->not_slower > 0)
		put_proof(out, result);
}

int diff_text(struct pm_out *out, const struct diff_result *result)
{
	static const char *const headings[COLUMNS] = {
		"", "", "A", "", "B", "", "change", "interval", "p", "verdict"};
	struct row *rows = calloc((size_t)result->row_count + result->metric_count + 1,
				  sizeof(*rows));
	const struct diff_row *above = NULL;
	size_t width[COLUMNS] = {0};
	struct cli_note_list list = {.out = out};
	const struct cli_notes notes = {cli_note_put, &list};
	uint32_t count = 1, marks = 0;

	if (!rows)
		return -ENOMEM;
	rows[0].region = "region";
	rows[0].what = "";
	for (int c = A; c < COLUMNS; c++)
		strcpy(rows[0].cell[c], headings[c]);
	for (uint32_t i = 0; i < result->row_count; i++) {
		const struct diff_row *row = &result->rows[i];

		if (is_shown(result, row)) {
			row_make(&rows[count++], result->data, row, above, &marks);
			above = row;
		}
		/* The metrics of a region are below its other rows. */
		if (above && above->region == row->region &&
		    (i + 1 == result->row_count || row[1].region != row->region))
			count += metrics_make(&rows[count], result, row->region, &marks);
	}
	for (uint32_t i = 0; i < count; i++)
		for (int c = 0; c < COLUMNS; c++)
			pm_row_measure(&width[c], cell_text(&rows[i], c), most_of(c));
	put_head(out, result);
	for (uint32_t i = 0; i < count && count > 1; i++)
		put_row(out, &rows[i], width);
	pm_report_text_legend(out, marks, 0);
	if (count > 1)
		pm_out_text(out, "\n");
	free(rows);
	put_summary(out, result);
	diff_notes(result, &notes);
	return 0;
}
