/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A node of a report's tree. Other rooms read it through path.h. */
#ifndef PM_REPORT_TREE_NODE_H
#define PM_REPORT_TREE_NODE_H

#include "core/report/model/path.h"

#define PM_NODE_VISIT_SUMS (sizeof(struct pm_path_visits) / sizeof(uint64_t))

struct pm_report_node {
	uint32_t parent;
	uint32_t region;
	uint32_t depth;
	uint32_t first_child; /* in order of inclusive time, flat of exclusive; 0: none */
	uint32_t next;	      /* sibling; 0: none */
	/* below a visit that did not end by its END, with ENDs unmatched */
	bool inside_mismatch;
	bool is_team;
	bool is_overlapping;
	union {
		struct pm_path_visits visits;
		uint64_t visit_sums[PM_NODE_VISIT_SUMS];
	};
	struct pm_path_times times;
	struct pm_path_threads threads;
	double time_squares;
	/* The last of the threads that was counted, by its address; and how many it stands for. */
	uint64_t last_thread, last_threads;
	uint64_t
		children_least; /* as times.children, of visits that are open: at least */
	uint64_t all_ticks;	/* times.inclusive before measuring was taken out of it */
	double passed_ticks;	/* of times.spent, on visits that a stride passed over */
	double outer_ticks;	/* added by measuring to what is around it: at least */
	uint64_t children_off_cpu_ns;
	double time_error, own_error; /* squares, of inclusive and exclusive ticks */
};

#endif
