/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the steps of paths. Each mark becomes a node of what there was until then; at the end the
 * differences of these are the steps.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/profile/node.h"
#include "core/profile/walk.h"
#include "core/text/grow.h"

#define LARGEST_MARK                                                                     \
	(sizeof(struct perfmon_profile_mark) +                                           \
	 PERFMON_PROFILE_COUNTERS_MAX *                                                  \
		 sizeof(((struct perfmon_profile_mark *)0)->count[0]))

/* The steps by their number in the profile, and what their last part was. */
struct pm_walk_steps {
	struct pm_snapshot_steps steps[PERFMON_PROFILE_STEPS_MAX];
	struct perfmon_profile_steps last[PERFMON_PROFILE_STEPS_MAX];
};

static size_t size_of_path(const struct perfmon_profile_steps *head)
{
	return ((size_t)head->depth * sizeof(uint32_t) + 7) / 8 * 8;
}

/* Returns whether HEAD holds, with LEFT bytes behind it. */
static bool is_sound(const struct perfmon_profile_steps *head, uint64_t left)
{
	return head->series && head->series <= PERFMON_PROFILE_STEPS_MAX && head->depth &&
	       head->depth <= PERFMON_PROFILE_DEPTH_MAX &&
	       head->part < PERFMON_PROFILE_PARTS_MAX &&
	       head->capacity <= PERFMON_PROFILE_MARKS_MAX &&
	       head->counters <= PERFMON_PROFILE_COUNTERS_MAX &&
	       head->mark_size % 8 == 0 &&
	       head->mark_size >=
		       sizeof(struct perfmon_profile_mark) +
			       head->counters * sizeof(((struct perfmon_profile_mark *)0)
							       ->count[0]) &&
	       size_of_path(head) <= left && head->count <= head->capacity &&
	       head->capacity <= (left - size_of_path(head)) / head->mark_size;
}

/* Begins the steps that HEAD leads; their path is at offset AT. Returns 0, -EINVAL or
 * -ENOMEM. */
static int steps_begin(const struct pm_walk *walk, uint64_t at,
		       const struct perfmon_profile_steps *head,
		       struct pm_snapshot_steps *steps)
{
	struct perfmon_profile_thread *record = &steps->thread.record;
	size_t bytes = size_of_path(head);

	free(steps->path); /* of one that did not hold */
	steps->path = malloc(bytes);
	if (!steps->path)
		return -ENOMEM;
	pm_walk_copy(steps->path, walk->base + at, bytes);
	for (uint32_t i = 0; i < head->depth; i++)
		if (!steps->path[i] || steps->path[i] > walk->s->region_count)
			return -EINVAL;
	steps->depth = head->depth;
	/* The sum gets one thread more, whose least and most are those of its nodes. */
	record->state = PERFMON_PROFILE_THREAD_STATE_AGGREGATE;
	record->aggregated = 1;
	record->tid = head->tid;
	record->generation = head->generation;
	record->counters = head->counters;
	memcpy(record->name, head->name, sizeof(record->name));
	memcpy(record->status, head->status, sizeof(record->status));
	steps->thread.node_size = sizeof(struct perfmon_profile_node) +
				  head->counters * sizeof(struct perfmon_profile_count);
	return 0;
}

/* Adds NODE, which has what there was at TICKS, unless no visit has begun since the last one. */
static int node_add(struct pm_snapshot_steps *steps, uint64_t ticks,
		    const struct perfmon_profile_node *node)
{
	struct pm_snapshot_thread *thread = &steps->thread;
	uint32_t count = thread->node_count;
	void *nodes = thread->nodes;

	if (count && node->entered <= pm_snapshot_node(thread, count)->entered)
		return 0;
	if (!PM_GROW(steps->step, count) || !pm_grow(&nodes, count, thread->node_size))
		return -ENOMEM;
	thread->nodes = nodes;
	steps->step[count] = (struct pm_snapshot_step){.begin_ticks = ticks};
	thread->node_count = ++count;
	memcpy(pm_snapshot_node(thread, count), node, thread->node_size);
	return 0;
}

static int mark_add(const struct pm_walk *walk, uint64_t at,
		    struct pm_snapshot_steps *steps)
{
	union {
		struct perfmon_profile_mark mark;
		char room[LARGEST_MARK];
	} from;
	union {
		struct perfmon_profile_node node;
		char room[sizeof(struct perfmon_profile_node) +
			  PERFMON_PROFILE_COUNTERS_MAX *
				  sizeof(struct perfmon_profile_count)];
	} to;
	uint32_t counters = steps->thread.record.counters;
	const struct perfmon_profile_mark *mark = &from.mark;

	memset(&to, 0, sizeof(to));
	pm_walk_copy(&from, walk->base + at,
		     sizeof(*mark) + counters * sizeof(mark->count[0]));
	PM_MARK_COPY(&to.node, mark, counters);
	return node_add(steps, mark->ticks, &to.node);
}

/* Adds a part. */
static int take_part(struct pm_walk *walk, void *record, uint64_t behind, uint64_t left)
{
	const struct perfmon_profile_steps *shared =
		(const void *)(walk->base + behind - sizeof(*shared));
	struct perfmon_profile_steps *head = record, *last;
	struct pm_snapshot_steps *steps;
	uint64_t mark;
	int err = 0;

	/* Pairs with the release store of the flag after the last mark, */
	head->flags = __atomic_load_n(&shared->flags, __ATOMIC_ACQUIRE);
	/* and with that of the count after each. */
	head->count = __atomic_load_n(&shared->count, __ATOMIC_ACQUIRE);
	head->name[sizeof(head->name) - 1] = '\0';
	if (!is_sound(head, left))
		return -EINVAL;
	last = &walk->steps->last[head->series - 1];
	steps = &walk->steps->steps[head->series - 1];
	if (!head->part && !last->series)
		err = steps_begin(walk, behind, head, steps);
	else if (!last->series || head->part != last->part + 1 ||
		 head->counters != last->counters || head->depth != last->depth)
		err = -EINVAL;
	mark = behind + size_of_path(head);
	for (uint32_t i = 0; !err && i < head->count; i++, mark += head->mark_size)
		err = mark_add(walk, mark, steps);
	if (!err)
		*last = *head;
	return err;
}

static int by_place(const void *key, const void *thread)
{
	uint64_t a = *(const uint64_t *)key,
		 b = ((const struct pm_snapshot_thread *)thread)->at;

	return a < b ? -1 : a > b;
}

/* Returns the node whose steps LAST has, if its thread goes on. */
static const struct perfmon_profile_node *
node_of(const struct pm_snapshot *s, const struct perfmon_profile_steps *last,
	const struct pm_snapshot_steps *steps)
{
	const struct pm_snapshot_thread *thread;
	const struct perfmon_profile_node *node;

	if (last->flags & PERFMON_PROFILE_STEPS_ENDED || !s->thread_count)
		return NULL;
	thread = bsearch(&last->thread, s->threads, s->thread_count, sizeof(*s->threads),
			 by_place);
	if (!thread || thread->record.tid != last->tid ||
	    thread->record.counters != last->counters || !last->node ||
	    last->node > thread->node_count)
		return NULL;
	node = pm_snapshot_node(thread, last->node);
	return node->region == steps->path[steps->depth - 1] ? node : NULL;
}

/* Takes PART from FIELD, of which at least 0 is left. */
#define LESS(field, part) ((field) = (field) > (part) ? (field) - (part) : 0)

/* Makes of NODE what it has more than BEFORE. */
static void node_less(struct perfmon_profile_node *node,
		      const struct perfmon_profile_node *before, uint32_t counters)
{
	unsigned __int128 squares, low;

	squares = (unsigned __int128)node->time_squares_high << 64 | node->time_squares;
	low = (unsigned __int128)before->time_squares_high << 64 | before->time_squares;
	LESS(squares, low);
	node->time_squares = (uint64_t)squares;
	node->time_squares_high = (uint64_t)(squares >> 64);
	LESS(node->sequence, before->sequence);
	LESS(node->entered, before->entered);
	LESS(node->time_ticks, before->time_ticks);
	LESS(node->off_cpu_ns, before->off_cpu_ns);
	LESS(node->fallback_reads, before->fallback_reads);
	LESS(node->retries, before->retries);
	LESS(node->migrations, before->migrations);
	LESS(node->mismatched_ends, before->mismatched_ends);
	LESS(node->dropped_counts, before->dropped_counts);
	LESS(node->defects, before->defects);
	for (uint32_t i = 0; i < counters; i++) {
		LESS(node->count[i].sum, before->count[i].sum);
		LESS(node->count[i].lost_ns, before->count[i].lost_ns);
		node->count[i].squares = 0; /* a mark has none */
	}
}

/* Makes NODE, which has the visits of STEP, a node of the path that STEPS have. */
static void node_end(const struct pm_snapshot_steps *steps,
		     struct perfmon_profile_node *node)
{
	bool one = pm_node_visits(node) == 1;

	node->parent = 1;
	node->region = steps->path[steps->depth - 1];
	node->flags &= PM_SNAPSHOT_TORN;
	node->threads = 1;
	node->spilled = node->parts = 0;
	node->thread_min_ticks = node->thread_max_ticks = node->time_ticks;
	node->time_guard = 0;
	node->time_min = one ? node->time_ticks : UINT64_MAX;
	node->time_max = one ? node->time_ticks : 0;
	memset(node->histogram, 0, sizeof(node->histogram));
}

/* Makes steps of all that has been added. */
static void steps_end(struct pm_snapshot_steps *steps)
{
	struct pm_snapshot_thread *thread = &steps->thread;

	for (uint32_t n = thread->node_count; n > 1; n--) {
		struct perfmon_profile_node *node = pm_snapshot_node(thread, n);
		const struct perfmon_profile_node *before =
			pm_snapshot_node(thread, n - 1);
		struct pm_snapshot_step *step = &steps->step[n - 2];

		step->first = before->entered + 1;
		step->last = node->entered;
		step->longest = node->time_max > before->time_max ? node->time_max : 0;
		node_less(node, before, thread->record.counters);
		node_end(steps, node);
	}
	if (thread->node_count)
		memset(pm_snapshot_node(thread, 1), 0, thread->node_size);
	steps->count = thread->node_count ? thread->node_count - 1 : 0;
	thread->record.node_count = thread->node_count;
}

/* Moves what was found into the snapshot, and adds what each node has since the last mark. */
static int found_end(struct pm_snapshot *s, struct pm_walk_steps *found)
{
	s->steps = calloc(PERFMON_PROFILE_STEPS_MAX, sizeof(*s->steps));
	if (!s->steps)
		return -ENOMEM;
	for (uint32_t i = 0; i < PERFMON_PROFILE_STEPS_MAX; i++) {
		const struct perfmon_profile_node *node;
		struct pm_snapshot_steps *steps = &found->steps[i];

		if (!found->last[i].series)
			continue;
		node = node_of(s, &found->last[i], steps);
		if (node && node_add(steps, 0, node))
			return -ENOMEM;
		steps_end(steps);
		if (!steps->count)
			continue;
		s->steps[s->steps_count++] = *steps;
		memset(steps, 0, sizeof(*steps));
	}
	return 0;
}

int pm_walk_steps(struct pm_walk *walk)
{
	static const struct pm_walk_kind kind = {PERFMON_PROFILE_TYPE_STEPS,
						 sizeof(struct perfmon_profile_steps),
						 "bad steps", take_part};
	struct pm_walk_steps *found;
	int err;

	if (!walk->found[PERFMON_PROFILE_TYPE_STEPS].count)
		return 0;
	found = calloc(1, sizeof(*found));
	if (!found)
		return -ENOMEM;
	walk->steps = found;
	err = pm_walk_each(walk, &kind) ?: found_end(walk->s, found);
	for (uint32_t i = 0; i < PERFMON_PROFILE_STEPS_MAX; i++) {
		free(found->steps[i].thread.nodes);
		free(found->steps[i].step);
		free(found->steps[i].path);
	}
	free(found);
	return err;
}
