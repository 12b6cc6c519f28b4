/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The counts of another run are added to a tree: their visits and times stay out of it, and their
 * marks go with them. */
#include <errno.h>
#include <stdlib.h>

#include "core/report/model/tree_build.h"
#include "core/report/model/value.h"

static uint32_t marks_of(const struct pm_snapshot_thread *thread,
			 const struct perfmon_profile_node *node, bool exact)
{
	const struct perfmon_profile_stride *stride = pm_snapshot_stride(thread, node);
	uint64_t skipped = stride ? stride->skipped : 0;
	uint64_t visits = pm_snapshot_visits(node);
	const struct {
		bool holds;
		uint32_t mark;
	} marks[] = {
		{node->entered != pm_plus(visits, skipped), PM_MARK_IN_FLIGHT},
		{node->flags & PM_SNAPSHOT_TORN, PM_MARK_TORN},
		{node->flags & PERFMON_PROFILE_NODE_LEFT_OUT, PM_MARK_LEFT_OUT},
		{node->mismatched_ends, PM_MARK_MISMATCHED},
		{node->dropped_counts || (!visits && skipped), PM_MARK_DROPPED},
		{node->retries, PM_MARK_RETRIED},
		{node->fallback_reads, PM_MARK_FALLBACK},
		{node->defects, PM_MARK_DEFECT},
		{node->migrations && !exact, PM_MARK_MIGRATED},
		{node->flags & PERFMON_PROFILE_NODE_FEWER_THREADS, PM_MARK_THREADS},
		{node->flags & PERFMON_PROFILE_NODE_UNALIKE, PM_MARK_RUNS},
	};
	uint32_t all = 0;

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		all |= marks[i].holds ? marks[i].mark : 0;
	return all;
}

/* Gives the marks of NODE to the events that THREAD counted, in COUNTS. */
static void marks_add(const struct pm_report_model *model, struct pm_report_count *counts,
		      const struct pm_snapshot_thread *thread,
		      const struct perfmon_profile_node *node)
{
	const struct pm_snapshot_plan *plan = thread->plan;
	const uint32_t *of = plan ? model->event_of[plan - model->snapshot->plans] : NULL;

	for (uint32_t c = 0; plan && c < plan->counter_count; c++) {
		bool exact = plan->counters[c].flags & PERFMON_PROFILE_COUNTER_EXACT;

		if (thread->record.status[c] > 0)
			counts[of[c]].marks |= marks_of(thread, node, exact);
	}
}

static void node_add(struct pm_report_tree *tree, const struct pm_snapshot_thread *thread,
		     uint32_t n, const uint32_t *map, const bool *whole)
{
	const struct perfmon_profile_node *node = pm_snapshot_node(thread, n);
	struct pm_tree_place place = pm_tree_place_of(tree, thread, n, map);

	place.threads = thread->record.state == PERFMON_PROFILE_THREAD_STATE_AGGREGATE
				? node->threads
				: 1;
	place.node->is_team |= (node->flags & PERFMON_PROFILE_NODE_ADOPTED) != 0;
	place.node->is_overlapping |= pm_node_is_overlapping(node);
	pm_tree_counts_add(tree->model, &place, thread, node, whole);
	marks_add(tree->model, place.counts, thread, node);
}

int pm_tree_joined_add(struct pm_tree_build *build,
		       const struct pm_snapshot_thread *thread, uint32_t *map)
{
	const struct pm_report_model *model = build->tree->model;
	/* No column of metrics alone has counts of another run. */
	bool *whole =
		calloc(model->column_count - model->event_count + 1, sizeof(*whole));
	int err = whole ? 0 : -ENOMEM;

	map[1] = 0;
	pm_tree_root_add(build->tree, thread);
	if (!err && thread->node_count)
		marks_add(model, build->tree->counts, thread,
			  pm_snapshot_node(thread, 1));
	for (uint32_t n = 2; !err && n <= thread->node_count; n++) {
		const struct perfmon_profile_node *node = pm_snapshot_node(thread, n);
		uint32_t number;

		/* The program says its quantities in each run. */
		if (pm_node_is_quantity(node)) {
			map[n] = map[node->parent];
			continue;
		}
		err = pm_tree_node(build, map[node->parent],
				   model->region_of[node->region], &number);
		if (err)
			break;
		map[n] = number;
		node_add(build->tree, thread, n, map, whole);
	}
	free(whole);
	return err;
}
