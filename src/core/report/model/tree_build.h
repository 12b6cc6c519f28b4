/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How trees of a report are built. What returns int gives 0 or -ENOMEM. */
#ifndef PM_REPORT_TREE_BUILD_H
#define PM_REPORT_TREE_BUILD_H

#include "core/profile/pairs.h"
#include "core/report/model/tree_node.h"

struct pm_tree_build {
	struct pm_report_tree *tree;
	uint32_t room, room_first;
	struct pm_pairs numbers; /* of the nodes, by parent and region */
	/* The tree is of steps: by number, the nodes of the thread that each are one of the tree. The others
	 * are together in one. NULL: the tree is of paths. */
	const bool *apart;
};

/* In place of a region: of steps that are not apart. */
#define PM_TREE_OTHERS UINT32_MAX

/* Begins TREE, which will have about NODES: of many small trees each takes little. */
int pm_tree_begin(struct pm_tree_build *build, struct pm_report_tree *tree,
		  const struct pm_report_model *model, uint32_t nodes);

/* The number of the node for REGION below PARENT, made if need be. */
int pm_tree_node(struct pm_tree_build *build, uint32_t parent, uint32_t region,
		 uint32_t *number);

/* Adds the nodes of THREAD; MAP has room for their numbers in the tree. */
int pm_tree_thread_add(struct pm_tree_build *build,
		       const struct pm_snapshot_thread *thread, uint32_t *map);

/* Where a node of a thread goes: its path; and that of the visits of the thread that contain the adopted
 * path which it is below, or NULL. */
struct pm_tree_place {
	struct pm_report_node *node, *around;
	struct pm_report_count *counts, *counts_around;
	uint64_t threads; /* that the node adds */
	bool below_adopted;
};

/* Returns where node N of THREAD goes, with MAP of the nodes to paths; its threads are 0. */
struct pm_tree_place pm_tree_place_of(struct pm_report_tree *tree,
				      const struct pm_snapshot_thread *thread, uint32_t n,
				      const uint32_t *map);

/* Adds the counts of FROM, a node of THREAD, to PLACE. WHOLE says of each column that metrics alone
 * read whether THREAD has a part in it. */
void pm_tree_counts_add(const struct pm_report_model *model,
			const struct pm_tree_place *place,
			const struct pm_snapshot_thread *thread,
			const struct perfmon_profile_node *from, const bool *whole);

/* Adds what THREAD's first node has: the values of packages while any visit was open. */
void pm_tree_root_add(struct pm_report_tree *tree,
		      const struct pm_snapshot_thread *thread);

/* Adds the counts of THREAD, of another run, and the paths that it alone has. */
int pm_tree_joined_add(struct pm_tree_build *build,
		       const struct pm_snapshot_thread *thread, uint32_t *map);

/* Orders the tree, or frees it if there was an error ERR, which is returned. */
int pm_tree_end(struct pm_tree_build *build, int err);

/* Makes the root of TREE the sum of the paths of OF that have no parent; TREE has its arrays. */
void pm_tree_root(struct pm_report_tree *tree, const struct pm_report_tree *of);

/* Adds what is the same whether FROM is of another thread or of another path: its visits,
 * their extremes, their marks and their histogram. */
void pm_tree_visits_add(struct pm_report_node *to, const struct pm_report_node *from);
/* Returns A - B, field by field; a difference that cannot be negative is at least 0. */
struct pm_report_count pm_count_less(const struct pm_report_count *a,
				     const struct pm_report_count *b);
void pm_tree_count_add(struct pm_report_count *to, const struct pm_report_count *from);

static inline void pm_tree_add(uint64_t *to, uint64_t value)
{
	*to = pm_plus(*to, value);
}

#endif
