/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The counts of an exact profile outside of its regions: those of the process, less those of
 * regions and, if it is subtracted from these, less the cost of measuring. */
#include <math.h>

#include "core/report/model/value.h"

/* The place of EVENT among the totals of the newest plan; false: it is not there. */
static bool total_of(const struct pm_report_model *model, uint32_t event, uint64_t *total)
{
	const struct pm_snapshot *s = model->snapshot;

	for (uint32_t p = 0; s->has_totals && p < s->plan_count; p++) {
		if (s->plans[p].generation != s->generation ||
		    s->plans[p].counter_count != s->counter_count)
			continue;
		for (uint32_t c = 0; c < s->counter_count; c++)
			if (model->event_of[p][c] == event) {
				*total = s->totals[c];
				return true;
			}
	}
	return false;
}

static uint64_t least(uint64_t value, uint64_t most)
{
	return value < most ? value : most;
}

struct pm_report_rest pm_report_rest(const struct pm_report_tree *tree, uint32_t event)
{
	const struct pm_report_model *model = tree->model;
	struct pm_report_rest rest = {.about = model->sampled};
	double values = 0, outer = 0;
	uint64_t sums = 0;

	if (!model->exact || !total_of(model, event, &rest.total))
		return rest;
	for (uint32_t n = 1; n < tree->node_count; n++) {
		const struct pm_path *node = pm_path(tree, n);
		const struct pm_report_count *count =
			&tree->counts[(size_t)n * model->column_count + event];
		struct pm_value own = pm_report_count(tree, n, event, true);

		/* Threads with another plan have counted in no region. */
		if (count->threads < node->threads.count)
			return rest;
		rest.open |= node->visits.entered > node->visits.ended;
		pm_add(&sums, own.sum);
		if (own.state == PM_COUNTED)
			values += own.value;
		if (!node->parent)
			outer += count->outer;
	}
	/* Threads may have counted on after the total was taken. */
	if (sums > rest.total)
		return rest;
	rest.known = true;
	rest.regions = sums;
	if (model->subtract_bias) {
		rest.regions = least((uint64_t)(values + 0.5), sums);
		rest.measuring =
			least((uint64_t)fmax(outer + 0.5, (double)(sums - rest.regions)),
			      rest.total - rest.regions);
	}
	rest.outside = rest.total - rest.regions - rest.measuring;
	return rest;
}
