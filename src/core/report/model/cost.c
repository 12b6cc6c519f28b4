/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The part of the time that measuring took: computed from the visits and the cost of one
 * visit, which was measured at start-up. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/report/model/tree_build.h"
#include "core/report/model/value.h"

/* Finds the cost of a visit in counts of an exact profile's first event. */
static void exact_pairs(const struct pm_report_model *model, struct pm_report_cost *out)
{
	const struct perfmon_profile_cost *cost = &model->events[0].cost;

	if (cost->known & PERFMON_PROFILE_COST_USER)
		out->pair_ns = cost->pair;
	if (cost->known & PERFMON_PROFILE_COST_CALL)
		out->call_pair_ns = cost->call_pair;
}

/* The shares of the cost of measured visits, and of those that a stride passes over, that are left
 * where the program's own work waits beside them. */
struct left {
	double measured, passed;
};

/* Finds the cost of a visit in the plans of the threads. */
static struct left pairs(const struct pm_report_model *model, struct pm_report_cost *out)
{
	const struct pm_snapshot *s = model->snapshot;
	double overlapped = 0, passed = 0, hidden;

	if (model->exact)
		exact_pairs(model, out);
	for (uint32_t t = 0; t < s->thread_count && !model->exact; t++) {
		const struct pm_snapshot_plan *plan = s->threads[t].plan;

		if (!plan)
			continue;
		if (plan->time.known & PERFMON_PROFILE_COST_USER)
			out->pair_ns =
				fmax(out->pair_ns, pm_snapshot_ns(s, plan->time.pair));
		if (plan->time.known & PERFMON_PROFILE_COST_OVERLAP)
			overlapped = fmax(overlapped,
					  pm_snapshot_ns(s, plan->time.overlapped));
		else
			overlapped = INFINITY;
		if (plan->time.known & PERFMON_PROFILE_COST_CALL)
			out->call_pair_ns = fmax(out->call_pair_ns,
						 pm_snapshot_ns(s, plan->time.call_pair));
		if (plan->time.known & PERFMON_PROFILE_COST_SKIPPED)
			passed = fmax(passed, pm_snapshot_ns(s, plan->time.skipped));
	}
	out->known = out->pair_ns > 0 || out->call_pair_ns > 0;
	if (model->exact || !(overlapped < out->pair_ns))
		return (struct left){1, 1};
	/* The work that waits hides as much of any visit. */
	hidden = out->pair_ns - overlapped;
	return (struct left){overlapped / out->pair_ns,
			     passed > hidden ? (passed - hidden) / passed : 0};
}

int pm_report_cost(const struct pm_report_tree *tree, struct pm_report_cost *out)
{
	uint32_t regions = tree->model->snapshot->region_count;
	double all = 0, spent = tree->nodes[0].outer_ticks, passed = 0, *of, *below;
	struct left left;

	*out = (struct pm_report_cost){.known = false};
	left = pairs(tree->model, out);
	of = calloc((size_t)regions + 1 + tree->node_count, sizeof(*of));
	if (!of)
		return -ENOMEM;
	below = of + regions + 1;
	for (uint32_t n = 1; n < tree->node_count; n++) {
		const struct pm_report_node *node = &tree->nodes[n];
		double *sum = &of[node->path.region];

		out->calls |= node->path.visits.fallback_reads > 0;
		*sum += node->path.times.spent;
		passed += node->passed_ticks;
		if (*sum > of[out->region])
			out->region = node->path.region;
		/* The time around the outermost visits is in no visit. */
		if (!node->path.parent && !tree->model->exact)
			all += (double)node->all_ticks +
			       fmax(0, node->outer_ticks - node->path.times.added);
	}
	/* Children have higher numbers. */
	for (uint32_t n = tree->node_count; tree->model->exact && n-- > 1;) {
		const struct pm_report_node *node = &tree->nodes[n];
		double ticks = (double)node->all_ticks;

		/* An open visit has counted at least what is below it. */
		if (node->path.visits.entered != node->path.visits.ended)
			ticks = fmax(ticks, below[n]);
		if (!node->path.parent)
			ticks += fmax(0, node->outer_ticks - node->path.times.added);
		below[node->path.parent] += ticks;
	}
	all += below[0];
	/* A system call does not overlap with anything. */
	if (out->calls)
		left = (struct left){1, 1};
	passed = fmin(passed, spent);
	if (all > 0) {
		out->part = fmin(1, spent / all);
		out->part_least = fmin(
			1,
			(left.measured * (spent - passed) + left.passed * passed) / all);
	}
	if (spent > 0)
		out->region_part = of[out->region] / spent;
	free(of);
	return 0;
}
