/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The metrics of both sides. A run's metric is computed from the sums of its files; a
 * side's is the mean over its runs. Metrics are shown but not tested. Their times and
 * events are tested, and it is unknown whether a larger metric is better.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diff/data.h"
#include "core/text/grow.h"

static int input_add(struct diff_data *data, uint32_t region, uint32_t metric,
		     const struct pm_value *value, const double *values)
{
	struct diff_input *input;
	uint32_t count = data->metrics->metrics[metric].input_count;

	if (!PM_GROW(data->inputs, data->input_count))
		return -ENOMEM;
	input = &data->inputs[data->input_count];
	*input = (struct diff_input){.region = region,
				     .metric = metric,
				     .file = data->file_count - 1,
				     .counted = value->state == PM_COUNTED,
				     .marks = value->marks,
				     .coverage = value->coverage};
	input->values = malloc(((size_t)count + 1) * sizeof(*values));
	if (!input->values)
		return -ENOMEM;
	memcpy(input->values, values, count * sizeof(*values));
	data->input_count++;
	return 0;
}

int diff_metrics_load(struct diff_data *data, const struct pm_report_tree *tree,
		      const uint32_t *regions, bool inclusive)
{
	const struct pm_report_model *model = tree->model;
	int err = 0;

	for (uint32_t m = 0; data->metrics && !err && m < model->metric_count; m++) {
		const struct pm_report_metric *column = &model->metrics[m];
		struct pm_value all = {.state = PM_COUNTED, .coverage = 1};
		double sums[PM_METRIC_INPUTS] = {0}, values[PM_METRIC_INPUTS];

		for (uint32_t n = 1; !err && n < tree->node_count; n++) {
			const struct pm_report_metric *formula =
				pm_report_metric_of(model, m, pm_path_name(tree, n));
			struct pm_value own;

			if (!formula)
				continue;
			own = pm_report_metric_inputs(tree, n, formula, true, values);
			if (own.state != PM_COUNTED && own.state != PM_NOT_SAID)
				all.state = own.state;
			all.marks |= own.marks;
			all.coverage = fmin(all.coverage, own.coverage);
			for (uint32_t i = 0;
			     formula == column && i < formula->metric->input_count; i++)
				sums[i] += values[i];
			own = pm_report_metric(tree, n, m, !inclusive);
			pm_report_metric_inputs(tree, n, formula, !inclusive, values);
			err = input_add(
				data, regions[n],
				(uint32_t)(formula->metric - data->metrics->metrics),
				&own, values);
		}
		/* Formulas of single regions have no total. */
		if (!err && tree->node_count > 1 && !column->other &&
		    !column->metric->region)
			err = input_add(
				data, DIFF_TOTAL,
				(uint32_t)(column->metric - data->metrics->metrics), &all,
				sums);
	}
	return err;
}

static int by_place(const void *a, const void *b, void *argument)
{
	const struct diff_input *x = a, *y = b;
	const struct diff_file *files = argument, *fx = &files[x->file],
			       *fy = &files[y->file];

	return DIFF_ORDER(x->region, y->region)
		       ?: DIFF_ORDER(x->metric, y->metric)
		       ?: DIFF_ORDER(fx->side, fy->side)
		       ?: DIFF_ORDER(fx->run, fy->run);
}

/* Makes a row from the inputs FROM to TO of one metric of one region, of both sides by
 * run. */
static void row_make(struct diff_metric_row *row, const struct diff_data *data,
		     const struct diff_input *from, const struct diff_input *to,
		     double *values)
{
	const struct pm_metric *metric = &data->metrics->metrics[from->metric];
	uint32_t counts[2] = {0};

	*row = (struct diff_metric_row){.region = from->region, .metric = from->metric};
	for (int side = 0; side < 2; side++)
		row->total[side] = (struct pm_value){.state = PM_COUNTED, .coverage = 1};
	while (from < to) {
		const struct diff_file *file = &data->files[from->file];
		double sums[PM_METRIC_INPUTS] = {0};
		struct pm_value *total = &row->total[file->side];
		bool counted = true;

		for (; from < to && data->files[from->file].side == file->side &&
		       data->files[from->file].run == file->run;
		     from++) {
			for (uint32_t i = 0; i < metric->input_count; i++)
				sums[i] += from->values[i];
			counted = counted && from->counted;
			total->marks |= from->marks;
			total->coverage = fmin(total->coverage, from->coverage);
		}
		/* One side's values are behind the other's. */
		if (counted &&
		    pm_metric_value(metric, sums, &values[counts[0] + counts[1]]))
			counts[file->side]++;
	}
	for (int side = 0; side < 2; side++) {
		struct pm_value *total = &row->total[side];

		diff_sample_make(&row->sample[side], values + (side ? counts[0] : 0),
				 counts[side]);
		if (!counts[side])
			total->state = PM_NOT_COUNTED;
		/* The error of a quotient is unknown. */
		total->value = row->sample[side].mean;
		total->error = total->marks & (PM_MARK_SAMPLED | PM_MARK_FRACTION)
				       ? INFINITY
				       : 0;
	}
}

int diff_metrics(struct diff_result *result)
{
	const struct diff_data *data = result->data;
	struct diff_input *inputs = data->inputs;
	double *values =
		calloc((size_t)data->runs[0] + data->runs[1] + 1, sizeof(*values));
	uint32_t next;

	result->metrics = calloc((size_t)data->input_count + 1, sizeof(*result->metrics));
	if (!values || !result->metrics) {
		free(values);
		return -ENOMEM;
	}
	if (data->input_count)
		qsort_r(inputs, data->input_count, sizeof(*inputs), by_place,
			data->files);
	for (uint32_t i = 0; i < data->input_count; i = next) {
		for (next = i + 1; next < data->input_count &&
				   inputs[next].region == inputs[i].region &&
				   inputs[next].metric == inputs[i].metric;)
			next++;
		row_make(&result->metrics[result->metric_count++], data, &inputs[i],
			 &inputs[next], values);
	}
	free(values);
	return 0;
}

const struct diff_metric_row *diff_metrics_of(const struct diff_result *result,
					      uint32_t region, uint32_t *count)
{
	uint32_t low = 0, high = result->metric_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (result->metrics[middle].region < region)
			low = middle + 1;
		else
			high = middle;
	}
	*count = 0;
	while (low + *count < result->metric_count &&
	       result->metrics[low + *count].region == region)
		++*count;
	return &result->metrics[low];
}
