/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The nodes of a tree: how they are made, and the sums in them. */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/model/tree_build.h"

static int tree_grow(struct pm_tree_build *build)
{
	struct pm_report_tree *tree = build->tree;
	/* There may be many small trees. */
	uint32_t room = build->room ? 2 * build->room : 8;
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
	node->path.parent = parent;
	node->path.region = region;
	node->path.depth = number ? tree->nodes[parent].path.depth + 1 : 0;
	node->path.times.min = node->path.threads.min = UINT64_MAX;
	memset(tree->counts + (size_t)number * tree->model->column_count, 0,
	       tree->model->column_count * sizeof(*tree->counts));
}

int pm_tree_begin(struct pm_tree_build *build, struct pm_report_tree *tree,
		  const struct pm_report_model *model)
{
	int err;

	memset(tree, 0, sizeof(*tree));
	memset(build, 0, sizeof(*build));
	tree->model = model;
	build->tree = tree;
	err = tree_grow(build);
	/* The root, which has no region. */
	if (!err)
		node_begin(tree, 0, 0);
	return err;
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

static void widen(uint64_t *min, uint64_t *max, uint64_t low, uint64_t high)
{
	if (low < *min)
		*min = low;
	if (high > *max)
		*max = high;
}

void pm_tree_visits_add(struct pm_report_node *to, const struct pm_report_node *from)
{
	uint64_t *sums = (uint64_t *)&to->path.visits;
	const uint64_t *more = (const uint64_t *)&from->path.visits;

	for (size_t i = 0; i < PM_PATH_VISIT_SUMS; i++)
		pm_add(&sums[i], more[i]);
	to->time_squares += from->time_squares;
	to->path.times.spent += from->path.times.spent;
	to->passed_ticks += from->passed_ticks;
	widen(&to->path.times.min, &to->path.times.max, from->path.times.min,
	      from->path.times.max);
	if (from->path.threads.min < to->path.threads.min)
		to->path.threads.min_at = from->path.threads.min_at;
	if (from->path.threads.max > to->path.threads.max)
		to->path.threads.max_at = from->path.threads.max_at;
	widen(&to->path.threads.min, &to->path.threads.max, from->path.threads.min,
	      from->path.threads.max);
	to->path.threads.is_unknown |= from->path.threads.is_unknown;
}

void pm_tree_count_add(struct pm_report_count *to, const struct pm_report_count *from)
{
	if (from->largest) {
		to->largest = true;
		to->sum = from->sum > to->sum ? from->sum : to->sum;
		return;
	}
	to->marks |= from->marks;
	pm_add(&to->sum, from->sum);
	pm_add(&to->lost_ns, from->lost_ns);
	pm_add(&to->windows, from->windows);
	to->added += from->added;
	to->outer += from->outer;
	to->error += from->error;
	to->time_ns += from->time_ns;
	to->on_cpu_ns += from->on_cpu_ns;
	to->running_ns += from->running_ns;
}

struct pm_report_count pm_count_less(const struct pm_report_count *a,
				     const struct pm_report_count *b)
{
	struct pm_report_count d = *a;

	if (a->largest)
		return d;
	d.sum = pm_less(a->sum, b->sum);
	d.lost_ns = pm_less(a->lost_ns, b->lost_ns);
	d.error = a->error + b->error;
	d.windows = pm_less(a->windows, b->windows);
	d.added = fmax(0, a->added - b->added);
	d.time_ns = fmax(0, a->time_ns - b->time_ns);
	d.on_cpu_ns = fmax(0, a->on_cpu_ns - b->on_cpu_ns);
	d.running_ns = fmax(0, a->running_ns - b->running_ns);
	return d;
}

struct pm_report_count pm_report_sums(const struct pm_report_tree *tree, uint32_t node,
				      uint32_t event, bool exclusive)
{
	size_t at = (size_t)node * tree->model->column_count + event;

	return exclusive ? pm_count_less(&tree->counts[at], &tree->children[at])
			 : tree->counts[at];
}
