/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tree of a report: the nodes of all threads, or of some, put together by path. */
#ifndef PM_REPORT_TREE_H
#define PM_REPORT_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/report/model/model.h"

/* Sums of one event over some visits and threads. */
struct pm_report_count {
	uint64_t sum;
	uint64_t lost_ns;
	uint64_t measured; /* visits that the sum stands for */
	uint64_t sampled;  /* of these, measured themselves: with a stride not all */
	double error;	   /* square of how far the sum may be off, at 99 % */
	uint64_t windows;  /* measured visits, those of nodes below included */
	double added;	   /* by measuring, in these: at least, */
	double outer;	   /* and in visits around them */
	uint64_t threads;  /* in which it was open */
	double time_ns;	   /* of the measured visits in these threads */
	double on_cpu_ns;  /* the part of that on the CPU */
	double running_ns; /* and of that on the hardware */
	double squares;
	uint32_t marks; /* PM_MARK_ bits, of an event of another run */
	bool largest;	/* the sum is the largest of its parts: pm_report_is_largest() */
	bool at_most;	/* of a package: parts of the sum may be of the same time */
};

struct pm_report_node;
struct pm_report_tree {
	const struct pm_report_model *model;
	bool flat;
	bool is_part;	     /* of some of the snapshot's threads */
	uint32_t node_count; /* nodes[0], the root, included: the sum of all, no region */
	struct pm_report_node *nodes;	  /* parents before children; path.h reads them */
	struct pm_report_count *counts;	  /* node_count times the model's column_count */
	struct pm_report_count *children; /* likewise: sums over each node's children */
	uint64_t total_ticks;		  /* exclusive times of all nodes */
	uint64_t threads;
};

/* Makes the tree of COUNT threads, THREADS by their places in the snapshot, or of all threads (NULL).
 * The latter alone has the counts of other runs. 0 or -ENOMEM. */
int pm_report_tree_make(struct pm_report_tree *tree, const struct pm_report_model *model,
			const uint32_t *threads, uint32_t count);
/* Makes FLAT of TREE, by region: one level, in which a region below itself counts once in
 * inclusive values. 0 or -ENOMEM. */
int pm_report_tree_flatten(struct pm_report_tree *flat,
			   const struct pm_report_tree *tree);
/* Makes a tree of COUNT regions of MODEL's snapshot alone, in ORDER, without values: for tables by region
 * that have values of their own. 0 or -ENOMEM. */
int pm_report_tree_list(struct pm_report_tree *tree, const struct pm_report_model *model,
			const uint32_t *order, uint32_t count);
/*
 * Makes a tree of the steps of a path, in their order. Its nodes are those of STEPS that APART has by their
 * numbers (NULL: all). Node 1 is all others together, if there are any, and listed last. Values are inclusive
 * alone. 0 or -ENOMEM.
 */
int pm_report_tree_steps(struct pm_report_tree *tree, const struct pm_report_model *model,
			 const struct pm_snapshot_steps *steps, const bool *apart);
/* Returns the node of TREE, of all threads, whose path STEPS have, or 0. */
uint32_t pm_report_steps_path(const struct pm_report_tree *tree,
			      const struct pm_snapshot_steps *steps);
/*
 * The changes since an earlier tree: make a copy of the sums, subtract from it the trees that
 * it followed, then reduce. No difference is negative.
 *
 * Sums only grow, but a visit adds to its node when it ends, long after the visits below it.
 * So a node's exclusive part, its values less its children's, falls while such a visit is
 * open. pm_report_tree_reduce() takes that amount out of the children's sums, in CHANGE and
 * in SUMS: it belongs to the open visit, and is subtracted once, when the visit ends. After
 * it a node has more entered visits than visits if any were open in one of the two trees.
 *
 * REGIONS and EVENTS lead from CHANGE's numbers to BEFORE's; PM_NO_EVENT: BEFORE has none.
 */
int pm_report_tree_copy(struct pm_report_tree *to, const struct pm_report_tree *from);
int pm_report_tree_subtract(struct pm_report_tree *change,
			    const struct pm_report_tree *before, const uint32_t *regions,
			    const uint32_t *events);
void pm_report_tree_reduce(struct pm_report_tree *change, struct pm_report_tree *sums);
/* Orders the children of each node by COMPARE, which gets pointers to the numbers of two nodes,
 * as qsort_r(3) calls it. 0 or -ENOMEM. */
int pm_report_tree_order(struct pm_report_tree *tree,
			 int (*compare)(const void *, const void *, void *),
			 void *argument);
/* Counts the nodes that are in a tree and in none of its lists of children. */
struct pm_report_left_out {
	uint32_t nodes;
	double ticks; /* their exclusive time */
};
/* Leaves in the lists of children the MOST nodes with the most exclusive time, and the nodes
 * above these. 0 or -ENOMEM. */
int pm_report_tree_keep_top(struct pm_report_tree *tree, uint32_t most,
			    struct pm_report_left_out *left);
void pm_report_tree_free(struct pm_report_tree *tree);

/* Returns the end of TREE's hottest path: the node with the most exclusive time. The path's
 * other nodes are its parents. 0: no node has any time. */
uint32_t pm_report_hottest(const struct pm_report_tree *tree);

/* Returns the sums of EVENT in NODE, exclusive if EXCLUSIVE. */
struct pm_report_count pm_report_sums(const struct pm_report_tree *tree, uint32_t node,
				      uint32_t event, bool exclusive);
/* Returns by how much the total of ALL visits may be off, if MEASURED of them have this sum and
 * these sums of squares and cubes. */
double pm_report_error(double sum, double squares, double cubes, double measured,
		       double all);

#endif
