/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/report/model/tree.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/model/tree_build.h"

/* NODE is complete. On request measuring is taken out of it. */
static void spent_sum(const struct pm_report_model *model, struct pm_report_node *parent,
		      struct pm_report_node *node)
{
	uint64_t less = (uint64_t)fmin(node->path.times.added + 0.5,
				       (double)node->path.times.inclusive);

	parent->path.times.added += node->outer_ticks;
	parent->outer_ticks += node->outer_ticks;
	parent->path.times.children_added += node->path.times.added;
	node->all_ticks = node->path.times.inclusive;
	if (model->subtract_bias && node->path.times.added >= 1)
		node->path.times.inclusive = pm_less(node->path.times.inclusive, less);
}

/*
 * Quantity E of node N is complete, but for what nodes around N have of it: unlike the counts of
 * events, what was said is in its own node alone.
 */
static void quantity_sum(struct pm_report_tree *tree, uint32_t n, size_t e)
{
	size_t events = tree->model->column_count;
	const struct pm_report_node *node = &tree->nodes[n];
	struct pm_report_count *count = &tree->counts[n * events + e];
	struct pm_report_count *outer = &tree->counts[node->path.parent * events + e];

	if (!count->threads)
		return;
	count->measured = count->sampled = node->path.visits.ended;
	/* The largest of values is that of its own visits. */
	if (!node->path.parent || count->largest)
		return;
	pm_tree_count_add(outer, count);
	if (count->threads > outer->threads)
		outer->threads = count->threads;
}

/* All that node N has is that of other nodes, too. */
static void overlapping_end(struct pm_report_tree *tree, uint32_t n)
{
	size_t events = tree->model->column_count;
	struct pm_report_node *node = &tree->nodes[n];

	node->all_ticks = node->path.times.least = node->path.times.children =
		node->path.times.inclusive;
	node->children_off_cpu_ns = node->path.times.off_cpu_ns;
	for (size_t e = 0; e < events; e++)
		tree->children[n * events + e] = tree->counts[n * events + e];
}

/* Makes the root of TREE the sum of the paths of OF that have no parent; TREE has its arrays. */
static void root_make(struct pm_report_tree *tree, const struct pm_report_tree *of)
{
	struct pm_report_node *root = &tree->nodes[0];
	size_t events = tree->model->column_count;

	/* A package's count stands in the root of the threads, and is not the sum of the paths'. */
	for (size_t e = 0; tree != of && e < events; e++)
		if (tree->model->events[e].package)
			pm_tree_count_add(&tree->counts[e], &of->counts[e]);
	for (uint32_t n = 1; n < of->node_count; n++) {
		const struct pm_report_node *node = &of->nodes[n];

		if (node->path.parent || node->path.is_overlapping)
			continue;
		/* The defects of these are those of their sum. */
		pm_tree_visits_add(root, node);
		pm_add(&root->path.times.inclusive, node->path.times.inclusive);
		pm_add(&root->path.times.least, node->path.times.least);
		pm_add(&root->all_ticks, node->all_ticks);
		pm_add(&root->path.times.off_cpu_ns, node->path.times.off_cpu_ns);
		root->inside_mismatch |= node->inside_mismatch;
		root->time_error += node->time_error;
		for (size_t e = 0; e < events; e++) {
			struct pm_report_count *sum = &tree->counts[e];
			const struct pm_report_count *count = &of->counts[n * events + e];

			if (!tree->model->events[e].package)
				pm_tree_count_add(sum, count);
			/* An open visit has no count yet that this could be subtracted from. */
			if (tree->model->exact && count->added > (double)count->sum)
				sum->added -= count->added - (double)count->sum;
			pm_add(&sum->measured, count->measured);
			pm_add(&sum->sampled, count->sampled);
			/* In how many it was open is not known of all paths together: here
			 * it is whether it was in any, and below whether in all. */
			sum->threads |= count->threads;
		}
	}
	root->path.threads.count = of->threads;
	for (size_t e = 0; e < events; e++) {
		bool all = true;

		/* Paths that other runs have not visited are in none of their sums. */
		tree->counts[e].marks |= of->counts[e].marks;

		for (uint32_t n = 1; n < of->node_count; n++)
			all &= of->nodes[n].path.parent ||
			       tree->model->events[e].joined ||
			       of->counts[n * events + e].threads >=
				       of->nodes[n].path.threads.count;
		if (tree->counts[e].threads)
			tree->counts[e].threads = all ? root->path.threads.count : 1;
	}
	/* Nothing is below it: what is inclusive is all. */
	root->path.times.children = root->children_off_cpu_ns = 0;
	memset(tree->children, 0, events * sizeof(*tree->children));
}

/* Makes the sums over children, bottom up, and of all paths. */
static int sums_make(struct pm_report_tree *tree)
{
	size_t events = tree->model->column_count;

	tree->children = calloc(tree->node_count * events + 1, sizeof(*tree->children));
	if (!tree->children)
		return -ENOMEM;
	for (uint32_t n = tree->node_count - 1; n > 0; n--) {
		struct pm_report_node *node = &tree->nodes[n];
		struct pm_report_node *parent = &tree->nodes[node->path.parent];

		if (node->path.is_overlapping) {
			overlapping_end(tree, n);
			continue;
		}
		/* Complete: children have higher numbers. */
		spent_sum(tree->model, parent, node);
		/* An open visit has taken what is inside of it, at least. */
		node->path.times.least = node->path.times.inclusive;
		if (node->path.visits.entered != node->path.visits.ended &&
		    node->path.times.least < node->children_least)
			node->path.times.least = node->children_least;
		pm_add(&parent->children_least, node->path.times.least);
		/* The draws are independent. */
		node->own_error += node->time_error;
		parent->own_error += node->time_error;
		pm_add(&parent->path.times.children, node->path.times.inclusive);
		pm_add(&parent->children_off_cpu_ns, node->path.times.off_cpu_ns);
		pm_add(&tree->total_ticks, pm_path_exclusive(tree, n));
		for (size_t e = 0; e < events; e++) {
			struct pm_report_count *count = &tree->counts[n * events + e];

			/* Complete: children have higher numbers. */
			pm_add(&count->windows, tree->children[n * events + e].windows);
			/* The visits of what lies below are around nothing of it. */
			count->added += tree->children[n * events + e].outer;
			count->outer += tree->children[n * events + e].outer;
			if (tree->model->events[e].quantity)
				quantity_sum(tree, n, e);
			pm_tree_count_add(&tree->children[node->path.parent * events + e],
					  count);
		}
	}
	root_make(tree, tree);
	return 0;
}

/*
 * An END without its BEGIN may be that of a stack that went on in another thread, or of
 * one among several that share a thread: what stands below a visit that did not
 * end by its own END may not belong there.
 */
static void mark_inside_mismatch(struct pm_report_tree *tree)
{
	const struct pm_snapshot *s = tree->model->snapshot;
	bool unmatched = s->header.unmatched_ends;

	for (uint32_t t = 0; t < s->thread_count; t++)
		unmatched |= s->threads[t].record.unmatched_ends != 0;
	for (uint32_t n = 1; unmatched && n < tree->node_count; n++) {
		struct pm_report_node *node = &tree->nodes[n];
		const struct pm_report_node *parent = &tree->nodes[node->path.parent];

		node->inside_mismatch =
			node->path.parent &&
			(parent->inside_mismatch || parent->path.visits.mismatched_ends ||
			 parent->path.visits.entered != parent->path.visits.ended);
	}
}

/* A tree has inclusive values, what is flat exclusive ones. */
static int by_time(const void *a, const void *b, void *argument)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct pm_report_tree *tree = argument;
	const struct pm_report_node *p = &tree->nodes[x], *q = &tree->nodes[y];
	uint64_t own_p = pm_path_exclusive(tree, x);
	uint64_t own_q = pm_path_exclusive(tree, y);
	int order;

	if (tree->flat && own_p != own_q)
		return own_p > own_q ? -1 : 1;
	if (p->path.times.least != q->path.times.least)
		return p->path.times.least > q->path.times.least ? -1 : 1;
	if (own_p != own_q)
		return own_p > own_q ? -1 : 1;
	order = strcmp(pm_path_name(tree, x), pm_path_name(tree, y));
	return order ? order : x < y ? -1 : x > y;
}

int pm_report_tree_order(struct pm_report_tree *tree,
			 int (*compare)(const void *, const void *, void *),
			 void *argument)
{
	uint32_t *order = malloc(tree->node_count * sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t n = 0; n < tree->node_count; n++) {
		order[n] = n;
		tree->nodes[n].path.first_child = tree->nodes[n].path.next = 0;
	}
	qsort_r(order + 1, tree->node_count - 1, sizeof(*order), compare, argument);
	for (uint32_t i = tree->node_count - 1; i > 0; i--) {
		struct pm_report_node *node = &tree->nodes[order[i]];

		node->path.next = tree->nodes[node->path.parent].path.first_child;
		tree->nodes[node->path.parent].path.first_child = order[i];
	}
	free(order);
	return 0;
}

/* Orders the tree, or frees it if there was an error ERR, which is returned. */
static int tree_end(struct pm_tree_build *build, int err)
{
	pm_pairs_free(&build->numbers);
	if (!err)
		err = pm_report_tree_order(build->tree, by_time, build->tree);
	if (err)
		pm_report_tree_free(build->tree);
	return err;
}

int pm_report_tree_make(struct pm_report_tree *tree, const struct pm_report_model *model,
			const uint32_t *threads, uint32_t count)
{
	const struct pm_snapshot *s = model->snapshot;
	uint32_t joined = threads ? 0 : s->joined_count;
	struct pm_tree_build build;
	int err = pm_tree_begin(&build, tree, model);

	count = threads ? count : s->thread_count;
	for (uint32_t t = 0; !err && t < count; t++)
		err = pm_tree_thread_add(&build, &s->threads[threads ? threads[t] : t],
					 false);
	for (uint32_t t = 0; !err && t < joined; t++)
		err = pm_tree_thread_add(&build, &s->joined[t], true);
	tree->is_part = count < s->thread_count;
	if (!err)
		mark_inside_mismatch(tree);
	if (!err)
		err = sums_make(tree);
	return tree_end(&build, err);
}

/* Lists the nodes in the order of their numbers, below the root; with LAST node 1 is the last. */
static void list_in_order(struct pm_report_tree *tree, bool last)
{
	uint32_t count = tree->node_count;

	tree->nodes[0].path.first_child = count > 2 && last ? 2 : count > 1;
	for (uint32_t n = 1; n < count; n++)
		tree->nodes[n].path.next = n + 1 < count ? n + 1 : last && n > 1;
	if (last)
		tree->nodes[1].path.next = 0;
}

static bool has_others(const struct pm_snapshot_steps *steps, const bool *apart)
{
	for (uint32_t n = 2; apart && n <= steps->thread.node_count; n++)
		if (!apart[n])
			return true;
	return false;
}

int pm_report_tree_steps(struct pm_report_tree *tree, const struct pm_report_model *model,
			 const struct pm_snapshot_steps *steps, const bool *apart)
{
	bool others = has_others(steps, apart);
	struct pm_tree_build build;
	uint32_t number;
	int err = pm_tree_begin(&build, tree, model);

	build.of_steps = true;
	build.apart = apart;
	if (!err && others)
		err = pm_tree_node(&build, 0, PM_TREE_OTHERS, &number);
	if (!err)
		err = pm_tree_thread_add(&build, &steps->thread, false);
	/* The marks are those of one thread. */
	tree->is_part = true;
	if (!err)
		err = sums_make(tree);
	err = tree_end(&build, err);
	if (!err)
		list_in_order(tree, others);
	return err;
}

uint32_t pm_report_steps_path(const struct pm_report_tree *tree,
			      const struct pm_snapshot_steps *steps)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < steps->depth && (n || !i); i++) {
		uint32_t region = tree->model->region_of[steps->path[i]];

		n = tree->nodes[n].path.first_child;
		while (n && tree->nodes[n].path.region != region)
			n = tree->nodes[n].path.next;
	}
	return n;
}

int pm_report_tree_list(struct pm_report_tree *tree, const struct pm_report_model *model,
			const uint32_t *order, uint32_t count)
{
	struct pm_tree_build build;
	uint32_t number;
	int err = pm_tree_begin(&build, tree, model);

	for (uint32_t i = 0; !err && i < count; i++)
		err = pm_tree_node(&build, 0, order[i], &number);
	err = tree_end(&build, err);
	if (err)
		return err;
	tree->flat = true;
	list_in_order(tree, false);
	return 0;
}

/* Returns true if a node above N is of N's region. The walk is short: a snapshot has at most
 * PERFMON_PROFILE_DEPTH_MAX levels. */
static bool nested_in_itself(const struct pm_report_tree *tree, uint32_t n)
{
	uint32_t region = tree->nodes[n].path.region;

	for (n = tree->nodes[n].path.parent; n; n = tree->nodes[n].path.parent)
		if (tree->nodes[n].path.region == region)
			return true;
	return false;
}

static void flat_add(struct pm_report_node *to, const struct pm_report_node *from,
		     bool nested)
{
	if (!nested) {
		pm_add(&to->path.times.inclusive, from->path.times.inclusive);
		pm_add(&to->all_ticks, from->all_ticks);
		pm_add(&to->path.times.least, from->path.times.least);
		pm_add(&to->path.times.off_cpu_ns, from->path.times.off_cpu_ns);
		to->path.times.added += from->path.times.added;
		to->time_error += from->time_error;
	}
	pm_tree_visits_add(to, from);
	to->own_error += from->own_error;
	/* Exclusive, until the sums are complete. */
	pm_add(&to->path.times.children,
	       pm_less(from->path.times.inclusive, from->path.times.children));
	pm_add(&to->children_off_cpu_ns,
	       pm_less(from->path.times.off_cpu_ns, from->children_off_cpu_ns));
	to->path.times.children_added +=
		fmax(0, from->path.times.added - from->path.times.children_added);
	to->inside_mismatch |= from->inside_mismatch;
	to->path.is_overlapping |= from->path.is_overlapping;
	if (from->path.threads.count > to->path.threads.count)
		to->path.threads.count = from->path.threads.count;
}

static void flat_count_add(struct pm_report_count *to, struct pm_report_count *own,
			   const struct pm_report_count *from,
			   const struct pm_report_count *children, bool nested)
{
	struct pm_report_count less;

	if (!nested)
		pm_tree_count_add(to, from);
	pm_add(&to->measured, from->measured);
	pm_add(&to->sampled, from->sampled);
	to->squares += from->squares;
	if (from->threads > to->threads)
		to->threads = from->threads;
	less = pm_count_less(from, children);
	pm_tree_count_add(own, &less);
}

int pm_report_tree_flatten(struct pm_report_tree *flat, const struct pm_report_tree *tree)
{
	size_t events = tree->model->column_count;
	struct pm_report_count *own = NULL;
	struct pm_tree_build build;
	uint32_t number;
	int err = pm_tree_begin(&build, flat, tree->model);

	/* A flat tree has at most as many nodes as the tree. */
	if (!err)
		own = calloc(tree->node_count * events + 1, sizeof(*own));
	if (!err && !own)
		err = -ENOMEM;
	for (uint32_t n = 1; !err && n < tree->node_count; n++) {
		bool nested = nested_in_itself(tree, n);

		err = pm_tree_node(&build, 0, tree->nodes[n].path.region, &number);
		if (err)
			break;
		flat_add(&flat->nodes[number], &tree->nodes[n], nested);
		for (size_t e = 0; e < events; e++) {
			struct pm_report_count *to = &flat->counts[number * events + e];
			const struct pm_report_count *from =
				&tree->counts[n * events + e];

			/* Threads may have been in both paths of a package at once. */
			to->at_most |= tree->model->events[e].package && !nested &&
				       tree->threads > 1 && to->time_ns > 0 &&
				       from->time_ns > 0;
			flat_count_add(to, &own[number * events + e], from,
				       &tree->children[n * events + e], nested);
		}
	}
	/* The rest, which is not exclusive, is the children's. */
	for (uint32_t n = 1; !err && n < flat->node_count; n++) {
		struct pm_report_node *node = &flat->nodes[n];

		node->path.times.children =
			pm_less(node->path.times.inclusive, node->path.times.children);
		node->children_off_cpu_ns =
			pm_less(node->path.times.off_cpu_ns, node->children_off_cpu_ns);
		node->path.times.children_added =
			fmax(0, node->path.times.added - node->path.times.children_added);
		for (size_t e = 0; e < events; e++) {
			struct pm_report_count *o = &own[n * events + e];
			const struct pm_report_count *c = &flat->counts[n * events + e];
			double error = fmax(0, o->error - c->error);

			*o = pm_count_less(c, o);
			o->error = error;
		}
	}
	flat->children = own;
	flat->flat = true;
	flat->is_part = tree->is_part;
	if (!err)
		root_make(flat, tree);
	flat->total_ticks = tree->total_ticks;
	flat->threads = tree->threads;
	return tree_end(&build, err);
}

void pm_report_tree_free(struct pm_report_tree *tree)
{
	free(tree->nodes);
	free(tree->counts);
	free(tree->children);
	memset(tree, 0, sizeof(*tree));
}
