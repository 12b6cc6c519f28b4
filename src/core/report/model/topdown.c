/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Intel's topdown metrics. The CPU keeps each as an 8-bit fraction of the slots since both
 * were reset, and each read(2) of the kernel adds slots * fraction / 255 to the counts and resets
 * both. BEGIN and END are such reads. So a visit is off by no more than 1/255 of its own slots,
 * however long the program has run.
 *
 * At a switch of threads the kernel keeps both registers, adds what has grown since, and leaves
 * out what has fallen by rounding (Linux, arch/x86/events/intel/core.c). That makes counts too large.
 * The four metrics of level 1 are all slots: what they exceed these by is what it comes to.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/report/model/value.h"

#define CODE_SLOTS    0x400
#define CODE_FIRST    0x8000
#define CODE_LAST     0x8700
#define CODE_STEP     0x100
#define FRACTION_UNIT (1.0 / 255)

/* A product with a fraction is rounded down, for each metric. The fractions of level 1 add up to
 * the whole, so that their sum loses one less than there are. */
#define ROUNDED_EACH 1
#define ROUNDED_SUM  (PM_TOPDOWN_LEVEL1 - 1)

static bool is_intel_core(const struct perfmon_profile_counter *counter)
{
	return counter->flags & PERFMON_PROFILE_COUNTER_HARDWARE &&
	       (!strcmp(counter->pmu, "cpu") || !strcmp(counter->pmu, "cpu_core"));
}

static bool is_metric(const struct perfmon_profile_counter *counter)
{
	uint64_t code = counter->config[0];

	return is_intel_core(counter) && counter->type >= PERF_TYPE_RAW &&
	       code >= CODE_FIRST && code <= CODE_LAST && code % CODE_STEP == 0;
}

/* Returns the column of the event CODE that PLAN counts with LIKE, in its modes; PM_NO_EVENT: there
 * is none, or several. */
static uint32_t find(const struct pm_report_model *model, uint32_t plan,
		     const struct perfmon_profile_counter *like, uint64_t code)
{
	const struct pm_snapshot_plan *in = &model->snapshot->plans[plan];
	const char *suffix = pm_event_name_of(like->name).suffix;
	uint32_t found = PM_NO_EVENT;

	for (uint32_t c = 0; c < in->counter_count; c++) {
		const struct perfmon_profile_counter *counter = &in->counters[c];

		if (counter->config[0] != code || counter->type != like->type ||
		    strcmp(counter->pmu, like->pmu) ||
		    strcmp(pm_event_name_of(counter->name).suffix, suffix))
			continue;
		if (found != PM_NO_EVENT)
			return PM_NO_EVENT;
		found = model->event_of[plan][c];
	}
	return found;
}

static bool has_slots(const struct pm_snapshot_plan *plan)
{
	for (uint32_t c = 0; c < plan->counter_count; c++)
		if (is_intel_core(&plan->counters[c]) &&
		    plan->counters[c].config[0] == CODE_SLOTS)
			return true;
	return false;
}

static void bind(struct pm_report_model *model, uint32_t plan, uint32_t c)
{
	const struct perfmon_profile_counter *counter =
		&model->snapshot->plans[plan].counters[c];
	struct pm_report_event *event = &model->events[model->event_of[plan][c]];

	event->fraction = true;
	event->slots = find(model, plan, counter, CODE_SLOTS);
	for (uint32_t k = 0; k < PM_TOPDOWN_LEVEL1; k++)
		event->level1[k] = find(model, plan, counter, CODE_FIRST + k * CODE_STEP);
}

/* Says why there are no shares where slots count on one kind of core alone. */
static int note(struct pm_report_model *model, const struct pm_report_event *event)
{
	const struct pm_event_name *name = &event->parsed;

	return PM_NOTE(model,
		       "no shares of slots: %s is a sum over kinds of core, and only one "
		       "kind counts slots; name its PMU, as in cpu_core/%.*s/",
		       event->name, (int)name->length, name->bare);
}

int pm_report_topdown_bind(struct pm_report_model *model)
{
	const struct pm_snapshot *s = model->snapshot;

	for (uint32_t p = 0; p < s->plan_count; p++)
		for (uint32_t c = 0;
		     has_slots(&s->plans[p]) && c < s->plans[p].counter_count; c++)
			if (is_metric(&s->plans[p].counters[c]))
				bind(model, p, c);
	for (uint32_t e = 0; e < model->event_count; e++)
		if (pm_report_is_mixed(&model->events[e]))
			return note(model, &model->events[e]);
	return 0;
}

double pm_report_fraction_error(const struct pm_report_tree *tree, uint32_t node,
				uint32_t event, bool exclusive)
{
	const struct pm_report_event *e = &tree->model->events[event];
	struct pm_report_count own = pm_report_sums(tree, node, event, exclusive), slots;
	double intervals, beyond = 0;

	if (e->slots == PM_NO_EVENT || pm_report_is_mixed(e))
		return INFINITY;
	slots = pm_report_sums(tree, node, e->slots, exclusive);
	for (uint32_t k = 0; k < PM_TOPDOWN_LEVEL1; k++) {
		struct pm_report_count part;

		if (e->level1[k] == PM_NO_EVENT)
			return INFINITY;
		part = pm_report_sums(tree, node, e->level1[k], exclusive);
		if (part.threads != own.threads || part.threads != slots.threads)
			return INFINITY;
		beyond += (double)part.sum;
	}
	/* Each BEGIN and each END, of visits inside, too, ends an interval between two reads. */
	intervals = 2 * (double)slots.windows;
	if (slots.sampled)
		intervals *= (double)slots.measured / (double)slots.sampled;
	beyond -= (double)slots.sum - ROUNDED_SUM * intervals;
	return FRACTION_UNIT * (double)slots.sum + ROUNDED_EACH * intervals +
	       fmax(0, beyond);
}
