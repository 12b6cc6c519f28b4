/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * These functions use only the order of values, whatever their distribution: they return
 * medians, bounds of the difference of two sides (Hodges and Lehmann's, by Mann and Whitney's
 * distribution), and how many runs a difference needs to be seen.
 */
#ifndef PM_CLI_DIFF_RANKS_H
#define PM_CLI_DIFF_RANKS_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the median of the COUNT VALUES, which it sorts, or 0 of none. */
double diff_median(double *values, uint32_t count);

struct diff_weighted {
	double value, weight;
};

/* Returns the value below and above which lies at most half of the weight of the COUNT
 * VALUES, which it sorts. */
double diff_weighted_median(struct diff_weighted *values, uint32_t count);

/*
 * Returns which of the N * M sorted differences between the values of two sides is a
 * bound that the true difference is beyond in at most 5 % of all cases: 1 for the least,
 * or 0 if the sides are too small for any.
 */
uint32_t diff_bound_rank(uint32_t n, uint32_t m);

struct diff_bounds {
	bool known;
	double low, high;
};

/* Makes bounds of B - A, of 5 % on each side, from the N values A and the M values B. Not
 * known of too few values. Returns 0 or -ENOMEM. */
int diff_bounds_make(struct diff_bounds *bounds, const double *a, uint32_t n,
		     const double *b, uint32_t m);

/* Returns how many standard errors the permutations of RUNS runs on each side usually
 * ask for, at an alpha of 1 % and some 200 columns. */
double diff_critical_usual(double runs);

/* With more runs than this nobody waits for an answer. */
#define DIFF_RUNS_MOST 200

/*
 * Returns with how many runs on each side a change of WANTED is seen if ERROR is the
 * standard error of RUNS runs on each side and their limit was CRITICAL. WANTED and
 * EFFECT are differences of logarithms. 0: with more than DIFF_RUNS_MOST.
 */
uint32_t diff_runs_wanted(double error, double critical, double runs, double effect,
			  double wanted);

/* Returns the difference of logarithms that such runs see in most cases. */
double diff_seen(double error, double critical, double effect);

#endif
