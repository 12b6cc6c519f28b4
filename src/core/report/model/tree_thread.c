/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A thread of a profile is added to a tree: its visits and counts, scaled to all visits where
 * it measured a part of them. Of a thread of another run only the counts are, and their marks
 * go with them: its visits and times stay out of the tree. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/report/model/tree_build.h"
#include "core/report/model/value.h"

/* Where a node of a thread goes: its path; and that of the visits of the thread that contain the adopted
 * path which it is below, or NULL. */
struct place {
	struct pm_report_node *node, *around;
	struct pm_report_count *counts, *counts_around;
	uint64_t threads; /* that the node adds */
	bool below_adopted;
};

/* Visits of a node that have ended, and how many of these each measured one stands for.
 * A node without a stride measures all. */
struct share {
	const struct perfmon_profile_stride *stride;
	uint64_t measured, all;
	double each;	 /* visits for each measured one */
	double weight;	 /* and for each that their sums hold */
	double even;	 /* what brings these sums to one of each measured visit */
	bool is_unknown; /* how far its values are off cannot be told */
};

static struct share share_of(const struct pm_snapshot_thread *thread,
			     const struct perfmon_profile_node *node)
{
	struct share share = {.stride = pm_snapshot_stride(thread, node),
			      .each = 1,
			      .weight = 1,
			      .even = 1};
	double held;

	share.measured = share.all = pm_node_visits(node);
	if (share.stride)
		pm_add(&share.all, share.stride->skipped);
	share.is_unknown = (!share.measured && share.all) ||
			   node->flags & PERFMON_PROFILE_NODE_UNMEASURED ||
			   (share.stride && pm_node_is_adopted(node));
	if (!share.stride || !share.measured)
		return share;
	held = share.stride->weight ? (double)share.stride->weight
				    : (double)share.measured;
	share.each = (double)share.all / (double)share.measured;
	share.weight = (double)share.all / held;
	share.even = (double)share.measured / held;
	return share;
}

static double squared(double value)
{
	return value * value;
}

/*
 * How far the total of all visits may be off: SUM and its like hold measured visits, of
 * which MEASURED had this value. Those before the first change of the stride were all
 * measured, and only those after it tell of others.
 */
static double error_of(const struct share *share, double sum, double squares,
		       double cubes, double measured, double all)
{
	double whole = (double)share->stride->whole, error;

	error = pm_report_error(sum * share->even, squares * share->even,
				cubes * share->even, measured, all);
	if (whole < 1 || !(all > measured) || !isfinite(error))
		return error;
	if (measured <= whole)
		return INFINITY;
	return error *
	       sqrt(fmax(0, all - whole) / fmax(1, measured - whole) / (all / measured));
}

/* A node's weight: its time, or in an exact profile the counts of the first event, which some
 * threads may lack. */
struct weight {
	uint64_t ticks;
	double squares, cubes;
	const struct perfmon_profile_cost *cost; /* NULL: not known */
};

static struct weight weight_of_node(const struct pm_report_model *model,
				    const struct pm_snapshot_thread *thread,
				    const struct perfmon_profile_node *from,
				    const struct share *share)
{
	struct weight weight = {.ticks = 0};
	const uint32_t *of = pm_report_columns(model, thread);

	if (!model->exact)
		return (struct weight){
			.ticks = from->time_ticks,
			.squares = pm_node_squares(from),
			.cubes = share->stride ? share->stride->time_cubes : 0,
			.cost = thread->plan ? &thread->plan->time : NULL,
		};
	for (uint32_t c = 0; of && c < thread->plan->counter_count; c++)
		if (!of[c] && thread->record.status[c] > 0)
			return (struct weight){
				.ticks = from->count[c].sum,
				.squares = from->count[c].squares,
				.cubes = share->stride ? share->stride->cubes[c] : 0,
				.cost = &thread->plan->counters[c].cost,
			};
	return weight;
}

/* Returns the number of THREAD in S, from 1, or 0 if it is none of S's: a tree of steps. */
static uint32_t number_in(const struct pm_snapshot *s,
			  const struct pm_snapshot_thread *thread)
{
	uintptr_t at = (uintptr_t)thread, first = (uintptr_t)s->threads;

	if (at < first || at >= first + s->thread_count * sizeof(*thread))
		return 0;
	return (uint32_t)((at - first) / sizeof(*thread)) + 1;
}

/* Returns how many threads NODE of THREAD is of. */
static uint64_t own_threads(const struct pm_snapshot_thread *thread,
			    const struct perfmon_profile_node *node)
{
	return thread->record.state == PERFMON_PROFILE_THREAD_STATE_AGGREGATE
		       ? node->threads
		       : 1;
}

/* Returns how many threads FROM adds to TO. A thread that has a path in its own visits and adopted is
 * counted once, and of an aggregate no more than it has. What the two make of one thread is not known. */
static uint64_t threads_of(struct pm_report_node *to,
			   const struct pm_snapshot_thread *thread,
			   const struct perfmon_profile_node *from)
{
	uint64_t place = (uintptr_t)thread;
	uint64_t own = own_threads(thread, from), left;

	if (to->last_thread != place) {
		to->last_thread = place;
		to->last_threads = own;
		return own;
	}
	to->path.threads.is_unknown = true;
	left = pm_less(pm_snapshot_threads(thread), to->last_threads);
	own = own < left ? own : left;
	to->last_threads += own;
	return own;
}

/* An adopted path has nothing of what is around the visits below it, but visits that contain it
 * have. */
static void add_outer(const struct place *place, double inside, double around)
{
	place->node->outer_ticks += place->below_adopted ? inside : around;
	if (!place->around)
		return;
	place->around->path.times.added += around - inside;
	place->around->outer_ticks += around - inside;
}

static void node_add(const struct pm_report_model *model, const struct place *place,
		     const struct pm_snapshot_thread *thread,
		     const struct perfmon_profile_node *from, uint64_t waits)
{
	struct pm_report_node *to = place->node;
	struct share share = share_of(thread, from);
	struct weight weight = weight_of_node(model, thread, from, &share);
	uint64_t ticks = pm_times(weight.ticks, share.weight);
	uint64_t work = pm_less(ticks, waits);
	struct pm_report_node visits = {
		.path.visits =
			{
				.ended = share.all,
				.measured = share.measured,
				.entered = from->entered,
				.ticks = pm_node_is_adopted(from)
						 ? 0
						 : pm_times(weight.ticks, share.even),
				.fallback_reads = from->fallback_reads,
				.retries = from->retries,
				.migrations = from->migrations,
				.mismatched_ends = from->mismatched_ends,
				.dropped_counts = from->dropped_counts,
				.defects = from->defects,
				.spilled = from->spilled,
				.torn = (from->flags & PM_SNAPSHOT_TORN) != 0,
				.left_out = (from->flags &
					     PERFMON_PROFILE_NODE_LEFT_OUT) != 0,
			},
		.path.times.min = share.measured ? from->time_min : UINT64_MAX,
		.path.times.max = share.measured ? from->time_max : 0,
		.path.threads.min = UINT64_MAX,
		.time_squares = weight.squares * share.even,
	};

	for (int i = 0; i < PERFMON_PROFILE_BINS; i++)
		visits.path.visits.histogram[i] = from->histogram[i];
	if (weight.cost) {
		struct pm_node_cost spent =
			pm_node_cost(weight.cost, share.measured, from->fallback_reads,
				     pm_less(share.all, share.measured));

		to->path.times.added += spent.inside * share.each;
		add_outer(place, spent.inside * share.each, spent.around);
		visits.path.times.spent = spent.around;
		visits.passed_ticks = spent.passed;
	}
	if (thread->record.state == PERFMON_PROFILE_THREAD_STATE_AGGREGATE) {
		visits.path.threads.min = pm_times(from->thread_min_ticks, share.weight);
		visits.path.threads.max = pm_times(from->thread_max_ticks, share.weight);
		if (model->exact) {
			/* Counts have no extremes, but those of one thread are its own. */
			visits.path.threads.is_unknown = from->threads > 1;
			visits.path.threads.min = visits.path.threads.max = work;
		} else if (waits) {
			/* The extremes are those of threads with their waits. */
			visits.path.threads.is_unknown = true;
		}
	} else if (share.measured || !share.all) {
		visits.path.threads.min = visits.path.threads.max = work;
		visits.path.threads.min_at = visits.path.threads.max_at =
			number_in(model->snapshot, thread);
	}
	/* They are in the values of what is around it, and how much is unknown. */
	if (!share.measured)
		visits.path.visits.unmeasured = share.all;
	if (share.is_unknown)
		to->time_error = INFINITY;
	else if (share.stride)
		to->time_error += squared(error_of(
			&share, (double)weight.ticks, weight.squares, weight.cubes,
			(double)share.measured, (double)share.all));
	pm_tree_visits_add(to, &visits);
	pm_add(&to->path.threads.count, place->threads);
	pm_add(&to->path.times.inclusive, ticks);
	pm_add(&to->path.times.waits, ticks - work);
	pm_add(&to->path.times.off_cpu_ns, pm_times(from->off_cpu_ns, share.weight));
}

/* The counted visits of a node in one thread, with the times that they stand for. */
struct worth {
	struct share share;
	uint64_t sampled, measured, by_call;
	double time_ns, on_cpu_ns;
};

static struct worth worth_of(const struct pm_snapshot *s,
			     const struct pm_snapshot_thread *thread,
			     const struct perfmon_profile_node *from)
{
	struct worth w = {.share = share_of(thread, from)};
	double weight = w.share.weight, part = 1;

	w.sampled = pm_less(w.share.measured, from->dropped_counts);
	w.measured = pm_times(w.sampled, w.share.each);
	w.by_call = from->fallback_reads < w.sampled ? from->fallback_reads : w.sampled;
	/* The counts' time base is that of the visits that were counted. */
	if (w.share.measured)
		part = (double)w.sampled / (double)w.share.measured;
	w.time_ns = weight * pm_snapshot_ns(s, (double)from->time_ticks) * part;
	w.on_cpu_ns = fmax(0, w.time_ns - (double)from->off_cpu_ns * weight * part);
	return w;
}

/* Adds counter C of FROM, of packages. What stands in an adopted path is that of the paths below it. */
static void package_add(const struct place *place, uint32_t e,
			const struct perfmon_profile_node *from, uint32_t c,
			const struct worth *w)
{
	struct pm_report_count *count = &place->counts[e];
	/* A foreign profile may have anything here. */
	double open_ns =
		from->count[c].squares < 0x1p63 ? fmax(0, from->count[c].squares) : 0;

	pm_add(&count->threads, place->threads);
	pm_add(&count->measured, w->measured);
	pm_add(&count->sampled, w->sampled);
	if (pm_node_is_adopted(from))
		return;
	pm_add(&count->sum, from->count[c].sum);
	pm_add(&count->lost_ns, from->count[c].lost_ns);
	count->time_ns += open_ns;
	count->on_cpu_ns += open_ns;
	count->running_ns += fmax(0, open_ns - (double)from->count[c].lost_ns);
}

/* Adds counter C of FROM. FIRST: of the event in this thread, so that parts count their
 * thread once. */
static void count_add(const struct place *place, uint32_t e,
		      const struct pm_report_event *event,
		      const struct perfmon_profile_node *from, uint32_t c,
		      const struct worth *w, bool first)
{
	struct pm_report_count *count = &place->counts[e];
	const struct share *share = &w->share;
	struct pm_node_cost spent;
	double inside;

	if (first) {
		pm_add(&count->threads, place->threads);
		pm_add(&count->measured, w->measured);
		pm_add(&count->sampled, w->sampled);
		pm_add(&count->windows, w->measured);
		spent = pm_node_cost(&event->cost, w->sampled, w->by_call, 0);
		inside = spent.inside * share->each;
		count->added += inside;
		spent = pm_node_cost(&event->cost, share->measured, w->by_call,
				     pm_less(share->all, share->measured));
		count->outer += place->below_adopted ? inside : spent.around;
		if (place->counts_around) {
			place->counts_around[e].added += spent.around - inside;
			place->counts_around[e].outer += spent.around - inside;
		}
		count->time_ns += w->time_ns;
		count->on_cpu_ns += w->on_cpu_ns;
	}
	pm_add(&count->sum, pm_times(from->count[c].sum, share->weight));
	pm_add(&count->lost_ns, pm_times(from->count[c].lost_ns, share->weight));
	count->running_ns +=
		fmax(0, w->on_cpu_ns - (double)from->count[c].lost_ns * share->weight);
	if (share->is_unknown)
		count->error = INFINITY;
	else if (share->stride && w->sampled)
		count->error +=
			squared(error_of(share, (double)from->count[c].sum,
					 from->count[c].squares, share->stride->cubes[c],
					 (double)w->sampled, (double)w->measured));
	count->squares += from->count[c].squares;
}

/* Adds the counts of FROM, a node of THREAD, to PLACE. WHOLE says of each column that metrics alone
 * read whether THREAD has a part in it. */
static void counts_add(const struct pm_report_model *model, const struct place *place,
		       const struct pm_snapshot_thread *thread,
		       const struct perfmon_profile_node *from, const bool *whole)
{
	const uint32_t *of = pm_report_columns(model, thread);
	struct worth w = worth_of(model->snapshot, thread, from);

	for (uint32_t c = 0; of && c < thread->plan->counter_count; c++) {
		bool first = true;

		if (thread->record.status[c] <= 0)
			continue;
		for (uint32_t b = 0; b < c; b++)
			if (of[b] == of[c] && thread->record.status[b] > 0)
				first = false;
		if (model->events[of[c]].package) {
			package_add(place, of[c], from, c, &w);
			continue;
		}
		count_add(place, of[c], &model->events[of[c]], from, c, &w, first);
		for (uint32_t e = model->event_count; e < model->column_count; e++)
			if (model->events[e].of == of[c] && whole[e - model->event_count])
				count_add(place, e, &model->events[e], from, c, &w,
					  first);
	}
}

/* Returns where node N of THREAD goes, with MAP of the nodes to paths; its threads are 0. */
static struct place place_of(struct pm_report_tree *tree,
			     const struct pm_snapshot_thread *thread, uint32_t n,
			     const uint32_t *map)
{
	const struct perfmon_profile_node *node = pm_snapshot_node(thread, n);
	size_t columns = tree->model->column_count;
	uint32_t around = pm_snapshot_around(thread, node);
	struct place place = {
		.node = &tree->nodes[map[n]],
		.counts = tree->counts + map[n] * columns,
		.below_adopted =
			pm_node_is_adopted(pm_snapshot_node(thread, node->parent)),
	};

	if (around) {
		place.around = &tree->nodes[map[around]];
		place.counts_around = tree->counts + map[around] * columns;
	}
	return place;
}

/* Adds NODE, a quantity, to its path's NUMBER. */
static void quantity_add(struct pm_report_tree *tree, uint32_t number,
			 const struct pm_snapshot_thread *thread,
			 const struct perfmon_profile_node *node)
{
	const struct pm_report_model *model = tree->model;
	uint32_t e = pm_report_quantity(model, node);
	struct pm_report_count said = {.sum = node->time_ticks}, *count;

	if (e == model->event_count)
		return;
	said.largest = pm_report_is_largest(&model->events[e]);
	count = &tree->counts[number * (size_t)model->column_count + e];
	pm_tree_count_add(count, &said);
	pm_add(&count->threads, own_threads(thread, node));
}

/* Adds what THREAD's first node has: the values of packages while any visit was open. */
static void root_add(struct pm_report_tree *tree, const struct pm_snapshot_thread *thread)
{
	const uint32_t *of = pm_report_columns(tree->model, thread);
	struct place place = {.node = tree->nodes, .counts = tree->counts};
	const struct worth none = {.sampled = 0};

	if (!of || !thread->node_count)
		return;
	for (uint32_t c = 0; c < thread->plan->counter_count; c++)
		if (tree->model->events[of[c]].package && thread->record.status[c] > 0)
			package_add(&place, of[c], pm_snapshot_node(thread, 1), c, &none);
}

/* The nodes below a node are of these kinds. */
#define BELOW_OVERLAPPING 1u
#define BELOW_VISITS	  2u

/* Fills BELOW, by node. */
static void below_fill(const struct pm_snapshot_thread *thread, unsigned char *below)
{
	/* Parents have lower numbers. */
	for (uint32_t n = thread->node_count; n > 1; n--) {
		const struct perfmon_profile_node *node = pm_snapshot_node(thread, n);

		below[node->parent] |= below[n];
		if (pm_node_is_overlapping(node))
			below[node->parent] |= BELOW_OVERLAPPING;
		else if (!pm_node_is_quantity(node) && !pm_node_is_adopted(node))
			below[node->parent] |= BELOW_VISITS;
	}
}

/* Fills WAITS, by node, with the ticks of the waits below it. */
static void waits_fill(const struct pm_report_model *model,
		       const struct pm_snapshot_thread *thread, uint64_t *waits)
{
	for (uint32_t n = thread->node_count; n > 1; n--) {
		const struct perfmon_profile_node *node = pm_snapshot_node(thread, n);
		struct share share = share_of(thread, node);
		uint64_t ticks = waits[n];

		if (pm_node_is_quantity(node) || pm_node_is_overlapping(node))
			continue;
		if (pm_name_is_wait(model->snapshot->regions[node->region])) {
			ticks = weight_of_node(model, thread, node, &share).ticks;
			ticks = pm_times(ticks, share.weight);
			/* A wait below it, and work, are in it. */
			waits[n] = 0;
		}
		pm_add(&waits[node->parent], ticks);
	}
}

/* Sets in MAP the number of the path of NODE, or of the step: number N of its thread. */
static int node_for(struct pm_tree_build *build, const struct perfmon_profile_node *node,
		    uint32_t n, uint32_t *map)
{
	uint32_t region = build->tree->model->region_of[node->region], key = region;
	int err;

	if (build->of_steps)
		key = !build->apart || build->apart[n] ? n : PM_TREE_OTHERS;
	err = pm_tree_node(build, map[node->parent], key, &map[n]);
	if (!err)
		build->tree->nodes[map[n]].path.region = region;
	return err;
}

static uint32_t marks_of(const struct pm_snapshot_thread *thread,
			 const struct perfmon_profile_node *node, bool exact)
{
	const struct perfmon_profile_stride *stride = pm_snapshot_stride(thread, node);
	uint64_t skipped = stride ? stride->skipped : 0;
	uint64_t visits = pm_node_visits(node);
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

/* Gives the marks of NODE to the events that THREAD, of another run, counted, in COUNTS. */
static void marks_add(const struct pm_report_model *model, struct pm_report_count *counts,
		      const struct pm_snapshot_thread *thread,
		      const struct perfmon_profile_node *node)
{
	const uint32_t *of = pm_report_columns(model, thread);

	for (uint32_t c = 0; of && c < thread->plan->counter_count; c++) {
		bool exact =
			thread->plan->counters[c].flags & PERFMON_PROFILE_COUNTER_EXACT;

		if (thread->record.status[c] > 0)
			counts[of[c]].marks |= marks_of(thread, node, exact);
	}
}

int pm_tree_thread_add(struct pm_tree_build *build,
		       const struct pm_snapshot_thread *thread, bool joined)
{
	struct pm_report_tree *tree = build->tree;
	const struct pm_report_model *model = tree->model;
	uint32_t extra = model->column_count - model->event_count;
	size_t nodes = (size_t)thread->node_count + 2;
	bool *whole = calloc((size_t)extra + 1, sizeof(*whole));
	unsigned char *below = calloc(nodes, 1);
	uint64_t *waits = calloc(nodes, sizeof(*waits));
	uint32_t *map = calloc(nodes, sizeof(*map)); /* to numbers in the tree */
	int err = whole && below && waits && map ? 0 : -ENOMEM;

	if (err)
		goto out;
	/* No column of metrics alone has counts of another run. */
	for (uint32_t i = 0; !joined && i < extra; i++)
		whole[i] = pm_report_metric_is_whole(
			model, model->events[model->event_count + i].only, thread);
	root_add(tree, thread);
	if (joined && thread->node_count)
		marks_add(model, tree->counts, thread, pm_snapshot_node(thread, 1));
	below_fill(thread, below);
	waits_fill(model, thread, waits);
	for (uint32_t n = 2; n <= thread->node_count; n++) {
		const struct perfmon_profile_node *node = pm_snapshot_node(thread, n);
		struct place place;

		if (pm_node_is_quantity(node)) {
			map[n] = map[node->parent];
			/* The program says its quantities in each run. */
			if (!joined)
				quantity_add(tree, map[n], thread, node);
			continue;
		}
		err = node_for(build, node, n, map);
		if (err)
			break;
		/* To end visits that overlap others is no work of a team. */
		if (!joined && pm_node_is_adopted(node) && below[n] == BELOW_OVERLAPPING)
			continue;
		place = place_of(tree, thread, n, map);
		place.node->path.is_team |= pm_node_is_adopted(node);
		place.node->path.is_overlapping |= pm_node_is_overlapping(node);
		if (joined) {
			place.threads = own_threads(thread, node);
			marks_add(model, place.counts, thread, node);
		} else {
			place.threads = threads_of(place.node, thread, node);
			node_add(model, &place, thread, node, waits[n]);
		}
		counts_add(model, &place, thread, node, whole);
	}
	if (!joined)
		pm_add(&tree->threads, pm_snapshot_threads(thread));
out:
	free(whole);
	free(below);
	free(waits);
	free(map);
	return err;
}
