/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How trees of a report are built. What returns int gives 0 or -ENOMEM. */
#ifndef PM_REPORT_TREE_BUILD_H
#define PM_REPORT_TREE_BUILD_H

#include "core/profile/pairs.h"
#include "core/report/model/path.h"

struct pm_tree_build {
	struct pm_report_tree *tree;
	uint32_t room;
	struct pm_pairs numbers; /* of the nodes, by parent and region */
	bool of_steps;		 /* else of paths */
	/* In a tree of steps: by number, the nodes of the thread that each are one of the tree. The others
	 * are together in one. NULL: all are. */
	const bool *apart;
};

/* In place of a region: of steps that are not apart. */
#define PM_TREE_OTHERS UINT32_MAX

int pm_tree_begin(struct pm_tree_build *build, struct pm_report_tree *tree,
		  const struct pm_report_model *model);

/* The number of the node for REGION below PARENT, made if need be. */
int pm_tree_node(struct pm_tree_build *build, uint32_t parent, uint32_t region,
		 uint32_t *number);

/* Adds the nodes of THREAD. JOINED: it is of another run, and adds its counts and the paths that it
 * alone has. */
int pm_tree_thread_add(struct pm_tree_build *build,
		       const struct pm_snapshot_thread *thread, bool joined);

/* Adds what is the same whether FROM is of another thread or of another path: its visits,
 * their extremes, their marks and their histogram. */
void pm_tree_visits_add(struct pm_report_node *to, const struct pm_report_node *from);
/* Returns A - B, field by field; a difference that cannot be negative is at least 0. */
struct pm_report_count pm_count_less(const struct pm_report_count *a,
				     const struct pm_report_count *b);
void pm_tree_count_add(struct pm_report_count *to, const struct pm_report_count *from);

#endif
