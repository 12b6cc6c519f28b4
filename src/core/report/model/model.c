/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/report/model/model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/packages/packages.h"

/* The column's heading. The parts of a hybrid event differ in their PMU only. */
static void event_name(struct pm_report_event *event)
{
	const char *name = event->first->name, *end;
	size_t pmu = strlen(event->first->pmu);

	if (event->parts > 1 && pmu && !strncmp(name, event->first->pmu, pmu) &&
	    name[pmu] == '/' && (end = strrchr(name + pmu + 1, '/'))) {
		snprintf(event->name, sizeof(event->name), "%.*s%s%s",
			 (int)(end - name - (ptrdiff_t)pmu - 1), name + pmu + 1,
			 end[1] && end[1] != ':' ? ":" : "", end + 1);
		return;
	}
	snprintf(event->name, sizeof(event->name), "%s", name);
}

bool pm_report_same_event(const struct perfmon_profile_counter *a,
			  const struct perfmon_profile_counter *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->unit, b->unit) &&
	       a->scale == b->scale;
}

static bool has(const uint32_t *of, uint32_t count, uint32_t column)
{
	for (uint32_t c = 0; c < count; c++)
		if (of[c] == column)
			return true;
	return false;
}

/* The column of counter C of PLAN: one of an earlier plan, or a new one. An event that a
 * plan names twice, as in two groups, has two. */
static uint32_t event_find(struct pm_report_model *model,
			   const struct pm_snapshot_plan *plan, uint32_t c,
			   const uint32_t *of)
{
	const struct perfmon_profile_counter *counter = &plan->counters[c];
	struct pm_report_event *event;
	uint32_t e, twin = 0;

	for (uint32_t before = 0; before < c; before++)
		if (plan->counters[before].logical == counter->logical)
			return of[before];
	for (e = 0; e < model->event_count; e++) {
		if (!pm_report_same_event(model->events[e].first, counter))
			continue;
		if (!has(of, c, e))
			return e;
		twin++;
	}
	event = &model->events[model->event_count++];
	memset(event, 0, sizeof(*event));
	event->first = counter;
	event->twin = twin;
	event->generic = pm_generic_of(counter, &event->suffix);
	return e;
}

static void most(uint32_t *to, uint32_t from)
{
	if (from > *to)
		*to = from;
}

/* Raises *TO to FROM where that is more. An unknown cost is 0. */
static void cost_most(struct perfmon_profile_cost *to,
		      const struct perfmon_profile_cost *from)
{
	to->known |= from->known;
	most(&to->bias, from->bias);
	most(&to->call_bias, from->call_bias);
	most(&to->pair, from->pair);
	most(&to->call_pair, from->call_pair);
	most(&to->skipped, from->skipped);
}

static void event_add(struct pm_report_event *event,
		      const struct perfmon_profile_counter *counter)
{
	event->parts++;
	event->refused += (counter->flags & PERFMON_PROFILE_COUNTER_REFUSED) != 0;
	event->package |= (counter->flags & PERFMON_PROFILE_COUNTER_PACKAGE) != 0;
	event->is_energy = event->package && pm_packages_is_energy(counter->unit);
	event->kernel_only |= (counter->flags & PERFMON_PROFILE_COUNTER_KERNEL_ONLY) != 0;
	cost_most(&event->cost, &counter->cost);
}

/* Names the columns, once their place is known: they point into their own names. */
static void events_name(struct pm_report_model *model)
{
	for (uint32_t e = 0; e < model->event_count; e++) {
		struct pm_report_event *event = &model->events[e];

		event_name(event);
		event->parsed = pm_event_name_of(event->name);
		event->suffix_is_new = true;
		for (uint32_t before = 0; before < e && event->suffix_is_new; before++)
			event->suffix_is_new =
				strcmp(model->events[before].suffix, event->suffix) != 0;
	}
}

/* An event that another run counted in PLAN, and this one was refused, is that of the other run: the sum
 * of its counters there. */
static void event_replace(struct pm_report_event *event,
			  const struct pm_snapshot_plan *plan,
			  const struct perfmon_profile_counter *counter)
{
	bool begun = event->first >= plan->counters && event->first < counter;

	if (!begun && (event->refused < event->parts ||
		       counter->flags & PERFMON_PROFILE_COUNTER_REFUSED))
		return;
	if (!begun) {
		event->first = counter;
		event->joined = true;
		event->parts = event->refused = 0;
	}
	event_add(event, counter);
}

/* Notes how THREAD read its counters. */
static void reads_add(struct pm_report_model *model,
		      const struct pm_snapshot_thread *thread)
{
	const uint32_t *of = pm_report_columns(model, thread);

	for (uint32_t c = 0; of && c < thread->plan->counter_count; c++) {
		struct pm_report_event *event = &model->events[of[c]];
		int32_t status = thread->record.status[c];

		event->user_read |= status == PERFMON_PROFILE_COUNTER_STATUS_USER;
		event->syscall_read |= status == PERFMON_PROFILE_COUNTER_STATUS_SYSCALL;
	}
}

static int events_make(struct pm_report_model *model)
{
	const struct pm_snapshot *s = model->snapshot;
	size_t most = 0;

	for (uint32_t p = 0; p < s->plan_count; p++)
		most += s->plans[p].counter_count;
	model->events = malloc((most + 1) * sizeof(*model->events));
	model->event_of = calloc((size_t)s->plan_count + 1, sizeof(*model->event_of));
	if (!model->events || !model->event_of)
		return -ENOMEM;
	for (uint32_t p = 0; p < s->plan_count; p++) {
		const struct pm_snapshot_plan *plan = &s->plans[p];
		uint32_t known = model->event_count;
		bool joined = pm_snapshot_is_joined(s, plan);
		uint32_t *of = malloc((plan->counter_count + 1) * sizeof(*of));

		model->event_of[p] = of;
		if (!of)
			return -ENOMEM;
		for (uint32_t c = 0; c < plan->counter_count; c++) {
			of[c] = event_find(model, plan, c, of);
			/* An event of an earlier plan is described already. */
			if (of[c] >= known)
				event_add(&model->events[of[c]], &plan->counters[c]);
			else if (joined)
				event_replace(&model->events[of[c]], plan,
					      &plan->counters[c]);
			if (joined && of[c] >= known)
				model->events[of[c]].joined = true;
		}
	}
	for (uint32_t t = 0; t < s->joined_count; t++)
		reads_add(model, &s->joined[t]);
	for (uint32_t t = 0; t < s->thread_count; t++) {
		const struct pm_snapshot_thread *thread = &s->threads[t];

		model->sampled |=
			(thread->record.flags & PERFMON_PROFILE_THREAD_STRIDE) != 0;
		reads_add(model, thread);
	}
	return 0;
}

static int by_name(const void *a, const void *b, void *argument)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	char **names = argument;
	int order = strcmp(names[x], names[y]);

	return order ? order : x < y ? -1 : x > y;
}

static int regions_make(struct pm_report_model *model)
{
	const struct pm_snapshot *s = model->snapshot;
	size_t count = (size_t)s->region_count + 1;
	uint32_t *order = malloc(count * sizeof(*order));

	model->region_of = malloc(count * sizeof(*model->region_of));
	if (!order || !model->region_of) {
		free(order);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	/* The root's name is no region's. */
	model->region_of[0] = 0;
	qsort_r(order + 1, count - 1, sizeof(*order), by_name, s->regions);
	for (size_t i = 1; i < count; i++) {
		bool same =
			i > 1 && !strcmp(s->regions[order[i]], s->regions[order[i - 1]]);

		model->region_of[order[i]] =
			same ? model->region_of[order[i - 1]] : order[i];
	}
	free(order);
	return 0;
}

bool pm_report_is_exact(const struct pm_snapshot *snapshot)
{
	for (uint32_t p = 0; p < snapshot->plan_count; p++)
		for (uint32_t c = 0; c < snapshot->plans[p].counter_count; c++)
			if (snapshot->plans[p].counters[c].flags &
				    PERFMON_PROFILE_COUNTER_EXACT &&
			    !pm_snapshot_is_joined(snapshot, &snapshot->plans[p]))
				return true;
	return false;
}

const char *pm_report_weight_name(const struct pm_report_model *model)
{
	return model->exact ? model->events[0].name : "the time";
}

int pm_report_model_make(struct pm_report_model *model,
			 const struct pm_snapshot *snapshot, bool subtract_bias,
			 const struct pm_metrics *metrics)
{
	int err;

	memset(model, 0, sizeof(*model));
	model->snapshot = snapshot;
	model->exact = pm_report_is_exact(snapshot);
	model->subtract_bias = subtract_bias;
	err = regions_make(model) ?: events_make(model)
		      ?: pm_report_quantities_make(model);
	if (!err) {
		events_name(model);
		model->column_count = model->event_count;
		err = pm_report_topdown_bind(model)
			      ?: pm_report_metrics_bind(model, metrics);
	}
	if (err)
		pm_report_model_free(model);
	return err;
}

void pm_report_model_free(struct pm_report_model *model)
{
	for (uint32_t p = 0; model->event_of && p < model->snapshot->plan_count; p++)
		free(model->event_of[p]);
	pm_report_metrics_free(model);
	pm_report_quantities_free(model);
	free(model->event_of);
	free(model->events);
	free(model->region_of);
	memset(model, 0, sizeof(*model));
}
