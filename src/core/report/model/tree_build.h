/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How trees of a report are built. What returns int gives 0 or -ENOMEM. */
#ifndef PM_REPORT_TREE_BUILD_H
#define PM_REPORT_TREE_BUILD_H

#include "core/profile/pairs.h"
#include "core/report/model/path.h"

/* A node: its path, as other rooms read it, and sums from which values are made. */
struct pm_report_node {
	struct pm_path path;
	/* below a visit that did not end by its END, with ENDs unmatched */
	bool inside_mismatch;
	double time_squares;
	/* The last of the threads that was counted, by its address; and how many it stands for. */
	uint64_t last_thread, last_threads;
	uint64_t children_least; /* as times.children, of open visits: at least */
	uint64_t all_ticks;  /* times.inclusive before measuring was taken out of it */
	double passed_ticks; /* of times.spent, on visits that a stride passed over */
	double outer_ticks;  /* added by measuring to what is around it: at least */
	uint64_t children_off_cpu_ns;
	double time_error, own_error; /* squares, of inclusive and exclusive ticks */
};

/* The visits are sums alone. */
#define PM_PATH_VISIT_SUMS (sizeof(struct pm_path_visits) / sizeof(uint64_t))

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
