/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tree of a report by region: one level, in which a region below itself counts once. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/report/model/tree_build.h"

/* Returns true if a node above N is of N's region. The walk is short: a snapshot has at most
 * PERFMON_PROFILE_DEPTH_MAX levels. */
static bool nested_in_itself(const struct pm_report_tree *tree, uint32_t n)
{
	uint32_t region = tree->nodes[n].region;

	for (n = tree->nodes[n].parent; n; n = tree->nodes[n].parent)
		if (tree->nodes[n].region == region)
			return true;
	return false;
}

static void flat_add(struct pm_report_node *to, const struct pm_report_node *from,
		     bool nested)
{
	if (!nested) {
		pm_tree_add(&to->times.inclusive, from->times.inclusive);
		pm_tree_add(&to->all_ticks, from->all_ticks);
		pm_tree_add(&to->times.least, from->times.least);
		pm_tree_add(&to->times.off_cpu_ns, from->times.off_cpu_ns);
		to->times.added += from->times.added;
		to->time_error += from->time_error;
	}
	pm_tree_visits_add(to, from);
	to->own_error += from->own_error;
	/* Exclusive, until the sums are complete. */
	pm_tree_add(&to->times.children,
		    pm_less(from->times.inclusive, from->times.children));
	pm_tree_add(&to->children_off_cpu_ns,
		    pm_less(from->times.off_cpu_ns, from->children_off_cpu_ns));
	to->times.children_added +=
		fmax(0, from->times.added - from->times.children_added);
	to->inside_mismatch |= from->inside_mismatch;
	to->is_overlapping |= from->is_overlapping;
	if (from->threads.count > to->threads.count)
		to->threads.count = from->threads.count;
}

static void flat_count_add(struct pm_report_count *to, struct pm_report_count *own,
			   const struct pm_report_count *from,
			   const struct pm_report_count *children, bool nested)
{
	struct pm_report_count less;

	if (!nested)
		pm_tree_count_add(to, from);
	pm_tree_add(&to->measured, from->measured);
	pm_tree_add(&to->sampled, from->sampled);
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

		err = pm_tree_node(&build, 0, tree->nodes[n].region, &number);
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

		node->times.children =
			pm_less(node->times.inclusive, node->times.children);
		node->children_off_cpu_ns =
			pm_less(node->times.off_cpu_ns, node->children_off_cpu_ns);
		node->times.children_added =
			fmax(0, node->times.added - node->times.children_added);
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
		pm_tree_root(flat, tree);
	flat->total_ticks = tree->total_ticks;
	flat->threads = tree->threads;
	return pm_tree_end(&build, err);
}
