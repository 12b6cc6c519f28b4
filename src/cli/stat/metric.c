/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/stat/inside.h"

#include <math.h>

#include "core/report/model/event_name.h"

/* Returns whether NAME, of a formula, means EVENT. A name without modes means those that
 * the event was counted in. */
static bool is_meant(const struct stat_event *event, const char *name)
{
	return pm_event_is_called(event->label, name) ||
	       (event->event->name && pm_event_is_called(event->event->name, name));
}

/* Takes the value of the event NAME in the group that begins at CELLS. */
static double take_event(const struct stat_result *result, const struct stat_cell *cells,
			 const char *name, struct stat_metric *metric)
{
	const struct stat_events *events = &result->counting->events;
	const struct stat_cell *cell;
	uint32_t e = 0;

	while (e < events->count && !is_meant(&events->events[e], name))
		e++;
	cell = e < events->count && !cells[e].absent ? &cells[e] : NULL;
	if (!cell || cell->status >= STAT_NOT_COUNTED) {
		metric->known = false;
		metric->status = cell ? cell->status : STAT_NEVER_OPENED;
		metric->missing = e == events->count ? name : events->events[e].label;
		return 0;
	}
	if (cell->status > metric->status)
		metric->status = cell->status;
	metric->coverage = fmin(metric->coverage, stat_cell_coverage(cell));
	return cell->count.mean;
}

/* Returns the value of an input. The command as a whole is one visit. */
static double take_input(const struct stat_result *result, const struct stat_cell *cells,
			 const struct pm_metric_input *input, struct stat_metric *metric)
{
	switch (input->kind) {
	case PM_METRIC_TIME:
		metric->known &= result->wall_ns.runs > 0;
		return result->wall_ns.mean;
	case PM_METRIC_ON_CPU:
		metric->known &= result->user_ns.runs > 0;
		return result->user_ns.mean + result->system_ns.mean;
	case PM_METRIC_VISITS:
	case PM_METRIC_THREADS:
		return 1;
	default:
		return take_event(result, cells, input->name, metric);
	}
}

static void calculate(const struct stat_result *result, const struct stat_cell *cells,
		      const struct pm_metric *formula, struct stat_metric *metric)
{
	double values[PM_METRIC_INPUTS];

	metric->name = formula->name;
	metric->unit = formula->unit;
	metric->formula = formula->formula;
	metric->status = STAT_COUNTED;
	metric->missing = NULL;
	metric->coverage = 1;
	metric->known = true;
	for (uint32_t i = 0; i < formula->input_count && metric->known; i++)
		values[i] = take_input(result, cells, &formula->inputs[i], metric);
	metric->status_name = stat_status_name(metric->status);
	metric->known = metric->known && pm_metric_value(formula, values, &metric->value);
}

bool stat_metric_next(const struct stat_result *result, struct stat_metric *metric)
{
	const struct pm_metrics *formulas = result->formulas;
	const struct stat_counting *counting = result->counting;
	size_t at = metric->next;
	uint32_t group;

	if (!formulas || at >= (size_t)formulas->count * counting->group_count)
		return false;
	group = (uint32_t)(at / formulas->count);
	metric->next = at + 1;
	stat_counting_group_name(counting, group, metric->group_name);
	calculate(result, &result->cells[group * counting->events.count],
		  &formulas->metrics[at % formulas->count], metric);
	return true;
}
