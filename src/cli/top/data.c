/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The changes between two looks at a profile. They are trees of differences, which
 * report_model.h treats like others, so that one place scales, marks and divides.
 *
 * Threads end, and their values move into the sum of ended ones; so each group is compared
 * with all that belonged to it before.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/top/top.h"

#define NONE PM_NO_EVENT

/* Maps regions and events of one look to those of an earlier one. */
struct match {
	uint32_t *regions; /* by ID; NONE: it was not there */
	uint32_t *events;
};

/* Finds the numbers of NOW's regions in BEFORE. A profile does not change them. */
static void regions_match(uint32_t *regions, const struct pm_report_model *now,
			  const struct pm_report_model *before)
{
	const struct pm_snapshot *s = now->snapshot, *old = before->snapshot;

	regions[0] = 0;
	for (uint32_t r = 1; r <= s->region_count; r++)
		regions[r] =
			r <= old->region_count && !strcmp(old->regions[r], s->regions[r])
				? before->region_of[r]
				: NONE;
}

/* Returns the metric's name for a column that only metrics use, else "". */
static const char *only(const struct pm_report_event *event)
{
	return event->only ? event->only->metric->name : "";
}

/* Finds the column of EVENT for METRIC. */
static uint32_t event_find(const struct pm_report_model *model,
			   const struct pm_report_event *event, const char *metric)
{
	for (uint32_t e = 0; e < model->column_count; e++) {
		const struct pm_report_event *other = &model->events[e];

		if (other->twin == event->twin && !strcmp(only(other), metric) &&
		    pm_report_same_event(other->first, event->first))
			return e;
	}
	return NONE;
}

static uint32_t event_match(const struct pm_report_model *before,
			    const struct pm_report_event *event)
{
	uint32_t found = event_find(before, event, only(event));

	/* While no thread has counted only a part, all threads have counted all. */
	return found == NONE && event->only ? event_find(before, event, "") : found;
}

/* Free MATCH also after a failure. */
static int match_make(struct match *match, const struct pm_report_model *now,
		      const struct pm_report_model *before)
{
	match->regions = malloc(((size_t)now->snapshot->region_count + 1) *
				sizeof(*match->regions));
	match->events = malloc(((size_t)now->column_count + 1) * sizeof(*match->events));
	if (!match->regions || !match->events)
		return -ENOMEM;
	for (uint32_t e = 0; e < now->column_count; e++)
		match->events[e] = event_match(before, &now->events[e]);
	regions_match(match->regions, now, before);
	return 0;
}

static void match_free(struct match *match)
{
	free(match->regions);
	free(match->events);
}

/* The threads of the last look, sorted. A number belongs to one thread at a time. */
struct earlier {
	struct earlier_thread {
		const struct top_group *group;
		bool stays; /* it is also in this look */
	} * at;
	uint32_t count;
};

static int by_thread(const void *a, const void *b)
{
	const struct earlier_thread *old = a, *other = b;
	const struct perfmon_profile_thread *x = old->group->thread;
	const struct perfmon_profile_thread *y = other->group->thread;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->begin_ticks < y->begin_ticks ? -1 : x->begin_ticks > y->begin_ticks;
}

static int threads_sort(struct earlier *earlier, const struct top_look *look)
{
	earlier->at = calloc(look->group_count, sizeof(*earlier->at));
	if (!earlier->at)
		return -ENOMEM;
	for (uint32_t g = 0; g < look->group_count; g++)
		if (look->groups[g].kind == TOP_THREAD)
			earlier->at[earlier->count++].group = &look->groups[g];
	qsort(earlier->at, earlier->count, sizeof(*earlier->at), by_thread);
	return 0;
}

/* Finds the thread of GROUP, which stays. Returns NULL if it is new. */
static const struct top_group *thread_find(struct earlier *earlier,
					   const struct top_group *group)
{
	const struct earlier_thread wanted = {.group = group};
	struct earlier_thread *found =
		earlier->count ? bsearch(&wanted, earlier->at, earlier->count,
					 sizeof(wanted), by_thread)
			       : NULL;

	if (!found)
		return NULL;
	found->stays = true;
	return found->group;
}

/* Adds the group of the COUNT THREADS of the snapshot, or of all (NULL). */
static int group_make(struct top_look *look, enum top_kind kind, const uint32_t *threads,
		      uint32_t count)
{
	struct top_group *group = &look->groups[look->group_count];
	int err;

	memset(group, 0, sizeof(*group));
	group->kind = kind;
	group->cpu_percent = -1;
	if (kind == TOP_THREAD)
		group->thread = &look->snapshot->threads[*threads].record;
	err = pm_report_tree_make(&group->sums, &look->model, threads, count);
	if (err)
		return err;
	look->group_count++;
	return pm_report_tree_copy(&group->change, &group->sums);
}

static int subtract(struct top_group *group, const struct top_group *old,
		    const struct match *match)
{
	return pm_report_tree_subtract(&group->change, &old->sums, match->regions,
				       match->events);
}

/* Subtracts OLD, the group in the last look (NULL: none), from GROUP, which is all
 * threads or one. */
static int group_change(struct top_group *group, const struct top_group *old,
			const struct match *match)
{
	int err = old ? subtract(group, old, match) : 0;

	group->cpu_before_ns = old ? old->cpu_ns : 0;
	if (!err)
		pm_report_tree_reduce(&group->change, &group->sums);
	return err;
}

/* Does the same for the ended threads, of which some may have ended since the last look. */
static int ended_change(struct top_group *group, const struct earlier *earlier,
			const struct top_look *before, const struct match *match)
{
	const struct top_group *last =
		before ? &before->groups[before->group_count - 1] : NULL;
	int err = last && last->kind == TOP_ENDED ? subtract(group, last, match) : 0;

	for (uint32_t i = 0; !err && i < earlier->count; i++)
		if (!earlier->at[i].stays)
			err = subtract(group, earlier->at[i].group, match);
	if (!err)
		pm_report_tree_reduce(&group->change, &group->sums);
	return err;
}

/* An ended thread has no open visits: visits that it did not leave are lost. */
static void close_visits(struct pm_snapshot_thread *thread)
{
	for (uint32_t n = 1; n <= thread->node_count; n++) {
		struct perfmon_profile_node *node = pm_snapshot_node(thread, n);

		const struct perfmon_profile_stride *stride =
			pm_snapshot_stride(thread, node);

		node->entered =
			pm_plus(pm_node_visits(node), stride ? stride->skipped : 0);
	}
}

static void threads_count(struct top_look *look)
{
	for (uint32_t t = 0; t < look->snapshot->thread_count; t++) {
		struct pm_snapshot_thread *thread = &look->snapshot->threads[t];

		if (thread->record.state == PERFMON_PROFILE_THREAD_STATE_LIVE) {
			look->threads_live++;
			continue;
		}
		close_visits(thread);
		look->threads_ended +=
			thread->record.state == PERFMON_PROFILE_THREAD_STATE_AGGREGATE
				? thread->record.aggregated
				: 1;
	}
}

static void group_free(struct top_group *group)
{
	pm_report_tree_free(&group->sums);
	pm_report_tree_free(&group->change);
}

int top_look_threads(struct top_look *look, const struct top_look *before)
{
	struct pm_snapshot *s = look->snapshot;
	struct earlier earlier = {NULL, 0};
	struct match match = {NULL, NULL};
	uint32_t *ended, ended_count = 0;
	int err;

	if (look->group_count > 1)
		return 0;
	ended = calloc((size_t)s->thread_count + 1, sizeof(*ended));
	err = ended ? 0 : -ENOMEM;
	if (!err && before)
		err = match_make(&match, &look->model, &before->model)
			      ?: threads_sort(&earlier, before);
	for (uint32_t t = 0; !err && t < s->thread_count; t++) {
		struct top_group *group = &look->groups[look->group_count];

		if (s->threads[t].record.state == PERFMON_PROFILE_THREAD_STATE_AGGREGATE)
			ended[ended_count++] = t;
		else
			err = group_make(look, TOP_THREAD, &t, 1)
				      ?: group_change(group, thread_find(&earlier, group),
						      &match);
	}
	if (!err && ended_count) {
		struct top_group *group = &look->groups[look->group_count];

		err = group_make(look, TOP_ENDED, ended, ended_count)
			      ?: ended_change(group, &earlier, before, &match);
	}
	match_free(&match);
	free(ended);
	free(earlier.at);
	while (err && look->group_count > 1)
		group_free(&look->groups[--look->group_count]);
	return err;
}

int top_look_make(struct top_look **out, struct pm_snapshot *snapshot,
		  const struct top_look *before, const struct pm_metrics *metrics,
		  const struct pm_machine *machine)
{
	uint64_t since =
		before ? before->snapshot->taken_ticks : snapshot->header.begin_ticks;
	struct top_look *look = calloc(1, sizeof(*look));
	struct match match = {NULL, NULL};
	int err;

	if (!look) {
		pm_snapshot_free(snapshot);
		return -ENOMEM;
	}
	look->snapshot = snapshot;
	look->whole = !before;
	look->seconds =
		pm_snapshot_ns(snapshot, (double)pm_less(snapshot->taken_ticks, since)) /
		1e9;
	threads_count(look);
	look->groups =
		malloc(((size_t)snapshot->thread_count + 2) * sizeof(*look->groups));
	err = look->groups ? pm_report_model_make(&look->model, snapshot, false, metrics)
			   : -ENOMEM;
	if (!err)
		pm_report_check_sanity(&look->model, machine);
	if (!err && before)
		err = match_make(&match, &look->model, &before->model);
	if (!err)
		err = group_make(look, TOP_ALL, NULL, 0)
			      ?: group_change(&look->groups[0],
					      before ? &before->groups[0] : NULL, &match);
	match_free(&match);
	if (err) {
		top_look_free(look);
		return err;
	}
	*out = look;
	return 0;
}

void top_look_trim(struct top_look *look)
{
	for (uint32_t g = 0; g < look->group_count; g++)
		pm_report_tree_free(&look->groups[g].change);
}

void top_look_free(struct top_look *look)
{
	if (!look)
		return;
	for (uint32_t g = 0; g < look->group_count; g++)
		group_free(&look->groups[g]);
	free(look->groups);
	/* It reads the number of plans from its snapshot. */
	pm_report_model_free(&look->model);
	pm_snapshot_free(look->snapshot);
	free(look);
}
