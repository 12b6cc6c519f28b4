/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tree of a report: nodes of many threads put together path by path. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "report/tree.h"

static int tree_grow(struct pm_tree_build *build)
{
	struct pm_report_tree *tree = build->tree;
	uint32_t room = build->room ? 2 * build->room : build->room_first;
	size_t events = tree->model->column_count, size = sizeof(*tree->counts) * events;
	struct pm_report_node *nodes = realloc(tree->nodes, room * sizeof(*nodes));
	struct pm_report_count *counts;

	if (!nodes)
		return -ENOMEM;
	tree->nodes = nodes;
	counts = realloc(tree->counts, room * size + 1);
	if (!counts)
		return -ENOMEM;
	tree->counts = counts;
	build->room = room;
	return 0;
}

static void node_begin(struct pm_report_tree *tree, uint32_t parent, uint32_t region)
{
	uint32_t number = tree->node_count++;
	struct pm_report_node *node = &tree->nodes[number];

	memset(node, 0, sizeof(*node));
	node->parent = parent;
	node->region = region;
	node->depth = number ? tree->nodes[parent].depth + 1 : 0;
	node->time_min = node->thread_min_ticks = UINT64_MAX;
	memset(tree->counts + (size_t)number * tree->model->column_count, 0,
	       tree->model->column_count * sizeof(*tree->counts));
}

int pm_tree_node(struct pm_tree_build *build, uint32_t parent, uint32_t region,
		 uint32_t *number)
{
	struct pm_report_tree *tree = build->tree;
	int err = 0;

	/* First, so that what has a number has a node. */
	if (tree->node_count == build->room)
		err = tree_grow(build);
	if (!err)
		err = pm_pairs_get(&build->numbers, parent, region, tree->node_count,
				   number);
	if (!err && *number == tree->node_count)
		node_begin(tree, parent, region);
	return err;
}

static uint64_t weight_of(const struct pm_snapshot_thread *thread)
{
	return thread->record.state == PERFMON_PROFILE_THREAD_STATE_AGGREGATE
		       ? thread->record.aggregated
		       : 1;
}

/* Visits of a node that have ended, and how many of these each measured one stands for.
 * A node without a stride measures all. */
struct share {
	const struct perfmon_profile_stride *stride;
	uint64_t measured, all;
	double each;   /* visits for each measured one */
	double weight; /* and for each that their sums hold */
	double even;   /* what brings these sums to one of each measured visit */
};

static struct share share_of(const struct pm_snapshot_thread *thread,
			     const struct perfmon_profile_node *node)
{
	struct share share = {.stride = pm_snapshot_stride(thread, node),
			      .each = 1,
			      .weight = 1,
			      .even = 1};
	double held;

	share.measured = share.all = pm_snapshot_visits(node);
	if (!share.stride || !share.measured) {
		if (share.stride)
			share.all = pm_plus(share.all, share.stride->skipped);
		return share;
	}
	share.all = pm_plus(share.all, share.stride->skipped);
	held = share.stride->weight ? (double)share.stride->weight
				    : (double)share.measured;
	share.each = (double)share.all / (double)share.measured;
	share.weight = (double)share.all / held;
	share.even = (double)share.measured / held;
	return share;
}

static uint64_t scaled(uint64_t value, double weight)
{
	double product = (double)value * weight + 0.5;

	if (weight == 1)
		return value;
	return product < 18446744073709549568.0 ? (uint64_t)product : UINT64_MAX;
}

static double squared(double value)
{
	return value * value;
}

void pm_tree_visits_add(struct pm_report_node *to, const struct pm_report_node *from)
{
	pm_tree_add(&to->visits, from->visits);
	pm_tree_add(&to->measured, from->measured);
	pm_tree_add(&to->unmeasured, from->unmeasured);
	pm_tree_add(&to->entered, from->entered);
	pm_tree_add(&to->visit_ticks, from->visit_ticks);
	to->time_squares += from->time_squares;
	to->spent_ticks += from->spent_ticks;
	pm_tree_widen(&to->time_min, &to->time_max, from->time_min, from->time_max);
	pm_tree_widen(&to->thread_min_ticks, &to->thread_max_ticks,
		      from->thread_min_ticks, from->thread_max_ticks);
	pm_tree_add(&to->fallback_reads, from->fallback_reads);
	pm_tree_add(&to->retries, from->retries);
	pm_tree_add(&to->migrations, from->migrations);
	pm_tree_add(&to->mismatched_ends, from->mismatched_ends);
	pm_tree_add(&to->dropped_counts, from->dropped_counts);
	pm_tree_add(&to->defects, from->defects);
	pm_tree_add(&to->spilled, from->spilled);
	pm_tree_add(&to->torn, from->torn);
	for (int i = 0; i < PERFMON_PROFILE_BINS; i++)
		pm_tree_add(&to->histogram[i], from->histogram[i]);
}

/* What measuring has added: to the values of a node's visits, and to those around it. */
struct spent {
	double inside, around;
};

/* VISITS were measured, BY_CALL of these by read(2). Where one way of reading was not tried
 * at start-up the other stands for it. */
static struct spent spent_of(const struct perfmon_profile_cost *cost, uint64_t visits,
			     uint64_t by_call, uint64_t skipped)
{
	bool call = cost->known & PERFMON_PROFILE_COST_CALL;
	double calls = (double)(by_call < visits ? by_call : visits);
	double fast = (double)visits - calls;
	double bias = cost->bias, call_bias = call ? cost->call_bias : bias;
	/* A pair holds its bias. */
	double pair = fmax(cost->pair, bias);
	double call_pair = call ? fmax(cost->call_pair, call_bias) : pair;

	return (struct spent){
		.inside = fast * bias + calls * call_bias,
		.around =
			fast * pair + calls * call_pair + (double)skipped * cost->skipped,
	};
}

/*
 * How far the total of all visits may be off: SUM and its like hold measured visits, of
 * which MEASURED had this value. Those before the first change of an automatic stride were
 * all measured, and only those after it tell of others.
 */
static double error_of(const struct share *share, double sum, double squares,
		       double cubes, double measured, double all)
{
	double whole = (double)share->stride->whole, error;

	error = pm_report_error(sum * share->even, squares * share->even,
				cubes * share->even, measured, all);
	if (whole < 1 || !(all > measured) || !isfinite(error))
		return error;
	return error *
	       sqrt(fmax(0, all - whole) / fmax(1, measured - whole) / (all / measured));
}

static void node_add(struct pm_report_node *to, const struct pm_snapshot_thread *thread,
		     const struct perfmon_profile_node *from)
{
	struct share share = share_of(thread, from);
	uint64_t ticks = scaled(from->time_ticks, share.weight), threads = 1;
	struct pm_report_node visits = {
		.visits = share.all,
		.measured = share.measured,
		.entered = from->entered,
		.visit_ticks = scaled(from->time_ticks, share.even),
		.time_squares = from->time_squares * share.even,
		.time_min = share.measured ? from->time_min : UINT64_MAX,
		.time_max = share.measured ? from->time_max : 0,
		.thread_min_ticks = UINT64_MAX,
		.fallback_reads = from->fallback_reads,
		.retries = from->retries,
		.migrations = from->migrations,
		.mismatched_ends = from->mismatched_ends,
		.dropped_counts = from->dropped_counts,
		.defects = from->defects,
		.spilled = from->spilled,
		.torn = (from->flags & PM_SNAPSHOT_TORN) != 0,
	};

	for (int i = 0; i < PERFMON_PROFILE_BINS; i++)
		visits.histogram[i] = from->histogram[i];
	if (thread->plan) {
		struct spent spent = spent_of(&thread->plan->time, share.measured,
					      from->fallback_reads,
					      pm_less(share.all, share.measured));

		to->added_ticks += spent.inside * share.each;
		to->outer_ticks += spent.around;
		visits.spent_ticks = spent.around;
	}
	if (thread->record.state == PERFMON_PROFILE_THREAD_STATE_AGGREGATE) {
		threads = from->threads;
		visits.thread_min_ticks = scaled(from->thread_min_ticks, share.weight);
		visits.thread_max_ticks = scaled(from->thread_max_ticks, share.weight);
	} else if (share.measured || !share.all) {
		visits.thread_min_ticks = visits.thread_max_ticks = ticks;
	}
	if (!share.measured && share.all) {
		/* It is in the values of what is around it, and how much is unknown. */
		visits.unmeasured = share.all;
		to->time_error = INFINITY;
	} else if (from->flags & PERFMON_PROFILE_NODE_UNMEASURED) {
		to->time_error = INFINITY;
	} else if (share.stride) {
		to->time_error +=
			squared(error_of(&share, (double)from->time_ticks,
					 from->time_squares, share.stride->time_cubes,
					 (double)share.measured, (double)share.all));
	}
	pm_tree_visits_add(to, &visits);
	pm_tree_add(&to->threads, threads);
	pm_tree_add(&to->time_ticks, ticks);
	pm_tree_add(&to->off_cpu_ns, scaled(from->off_cpu_ns, share.weight));
}

/* What one visit in each of some, as a thread has them, is worth. */
struct worth {
	struct share share;
	uint64_t sampled, measured, by_call, threads;
	double time_ns, on_cpu_ns;
	bool is_unknown;
};

static struct worth worth_of(const struct pm_snapshot *s,
			     const struct pm_snapshot_thread *thread,
			     const struct perfmon_profile_node *from)
{
	struct worth w = {.share = share_of(thread, from), .threads = 1};

	w.sampled = pm_less(w.share.measured, from->dropped_counts);
	w.measured = scaled(w.sampled, w.share.each);
	w.by_call = from->fallback_reads < w.sampled ? from->fallback_reads : w.sampled;
	if (thread->record.state == PERFMON_PROFILE_THREAD_STATE_AGGREGATE)
		w.threads = from->threads;
	w.is_unknown = (!w.share.measured && w.share.all) ||
		       from->flags & PERFMON_PROFILE_NODE_UNMEASURED;
	w.time_ns = w.share.weight * pm_snapshot_ns(s, (double)from->time_ticks);
	/* The counts' time base is that of the visits that were counted. */
	if (w.share.measured) {
		double part = (double)w.sampled / (double)w.share.measured;

		w.time_ns *= part;
		w.on_cpu_ns = fmax(0, w.time_ns - (double)from->off_cpu_ns *
							  w.share.weight * part);
	}
	return w;
}

/* Adds counter C of FROM. FIRST: of the event in this thread, so that parts count their
 * thread once. */
static void count_add(struct pm_report_count *count, const struct pm_report_event *event,
		      const struct perfmon_profile_node *from, uint32_t c,
		      const struct worth *w, bool first)
{
	const struct share *share = &w->share;
	struct spent spent;

	if (first) {
		pm_tree_add(&count->threads, w->threads);
		pm_tree_add(&count->measured, w->measured);
		pm_tree_add(&count->sampled, w->sampled);
		pm_tree_add(&count->windows, w->measured);
		spent = spent_of(&event->cost, w->sampled, w->by_call, 0);
		count->added += spent.inside * share->each;
		spent = spent_of(&event->cost, share->measured, w->by_call,
				 pm_less(share->all, share->measured));
		count->outer += spent.around;
		count->time_ns += w->time_ns;
		count->on_cpu_ns += w->on_cpu_ns;
	}
	pm_tree_add(&count->sum, scaled(from->count[c].sum, share->weight));
	pm_tree_add(&count->lost_ns, scaled(from->count[c].lost_ns, share->weight));
	count->running_ns +=
		fmax(0, w->on_cpu_ns - (double)from->count[c].lost_ns * share->weight);
	if (w->is_unknown)
		count->error = INFINITY;
	else if (share->stride && w->sampled)
		count->error +=
			squared(error_of(share, (double)from->count[c].sum,
					 from->count[c].squares, share->stride->cubes[c],
					 (double)w->sampled, (double)w->measured));
	count->squares += from->count[c].squares;
}

/* WHOLE says of each column that metrics alone read whether THREAD has a part in it. */
static void counts_add(const struct pm_report_model *model, struct pm_report_count *to,
		       const struct pm_snapshot_thread *thread,
		       const struct perfmon_profile_node *from, const bool *whole)
{
	struct worth w = worth_of(model->snapshot, thread, from);
	uint64_t seen = 0; /* counters of this thread */
	const uint32_t *of;

	if (!thread->plan)
		return;
	of = model->event_of[thread->plan - model->snapshot->plans];
	for (uint32_t c = 0; c < thread->plan->counter_count; c++) {
		bool first = true;

		if (thread->record.status[c] <= 0)
			continue;
		for (uint32_t b = 0; b < c; b++)
			if (of[b] == of[c] && seen >> b & 1)
				first = false;
		seen |= UINT64_C(1) << c;
		count_add(&to[of[c]], &model->events[of[c]], from, c, &w, first);
		for (uint32_t e = model->event_count; e < model->column_count; e++)
			if (model->events[e].of == of[c] && whole[e - model->event_count])
				count_add(&to[e], &model->events[e], from, c, &w, first);
	}
}

/* Adds the nodes of THREAD; MAP has room for their numbers in the tree. */
static int thread_add(struct pm_tree_build *build,
		      const struct pm_snapshot_thread *thread, uint32_t *map)
{
	const struct pm_report_model *model = build->tree->model;
	uint32_t extra = model->column_count - model->event_count;
	bool *whole = malloc(extra * sizeof(*whole) + 1);
	int err = whole ? 0 : -ENOMEM;

	for (uint32_t i = 0; whole && i < extra; i++)
		whole[i] = pm_report_metric_is_whole(
			model, model->events[model->event_count + i].only, thread);
	map[1] = 0;
	for (uint32_t n = 2; n <= thread->node_count; n++) {
		const struct perfmon_profile_node *node = pm_snapshot_node(thread, n);
		uint32_t number;

		if (!err)
			err = pm_tree_node(build, map[node->parent],
					   model->region_of[node->region], &number);
		if (err)
			break;
		map[n] = number;
		node_add(&build->tree->nodes[number], thread, node);
		counts_add(model,
			   build->tree->counts + (size_t)number * model->column_count,
			   thread, node, whole);
	}
	free(whole);
	pm_tree_add(&build->tree->threads, weight_of(thread));
	return err;
}

void pm_tree_count_add(struct pm_report_count *to, const struct pm_report_count *from)
{
	pm_tree_add(&to->sum, from->sum);
	pm_tree_add(&to->lost_ns, from->lost_ns);
	pm_tree_add(&to->windows, from->windows);
	to->added += from->added;
	to->outer += from->outer;
	to->error += from->error;
	to->time_ns += from->time_ns;
	to->on_cpu_ns += from->on_cpu_ns;
	to->running_ns += from->running_ns;
}

/* NODE is complete. On request measuring is taken out of it. */
static void spent_sum(const struct pm_report_model *model, struct pm_report_node *parent,
		      struct pm_report_node *node)
{
	uint64_t less = (uint64_t)fmin(node->added_ticks + 0.5, (double)node->time_ticks);

	parent->added_ticks += node->outer_ticks;
	parent->outer_ticks += node->outer_ticks;
	parent->children_added_ticks += node->added_ticks;
	node->all_ticks = node->time_ticks;
	if (model->subtract_bias && node->added_ticks >= 1)
		node->time_ticks = pm_less(node->time_ticks, less);
}

/* Sums over children, bottom up. */
static int children_sum(struct pm_report_tree *tree)
{
	size_t events = tree->model->column_count;

	tree->children = calloc(tree->node_count * events + 1, sizeof(*tree->children));
	if (!tree->children)
		return -ENOMEM;
	for (uint32_t n = tree->node_count - 1; n > 0; n--) {
		struct pm_report_node *node = &tree->nodes[n];
		struct pm_report_node *parent = &tree->nodes[node->parent];

		/* Complete: children have higher numbers. */
		spent_sum(tree->model, parent, node);
		/* An open visit has taken what is inside of it, at least. */
		node->least_ticks = node->time_ticks;
		if (node->entered != node->visits &&
		    node->least_ticks < node->children_least)
			node->least_ticks = node->children_least;
		pm_tree_add(&parent->children_least, node->least_ticks);
		/* The draws are independent. */
		node->own_error += node->time_error;
		parent->own_error += node->time_error;
		pm_tree_add(&parent->children_ticks, node->time_ticks);
		pm_tree_add(&parent->children_off_cpu_ns, node->off_cpu_ns);
		pm_tree_add(&tree->total_ticks,
			    pm_less(node->time_ticks, node->children_ticks));
		for (size_t e = 0; e < events; e++) {
			struct pm_report_count *count = &tree->counts[n * events + e];

			/* Complete: children have higher numbers. */
			pm_tree_add(&count->windows,
				    tree->children[n * events + e].windows);
			/* The visits of what lies below are around nothing of it. */
			count->added += tree->children[n * events + e].outer;
			count->outer += tree->children[n * events + e].outer;
			pm_tree_count_add(&tree->children[node->parent * events + e],
					  count);
		}
	}
	return 0;
}

void pm_tree_root(struct pm_report_tree *tree, const struct pm_report_tree *of)
{
	struct pm_report_node *root = &tree->nodes[0];
	size_t events = tree->model->column_count;

	for (uint32_t n = 1; n < of->node_count; n++) {
		const struct pm_report_node *node = &of->nodes[n];

		if (node->parent)
			continue;
		pm_tree_add(&root->visits, node->visits);
		pm_tree_add(&root->entered, node->entered);
		pm_tree_add(&root->measured, node->measured);
		pm_tree_add(&root->unmeasured, node->unmeasured);
		pm_tree_add(&root->time_ticks, node->time_ticks);
		pm_tree_add(&root->least_ticks, node->least_ticks);
		pm_tree_add(&root->all_ticks, node->all_ticks);
		pm_tree_add(&root->off_cpu_ns, node->off_cpu_ns);
		/* What is wrong with these is wrong with their sum. */
		pm_tree_add(&root->torn, node->torn);
		pm_tree_add(&root->mismatched_ends, node->mismatched_ends);
		pm_tree_add(&root->dropped_counts, node->dropped_counts);
		pm_tree_add(&root->defects, node->defects);
		root->astray |= node->astray;
		root->time_error += node->time_error;
		for (size_t e = 0; e < events; e++) {
			struct pm_report_count *sum = &tree->counts[e];
			const struct pm_report_count *count = &of->counts[n * events + e];

			pm_tree_count_add(sum, count);
			pm_tree_add(&sum->measured, count->measured);
			pm_tree_add(&sum->sampled, count->sampled);
			/* In how many it was open is not known of all paths together: here
			 * it is whether it was in any, and below whether in all. */
			sum->threads |= count->threads;
		}
	}
	root->threads = of->threads;
	for (size_t e = 0; e < events; e++) {
		bool all = true;

		for (uint32_t n = 1; n < of->node_count; n++)
			all &= of->nodes[n].parent ||
			       of->counts[n * events + e].threads >= of->nodes[n].threads;
		if (tree->counts[e].threads)
			tree->counts[e].threads = all ? root->threads : 1;
	}
	/* Nothing is below it: what is inclusive is all. */
	root->children_ticks = root->children_off_cpu_ns = 0;
	memset(tree->children, 0, events * sizeof(*tree->children));
}

/*
 * An END without its BEGIN may be that of a stack that went on in another thread, or of
 * one among several that share a thread: what stands below a visit that did not
 * end by its own END may not belong there.
 */
static void mark_astray(struct pm_report_tree *tree)
{
	const struct pm_snapshot *s = tree->model->snapshot;
	bool unmatched = s->header.unmatched_ends;

	for (uint32_t t = 0; t < s->thread_count; t++)
		unmatched |= s->threads[t].record.unmatched_ends != 0;
	for (uint32_t n = 1; unmatched && n < tree->node_count; n++) {
		struct pm_report_node *node = &tree->nodes[n];
		const struct pm_report_node *parent = &tree->nodes[node->parent];

		node->astray =
			node->parent && (parent->astray || parent->mismatched_ends ||
					 parent->entered != parent->visits);
	}
}

/* A tree has inclusive values, what is flat exclusive ones. */
static int by_time(const void *a, const void *b, void *argument)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct pm_report_tree *tree = argument;
	const struct pm_report_node *p = &tree->nodes[x], *q = &tree->nodes[y];
	uint64_t own_p = pm_less(p->time_ticks, p->children_ticks);
	uint64_t own_q = pm_less(q->time_ticks, q->children_ticks);
	int order;

	if (tree->flat && own_p != own_q)
		return own_p > own_q ? -1 : 1;
	if (p->least_ticks != q->least_ticks)
		return p->least_ticks > q->least_ticks ? -1 : 1;
	if (own_p != own_q)
		return own_p > own_q ? -1 : 1;
	order = strcmp(pm_report_name(tree, x), pm_report_name(tree, y));
	return order ? order : x < y ? -1 : x > y;
}

static int children_sort(struct pm_report_tree *tree)
{
	uint32_t *order = malloc(tree->node_count * sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t n = 0; n < tree->node_count; n++)
		order[n] = n;
	qsort_r(order + 1, tree->node_count - 1, sizeof(*order), by_time, tree);
	for (uint32_t i = tree->node_count - 1; i > 0; i--) {
		struct pm_report_node *node = &tree->nodes[order[i]];

		node->next = tree->nodes[node->parent].first_child;
		tree->nodes[node->parent].first_child = order[i];
	}
	free(order);
	return 0;
}

int pm_tree_end(struct pm_tree_build *build, int err)
{
	pm_pairs_free(&build->numbers);
	if (!err)
		err = children_sort(build->tree);
	if (err)
		pm_report_tree_free(build->tree);
	return err;
}

int pm_tree_begin(struct pm_tree_build *build, struct pm_report_tree *tree,
		  const struct pm_report_model *model, uint32_t nodes)
{
	int err;

	memset(tree, 0, sizeof(*tree));
	memset(build, 0, sizeof(*build));
	tree->model = model;
	build->tree = tree;
	build->room_first = nodes < 64 ? nodes + 1 : 64;
	err = tree_grow(build);
	/* The root, which has no region. */
	if (!err)
		node_begin(tree, 0, 0);
	return err;
}

/* Of the COUNT threads of the snapshot that THREADS names, or, without it, from FIRST
 * on. */
static int tree_make(struct pm_report_tree *tree, const struct pm_report_model *model,
		     const uint32_t *threads, uint32_t first, uint32_t count)
{
	const struct pm_snapshot *s = model->snapshot;
	uint32_t most = 1, *map;
	struct pm_tree_build build;
	int err;

	for (uint32_t t = 0; t < count; t++) {
		const struct pm_snapshot_thread *thread =
			&s->threads[threads ? threads[t] : first + t];

		if (thread->node_count > most)
			most = thread->node_count;
	}
	map = malloc(((size_t)most + 1) * sizeof(*map));
	err = pm_tree_begin(&build, tree, model, most);
	if (!map)
		err = -ENOMEM;
	for (uint32_t t = 0; !err && t < count; t++)
		err = thread_add(&build, &s->threads[threads ? threads[t] : first + t],
				 map);
	free(map);
	if (!err)
		mark_astray(tree);
	if (!err)
		err = children_sum(tree);
	if (!err)
		pm_tree_root(tree, tree);
	return pm_tree_end(&build, err);
}

int pm_report_tree_make(struct pm_report_tree *tree, const struct pm_report_model *model,
			int64_t thread)
{
	if (thread < 0)
		return tree_make(tree, model, NULL, 0, model->snapshot->thread_count);
	return tree_make(tree, model, NULL, (uint32_t)thread, 1);
}

int pm_report_tree_make_of(struct pm_report_tree *tree,
			   const struct pm_report_model *model, const uint32_t *threads,
			   uint32_t count)
{
	return tree_make(tree, model, threads, 0, count);
}

void pm_report_tree_free(struct pm_report_tree *tree)
{
	free(tree->nodes);
	free(tree->counts);
	free(tree->children);
	memset(tree, 0, sizeof(*tree));
}

uint32_t pm_report_tree_next(const struct pm_report_tree *tree, uint32_t node)
{
	if (tree->nodes[node].first_child)
		return tree->nodes[node].first_child;
	while (node && !tree->nodes[node].next)
		node = tree->nodes[node].parent;
	return tree->nodes[node].next;
}
