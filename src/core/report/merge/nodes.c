/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The nodes of many processes' threads, summed: one thread for each set of open events,
 * so that a sum is never taken over threads that counted and threads that did not. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/merge/parts.h"
#include "core/text/grow.h"

/* Clocks whose rates differ by less are one clock to a histogram, whose bins double. */
#define SAME_CLOCK 0.01

static void add_small(uint32_t *to, uint32_t value)
{
	if (__builtin_add_overflow(*to, value, to))
		*to = UINT32_MAX;
}

static uint32_t counters_of(const struct pm_snapshot_thread *thread)
{
	return thread->plan ? thread->plan->counter_count : 0;
}

/* Returns true if THREAD's events are those of the sum's thread TO, open and refused alike. */
static bool same_events(const struct pm_snapshot_thread *to,
			const struct pm_snapshot_thread *thread)
{
	uint32_t count = counters_of(thread);

	/* Totals are scaled from visits that stand for as many each. */
	if (to->plan->counter_count != count || to->record.flags != thread->record.flags)
		return false;
	for (uint32_t c = 0; c < count; c++) {
		const struct perfmon_profile_counter *a = &to->plan->counters[c];
		const struct perfmon_profile_counter *b = &thread->plan->counters[c];

		if (!pm_report_same_event(a, b) || a->logical != b->logical ||
		    (a->flags ^ b->flags) & (PERFMON_PROFILE_COUNTER_REFUSED |
					     PERFMON_PROFILE_COUNTER_KERNEL_ONLY) ||
		    (to->record.status[c] > 0) != (thread->record.status[c] > 0))
			return false;
	}
	return true;
}

static void plans_move(struct pm_snapshot_thread *threads, uint32_t count,
		       const struct pm_snapshot_plan *from,
		       const struct pm_snapshot_plan *to)
{
	for (uint32_t t = 0; t < count; t++)
		if (threads[t].plan)
			threads[t].plan = to + (threads[t].plan - from);
}

struct pm_snapshot_plan *pm_merge_plan_add(struct pm_snapshot *s,
					   const struct pm_snapshot_plan *from)
{
	size_t bytes = from->counter_count * sizeof(*from->counters);
	struct pm_snapshot_plan *plans = malloc((s->plan_count + 1) * sizeof(*plans)),
				*plan;
	struct perfmon_profile_counter *counters = malloc(bytes + 1);

	if (!plans || !counters) {
		free(plans);
		free(counters);
		return NULL;
	}
	if (s->plan_count)
		memcpy(plans, s->plans, s->plan_count * sizeof(*plans));
	plans_move(s->threads, s->thread_count, s->plans, plans);
	plans_move(s->joined, s->joined_count, s->plans, plans);
	for (uint32_t i = 0; i < s->steps_count; i++)
		plans_move(&s->steps[i].thread, 1, s->plans, plans);
	free(s->plans);
	s->plans = plans;
	plan = &plans[s->plan_count++];
	*plan = *from;
	plan->counters = bytes ? memcpy(counters, from->counters, bytes) : counters;
	return plan;
}

/* Adds a plan for the events of THREAD. */
static int plan_add(struct pm_snapshot *sum, const struct pm_snapshot_thread *thread)
{
	static const struct pm_snapshot_plan none;
	struct pm_snapshot_plan *plan = pm_merge_plan_add(sum, thread->plan ?: &none);

	if (!plan)
		return -ENOMEM;
	/* The first plan is the newest one: so its totals can be packed. */
	plan->generation = PM_MERGE_SETS + 1 - sum->plan_count;
	plan->time = (struct perfmon_profile_cost){0};
	return 0;
}

/* The sum's thread for the events of THREAD: its number. */
static int thread_get(struct pm_merge *merge, const struct pm_snapshot_thread *thread,
		      uint32_t *number)
{
	struct pm_snapshot *sum = merge->sum;
	struct pm_snapshot_thread *to;
	int err;

	for (uint32_t t = 0; t < sum->thread_count; t++) {
		if (!same_events(&sum->threads[t], thread))
			continue;
		*number = t;
		return 0;
	}
	err = sum->thread_count < PM_MERGE_SETS ? plan_add(sum, thread) : -ENOMEM;
	if (err)
		return err;
	if (!PM_GROW(merge->node_room, sum->thread_count) ||
	    !PM_GROW(sum->threads, sum->thread_count))
		return -ENOMEM;
	*number = sum->thread_count++;
	merge->node_room[*number] = 0;
	to = &sum->threads[*number];
	memset(to, 0, sizeof(*to));
	to->plan = &sum->plans[*number];
	to->node_size = sizeof(struct perfmon_profile_node) +
			to->plan->counter_count * sizeof(struct perfmon_profile_count);
	if (thread->record.flags & PERFMON_PROFILE_THREAD_STRIDE)
		to->node_size += sizeof(struct perfmon_profile_stride) +
				 to->plan->counter_count * sizeof(double);
	to->record.flags = thread->record.flags;
	to->record.state = PERFMON_PROFILE_THREAD_STATE_AGGREGATE;
	to->record.generation = to->plan->generation;
	to->record.counters = to->plan->counter_count;
	memcpy(to->record.status, thread->record.status,
	       to->plan->counter_count * sizeof(to->record.status[0]));
	return 0;
}

/* Room for the nodes up to COUNT, those that are new without a visit. */
static int nodes_grow(struct pm_merge *merge, uint32_t t, uint32_t count)
{
	struct pm_snapshot_thread *to = &merge->sum->threads[t];

	if (count > merge->node_room[t]) {
		uint32_t room = count + count / 2 + 64;
		uint64_t more = (room - merge->node_room[t]) * (uint64_t)to->node_size;
		unsigned char *nodes = NULL;

		if (more <= PM_MERGE_BYTES - merge->node_bytes)
			nodes = realloc(to->nodes, room * to->node_size);
		if (!nodes)
			return -ENOMEM;
		merge->node_bytes += more;
		to->nodes = nodes;
		merge->node_room[t] = room;
	}
	while (to->node_count < count) {
		struct perfmon_profile_node *node =
			pm_snapshot_node(to, ++to->node_count);

		memset(node, 0, to->node_size);
		node->time_min = node->thread_min_ticks = UINT64_MAX;
	}
	return 0;
}

/* *TO becomes the lesser of both where SEEN is known. */
static void least(uint32_t *to, uint32_t seen, bool first, double ratio)
{
	double value = seen < UINT32_MAX ? (double)seen * ratio + 0.5 : UINT32_MAX;
	uint32_t here = value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;

	if (first || here < *to)
		*to = here;
}

/* Lowers *TO to the cost SEEN where that is less; RATIO converts SEEN's unit to TO's. */
static void cost_least(struct perfmon_profile_cost *to,
		       const struct perfmon_profile_cost *seen, double ratio)
{
	uint32_t first = seen->known & ~to->known;

	if (seen->known & PERFMON_PROFILE_COST_USER) {
		least(&to->bias, seen->bias, first & PERFMON_PROFILE_COST_USER, ratio);
		least(&to->pair, seen->pair, first & PERFMON_PROFILE_COST_USER, ratio);
	}
	if (seen->known & PERFMON_PROFILE_COST_CALL) {
		least(&to->call_bias, seen->call_bias, first & PERFMON_PROFILE_COST_CALL,
		      ratio);
		least(&to->call_pair, seen->call_pair, first & PERFMON_PROFILE_COST_CALL,
		      ratio);
	}
	if (seen->known & PERFMON_PROFILE_COST_SKIPPED)
		least(&to->skipped, seen->skipped, first & PERFMON_PROFILE_COST_SKIPPED,
		      ratio);
	if (seen->known & PERFMON_PROFILE_COST_OVERLAP)
		least(&to->overlapped, seen->overlapped,
		      first & PERFMON_PROFILE_COST_OVERLAP, ratio);
	to->known |= seen->known;
}

static void record_add(struct pm_snapshot_thread *to, struct pm_snapshot_plan *plan,
		       const struct pm_snapshot_thread *from, double ratio)
{
	struct perfmon_profile_thread *record = &to->record;
	const struct perfmon_profile_thread *other = &from->record;

	pm_add(&record->lost_in_handler, other->lost_in_handler);
	pm_add(&record->lost_too_deep, other->lost_too_deep);
	pm_add(&record->lost_no_memory, other->lost_no_memory);
	pm_add(&record->lost_unnamed, other->lost_unnamed);
	pm_add(&record->lost_other, other->lost_other);
	pm_add(&record->unmatched_ends, other->unmatched_ends);
	for (int i = 0; i < PERFMON_PROFILE_LEFT_OUT_KINDS; i++)
		pm_add(&record->left_out[i], other->left_out[i]);
	add_small(&record->aggregated, (uint32_t)pm_snapshot_threads(from));
	add_small(&to->torn, from->torn);
	for (uint32_t c = 0; c < plan->counter_count; c++) {
		struct perfmon_profile_counter *counter = &plan->counters[c];
		const struct perfmon_profile_counter *seen = &from->plan->counters[c];

		/* Read(2) somewhere is what is worth telling. */
		if (other->status[c] == PERFMON_PROFILE_COUNTER_STATUS_SYSCALL)
			record->status[c] = PERFMON_PROFILE_COUNTER_STATUS_SYSCALL;
		cost_least(&counter->cost, &seen->cost, 1);
	}
	if (from->plan)
		cost_least(&plan->time, &from->plan->time, ratio);
}

/* Adds the first node of FROM to that of the sum's thread T: it has counts of packages alone. */
static int root_add(struct pm_merge *merge, const struct pm_snapshot_thread *from,
		    uint32_t t, struct pm_node_part *part)
{
	struct perfmon_profile_node *to;
	int err = from->node_count ? nodes_grow(merge, t, 1) : 0;

	if (err || !from->node_count)
		return err;
	part->node = pm_snapshot_node(from, 1);
	to = pm_snapshot_node(&merge->sum->threads[t], 1);
	for (uint32_t c = 0; c < part->columns; c++) {
		pm_add(&to->count[c].sum, part->node->count[c].sum);
		pm_add(&to->count[c].lost_ns, part->node->count[c].lost_ns);
		to->count[c].squares += part->node->count[c].squares;
	}
	return 0;
}

/* Takes the events of packages as not opened in THREAD. */
static void leave_packages(struct pm_snapshot_thread *thread)
{
	for (uint32_t c = 0; c < counters_of(thread); c++)
		if (thread->plan->counters[c].flags & PERFMON_PROFILE_COUNTER_PACKAGE)
			thread->record.status[c] = -EBUSY;
}

/* Adds the nodes of the thread FROM; PART has what all nodes of its process have. */
static int thread_add(struct pm_merge *merge, const struct pm_snapshot_thread *from,
		      struct pm_node_part part, const uint32_t *region_map)
{
	uint32_t *path_of = calloc((size_t)from->node_count + 2, sizeof(*path_of)), t = 0;
	int err = path_of ? thread_get(merge, from, &t) : -ENOMEM;

	part.columns = counters_of(from);
	part.aggregate = from->record.state == PERFMON_PROFILE_THREAD_STATE_AGGREGATE;
	err = err ?: root_add(merge, from, t, &part);
	for (uint32_t n = 2; !err && n <= from->node_count; n++) {
		struct pm_snapshot_thread *to = &merge->sum->threads[t];
		uint32_t path, region;

		part.node = pm_snapshot_node(from, n);
		region = region_map[part.node->region] |
			 pm_node_region_bits(part.node->flags);
		part.stride = pm_snapshot_stride(from, part.node);
		err = pm_merge_number(merge, &merge->paths, path_of[part.node->parent],
				      region, &path);
		if (!err && path >= to->node_count)
			err = nodes_grow(merge, t, path + 1);
		if (err)
			break;
		path_of[n] = path;
		pm_node_add(pm_snapshot_node(to, path + 1), &part);
	}
	free(path_of);
	if (!err)
		record_add(&merge->sum->threads[t], &merge->sum->plans[t], from,
			   part.ratio);
	return err;
}

int pm_merge_nodes(struct pm_merge *merge, const struct pm_snapshot *snapshot,
		   const uint32_t *region_map, double ratio, bool packages)
{
	struct pm_node_part part = {.ratio = ratio};
	int err = 0;

	/* A bin's visits go where the middle of the bin does. */
	if (fabs(ratio - 1) > SAME_CLOCK) {
		double shift = floor(log2(ratio) + 0.5);

		part.shift = (int)fmax(-PERFMON_PROFILE_BINS,
				       fmin(PERFMON_PROFILE_BINS, shift));
		merge->clocks_differ = true;
	}
	for (uint32_t t = 0; !err && t < snapshot->thread_count; t++) {
		struct pm_snapshot_thread from = snapshot->threads[t];

		if (!packages)
			leave_packages(&from);
		err = thread_add(merge, &from, part, region_map);
	}
	return err;
}

/* Returns true if some plan of SUM has COUNTER, and the kernel did not refuse it there. */
static bool is_counted(const struct pm_snapshot *sum,
		       const struct perfmon_profile_counter *counter)
{
	for (uint32_t p = 0; p < sum->plan_count; p++) {
		for (uint32_t c = 0; c < sum->plans[p].counter_count; c++) {
			const struct perfmon_profile_counter *other =
				&sum->plans[p].counters[c];

			if (!(other->flags & PERFMON_PROFILE_COUNTER_REFUSED) &&
			    pm_report_same_event(other, counter))
				return true;
		}
	}
	return false;
}

int pm_merge_nodes_fill(struct pm_merge *merge)
{
	struct pm_snapshot *sum = merge->sum;
	int err = 0;

	for (uint32_t t = 0; !err && t < sum->thread_count; t++) {
		struct pm_snapshot_thread *thread = &sum->threads[t];

		err = nodes_grow(merge, t, merge->paths.count ? merge->paths.count : 1);
		for (uint32_t n = 2; !err && n <= thread->node_count; n++) {
			struct perfmon_profile_node *node = pm_snapshot_node(thread, n);

			node->parent = merge->paths.path[n - 1].parent + 1;
			node->region = merge->paths.path[n - 1].region & PM_NODE_REGION;
			node->flags |= pm_node_flags_of(merge->paths.path[n - 1].region);
		}
		thread->record.node_count = thread->node_count;
	}
	/* Totals, if there are any, are of the first plan. */
	if (sum->plan_count) {
		sum->generation = sum->plans[0].generation;
		sum->counters = sum->plans[0].counters;
		sum->counter_count = sum->plans[0].counter_count;
	}
	return err;
}

void pm_merge_nodes_end(struct pm_merge *merge)
{
	struct pm_snapshot *sum = merge->sum;

	/* An event that only some processes were refused is not refused. */
	for (uint32_t p = 0; p < sum->plan_count; p++) {
		for (uint32_t c = 0; c < sum->plans[p].counter_count; c++) {
			struct perfmon_profile_counter *counter =
				&sum->plans[p].counters[c];

			if (counter->flags & PERFMON_PROFILE_COUNTER_REFUSED &&
			    is_counted(sum, counter)) {
				counter->flags &= ~PERFMON_PROFILE_COUNTER_REFUSED;
				counter->error = 0;
			}
		}
	}
}
