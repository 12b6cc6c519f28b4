/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A node of a report's tree, and its sums of one event. */
#ifndef PM_REPORT_NODE_H
#define PM_REPORT_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/profile/profile.h"

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
};

#define PM_NODE_VISIT_SUMS (13 + PERFMON_PROFILE_BINS)

struct pm_report_node {
	uint32_t parent;
	uint32_t region;
	uint32_t depth;
	uint32_t first_child; /* in order of inclusive time, flat of exclusive; 0: none */
	uint32_t next;	      /* sibling; 0: none */
	/* below a visit that did not end by its END, with ENDs unmatched */
	bool inside_mismatch;
	bool spread_unknown; /* the extremes over threads are not known of some threads */
	/* Sums over visits: those of several threads, or paths, are added up. */
	union {
		struct {
			/* ended; all else is scaled to these where a stride was on */
			uint64_t visits;
			uint64_t entered;
			uint64_t
				measured; /* of visits; visit_ticks and the squares are of these */
			uint64_t
				unmeasured; /* visits in threads that measured none of theirs */
			uint64_t visit_ticks; /* sum over visits, for the mean */
			uint64_t fallback_reads, retries, migrations, mismatched_ends,
				dropped_counts, defects, spilled;
			uint64_t torn; /* nodes */
			uint64_t histogram[PERFMON_PROFILE_BINS];
		};
		uint64_t visit_sums[PM_NODE_VISIT_SUMS];
	};
	double time_squares;
	uint64_t time_min, time_max;
	uint64_t threads; /* that have this path */
	uint64_t thread_min_ticks, thread_max_ticks;
	uint64_t time_ticks; /* inclusive; in a flat tree without recursion's repeats */
	uint64_t children_ticks;
	uint64_t least_ticks; /* as time_ticks, with visits that are open: at least */
	uint64_t children_least;
	uint64_t all_ticks; /* time_ticks before measuring was taken out of it */
	double spent_ticks; /* on measuring its own visits, in them and around them */
	double added_ticks; /* by measuring, to its inclusive time: at least */
	double outer_ticks; /* and to what is around it */
	double children_added_ticks;
	uint64_t off_cpu_ns, children_off_cpu_ns;
	double time_error, own_error; /* squares, of inclusive and exclusive ticks */
};

#endif
