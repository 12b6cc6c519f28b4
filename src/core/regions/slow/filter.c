/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Filters. A region is left out by its name when it is registered: all its places have one key,
 * and BEGIN and END compare it. A path is left out by an entry without a node in the thread's
 * table of paths: the slow path enters one for what is too deep, and a look at a path whose visits
 * are too short takes its node away. What begins in such a visit is left out with it.
 */
#include "core/regions/slow/prepare.h"

#include <stdio.h>

#include "core/kernel/clock.h"
#include "core/regions/threads/paths.h"
#include "core/regions/threads/steps.h"
#include "core/regions/threads/thread.h"
#include "fastpath/fastpath.h"

_Static_assert(PM_DEPTH_MAX == PERFMON_PROFILE_DEPTH_MAX,
	       "the highest PERFMON_DEPTH leaves nothing out");

void pm_filter_begin(void)
{
	pm_region_general.filters =
		pm_options_filter(&pm_regions.options) || pm_regions.options.steps;
	/* The looks would be at times that differ from run to run. */
	pm_region_general.looks = pm_regions.options.min_mean_ns > 0 && !pm_regions.exact;
}

static void note(const char *name, const char *value)
{
	char text[400];

	if (!value)
		return;
	snprintf(text, sizeof(text), "%s=%s leaves visits out", name, value);
	pm_profile_note(text);
}

void pm_filter_note(void)
{
	const struct pm_options *options = &pm_regions.options;
	char value[40];

	note("PERFMON_ONLY", options->only);
	note("PERFMON_SKIP", options->skip);
	snprintf(value, sizeof(value), "%u", options->depth);
	note("PERFMON_DEPTH", options->depth < PM_DEPTH_MAX ? value : NULL);
	snprintf(value, sizeof(value), "%.6gns", options->min_mean_ns);
	if (pm_regions.exact && options->min_mean_ns > 0)
		pm_profile_note("PERFMON_MIN_MEAN has no effect with exact counts");
	else
		note("PERFMON_MIN_MEAN", options->min_mean_ns > 0 ? value : NULL);
}

static void mark(struct perfmon_profile_node *node)
{
	PM_PUT(node->flags, node->flags | PERFMON_PROFILE_NODE_LEFT_OUT);
}

/* Marks node NUMBER and all below it, which have higher numbers. */
static void mark_from(const struct perfmon_profile_thread *record, uint32_t number)
{
	mark(pm_thread_node(record, number));
	while (++number <= record->node_count) {
		struct perfmon_profile_node *node = pm_thread_node(record, number);

		if (node->parent > 1 && pm_thread_node(record, node->parent)->flags &
						PERFMON_PROFILE_NODE_LEFT_OUT)
			mark(node);
	}
}

static void look(struct pm_path_entry *entry)
{
	struct perfmon_profile_node *node = entry->node;
	uint64_t visits = node->sequence / 2;
	double ns;

	/* The cost of a visit is being measured. */
	if (pm_thread_busy || !visits)
		return;
	if (pm_region_general.stride)
		visits = pm_node_stride(node, pm_thread_block->columns)->weight ?: visits;
	ns = pm_clock_ticks_ns((double)node->time_ticks) / (double)visits;
	if (ns >= pm_regions.options.min_mean_ns)
		return;
	mark_from(pm_thread_block->thread->record, entry->number);
	entry->number = PERFMON_PROFILE_LEFT_OUT_MEAN;
	entry->node = NULL;
}

void pm_region_path_look(struct pm_path_entry *entry, struct pm_frame *frame)
{
	if (pm_region_step_is_due(entry))
		pm_steps_mark(entry, frame);
	if (pm_region_filter_is_due(entry))
		look(entry);
}
