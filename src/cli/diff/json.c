/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <math.h>

#include "cli/common/common.h"
#include "cli/diff/data.h"
#include "core/report/cells.h"
#include "core/report/output/json.h"

static void put_sample(struct pm_json *j, const char *name,
		       const struct diff_sample *sample, const struct pm_value *total)
{
	if (!pm_json_begin_known(j, name, sample->runs ? sample : NULL))
		return;
	pm_json_number(j, "runs", sample->runs);
	pm_json_real(j, "mean", sample->mean, true);
	pm_json_real(j, "min", sample->min, true);
	pm_json_real(j, "max", sample->max, true);
	pm_json_real(j, "coverage", total->coverage, true);
	/* The error of the sum over the measured visits, in the mean's unit. */
	pm_json_real(j, "error",
		     total->error > 0 ? total->error / total->value * sample->mean : 0,
		     isfinite(total->error));
	pm_json_marks(j, "marks", total->marks);
	pm_json_close(j, "}");
}

static void put_bounds(struct pm_json *j, const char *name,
		       const struct diff_bounds *bounds)
{
	if (!pm_json_begin_known(j, name, bounds->known ? bounds : NULL))
		return;
	pm_json_real(j, "low", exp(bounds->low), true);
	pm_json_real(j, "high", exp(bounds->high), true);
	pm_json_close(j, "}");
}

static void put_column(struct pm_json *j, const struct diff_row *row,
		       const struct diff_column *column)
{
	bool decided = row->tested && !row->too_few;
	const struct diff_column *raw = column->raw ? column->raw : column;

	pm_json_begin(j, NULL, "{");
	pm_json_string(j, "of", diff_of_name(column->of));
	pm_json_bool(j, "adjusted", column->raw);
	pm_json_real(j, "a", exp(raw->mean[0]), true);
	pm_json_real(j, "b", exp(raw->mean[1]), true);
	pm_json_real(j, "ratio", exp(column->difference), true);
	pm_json_real(j, "ratio_low", column->low, decided && column->bounded);
	pm_json_real(j, "ratio_high", column->high, decided && column->bounded);
	pm_json_real(j, "p", column->p, decided);
	pm_json_close(j, "}");
}

/* Writes what rows of times have besides. */
static void put_times(struct pm_json *j, const struct diff_row *row)
{
	pm_json_begin(j, "columns", "[");
	for (uint32_t c = 0; c < row->column_count; c++)
		put_column(j, row, &row->columns[c]);
	pm_json_close(j, "]");
	pm_json_string(j, "decided_by", diff_of_name(row->shown->of));
	pm_json_bool(j, "adjusted", row->shown->raw);
	pm_json_bool(j, "with_nested", row->nested && row->shown->of != DIFF_MEAN);
	pm_json_string(j, "typical", diff_of_name(row->typical));
	put_bounds(j, "typical_bounds", &row->of_typical);
	put_bounds(j, "mean_bounds", &row->of_mean);
	pm_json_real(j, "share", row->share, row->region != DIFF_TOTAL);
	pm_json_real(j, "visits", row->visits, row->region != DIFF_TOTAL);
	pm_json_real(j, "could_see", row->seen, row->seen > 0);
	pm_json_known(j, "runs_wanted", row->wanted, row->wanted);
}

/* Returns why ROW decides nothing, or is open. */
static const char *reason_of(const struct diff_row *row)
{
	static const char *const listed[] = {[DIFF_LISTED_TIME] = "little time",
					     [DIFF_LISTED_SHORT] = "short visits",
					     [DIFF_LISTED_COST] = "cost of measuring"};

	return row->listed    ? listed[row->listed]
	       : row->lacks   ? "a part was not counted"
	       : row->threads ? "one run of several threads"
	       : row->too_few ? "too few runs"
	       : row->turns   ? "few visits in strict turns"
			      : NULL;
}

static void put_row(struct pm_json *j, const struct diff_data *data,
		    const struct diff_row *row)
{
	double a = row->sample[0].mean, b = row->sample[1].mean;

	pm_json_begin(j, NULL, "{");
	if (row->region != DIFF_TOTAL)
		pm_json_string(j, "region", diff_region(data, row->region));
	pm_json_string(j, "what", diff_quantity(data, row->quantity));
	pm_json_string(j, "unit",
		       row->quantity == DIFF_TIME ? "ns"
		       : row->quantity == DIFF_VISITS
			       ? ""
			       : data->events[row->quantity - DIFF_EVENT].counter.unit);
	put_sample(j, "a", &row->sample[0], &row->total[0]);
	put_sample(j, "b", &row->sample[1], &row->total[1]);
	if (row->shown && (row->shown->raw || row->shown->of != DIFF_MEAN))
		pm_json_real(j, "ratio", exp(row->shown->difference), true);
	else
		pm_json_real(j, "ratio", b / a, a > 0 && row->there[1]);
	pm_json_real(j, "ratio_low", row->low, row->bounded);
	pm_json_real(j, "ratio_high", row->high, row->bounded && isfinite(row->high));
	pm_json_real(j, "p", row->shown ? row->shown->p : 0,
		     row->tested && !row->too_few);
	if (row->column_count && row->columns->log)
		put_times(j, row);
	pm_json_text(j, "reason", reason_of(row), reason_of(row));
	pm_json_bool(j, "exact", row->without_p);
	pm_json_string(j, "verdict", diff_verdict_name(row));
	pm_json_close(j, "}");
}

/* Writes the rows of totals, or all others. */
static void put_rows(struct pm_json *j, const char *name,
		     const struct diff_result *result, bool totals)
{
	pm_json_begin(j, name, "[");
	for (uint32_t i = 0; i < result->row_count; i++)
		if ((result->rows[i].region == DIFF_TOTAL) == totals)
			put_row(j, result->data, &result->rows[i]);
	pm_json_close(j, "]");
}

static void put_metric(struct pm_json *j, const struct diff_data *data,
		       const struct diff_metric_row *row)
{
	const struct pm_metric *metric = &data->metrics->metrics[row->metric];
	double a = row->sample[0].mean, b = row->sample[1].mean;
	bool both = row->sample[0].runs && row->sample[1].runs;

	pm_json_begin(j, NULL, "{");
	pm_json_text(j, "region", diff_region(data, row->region),
		     row->region != DIFF_TOTAL);
	pm_json_string(j, "name", metric->name);
	pm_json_string(j, "unit", metric->unit);
	pm_json_string(j, "formula", metric->meaning ? metric->meaning : metric->formula);
	put_sample(j, "a", &row->sample[0], &row->total[0]);
	put_sample(j, "b", &row->sample[1], &row->total[1]);
	pm_json_real(j, "difference", b - a, both);
	pm_json_real(j, "ratio", b / a, both && a > 0);
	pm_json_close(j, "}");
}

static void put_note(void *json, const char *note)
{
	pm_json_string(json, NULL, note);
}

void diff_json(struct pm_out *out, const struct diff_result *result)
{
	const struct diff_data *data = result->data;
	const struct diff_options *options = result->options;
	static const char *const orders[] = {[DIFF_MIXED] = "mixed",
					     [DIFF_TURNS] = "strict turns",
					     [DIFF_BLOCKS] = "blocks"};
	struct pm_json json = {.out = out, .first = true}, *j = &json;
	const struct cli_notes notes = {put_note, j};

	pm_json_begin(j, NULL, "{");
	pm_json_number(j, "format", 1);
	pm_json_string(j, "perfmon", PACKAGE_VERSION);
	pm_json_begin(j, "runs", "[");
	pm_json_number(j, NULL, data->runs[0]);
	pm_json_number(j, NULL, data->runs[1]);
	pm_json_close(j, "]");
	pm_json_real(j, "alpha", options->alpha, true);
	pm_json_real(j, "min_effect", options->min_effect, true);
	pm_json_real(j, "wanted", result->wanted, true);
	pm_json_string(j, "order", orders[data->order]);
	pm_json_bool(j, "inclusive", options->inclusive);
	pm_json_number(j, "tests", result->tests);
	put_rows(j, "totals", result, true);
	put_rows(j, "rows", result, false);
	pm_json_begin(j, "metrics", "[");
	for (uint32_t i = 0; i < result->metric_count; i++)
		put_metric(j, data, &result->metrics[i]);
	pm_json_close(j, "]");
	pm_json_begin(j, "notes", "[");
	diff_notes(result, &notes);
	pm_json_close(j, "]");
	pm_json_close(j, "}");
	pm_out_text(out, "\n");
}
