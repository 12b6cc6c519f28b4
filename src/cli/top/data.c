/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The changes between two looks at a profile. They are trees of differences, which
 * report_model.h treats like others, so that one place scales, marks and divides.
 *
 * Sums only grow, with two exceptions. First, threads end, and their values move into the
 * sum of ended ones; so each group is compared with all that belonged to it before.
 * Second, a visit adds to its node when it ends, long after the visits below it. So a
 * node's exclusive part, its values less its children's, falls while such a visit is
 * open. The next look's children's sums are reduced by that amount: it belongs to the
 * open visit, and is subtracted once, when the visit ends.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/top/top.h"

#define NONE UINT32_MAX

/* Maps regions and events of one look to those of an earlier one. */
struct match {
	uint32_t *regions; /* by ID; NONE: it was not there */
	uint32_t *events;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(**(char *const *const *)a, **(char *const *const *)b);
}

/* Returns the regions of MODEL sorted by name, as pointers into its snapshot's, or NULL
 * without memory. */
static char ***regions_sort(const struct pm_report_model *model)
{
	const struct pm_snapshot *s = model->snapshot;
	char ***sorted = malloc(((size_t)s->region_count + 1) * sizeof(*sorted));

	for (uint32_t r = 1; sorted && r <= s->region_count; r++)
		sorted[r - 1] = &s->regions[r];
	if (sorted)
		qsort(sorted, s->region_count, sizeof(*sorted), by_name);
	return sorted;
}

/* Finds the numbers of NOW's regions in BEFORE. */
static int regions_match(uint32_t *regions, const struct pm_report_model *now,
			 const struct pm_report_model *before)
{
	const struct pm_snapshot *s = now->snapshot, *old = before->snapshot;
	char ***sorted = NULL;

	regions[0] = 0;
	for (uint32_t r = 1; r <= s->region_count; r++) {
		char **name = &s->regions[r], ***found;

		/* Most have the same number. */
		if (r <= old->region_count && !strcmp(old->regions[r], *name)) {
			regions[r] = before->region_of[r];
			continue;
		}
		if (!sorted)
			sorted = regions_sort(before);
		if (!sorted)
			return -ENOMEM;
		found = bsearch(&name, sorted, old->region_count, sizeof(*sorted),
				by_name);
		regions[r] = found ? before->region_of[*found - old->regions] : NONE;
	}
	free(sorted);
	return 0;
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
	const struct perfmon_profile_counter *counter = event->first;

	for (uint32_t e = 0; e < model->column_count; e++) {
		const struct perfmon_profile_counter *other = model->events[e].first;

		if (model->events[e].twin != event->twin ||
		    strcmp(only(&model->events[e]), metric) != 0)
			continue;
		if (!strcmp(other->name, counter->name) &&
		    !strcmp(other->unit, counter->unit) && other->scale == counter->scale)
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

static void match_free(struct match *match)
{
	free(match->regions);
	free(match->events);
}

/* Free MATCH also after a failure. */
static int match_make(struct match *match, const struct pm_report_model *now,
		      const struct pm_report_model *before)
{
	int err;

	match->regions = malloc(((size_t)now->snapshot->region_count + 1) *
				sizeof(*match->regions));
	match->events = malloc(((size_t)now->column_count + 1) * sizeof(*match->events));
	if (!match->regions || !match->events)
		return -ENOMEM;
	err = regions_match(match->regions, now, before);
	if (err)
		return err;
	for (uint32_t e = 0; e < now->column_count; e++)
		match->events[e] = event_match(before, &now->events[e]);
	return 0;
}

static int by_path(const void *a, const void *b, void *argument)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct pm_report_node *nodes = argument;

	if (nodes[x].parent != nodes[y].parent)
		return nodes[x].parent < nodes[y].parent ? -1 : 1;
	return nodes[x].region < nodes[y].region ? -1 : nodes[x].region > nodes[y].region;
}

/* Returns the node of TREE, in ORDER by parent and region, or NONE. */
static uint32_t node_find(const struct pm_report_tree *tree, const uint32_t *order,
			  uint32_t parent, uint32_t region)
{
	uint32_t low = 1, high = tree->node_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct pm_report_node *node = &tree->nodes[order[middle]];

		if (node->parent == parent && node->region == region)
			return order[middle];
		if (node->parent < parent ||
		    (node->parent == parent && node->region < region))
			low = middle + 1;
		else
			high = middle;
	}
	return NONE;
}

/* Subtracts B from *A, not below 0. Returns whether it would have been below. */
static bool take(uint64_t *a, uint64_t b)
{
	bool negative = *a < b;

	*a = pm_less(*a, b);
	return negative;
}

/* Adds the squares of errors, whose correlation is unknown. */
static void errors_add(double *a, double b)
{
	double sum = sqrt(*a) + sqrt(b);

	*a = sum * sum;
}

static void node_subtract(struct pm_report_node *a, const struct pm_report_node *b)
{
	bool sampled = a->visits != a->measured, negative = a->visits < b->visits;
	uint64_t torn = pm_plus(a->torn, b->torn);

	for (int i = 0; i < PM_NODE_VISIT_SUMS; i++)
		take(&a->visit_sums[i], b->visit_sums[i]);
	negative |= take(&a->time_ticks, b->time_ticks) && !sampled;
	errors_add(&a->time_error, b->time_error);
	errors_add(&a->own_error, b->own_error);
	take(&a->all_ticks, b->all_ticks);
	a->spent_ticks = fmax(0, a->spent_ticks - b->spent_ticks);
	a->added_ticks = fmax(0, a->added_ticks - b->added_ticks);
	a->outer_ticks = fmax(0, a->outer_ticks - b->outer_ticks);
	a->children_added_ticks =
		fmax(0, a->children_added_ticks - b->children_added_ticks);
	take(&a->children_ticks, b->children_ticks);
	take(&a->off_cpu_ns, b->off_cpu_ns);
	take(&a->children_off_cpu_ns, b->children_off_cpu_ns);
	a->time_squares = fmax(0, a->time_squares - b->time_squares);
	/* A node that was torn at either look may be off by one visit. */
	a->torn = torn;
	a->defects = pm_plus(a->defects, negative);
}

static bool count_subtract(struct pm_report_count *a, const struct pm_report_count *b)
{
	bool negative = take(&a->sum, b->sum) && a->error == 0;

	take(&a->sampled, b->sampled);
	errors_add(&a->error, b->error);
	take(&a->lost_ns, b->lost_ns);
	take(&a->measured, b->measured);
	take(&a->windows, b->windows);
	a->added = fmax(0, a->added - b->added);
	a->outer = fmax(0, a->outer - b->outer);
	a->time_ns = fmax(0, a->time_ns - b->time_ns);
	a->on_cpu_ns = fmax(0, a->on_cpu_ns - b->on_cpu_ns);
	a->running_ns = fmax(0, a->running_ns - b->running_ns);
	a->squares = fmax(0, a->squares - b->squares);
	return negative;
}

/* Subtracts the earlier values from CHANGE, path by path. */
static int tree_subtract(struct pm_report_tree *change,
			 const struct pm_report_tree *before, const struct match *match)
{
	uint32_t events = change->model->column_count;
	uint32_t events_before = before->model->column_count;
	uint32_t *order = malloc(before->node_count * sizeof(*order));
	uint32_t *at = malloc(change->node_count * sizeof(*at));

	if (!order || !at) {
		free(order);
		free(at);
		return -ENOMEM;
	}
	for (uint32_t n = 0; n < before->node_count; n++)
		order[n] = n;
	qsort_r(order + 1, before->node_count - 1, sizeof(*order), by_path,
		before->nodes);
	at[0] = 0;
	for (uint32_t n = 1; n < change->node_count; n++) {
		struct pm_report_node *node = &change->nodes[n];
		uint32_t parent = at[node->parent], region = match->regions[node->region];

		/* Parents come before their children. */
		at[n] = parent == NONE || region == NONE
				? NONE
				: node_find(before, order, parent, region);
		if (at[n] == NONE)
			continue;
		node_subtract(node, &before->nodes[at[n]]);
		for (uint32_t e = 0; e < events; e++) {
			size_t to = (size_t)n * events + e;
			size_t from = (size_t)at[n] * events_before + match->events[e];

			if (match->events[e] == NONE)
				continue;
			node->defects += count_subtract(&change->counts[to],
							&before->counts[from]);
			count_subtract(&change->children[to], &before->children[from]);
		}
	}
	free(order);
	free(at);
	return 0;
}

/* Reduces the children's SUM by the amount by which CHANGE's children exceed the node
 * itself. */
static void reduce(uint64_t *sum, uint64_t *children, uint64_t own)
{
	uint64_t more = pm_less(*children, own);

	*sum = pm_less(*sum, more);
	*children -= more;
}

static void reduce_double(double *sum, double *children, double own)
{
	double more = fmax(0, *children - own);

	*sum = fmax(0, *sum - more);
	*children -= more;
}

/* Reduces the children's sums of GROUP, after the earlier values have been subtracted. */
static void reduce_children(struct top_group *group)
{
	struct pm_report_tree *change = &group->change, *sums = &group->sums;
	size_t events = change->model->column_count;

	change->total_ticks = 0;
	for (uint32_t n = 1; n < change->node_count; n++) {
		struct pm_report_node *c = &change->nodes[n], *s = &sums->nodes[n];
		uint64_t open = pm_less(s->entered, s->visits);
		uint64_t open_before =
			pm_less(s->entered - c->entered, s->visits - c->visits);

		c->entered = pm_plus(c->visits, pm_plus(open, open_before));
		reduce(&s->children_ticks, &c->children_ticks, c->time_ticks);
		reduce(&s->children_off_cpu_ns, &c->children_off_cpu_ns, c->off_cpu_ns);
		change->total_ticks =
			pm_plus(change->total_ticks, c->time_ticks - c->children_ticks);
		for (size_t i = n * events; i < (n + 1) * events; i++) {
			struct pm_report_count *own = &change->counts[i];
			struct pm_report_count *below = &change->children[i];
			struct pm_report_count *sum = &sums->children[i];

			reduce(&sum->sum, &below->sum, own->sum);
			reduce(&sum->lost_ns, &below->lost_ns, own->lost_ns);
			reduce(&sum->windows, &below->windows, own->windows);
			reduce_double(&sum->time_ns, &below->time_ns, own->time_ns);
			reduce_double(&sum->on_cpu_ns, &below->on_cpu_ns, own->on_cpu_ns);
			reduce_double(&sum->running_ns, &below->running_ns,
				      own->running_ns);
		}
	}
}

static int tree_copy(struct pm_report_tree *to, const struct pm_report_tree *from)
{
	size_t counts = (size_t)from->node_count * from->model->column_count;

	*to = *from;
	to->nodes = malloc(from->node_count * sizeof(*to->nodes));
	to->counts = malloc(counts * sizeof(*to->counts) + 1);
	to->children = malloc(counts * sizeof(*to->children) + 1);
	if (!to->nodes || !to->counts || !to->children) {
		pm_report_tree_free(to);
		return -ENOMEM;
	}
	memcpy(to->nodes, from->nodes, from->node_count * sizeof(*to->nodes));
	memcpy(to->counts, from->counts, counts * sizeof(*to->counts));
	memcpy(to->children, from->children, counts * sizeof(*to->children));
	return 0;
}

/*
 * The threads of a look, sorted. Two threads have one number only at different times.
 */
struct sorted {
	const struct top_group **at;
	uint32_t count;
};

static int by_thread(const void *a, const void *b)
{
	const struct perfmon_profile_thread *x =
		(*(const struct top_group *const *)a)->thread;
	const struct perfmon_profile_thread *y =
		(*(const struct top_group *const *)b)->thread;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->begin_ticks < y->begin_ticks ? -1 : x->begin_ticks > y->begin_ticks;
}

static int threads_sort(struct sorted *sorted, const struct top_look *look)
{
	*sorted = (struct sorted){malloc(look->group_count * sizeof(*sorted->at) + 1), 0};
	if (!sorted->at)
		return -ENOMEM;
	for (uint32_t g = 0; g < look->group_count; g++)
		if (look->groups[g].kind == TOP_THREAD)
			sorted->at[sorted->count++] = &look->groups[g];
	qsort(sorted->at, sorted->count, sizeof(*sorted->at), by_thread);
	return 0;
}

static const struct top_group *thread_find(const struct sorted *sorted,
					   const struct top_group *group)
{
	const struct top_group **found =
		sorted->count ? bsearch(&group, sorted->at, sorted->count,
					sizeof(*sorted->at), by_thread)
			      : NULL;

	return found ? *found : NULL;
}

/* Makes the tree of all ended threads, which may have several records, from a snapshot
 * without other threads. */
static int ended_make(struct pm_report_tree *tree, const struct pm_report_model *model)
{
	struct pm_snapshot part = *model->snapshot;
	struct pm_report_model of_part = *model;
	int err;

	part.threads = malloc(part.thread_count * sizeof(*part.threads));
	if (!part.threads)
		return -ENOMEM;
	part.thread_count = 0;
	for (uint32_t t = 0; t < model->snapshot->thread_count; t++)
		if (model->snapshot->threads[t].record.state ==
		    PERFMON_PROFILE_THREAD_STATE_AGGREGATE)
			part.threads[part.thread_count++] = model->snapshot->threads[t];
	of_part.snapshot = &part;
	err = pm_report_tree_make(tree, &of_part, -1);
	tree->model = model;
	free(part.threads);
	return err;
}

static int group_make(struct top_look *look, enum top_kind kind, uint32_t t)
{
	struct top_group *group = &look->groups[look->group_count];
	int err;

	memset(group, 0, sizeof(*group));
	group->kind = kind;
	if (kind == TOP_THREAD)
		group->thread = &look->snapshot->threads[t].record;
	err = kind == TOP_ENDED ? ended_make(&group->sums, &look->model)
				: pm_report_tree_make(&group->sums, &look->model,
						      kind == TOP_ALL ? -1 : (int64_t)t);
	if (err)
		return err;
	look->group_count++;
	return tree_copy(&group->change, &group->sums);
}

/* Subtracts OLD, the group in the last look (NULL: none), from GROUP, which is all
 * threads or one. */
static int group_change(struct top_group *group, const struct top_group *old,
			const struct match *match)
{
	int err = old ? tree_subtract(&group->change, &old->sums, match) : 0;

	if (!err)
		reduce_children(group);
	return err;
}

/* Does the same for the ended threads of LOOK, which may have ended since the last
 * look. */
static int ended_change(struct top_group *group, const struct sorted *now,
			const struct top_look *before, const struct match *match)
{
	int err = 0;

	for (uint32_t g = 0; !err && before && g < before->group_count; g++) {
		const struct top_group *old = &before->groups[g];

		if (old->kind == TOP_ENDED ||
		    (old->kind == TOP_THREAD && !thread_find(now, old)))
			err = tree_subtract(&group->change, &old->sums, match);
	}
	if (!err)
		reduce_children(group);
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
			pm_plus(pm_snapshot_visits(node), stride ? stride->skipped : 0);
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
	struct sorted now = {NULL, 0}, then = {NULL, 0};
	struct match match = {NULL, NULL};
	bool summed = false;
	int err = 0;

	if (look->threads)
		return 0;
	if (before)
		err = match_make(&match, &look->model, &before->model)
			      ?: threads_sort(&then, before);
	for (uint32_t t = 0; !err && t < s->thread_count; t++) {
		struct top_group *group = &look->groups[look->group_count];

		if (s->threads[t].record.state ==
		    PERFMON_PROFILE_THREAD_STATE_AGGREGATE) {
			summed = true;
			continue;
		}
		err = group_make(look, TOP_THREAD, t)
			      ?: group_change(group, thread_find(&then, group), &match);
	}
	if (!err && summed) {
		struct top_group *group = &look->groups[look->group_count];

		err = threads_sort(&now, look) ?:
			      group_make(look, TOP_ENDED, 0) ?:
			      ended_change(group, &now, before, &match);
	}
	match_free(&match);
	free(now.at);
	free(then.at);
	look->threads = !err;
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
	look->cpu.percent = -1;
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
		err = group_make(look, TOP_ALL, 0)
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
	free(look->cpu.threads);
	/* It reads the number of plans from its snapshot. */
	pm_report_model_free(&look->model);
	pm_snapshot_free(look->snapshot);
	free(look);
}
