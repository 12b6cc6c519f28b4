/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The nodes and plans of another run go into a snapshot. */
#include "core/report/merge/join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/merge/alike.h"
#include "core/report/merge/parts.h"
#include "core/report/model/model.h"
#include "core/text/grow.h"

/* Makes room for COUNT codes in TO, which has BEFORE, if it or FROM has any. */
static int codes_make_room(struct pm_snapshot *to, const struct pm_snapshot *from,
			   size_t before, size_t count)
{
	struct pm_snapshot_code **codes;

	if (!to->codes && !from->codes)
		return 0;
	before = to->codes ? before : 0;
	codes = reallocarray(to->codes, count, sizeof(*codes));
	if (!codes)
		return -ENOMEM;
	memset(codes + before, 0, (count - before) * sizeof(*codes));
	to->codes = codes;
	return 0;
}

static int code_copy(struct pm_snapshot_code **to, const struct pm_snapshot_code *from)
{
	*to = from ? pm_snapshot_code_make(from, from->path, strlen(from->path)) : NULL;
	return from && !*to ? -ENOMEM : 0;
}

/* Adds the names of FROM: the region ID of it is TO's region *BASE + ID. */
static int regions_add(struct pm_snapshot *to, const struct pm_snapshot *from,
		       uint32_t *base)
{
	size_t count = (size_t)to->region_count + from->region_count + 1;
	char **regions = reallocarray(to->regions, count, sizeof(*regions));

	if (!regions)
		return -ENOMEM;
	to->regions = regions;
	if (codes_make_room(to, from, (size_t)to->region_count + 1, count))
		return -ENOMEM;
	*base = to->region_count;
	for (uint32_t id = 1; id <= from->region_count; id++) {
		regions[to->region_count + 1] = strdup(from->regions[id]);
		if (!regions[to->region_count + 1])
			return -ENOMEM;
		to->region_count++;
		if (from->codes &&
		    code_copy(&to->codes[to->region_count], from->codes[id]))
			return -ENOMEM;
	}
	return 0;
}

/* So much room a new plan makes below the generations of the others. They may begin at 0. */
#define GENERATIONS 2

static void shift(struct pm_snapshot_thread *threads, uint32_t count)
{
	for (uint32_t t = 0; t < count; t++)
		threads[t].record.generation += GENERATIONS;
}

/* Returns a generation that no plan has, below the newest one's, which stays the newest. */
static uint32_t generation_new(struct pm_snapshot *s)
{
	for (uint32_t p = 0; p < s->plan_count; p++)
		s->plans[p].generation += GENERATIONS;
	shift(s->threads, s->thread_count);
	shift(s->joined, s->joined_count);
	for (uint32_t i = 0; i < s->steps_count; i++)
		shift(&s->steps[i].thread, 1);
	s->generation += GENERATIONS;
	return GENERATIONS - 1;
}

/* An event of a run, by its name in the runs before: their values stay. */
static void counted_drop(const struct pm_snapshot *s, uint32_t runs_before,
			 struct pm_snapshot_thread *thread)
{
	for (uint32_t c = 0; c < thread->plan->counter_count; c++) {
		const struct perfmon_profile_counter *counter =
			&thread->plan->counters[c];

		if (pm_alike_any_counted(s->threads, s->thread_count, counter) ||
		    pm_alike_any_counted(s->joined, runs_before, counter))
			thread->record.status[c] = 0;
	}
}

/* Copies the nodes of FROM. A tick of it is RATIO of TO's. */
static void nodes_copy(struct pm_snapshot_thread *to,
		       const struct pm_snapshot_thread *from, uint32_t base, double ratio)
{
	struct pm_node_part part = {
		.columns = from->plan->counter_count,
		.aggregate = true,
		.ratio = ratio,
	};

	for (uint32_t n = 1; n <= from->node_count; n++) {
		struct perfmon_profile_node *node = pm_snapshot_node(to, n);

		part.node = pm_snapshot_node(from, n);
		part.stride = pm_snapshot_stride(from, part.node);
		node->time_min = node->thread_min_ticks = UINT64_MAX;
		pm_node_add(node, &part);
		node->parent = part.node->parent;
		node->region = part.node->region ? base + part.node->region : 0;
	}
}

/* Adds FROM, a thread of a merge's sum, to the other runs of S. */
static int thread_add(struct pm_snapshot *s, const struct pm_snapshot_thread *from,
		      uint32_t base, double ratio, uint32_t runs_before)
{
	uint32_t generation = generation_new(s);
	struct pm_snapshot_plan *plan = pm_merge_plan_add(s, from->plan);
	struct pm_snapshot_thread *to;

	if (!plan || !PM_GROW(s->joined, s->joined_count))
		return -ENOMEM;
	plan->generation = generation;
	to = &s->joined[s->joined_count];
	*to = *from;
	to->plan = plan;
	to->record.generation = generation;
	to->nodes = calloc(from->node_count + 1, from->node_size);
	if (!to->nodes)
		return -ENOMEM;
	s->joined_count++;
	nodes_copy(to, from, base, ratio);
	counted_drop(s, runs_before, to);
	return 0;
}

static int check(const struct pm_snapshot *timed, const struct pm_snapshot *counts,
		 const struct pm_join_run *run, struct pm_diag *diag)
{
	struct pm_quote name = pm_slice_quote(pm_slice_of(run->name));
	uint32_t events = 0;

	for (uint32_t p = 0; p < counts->plan_count; p++)
		events += counts->plans[p].counter_count;
	if (!events)
		return pm_diag_set(diag, -EINVAL, "'%s': has no counts of events",
				   name.text);
	if (pm_report_is_exact(timed))
		return pm_diag_set(diag, -EINVAL,
				   "'%s': the profile that it is joined to was counted "
				   "exactly by translation, and has no times of the "
				   "machine: give the profile of a run without --exact "
				   "first",
				   name.text);
	if (timed->tick_ns <= 0)
		return pm_diag_set(
			diag, -EINVAL,
			"'%s': the profile that it is joined to has no tick rate",
			name.text);
	return 0;
}

int pm_join_add(struct pm_snapshot *timed, const struct pm_merge *merge,
		const struct pm_join_run *run, struct pm_diag *diag)
{
	const struct pm_snapshot *counts = pm_merge_sum(merge);
	uint32_t base = 0, before = timed->joined_count;
	struct pm_alike alike = {.run = run};
	int err = check(timed, counts, run, diag);

	if (err)
		return err;
	if (!timed->packages.record.size)
		timed->packages = counts->packages;
	err = regions_add(timed, counts, &base)
		      ?: pm_alike_begin(&alike, timed, counts, base);
	for (uint32_t t = 0; !err && t < counts->thread_count; t++) {
		if (!counts->threads[t].plan)
			continue;
		err = thread_add(timed, &counts->threads[t], base,
				 counts->tick_ns / timed->tick_ns, before);
		if (!err)
			err = pm_alike_mark(&alike, &counts->threads[t],
					    &timed->joined[timed->joined_count - 1]);
	}
	err = err ?: pm_alike_tell(&alike, timed, before);
	pm_alike_end(&alike);
	return err ? pm_diag_set(diag, err, "no memory to join the profiles") : 0;
}
