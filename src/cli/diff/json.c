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
	put_real(out, "ratio", b / a, a > 0 && row->there[1]);
	put_real(out, "ratio_low", row->low, row->bounded);
	put_real(out, "ratio_high", row->high, row->bounded && isfinite(row->high));
	put_real(out, "p", row->p, row->tested && !row->too_few);
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
	char text[DIFF_NOTE];

	pm_out_format(
		out, "{\"format\":1,\"perfmon\":\"" PACKAGE_VERSION "\",\"runs\":[%u,%u]",
		data->runs[0], data->runs[1]);
	put_real(out, "alpha", options->alpha, true);
	put_real(out, "min_effect", options->min_effect, true);
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
