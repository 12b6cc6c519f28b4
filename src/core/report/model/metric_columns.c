/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The metrics of a report: which columns their inputs are. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/report/model/model.h"

/* Returns true if NAME, parsed from TEXT, means EVENT. A name without modifiers means the event
 * with those of SUFFIX. */
static bool is_event(const struct pm_report_event *event, const char *text,
		     const struct pm_event_name *name, const char *suffix)
{
	const struct pm_event_name *own = &event->parsed;

	if (!strcasecmp(event->name, text))
		return true;
	if (strcmp(event->suffix, *name->suffix ? name->suffix : suffix))
		return false;
	/* The name means this PMU, and not a sum over several. */
	if (name->pmu)
		return event->parts == 1 && own->stem == name->stem &&
		       !strncasecmp(text, event->name, name->stem);
	if (name->generic != PM_GENERIC_NONE)
		return name->generic == event->generic;
	return own->length == name->length &&
	       !strncasecmp(own->bare, name->bare, name->length);
}

static uint32_t find(const struct pm_report_model *model, const char *text,
		     const char *suffix)
{
	struct pm_event_name name;

	if (!model->event_count)
		return PM_NO_EVENT;
	name = pm_event_name_of(text);
	for (uint32_t e = 0; e < model->event_count; e++)
		if (model->events[e].refused < model->events[e].parts &&
		    is_event(&model->events[e], text, &name, suffix))
			return e;
	return PM_NO_EVENT;
}

/* Returns the first input of METRIC that is a sum over kinds of core, with slots of one of these
 * among the others, or their number. */
static uint32_t first_mixed(const struct pm_report_model *model,
			    const struct pm_report_metric *metric)
{
	uint32_t count = metric->metric->input_count;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t e = metric->events[i];

		if (e == PM_NO_EVENT || !pm_report_is_mixed(&model->events[e]))
			continue;
		for (uint32_t k = 0; k < count; k++)
			if (metric->events[k] != PM_NO_EVENT &&
			    metric->events[k] == model->events[e].slots)
				return i;
	}
	return count;
}

/* Returns true if the threads of the report counted EVENT, and not the program or another run. */
static bool is_of_threads(const struct pm_report_model *model, uint32_t event)
{
	return !model->events[event].quantity && !model->events[event].joined;
}

/* Finds the inputs of METRIC's columns, those without modifiers among the events with
 * SUFFIX. Returns the first input that is missing, or their number. */
static uint32_t bind(const struct pm_report_model *model, const struct pm_metric *metric,
		     const char *suffix, struct pm_report_metric *to)
{
	to->metric = metric;
	to->base = PM_NO_EVENT;
	for (uint32_t i = 0; i < metric->input_count; i++) {
		to->events[i] = PM_NO_EVENT;
		/* An exact profile's times are not the machine's. */
		if (model->exact && (metric->inputs[i].kind == PM_METRIC_TIME ||
				     metric->inputs[i].kind == PM_METRIC_ON_CPU))
			return i;
		if (metric->inputs[i].kind != PM_METRIC_EVENT)
			continue;
		to->events[i] = find(model, metric->inputs[i].name, suffix);
		if (to->events[i] == PM_NO_EVENT)
			return i;
		/* Packages have a time of their own, which is no thread's. */
		if (to->base == PM_NO_EVENT && (is_of_threads(model, to->events[i]) ||
						model->events[to->events[i]].package))
			to->base = to->events[i];
	}
	return first_mixed(model, to);
}

/* The same with whatever modifiers the events have that METRIC does not tell: one kind
 * for all, so that user mode is not divided by kernel mode. */
static uint32_t bind_any(const struct pm_report_model *model,
			 const struct pm_metric *metric, struct pm_report_metric *to)
{
	uint32_t furthest = bind(model, metric, "", to);

	for (uint32_t e = 0; furthest < metric->input_count && e < model->event_count;
	     e++) {
		uint32_t reached;

		if (!model->events[e].suffix_is_new)
			continue;
		reached = bind(model, metric, model->events[e].suffix, to);
		if (reached > furthest)
			furthest = reached;
	}
	return furthest;
}

static int note(struct pm_report_model *model, const struct pm_metric *metric,
		uint32_t missing)
{
	const char *name = metric->inputs[missing].name;
	bool known = false;

	for (uint32_t e = 0; e < model->event_count; e++)
		known |= model->events[e].suffix_is_new &&
			 find(model, name, model->events[e].suffix) != PM_NO_EVENT;
	return PM_NOTE(model,
		       metric->inputs[missing].kind != PM_METRIC_EVENT
			       ? "no metric %s: %s is not that of the machine in a "
				 "profile that was counted exactly by translation"
		       : known ? "no metric %s: %s is not counted with the same "
				 "modifiers as its other events"
			       : "no metric %s: %s is not counted",
		       metric->name, name);
}

/* Returns the column of METRIC's name, or the number of columns. */
static uint32_t column_of(const struct pm_report_model *model,
			  const struct pm_metric *metric)
{
	uint32_t m = 0;

	while (m < model->metric_count &&
	       !pm_metric_is_same(model->metrics[m].metric, metric))
		m++;
	return m;
}

/* Makes FORMULA a column, or a formula for some regions of the column that there is. The former go to
 * the front of the ROOM, the latter to its end. */
static void formula_add(struct pm_report_model *model,
			const struct pm_report_metric *formula, uint32_t room)
{
	uint32_t column = column_of(model, formula->metric);

	if (column == model->metric_count) {
		model->metrics[model->metric_count++] = *formula;
	} else if (formula->metric->region) {
		uint32_t at = room - ++model->formula_count;

		model->metrics[at] = *formula;
		model->metrics[at].other = model->metrics[column].other;
		model->metrics[column].other = at;
	} else if (model->metrics[column].metric->region) {
		/* The column's own formula is for all other regions. */
		uint32_t at = room - ++model->formula_count;

		model->metrics[at] = model->metrics[column];
		model->metrics[column] = *formula;
		model->metrics[column].other = at;
	}
}

/* Moves the formulas from the end of the ROOM to those of columns. */
static void formulas_close(struct pm_report_model *model, uint32_t room)
{
	uint32_t others = model->formula_count, from = room - others;

	memmove(&model->metrics[model->metric_count], &model->metrics[from],
		others * sizeof(model->metrics[0]));
	model->formula_count += model->metric_count;
	for (uint32_t m = 0; m < model->formula_count; m++)
		if (model->metrics[m].other)
			model->metrics[m].other -= from - model->metric_count;
}

/* How many of METRIC's inputs that are events THREAD counted, and how many there are. */
static uint32_t inputs_open(const struct pm_report_model *model,
			    const struct pm_report_metric *metric,
			    const struct pm_snapshot_thread *thread, uint32_t *all)
{
	const uint32_t *of = pm_report_columns(model, thread);
	uint32_t open = 0;

	*all = 0;
	for (uint32_t i = 0; i < metric->metric->input_count; i++) {
		uint32_t e = metric->events[i];
		bool found = false;

		if (e == PM_NO_EVENT || !is_of_threads(model, e))
			continue;
		++*all;
		/* The column of the report that stands behind a metric's own. */
		e = model->events[e].only ? model->events[e].of : e;
		for (uint32_t c = 0; of && c < thread->plan->counter_count; c++)
			found |= of[c] == e && thread->record.status[c] > 0;
		open += found;
	}
	return open;
}

bool pm_report_metric_is_whole(const struct pm_report_model *model,
			       const struct pm_report_metric *metric,
			       const struct pm_snapshot_thread *thread)
{
	uint32_t all;

	return inputs_open(model, metric, thread, &all) == all;
}

/* Returns true if some thread counted only a part of METRIC's events: a quotient over different
 * threads would mean nothing. */
static bool is_uneven(const struct pm_report_model *model,
		      const struct pm_report_metric *metric)
{
	for (uint32_t t = 0; t < model->snapshot->thread_count; t++) {
		uint32_t all, open = inputs_open(model, metric,
						 &model->snapshot->threads[t], &all);

		if (open && open < all)
			return true;
	}
	return false;
}

/* Gives METRIC columns of its own, which have what the other threads counted. */
static int own_columns(struct pm_report_model *model, struct pm_report_metric *metric)
{
	struct pm_report_event *events =
		realloc(model->events,
			(model->column_count + PM_METRIC_INPUTS) * sizeof(*events));

	if (!events)
		return -ENOMEM;
	model->events = events;
	for (uint32_t i = 0; i < metric->metric->input_count; i++) {
		uint32_t e = metric->events[i], own = model->column_count;

		if (e == PM_NO_EVENT || !is_of_threads(model, e))
			continue;
		events[own] = events[e];
		events[own].only = metric;
		events[own].of = e;
		metric->events[i] = own;
		if (metric->base == e)
			metric->base = own;
		model->column_count++;
	}
	/* They point into their own names. */
	for (uint32_t e = 0; e < model->column_count; e++)
		events[e].parsed = pm_event_name_of(events[e].name);
	return 0;
}

int pm_report_metrics_bind(struct pm_report_model *model,
			   const struct pm_metrics *metrics)
{
	int err = 0;

	if (!metrics) {
		err = pm_metrics_parse(NULL, &model->own_metrics, NULL);
		if (err)
			return err;
		metrics = model->own_metrics;
	}
	model->metrics = malloc((metrics->count + 1) * sizeof(*model->metrics));
	if (!model->metrics)
		return -ENOMEM;
	for (uint32_t m = 0; !err && m < metrics->count; m++) {
		const struct pm_metric *metric = &metrics->metrics[m];
		struct pm_report_metric formula = {.other = 0};
		uint32_t found = bind_any(model, metric, &formula);

		if (found == metric->input_count)
			formula_add(model, &formula, metrics->count + 1);
		/* Built-in ones are of what there is: nobody asked for them. */
		else if (!metric->heading &&
			 column_of(model, metric) == model->metric_count)
			err = note(model, metric, found);
	}
	formulas_close(model, metrics->count + 1);
	for (uint32_t m = 0; !err && m < model->formula_count; m++)
		if (is_uneven(model, &model->metrics[m]))
			err = own_columns(model, &model->metrics[m]);
	return err;
}

void pm_report_metrics_free(struct pm_report_model *model)
{
	for (uint32_t i = 0; i < model->note_count; i++)
		free(model->notes[i]);
	free(model->notes);
	free(model->metrics);
	pm_metrics_free(model->own_metrics);
}

const struct pm_report_metric *pm_report_metric_of(const struct pm_report_model *model,
						   uint32_t metric, const char *name)
{
	const struct pm_report_metric *column = &model->metrics[metric], *m = column;

	while (m->other) {
		m = &model->metrics[m->other];
		if (!fnmatch(m->metric->region, name, 0))
			return m;
	}
	if (column->metric->region && fnmatch(column->metric->region, name, 0))
		return NULL;
	return column;
}

const char *pm_report_metric_heading(const struct pm_report_metric *metric)
{
	return metric->metric->heading ? metric->metric->heading : metric->metric->name;
}
