/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Removes functions from a tree: what they count goes to their callers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/functions/trees.h"
#include "core/profile/pairs.h"
#include "core/text/grow.h"

static void add(uint64_t *to, const uint64_t *from, uint32_t events)
{
	for (uint32_t i = 0; i < events; i++)
		to[i] += from[i];
}

/* A function is at most once on the way from a node to the root, so that nothing is in a sum
 * twice. */
int tree_sum(struct tree *tree)
{
	uint64_t *inclusive = calloc(tree->node_count + 1, sizeof(inclusive[0]));

	if (!inclusive)
		return -ENOMEM;
	for (uint32_t n = tree->node_count; n; n--) {
		const struct tree_node *node = &tree->nodes[n - 1];

		inclusive[n] += node->count[0];
		inclusive[node->parent] += inclusive[n];
		if (node->function)
			tree->functions[node->function - 1].inclusive += inclusive[n];
	}
	free(inclusive);
	return 0;
}

/* The new numbers of nodes. */
struct renumbered {
	struct pm_pairs pairs;
	uint32_t *to;
	bool *used; /* the process has been in the node, or below. A forked child has others */
	uint32_t count;
};

static void find_used(const struct tree *tree, bool *used)
{
	for (uint32_t n = tree->node_count; n; n--) {
		used[n] |= tree->nodes[n - 1].visits != 0;
		used[tree->nodes[n - 1].parent] |= used[n];
	}
}

/* Finds the new number of node N, a new one if it has none. */
static int renumber(const struct tree *tree, uint32_t n, struct renumbered *new)
{
	const struct tree_node *node = &tree->nodes[n - 1];
	uint32_t parent = new->to[node->parent];
	int err;

	if (node->parent &&
	    (!tree->functions[node->function - 1].kept || !new->used[n])) {
		new->to[n] = parent;
		return 0;
	}
	if (!node->parent) {
		new->to[n] = ++new->count;
		return 0;
	}
	err = pm_pairs_get(&new->pairs, parent, node->function, new->count + 1,
			   &new->to[n]);
	if (!err && new->to[n] > new->count)
		new->count++;
	return err;
}

/* Moves node N to its place, which is not behind it. */
static void move(struct tree *tree, uint32_t n, uint32_t to, uint32_t parent, bool is_new,
		 uint32_t events)
{
	struct tree_node node = tree->nodes[n - 1], *place = &tree->nodes[to - 1];

	if (is_new) {
		*place = node;
		place->parent = parent;
		return;
	}
	add(place->count, node.count, events);
	if (node.function == place->function)
		place->visits += node.visits;
}

int tree_prune(struct tree *tree, uint32_t events)
{
	struct renumbered new = {
		.to = calloc(tree->node_count + 1, sizeof(new.to[0])),
		.used = calloc(tree->node_count + 1, sizeof(new.used[0]))};
	int err = new.to &&new.used ? 0 : -ENOMEM;

	if (!err)
		find_used(tree, new.used);
	for (uint32_t n = 1; !err && n <= tree->node_count; n++) {
		uint32_t before = new.count, parent = tree->nodes[n - 1].parent;

		err = renumber(tree, n, &new);
		if (!err)
			move(tree, n, new.to[n], new.to[parent], new.count > before,
			     events);
	}
	for (uint32_t i = 0; !err && i < tree->thread_count; i++)
		tree->threads[i].root = new.to[tree->threads[i].root];
	if (!err)
		tree->node_count = new.count;
	pm_pairs_free(&new.pairs);
	free(new.to);
	free(new.used);
	return err;
}

static int add_thread(struct tree *to, const struct tree *from,
		      const struct tree_thread *thread)
{
	struct tree_thread copy = *thread;

	if (!PM_GROW(to->threads, to->thread_count) ||
	    !PM_GROW(to->nodes, to->node_count))
		return -ENOMEM;
	to->nodes[to->node_count] = from->nodes[thread->root - 1];
	copy.root = ++to->node_count;
	to->threads[to->thread_count++] = copy;
	return 0;
}

int trees_sum(struct trees *trees, uint32_t events)
{
	struct tree *sum = trees->at;
	int err = 0;

	for (uint32_t t = 1; !err && t < trees->count; t++) {
		const struct tree *tree = &trees->at[t];

		for (uint32_t i = 0; !err && i < tree->thread_count; i++)
			err = add_thread(sum, tree, &tree->threads[i]);
		add(sum->total, tree->total, events);
		sum->has_regions |= tree->has_regions;
	}
	return err;
}
