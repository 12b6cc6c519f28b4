/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tree of a report: the nodes of all threads, or of some, put together by path. */
#ifndef PM_REPORT_TREE_H
#define PM_REPORT_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/report/model/model.h"
#include "core/report/model/node.h"

struct pm_report_tree {
	const struct pm_report_model *model;
	bool flat;
	uint32_t node_count; /* nodes[0], the root, included: the sum of all, no region */
	struct pm_report_node *nodes;	  /* parents before children */
	struct pm_report_count *counts;	  /* node_count times the model's column_count */
	struct pm_report_count *children; /* likewise: sums over each node's children */
	uint64_t total_ticks;		  /* exclusive times of all nodes */
	uint64_t threads;
};

/* Make the tree of thread number THREAD of the snapshot, or of all threads (-1), or of the COUNT
 * THREADS, by their places in the snapshot. 0 or -ENOMEM. */
int pm_report_tree_make(struct pm_report_tree *tree, const struct pm_report_model *model,
			int64_t thread);
int pm_report_tree_make_of(struct pm_report_tree *tree,
			   const struct pm_report_model *model, const uint32_t *threads,
			   uint32_t count);
/* Makes FLAT of TREE, by region: one level, in which a region below itself counts once in
 * inclusive values. 0 or -ENOMEM. */
int pm_report_tree_flatten(struct pm_report_tree *flat,
			   const struct pm_report_tree *tree);
void pm_report_tree_free(struct pm_report_tree *tree);

/* Returns the node that follows NODE from the top down, 0 at the end; begin with 0. */
uint32_t pm_report_tree_next(const struct pm_report_tree *tree, uint32_t node);

/* Returns the end of TREE's hottest path: the node with the most exclusive time. The path's
 * other nodes are its parents. 0: no node has any time. */
uint32_t pm_report_hottest(const struct pm_report_tree *tree);

/* Returns the sums of EVENT in NODE, exclusive if EXCLUSIVE. */
struct pm_report_count pm_report_sums(const struct pm_report_tree *tree, uint32_t node,
				      uint32_t event, bool exclusive);
/* Return the mean and the standard deviation of a visit's time, in ticks; negative if there is
 * none. */
double pm_report_mean(const struct pm_report_node *node);
double pm_report_deviation(const struct pm_report_node *node);

/* Returns by how much the total of ALL visits may be off, if MEASURED of them have this sum and
 * these sums of squares and cubes. */
double pm_report_error(double sum, double squares, double cubes, double measured,
		       double all);

/* Returns the name of NODE's region. */
static inline const char *pm_report_name(const struct pm_report_tree *tree, uint32_t node)
{
	return tree->model->snapshot->regions[tree->nodes[node].region];
}

#endif
