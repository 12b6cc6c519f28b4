/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Marks a number of a report that may be wrong: it is small against its bias, its CPU is known to
 * miscount it, or no machine can reach it. */
#include <math.h>
#include <string.h>

#include "core/report/model/tree_build.h"
#include "core/report/model/value.h"

/*
 * A count is held to one in a hundred: that is the last digit of a ratio near 1, of which
 * the report shows two decimals. What an empty region counts is the least that measuring
 * adds to a visit, so the error is at least bias * visits / sum.
 */
#define TOLERANCE 0.01

void pm_report_check_sanity(struct pm_report_model *model,
			    const struct pm_machine *machine)
{
	const struct pm_cpu_kinds *kinds = &model->snapshot->kinds;

	if (!kinds->count && machine)
		kinds = &machine->kinds;
	model->issue_width = pm_cpu_issue_width(kinds);
	/* No CPU has counted what was counted by translation. */
	for (uint32_t e = 0; e < model->event_count && !model->exact; e++) {
		struct pm_report_event *event = &model->events[e];

		if (event->first->flags & PERFMON_PROFILE_COUNTER_EXACT)
			continue;
		event->erratum =
			pm_cpu_erratum(kinds, event->parsed.bare, event->parsed.length,
				       event->generic == PM_GENERIC_INSTRUCTIONS,
				       event->generic == PM_GENERIC_BRANCHES);
	}
}

bool pm_report_is_short(const struct pm_report_tree *tree, uint32_t node, uint32_t event,
			bool exclusive, struct pm_short *out)
{
	const struct pm_report_event *e = &tree->model->events[event];
	struct pm_report_count c = pm_report_sums(tree, node, event, exclusive);
	double added = c.added, rest;

	memset(out, 0, sizeof(*out));
	if (!e->cost.known || !c.measured)
		return false;
	out->error = c.sum ? added / (double)c.sum : added > 0 ? INFINITY : 0;
	out->mean = (double)c.sum / (double)c.measured;
	out->bias = added / (double)c.measured;
	out->needed = ceil(out->bias / TOLERANCE);
	out->nested = c.windows > c.measured;
	/* The work of so many visits in one adds up to it; the bias is in it once, unless
	 * nested visits come along. */
	rest = out->mean - out->bias;
	if (rest > 0 && !out->nested)
		out->batch = ceil((out->needed - out->bias) / rest);
	/* A translator counts as much for each region as for an empty one: no bias is left. */
	if (e->first->flags & PERFMON_PROFILE_COUNTER_EXACT && tree->model->subtract_bias)
		return false;
	return out->error > TOLERANCE;
}

/* The least cost bounds a time less well: BEGIN and END are fastest in a loop of their own. */
#define TIME_TOLERANCE 0.1

bool pm_report_is_mostly_cost(const struct pm_report_tree *tree, uint32_t n,
			      bool exclusive)
{
	const struct pm_report_node *node = &tree->nodes[n];
	double added = node->path.times.added, all = (double)node->all_ticks;

	if (exclusive) {
		added -= node->path.times.children_added;
		all = (double)pm_path_exclusive(tree, n);
		if (node->path.times.inclusive < node->all_ticks)
			all += added;
	}
	return added > TIME_TOLERANCE * all;
}

double pm_report_metric_limit(const struct pm_report_model *model,
			      const struct pm_report_metric *m)
{
	const struct pm_metric_step *steps = m->metric->steps;

	if (m->metric->step_count != 3 || steps[0].what != PM_STEP_INPUT ||
	    steps[1].what != PM_STEP_INPUT || steps[2].what != PM_STEP_DIVIDE)
		return 0;
	if (m->events[steps[0].input] == PM_NO_EVENT ||
	    m->events[steps[1].input] == PM_NO_EVENT ||
	    model->events[m->events[steps[0].input]].generic != PM_GENERIC_INSTRUCTIONS ||
	    model->events[m->events[steps[1].input]].generic != PM_GENERIC_CYCLES)
		return 0;
	return model->issue_width;
}

/* Less of the time than what is lost between two readings of it. */
#define NEVER 0.01

static bool is_starved(const struct pm_report_tree *all, uint32_t event)
{
	uint64_t lost_ns = 0;

	for (uint32_t n = 1; n < all->node_count; n++) {
		struct pm_report_count c = pm_report_sums(all, n, event, false);

		if (c.sum || (c.on_cpu_ns > 0 && c.running_ns > NEVER * c.on_cpu_ns))
			return false;
		lost_ns += c.lost_ns;
	}
	return lost_ns;
}

uint32_t pm_report_starved(const struct pm_report_tree *all)
{
	for (uint32_t e = 0; e < all->model->event_count; e++)
		if (is_starved(all, e))
			return e;
	return PM_NO_EVENT;
}

const char *pm_report_state_name(enum pm_state state)
{
	static const char *const names[] = {
		[PM_COUNTED] = "counted",
		[PM_NOT_COUNTED] = "not counted",
		[PM_NEVER_OPENED] = "never opened",
		[PM_NOT_SAID] = "not said",
	};

	return names[state];
}

const char *pm_report_mark_name(uint32_t mark)
{
	/* In the order of their bits. */
	static const char *const names[PM_MARKS] = {
		"estimated",	   "part_of_time", "retried",	  "fallback_read",
		"in_flight",	   "torn",	   "mismatched",  "dropped",
		"part_of_threads", "defect",	   "too_short",	  "implausible",
		"erratum",	   "migrated",	   "sampled",	  "left_out",
		"fraction",	   "below_error",  "runs_differ", "coarse",
		"at_most"};

	return names[__builtin_ctz(mark)];
}

void pm_report_mark_words(uint32_t marks, const char *between, struct pm_diag *words)
{
	for (uint32_t i = 0; i < PM_MARKS; i++)
		if (marks & 1u << i)
			pm_diag_add(words, "%s%s", *words->text ? between : "",
				    pm_report_mark_name(1u << i));
}
