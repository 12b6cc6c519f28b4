/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the threads of a profile and their nodes, which may be written at the same time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/profile/pairs.h"
#include "core/profile/walk.h"
#include "core/text/grow.h"

/* A node is read again at most this often. */
#define NODE_TRIES 200

/* Copies one node once. Returns whether it is whole. */
static bool copy_once(const unsigned char *from, struct perfmon_profile_node *node,
		      size_t size)
{
	const struct perfmon_profile_node *read = (const void *)from;
	/* Pairs with the writer's release store of the even sequence. */
	uint64_t before = __atomic_load_n(&read->sequence, __ATOMIC_ACQUIRE);
	uint32_t parts = __atomic_load_n(&read->parts, __ATOMIC_ACQUIRE);

	pm_walk_copy(node, from, size);
	node->sequence = before;
	/* Orders the copy before the second load. Pairs with the writer's store-store
	 * fence after the odd sequence. */
	PM_WALK_FENCE();
	return !(before & 1) &&
	       __atomic_load_n(&read->parts, __ATOMIC_RELAXED) == parts &&
	       __atomic_load_n(&read->sequence, __ATOMIC_RELAXED) == before;
}

/* Does the same for a node at offset AT of the file FD. Each read is a system call, so no order is
 * needed. Returns -ENODATA if the file has become shorter. */
static int read_once(int fd, uint64_t at, struct perfmon_profile_node *node, size_t size)
{
	const uint64_t place = at + offsetof(struct perfmon_profile_node, sequence);
	const uint64_t parts = at + offsetof(struct perfmon_profile_node, parts);
	uint32_t parts_before, parts_after;
	uint64_t before, after;

	if (!pm_walk_read_whole(fd, &before, sizeof(before), place) ||
	    !pm_walk_read_whole(fd, &parts_before, sizeof(parts_before), parts) ||
	    !pm_walk_read_whole(fd, node, size, at) ||
	    !pm_walk_read_whole(fd, &parts_after, sizeof(parts_after), parts) ||
	    !pm_walk_read_whole(fd, &after, sizeof(after), place))
		return -ENODATA;
	node->sequence = before;
	return !(before & 1) && before == after && parts_before == parts_after;
}

/* Copies one node. Returns false if it is still torn after the attempts that are left. */
static bool take_node(struct pm_walk *walk, const unsigned char *from,
		      struct perfmon_profile_node *node, size_t size)
{
	unsigned int most = walk->flags & PM_SNAPSHOT_STILL ? 0 : NODE_TRIES;

	for (unsigned int attempt = 0;; attempt++) {
		int whole = walk->fd < 0
				    ? copy_once(from, node, size)
				    : read_once(walk->fd, (uint64_t)(from - walk->base),
						node, size);

		walk->s->looks++;
		if (whole > 0)
			return true;
		if (whole < 0)
			pm_walk_copy(node, from, size); /* the earlier copy */
		if (whole < 0 || attempt >= most || !*walk->tries)
			return false;
		--*walk->tries;
		pm_walk_relax(attempt);
	}
}

/* Returns the part of NODE that does not fit a tree, or NULL. DEPTHS has the depths of
 * all earlier nodes, and gets the depth of NODE. */
static const char *node_wrong(const struct perfmon_profile_node *node, uint32_t number,
			      uint16_t *depths)
{
	depths[number - 1] = 0;
	if (number == 1)
		return node->parent || node->region ? "its root" : NULL;
	if (!node->parent || node->parent >= number)
		return "a node's parent";
	if (!node->region)
		return "a node's region";
	/* Reports write paths in full. Without a limit, each node of a chain would add a
	 * line as long as the chain. */
	if (depths[node->parent - 1] >= PERFMON_PROFILE_DEPTH_MAX)
		return "a node's depth";
	depths[number - 1] = (uint16_t)(depths[node->parent - 1] + 1);
	return NULL;
}

static int by_offset(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static bool has(const struct pm_walk_list *list, uint64_t at)
{
	return list->count && bsearch(&at, list->at, list->count, sizeof(at), by_offset);
}

/* Copies the head of the record of nodes at offset AT. Returns whether the record is sound and continues
 * the nodes of THREAD. */
static bool take_lead(const struct pm_walk *walk, uint64_t at,
		      const struct pm_snapshot_thread *thread,
		      struct perfmon_profile_nodes *nodes)
{
	uint64_t size = 0;

	if (has(&walk->found[PERFMON_PROFILE_TYPE_NODES], at))
		size = pm_walk_record_size(walk, at);
	if (size < sizeof(*nodes))
		return false;
	pm_walk_copy(nodes, walk->base + at, sizeof(*nodes));
	return nodes->thread == thread->at && nodes->first == thread->node_count + 1 &&
	       nodes->capacity && nodes->node_size >= thread->node_size &&
	       nodes->node_size % 8 == 0 &&
	       nodes->capacity <= (size - sizeof(*nodes)) / nodes->node_size;
}

/* Adds the node at FROM to THREAD, unless it does not fit: then *WRONG gets the reason. */
static int add_node(struct pm_walk *walk, struct pm_snapshot_thread *thread,
		    const unsigned char *from, uint16_t **depths, const char **wrong)
{
	uint32_t number = thread->node_count + 1;
	struct perfmon_profile_node *node;
	void *nodes = thread->nodes;

	if (!PM_GROW(*depths, thread->node_count) ||
	    !pm_grow(&nodes, thread->node_count, thread->node_size))
		return -ENOMEM;
	thread->nodes = nodes;
	node = pm_snapshot_node(thread, number);
	if (take_node(walk, from, node, thread->node_size)) {
		node->flags &= ~PM_SNAPSHOT_TORN;
	} else {
		node->flags |= PM_SNAPSHOT_TORN;
		thread->torn++;
	}
	*wrong = node_wrong(node, number, *depths);
	if (!*wrong)
		thread->node_count = number;
	return 0;
}

/* Copies the nodes of THREAD. */
static int take_nodes(struct pm_walk *walk, struct pm_snapshot_thread *thread)
{
	const struct perfmon_profile_thread *record = &thread->record;
	uint32_t counters = record->counters;
	uint64_t chain = record->nodes;
	const char *wrong = NULL;
	uint16_t *depths = NULL;
	int err = 0;

	if (counters > PERFMON_PROFILE_COUNTERS_MAX)
		wrong = "its number of counters";
	thread->node_size = sizeof(struct perfmon_profile_node) +
			    counters * sizeof(struct perfmon_profile_count);
	if (record->flags & PERFMON_PROFILE_THREAD_STRIDE)
		thread->node_size +=
			sizeof(struct perfmon_profile_stride) + counters * sizeof(double);
	while (!err && !wrong && thread->node_count < record->node_count) {
		struct perfmon_profile_nodes nodes;
		const unsigned char *from;

		/* The record may be new. */
		if (!has(&walk->found[PERFMON_PROFILE_TYPE_NODES], chain))
			err = pm_walk_find(walk);
		if (err || !take_lead(walk, chain, thread, &nodes)) {
			wrong = "the place of its nodes";
			break;
		}
		from = walk->base + chain + sizeof(nodes);
		for (uint32_t i = 0; i < nodes.capacity && !err && !wrong &&
				     thread->node_count < record->node_count;
		     i++, from += nodes.node_size)
			err = add_node(walk, thread, from, &depths, &wrong);
		chain = nodes.next;
	}
	free(depths);
	if (wrong)
		pm_snapshot_problem(
			walk->s,
			"the profile's thread at byte %llu cannot be read in full: %s is "
			"wrong",
			(unsigned long long)thread->at, wrong);
	return err;
}

/* Copies the thread's record, without its nodes. Returns false if there is nothing to
 * copy. */
static bool take_thread_record(struct pm_walk *walk, struct pm_snapshot_thread *thread,
			       uint64_t at)
{
	const struct perfmon_profile_thread *shared = (const void *)(walk->base + at);
	uint64_t size = pm_walk_record_size(walk, at);
	uint32_t state, node_count;

	/* The first profiles had no CPUs in this record. */
	if (size < offsetof(struct perfmon_profile_thread, cpus)) {
		pm_snapshot_problem(walk->s, "the profile has a bad thread at byte %llu",
				    (unsigned long long)at);
		return false;
	}
	/* Pairs with the release store of the state after a thread has filled in its
	 * record. */
	state = __atomic_load_n(&shared->state, __ATOMIC_ACQUIRE);
	if (state == PERFMON_PROFILE_THREAD_STATE_UNUSED)
		return false;
	if (state < PERFMON_PROFILE_THREAD_STATE_LIVE ||
	    state > PERFMON_PROFILE_THREAD_STATE_UNUSED) {
		pm_snapshot_problem(
			walk->s, "the profile has a thread of unknown state %u", state);
		return false;
	}
	/* Pairs with the release store of the count after a node has been filled in. */
	node_count = __atomic_load_n(&shared->node_count, __ATOMIC_ACQUIRE);
	pm_walk_copy(&thread->record, walk->base + at,
		     size < sizeof(*shared) ? size : sizeof(*shared));
	thread->record.state = state;
	thread->record.node_count = node_count;
	thread->record.name[sizeof(thread->record.name) - 1] = '\0';
	return true;
}

int pm_walk_thread_plans(struct pm_snapshot *s)
{
	struct pm_snapshot_thread *thread;
	struct pm_pairs pairs = {
		0}; /* from a generation and a number of counters above 0 */
	uint32_t number;
	int err = 0;

	for (uint32_t p = 0; !err && p < s->plan_count; p++)
		err = pm_pairs_get(&pairs, s->plans[p].generation,
				   s->plans[p].counter_count + 1, p, &number);
	for (uint32_t t = 0; !err && (thread = pm_snapshot_thread_at(s, t)); t++) {
		number = pm_pairs_find(&pairs, thread->record.generation,
				       thread->record.counters + 1, s->plan_count);
		if (number < s->plan_count)
			thread->plan = &s->plans[number];
		else if (thread->record.counters)
			pm_snapshot_problem(s, "a thread of the profile counts events "
					       "that no plan names");
	}
	pm_pairs_free(&pairs);
	return err;
}

/* Copies the records of TYPE into the *COUNT elements of *THREADS. */
static int take_threads(struct pm_walk *walk, uint32_t type,
			struct pm_snapshot_thread **threads, uint32_t *count)
{
	const struct pm_walk_list *list = &walk->found[type];

	/* The list may grow during the loop; new threads are added at its end. */
	for (size_t i = 0; i < list->count; i++) {
		struct pm_snapshot_thread *thread;
		int err;

		if (!PM_GROW(*threads, *count))
			return -ENOMEM;
		thread = &(*threads)[*count];
		memset(thread, 0, sizeof(*thread));
		if (!take_thread_record(walk, thread, list->at[i]))
			continue;
		thread->at = list->at[i];
		++*count;
		err = take_nodes(walk, thread);
		if (err)
			return err;
	}
	return 0;
}

int pm_walk_threads(struct pm_walk *walk)
{
	struct pm_snapshot *s = walk->s;

	return take_threads(walk, PERFMON_PROFILE_TYPE_THREAD, &s->threads,
			    &s->thread_count)
		       ?: take_threads(walk, PERFMON_PROFILE_TYPE_JOINED, &s->joined,
				       &s->joined_count);
}
