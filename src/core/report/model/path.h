/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A path of a report's tree, by the number of its node: where it stands, and the sums of its
 * visits, times and threads. Path 0 is the root: the sum of all, without a region. value.h makes
 * the numbers of a report from them.
 */
#ifndef PM_REPORT_PATH_H
#define PM_REPORT_PATH_H

#include "core/report/model/tree.h"

/* Sums over visits: those of several threads, or paths, are added up. */
struct pm_path_visits {
	uint64_t ended; /* all else is scaled to these where a stride was on */
	uint64_t entered;
	uint64_t measured;   /* of those that ended; the ticks are of these */
	uint64_t unmeasured; /* in threads that measured none of theirs */
	uint64_t ticks;	     /* for the mean */
	uint64_t fallback_reads, retries, migrations, mismatched_ends, dropped_counts,
		defects, spilled;
	uint64_t torn;	   /* nodes */
	uint64_t left_out; /* likewise: has its first visits alone */
	uint64_t histogram[PERFMON_PROFILE_BINS];
};

/* Times in ticks: in an exact profile counts of its first event. */
struct pm_path_times {
	uint64_t inclusive; /* in a flat tree without recursion's repeats */
	uint64_t children;
	uint64_t waits;	   /* of the inclusive time: that of the waits below it */
	uint64_t least;	   /* as inclusive, with visits that are open: at least */
	uint64_t min, max; /* of a measured visit; min > max: not known */
	uint64_t off_cpu_ns;
	double spent; /* on measuring its own visits, in them and around them */
	double added; /* by measuring, to its inclusive time: at least */
	double children_added;
};

/* The threads that have the path, and the extremes of their inclusive times less the waits below it. */
struct pm_path_threads {
	uint64_t count;
	uint64_t min, max;	 /* ticks; min > max: not known */
	uint32_t min_at, max_at; /* their places in the snapshot and 1; 0: not known */
	bool is_unknown;	 /* the extremes are not known of some threads */
};

struct pm_path {
	uint32_t parent, region;
	uint32_t depth;
	/* The first of the paths below it, and the one beside it that follows, in order of inclusive
	 * time, in a flat tree of exclusive time; 0: none. */
	uint32_t first_child, next;
	bool is_team;	     /* threads have adopted it */
	bool is_overlapping; /* its visits overlap others: no value is exclusive, or in a sum */
	struct pm_path_visits visits;
	struct pm_path_times times;
	struct pm_path_threads threads;
};

/* Returns the path with this number, the tree's as long as the tree is not changed. */
const struct pm_path *pm_path(const struct pm_report_tree *tree, uint32_t path);
const char *pm_path_name(const struct pm_report_tree *tree, uint32_t path);
/* Returns the path that follows PATH from the top down, 0 at the end; begin with 0. */
uint32_t pm_path_next(const struct pm_report_tree *tree, uint32_t path);

/* Returns true if some visits have not ended. */
bool pm_path_is_open(const struct pm_report_tree *tree, uint32_t path);
/* Returns true if PATH has times and counts: of visits, or of those of threads that adopted it. */
bool pm_path_has_values(const struct pm_report_tree *tree, uint32_t path);
uint64_t pm_path_exclusive(const struct pm_report_tree *tree, uint32_t path);

/* Returns whether NAME is that of a region in which a thread waits for others: it is in parentheses, as
 * "(join)". */
bool pm_name_is_wait(const char *name);

/* Returns true if the extremes are those of all threads. */
bool pm_path_has_spread(const struct pm_report_tree *tree, uint32_t path);

/* Return the mean and the standard deviation of a visit's time, in ticks; negative if there is
 * none. */
double pm_path_mean(const struct pm_report_tree *tree, uint32_t path);
double pm_path_deviation(const struct pm_report_tree *tree, uint32_t path);
/* Returns the ticks that PART of the measured visits, 0 to 1, took at most: an estimate from the
 * histogram, off by less than a factor of 2. Negative if there is none. Measuring is not taken out
 * of it, as it is not out of the minimum and the maximum. */
double pm_path_quantile(const struct pm_report_tree *tree, uint32_t path, double part);

#endif
