/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The values of paths. The width of frames of folded stacks is time, an event, or a metric. Viewers add the
 * widths of paths, so a metric must be a sum of inputs with constant factors. Of a
 * quotient the numerator is used: the places of misses explain a miss rate, and rates of
 * paths cannot be added.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/export/export.h"

/*
 * A sum can be added over paths. A constant cannot, since each path would add it again.
 */
enum kind { CONSTANT, SUM, NEITHER };

static enum kind kind_of_both(int what, enum kind a, enum kind b)
{
	switch (what) {
	case PM_STEP_ADD:
	case PM_STEP_SUBTRACT:
		return a == b ? a : NEITHER;
	case PM_STEP_MULTIPLY:
		return a == CONSTANT ? b : b == CONSTANT ? a : NEITHER;
	case PM_STEP_DIVIDE:
		return b == CONSTANT ? a : NEITHER;
	default:
		return a == CONSTANT && b == CONSTANT ? CONSTANT : NEITHER;
	}
}

/* Finds the kind of the first COUNT steps of METRIC, which are a formula. *LAST is the
 * begin of the second operand of the last step. */
static enum kind kind_of(const struct pm_metric *metric, uint32_t count, uint32_t *last)
{
	enum kind kinds[PM_METRIC_STACK];
	uint32_t begins[PM_METRIC_STACK], depth = 0;

	*last = 0;
	for (uint32_t i = 0; i < count; i++) {
		int what = metric->steps[i].what;

		if (what == PM_STEP_NUMBER || what == PM_STEP_INPUT) {
			kinds[depth] = what == PM_STEP_INPUT ? SUM : CONSTANT;
			begins[depth++] = i;
		} else if (what == PM_STEP_CHOOSE) {
			depth -= 2;
			kinds[depth - 1] = NEITHER;
		} else if (what != PM_STEP_NEGATE) {
			*last = begins[--depth];
			kinds[depth - 1] =
				kind_of_both(what, kinds[depth - 1], kinds[depth]);
		}
	}
	return kinds[0];
}

/* Shortens METRIC to the part that is a weight. Returns false if there is none. */
static bool weigh(struct pm_metric *metric)
{
	uint32_t last, count = metric->step_count;
	enum kind kind = kind_of(metric, count, &last);

	if (kind == NEITHER && metric->steps[count - 1].what == PM_STEP_DIVIDE) {
		/* In postfix order the numerator comes first, and so do its inputs. */
		metric->step_count = last;
		kind = kind_of(metric, last, &last);
		metric->input_count = 0;
		for (uint32_t i = 0; i < metric->step_count; i++)
			if (metric->steps[i].what == PM_STEP_INPUT &&
			    metric->steps[i].input >= metric->input_count)
				metric->input_count = metric->steps[i].input + 1;
	}
	/* Then a model reports missing inputs as for a requested metric. */
	metric->heading = NULL;
	return kind == SUM;
}

static bool is_called(const struct pm_metric *metric, const char *name)
{
	return !strcasecmp(metric->name, name) ||
	       (metric->heading && !strcasecmp(metric->heading, name));
}

int export_weights_make(struct export_weights *weights, const struct pm_metrics *all,
			const char *name)
{
	struct pm_metrics *metrics =
		calloc(1, sizeof(*metrics) + all->count * sizeof(metrics->metrics[0]));

	if (!metrics)
		return -ENOMEM;
	*weights = (struct export_weights){.name = name, .metrics = metrics};
	for (uint32_t m = 0; name && m < all->count; m++) {
		struct pm_metric metric = all->metrics[m];

		if (!is_called(&metric, name))
			continue;
		weights->formula = metric.formula;
		if (weigh(&metric))
			metrics->metrics[metrics->count++] = metric;
	}
	return 0;
}

static int64_t event_called(const struct pm_report_model *model, const char *name)
{
	int64_t event = -1;

	for (uint32_t e = model->event_count; e-- > 0;)
		if (pm_event_is_called(model->events[e].name, name) &&
		    (event < 0 || strcasecmp(model->events[event].name, name) != 0))
			event = e;
	return event;
}

int export_weight_find(const struct export_weights *weights,
		       const struct pm_report_model *model, struct export_weight *weight,
		       struct pm_diag *diag)
{
	const char *name = weights->name;
	const struct pm_report_event *found;
	int64_t event;

	*weight = (struct export_weight){.kind = EXPORT_TIME};
	/* Under the Valgrind tool, the default is the first event. */
	if (!name && model->exact)
		*weight = (struct export_weight){EXPORT_EVENT, 0};
	if (name && !strcmp(name, "time") && model->exact)
		return pm_diag_set(diag, -ENOENT,
				   "the profile was " PM_REPORT_EXACT
				   ": choose an event, such as %s",
				   model->events[0].name);
	if (!name || !strcmp(name, "time"))
		return 0;
	event = event_called(model, name);
	if (event >= 0) {
		*weight = (struct export_weight){EXPORT_EVENT, (uint32_t)event};
		found = &model->events[event];
		return found->refused < found->parts
			       ? 0
			       : pm_diag_set(diag, -ENOENT, "event '%s' was refused: %s",
					     name, strerror(-found->first->error));
	}
	if (model->metric_count) {
		weight->kind = EXPORT_METRIC;
		return 0;
	}
	if (weights->metrics->count)
		return pm_diag_set(diag, -ENOENT, "%s",
				   model->note_count ? model->notes[0]
						     : "no such metric");
	if (weights->formula)
		return pm_diag_set(diag, -ENOENT,
				   "metric '%s' cannot be a weight: '%s' is no sum of "
				   "what is counted, so values of paths do not add up",
				   name, weights->formula);
	pm_diag_set(diag, -ENOENT, "the profile has no event '%s'; it has%s", name,
		    model->exact ? "" : " time");
	for (uint32_t e = 0; e < model->event_count; e++)
		pm_diag_add(diag, "%s %s", e || !model->exact ? "," : "",
			    model->events[e].name);
	return -ENOENT;
}

struct pm_value export_weigh(const struct pm_report_tree *tree, uint32_t node,
			     const struct export_weight *weight, bool exclusive)
{
	struct pm_value value;

	switch (weight->kind) {
	case EXPORT_EVENT:
		return pm_report_count(tree, node, weight->index, exclusive);
	case EXPORT_METRIC:
		return pm_report_metric(tree, node, weight->index, exclusive);
	default:
		value = pm_report_time(tree, node, exclusive);
		value.value = pm_snapshot_ns(tree->model->snapshot, value.value);
		/* The value of an open region is that of its visits until now. A path of another
		 * run alone has no time. */
		if (pm_path(tree, node)->threads.count)
			value.state = PM_COUNTED;
		return value;
	}
}

uint64_t export_whole(struct export_profile *profile, const struct pm_report_tree *tree,
		      uint32_t node, const struct export_weight *weight, bool exclusive)
{
	struct pm_value value = export_weigh(tree, node, weight, exclusive);

	if (value.state != PM_COUNTED || !(value.value > 0 && value.value < 1.8e19))
		return 0;
	profile->any_less |= value.value < 0.5;
	profile->any |= value.value >= 0.5;
	profile->marks |= value.marks;
	return (uint64_t)(value.value + 0.5);
}

const char *export_column(const struct pm_report_model *model, uint32_t c,
			  struct export_weight *weight)
{
	if (!model->exact && !c--) {
		*weight = (struct export_weight){.kind = EXPORT_TIME};
		return "time";
	}
	for (uint32_t e = 0; e < model->event_count; e++) {
		const struct pm_report_event *event = &model->events[e];

		if (event->refused < event->parts && !c--) {
			*weight = (struct export_weight){EXPORT_EVENT, e};
			return event->name;
		}
	}
	return NULL;
}
