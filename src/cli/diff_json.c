/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <math.h>

#include "cli/diff.h"

static void put_real(struct pm_out *out, const char *name, double value, bool known)
{
	pm_out_format(out, ",\"%s\":", name);
	if (known)
		pm_out_double(out, value);
	else
		pm_out_text(out, "null");
}

static void put_sample(struct pm_out *out, const char *name,
		       const struct diff_sample *sample)
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
	pm_out_text(out, "}");
}

static void put_row(struct pm_out *out, const struct diff_data *data,
		    const struct diff_row *row)
{
	double a = row->sample[0].mean, b = row->sample[1].mean;

	pm_out_text(out, "{\"region\":");
	pm_out_json(out, data->regions[row->region]);
	pm_out_text(out, ",\"what\":");
	pm_out_json(out, diff_quantity(data, row->quantity));
	pm_out_text(out, ",\"unit\":");
	pm_out_json(out, row->quantity == DIFF_TIME ? "ns"
			 : row->quantity == DIFF_VISITS
				 ? ""
				 : data->events[row->quantity - DIFF_EVENT].counter.unit);
	put_sample(out, "a", &row->sample[0]);
	put_sample(out, "b", &row->sample[1]);
	put_real(out, "ratio", b / a, a > 0 && row->there[1]);
	put_real(out, "ratio_low", row->low, row->bounded);
	put_real(out, "ratio_high", row->high, row->bounded);
	put_real(out, "p", row->p, row->tested);
	pm_out_format(out, ",\"exact\":%s,\"verdict\":\"%s\"}",
		      row->exact ? "true" : "false", diff_verdict_name(row));
}

void diff_json(struct pm_out *out, const struct diff_data *data,
	       const struct diff_result *result, const struct diff_options *options)
{
	char text[DIFF_NOTE];

	pm_out_format(out,
		      "{\"format\":1,\"perfmon\":\"" PACKAGE_VERSION "\","
		      "\"runs\":[%u,%u]",
		      data->runs[0], data->runs[1]);
	put_real(out, "alpha", options->alpha, true);
	put_real(out, "min_effect", options->min_effect, true);
	pm_out_format(out, ",\"inclusive\":%s,\"tests\":%u,\"rows\":[",
		      options->inclusive ? "true" : "false", result->tests);
	for (uint32_t i = 0; i < result->row_count; i++) {
		pm_out_text(out, i ? "," : "");
		put_row(out, data, &result->rows[i]);
	}
	pm_out_text(out, "],\"notes\":[");
	for (uint32_t i = 0; diff_note(data, result, options, i, text); i++) {
		pm_out_text(out, i ? "," : "");
		pm_out_json(out, text);
	}
	pm_out_text(out, "]}\n");
}
