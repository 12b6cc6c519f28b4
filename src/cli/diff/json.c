/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <math.h>

#include "cli/diff/data.h"
#include "core/report/output/escape.h"

static void put_real(struct pm_out *out, const char *name, double value, bool known)
{
	pm_out_format(out, ",\"%s\":", name);
	if (known)
		pm_out_double(out, value);
	else
		pm_out_text(out, "null");
}

static void put_marks(struct pm_out *out, const struct pm_value *total)
{
	bool first = true;

	pm_out_text(out, ",\"marks\":[");
	for (uint32_t i = 0; i < PM_MARKS; i++) {
		if (!(total->marks & 1u << i))
			continue;
		pm_out_text(out, first ? "" : ",");
		pm_out_json(out, pm_report_mark_name(1u << i));
		first = false;
	}
	pm_out_text(out, "]");
}

static void put_sample(struct pm_out *out, const char *name,
		       const struct diff_sample *sample, const struct pm_value *total)
{
	pm_out_format(out, ",\"%s\":", name);
	if (!sample->runs) {
		pm_out_text(out, "null");
		return;
	}
	pm_out_format(out, "{\"runs\":%u", sample->runs);
	put_real(out, "mean", sample->mean, true);
	put_real(out, "min", sample->min, true);
	put_real(out, "max", sample->max, true);
	put_real(out, "coverage", total->coverage, true);
	/* The error of the sum over the measured visits, in the mean's unit. */
	put_real(out, "error",
		 total->error > 0 ? total->error / total->value * sample->mean : 0,
		 isfinite(total->error));
	put_marks(out, total);
	pm_out_text(out, "}");
}

static void put_bounds(struct pm_out *out, const char *name,
		       const struct diff_bounds *bounds)
{
	pm_out_format(out, ",\"%s\":", name);
	if (!bounds->known) {
		pm_out_text(out, "null");
		return;
	}
	pm_out_text(out, "{");
	pm_out_text(out, "\"low\":");
	pm_out_double(out, exp(bounds->low));
	put_real(out, "high", exp(bounds->high), true);
	pm_out_text(out, "}");
}

static void put_column(struct pm_out *out, const struct diff_row *row,
		       const struct diff_column *column)
{
	bool decided = row->tested && !row->too_few;
	const struct diff_column *raw = column->raw ? column->raw : column;

	pm_out_format(out, "{\"of\":\"%s\",\"adjusted\":%s", diff_of_name(column->of),
		      column->raw ? "true" : "false");
	put_real(out, "a", exp(raw->mean[0]), true);
	put_real(out, "b", exp(raw->mean[1]), true);
	put_real(out, "ratio", exp(column->difference), true);
	put_real(out, "ratio_low", column->low, decided && column->bounded);
	put_real(out, "ratio_high", column->high, decided && column->bounded);
	put_real(out, "p", column->p, decided);
	pm_out_text(out, "}");
}

/* Writes what rows of times have besides. */
static void put_times(struct pm_out *out, const struct diff_row *row)
{
	pm_out_text(out, ",\"columns\":[");
	for (uint32_t c = 0; c < row->column_count; c++) {
		pm_out_text(out, c ? "," : "");
		put_column(out, row, &row->columns[c]);
	}
	pm_out_format(out, "],\"decided_by\":\"%s\",\"adjusted\":%s,\"with_nested\":%s",
		      diff_of_name(row->shown->of), row->shown->raw ? "true" : "false",
		      row->nested && row->shown->of != DIFF_MEAN ? "true" : "false");
	pm_out_format(out, ",\"typical\":\"%s\"", diff_of_name(row->typical));
	put_bounds(out, "typical_bounds", &row->of_typical);
	put_bounds(out, "mean_bounds", &row->of_mean);
	put_real(out, "share", row->share, row->region != DIFF_TOTAL);
	put_real(out, "visits", row->visits, row->region != DIFF_TOTAL);
	put_real(out, "could_see", row->seen, row->seen > 0);
	put_real(out, "runs_wanted", row->wanted, row->wanted);
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

static void put_row(struct pm_out *out, const struct diff_data *data,
		    const struct diff_row *row)
{
	double a = row->sample[0].mean, b = row->sample[1].mean;

	pm_out_text(out, "{");
	if (row->region != DIFF_TOTAL) {
		pm_out_text(out, "\"region\":");
		pm_out_json(out, data->regions[row->region]);
		pm_out_text(out, ",");
	}
	pm_out_text(out, "\"what\":");
	pm_out_json(out, diff_quantity(data, row->quantity));
	pm_out_text(out, ",\"unit\":");
	pm_out_json(out, row->quantity == DIFF_TIME ? "ns"
			 : row->quantity == DIFF_VISITS
				 ? ""
				 : data->events[row->quantity - DIFF_EVENT].counter.unit);
	put_sample(out, "a", &row->sample[0], &row->total[0]);
	put_sample(out, "b", &row->sample[1], &row->total[1]);
	if (row->shown && (row->shown->raw || row->shown->of != DIFF_MEAN))
		put_real(out, "ratio", exp(row->shown->difference), true);
	else
		put_real(out, "ratio", b / a, a > 0 && row->there[1]);
	put_real(out, "ratio_low", row->low, row->bounded);
	put_real(out, "ratio_high", row->high, row->bounded && isfinite(row->high));
	put_real(out, "p", row->shown ? row->shown->p : 0, row->tested && !row->too_few);
	if (row->column_count && row->columns->log)
		put_times(out, row);
	pm_out_text(out, ",\"reason\":");
	if (reason_of(row))
		pm_out_json(out, reason_of(row));
	else
		pm_out_text(out, "null");
	pm_out_format(out, ",\"exact\":%s,\"verdict\":\"%s\"}",
		      row->without_p ? "true" : "false", diff_verdict_name(row));
}

/* Writes the rows of totals, or all others. */
static void put_rows(struct pm_out *out, const struct diff_data *data,
		     const struct diff_result *result, bool totals)
{
	bool first = true;

	for (uint32_t i = 0; i < result->row_count; i++) {
		if ((result->rows[i].region == DIFF_TOTAL) != totals)
			continue;
		pm_out_text(out, first ? "" : ",");
		put_row(out, data, &result->rows[i]);
		first = false;
	}
}

static void put_metric(struct pm_out *out, const struct diff_data *data,
		       const struct diff_metric_row *row)
{
	const struct pm_metric *metric = &data->metrics->metrics[row->metric];
	double a = row->sample[0].mean, b = row->sample[1].mean;
	bool both = row->sample[0].runs && row->sample[1].runs;

	pm_out_text(out, "{\"region\":");
	if (row->region == DIFF_TOTAL)
		pm_out_text(out, "null");
	else
		pm_out_json(out, diff_region(data, row->region));
	pm_out_text(out, ",\"name\":");
	pm_out_json(out, metric->name);
	pm_out_text(out, ",\"unit\":");
	pm_out_json(out, metric->unit);
	pm_out_text(out, ",\"formula\":");
	pm_out_json(out, metric->meaning ? metric->meaning : metric->formula);
	put_sample(out, "a", &row->sample[0], &row->total[0]);
	put_sample(out, "b", &row->sample[1], &row->total[1]);
	put_real(out, "difference", b - a, both);
	put_real(out, "ratio", b / a, both && a > 0);
	pm_out_text(out, "}");
}

void diff_json(struct pm_out *out, const struct diff_data *data,
	       const struct diff_result *result, const struct diff_options *options)
{
	static const char *const orders[] = {[DIFF_MIXED] = "mixed",
					     [DIFF_TURNS] = "strict turns",
					     [DIFF_BLOCKS] = "blocks"};
	char text[DIFF_NOTE];

	pm_out_format(
		out, "{\"format\":1,\"perfmon\":\"" PACKAGE_VERSION "\",\"runs\":[%u,%u]",
		data->runs[0], data->runs[1]);
	put_real(out, "alpha", options->alpha, true);
	put_real(out, "min_effect", options->min_effect, true);
	put_real(out, "wanted", result->wanted, true);
	pm_out_format(out, ",\"order\":\"%s\"", orders[data->order]);
	pm_out_format(out, ",\"inclusive\":%s,\"tests\":%u,\"totals\":[",
		      options->inclusive ? "true" : "false", result->tests);
	put_rows(out, data, result, true);
	pm_out_text(out, "],\"rows\":[");
	put_rows(out, data, result, false);
	pm_out_text(out, "],\"metrics\":[");
	for (uint32_t i = 0; i < result->metric_count; i++) {
		pm_out_text(out, i ? "," : "");
		put_metric(out, data, &result->metrics[i]);
	}
	pm_out_text(out, "],\"notes\":[");
	for (uint32_t i = 0; diff_note(data, result, options, i, text); i++) {
		pm_out_text(out, i ? "," : "");
		pm_out_json(out, text);
	}
	pm_out_text(out, "]}\n");
}
