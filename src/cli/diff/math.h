/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The statistics of perfmon diff. The unit is the run: one number for each, the mean of a
 * quantity over the run's visits. The visits of a run share its memory layout, its
 * machine's state and its neighbours. They are not independent, and many visits do not
 * replace a second run.
 */
#ifndef PM_CLI_DIFF_MATH_H
#define PM_CLI_DIFF_MATH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/text/statistics.h"
#include "perfmon/profile_layout.h"

/* The order of two numbers, for qsort(3). */
#define DIFF_ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* The runs of one side, as their mean and the variance between runs. */
struct diff_sample {
	uint32_t runs;
	double mean;
	double variance; /* of one run; 0 with fewer than two */
	double min, max;
	/* Values of diff_damped(), if all runs are above 0. */
	double damped_mean, damped_variance;
	bool damped; /* the damped values are compared; MEAN is that of their mean */
};

/* With fewer runs on a side, the variance between runs is unknown. */
#define DIFF_RUNS 2

void diff_sample_make(struct diff_sample *sample, const double *values, uint32_t count);

/*
 * The scale on which times are compared: 1 / sqrt(time), between the logarithm and the
 * speed. A disturbance makes a run longer, up to hundreds of times. In the mean of times,
 * one such run in six hides a change by nine tenths. On this scale it is near 0, however
 * long it took.
 */
double diff_damped(double value);

/* Makes A and B compared on that scale, unless a run has a 0. */
void diff_samples_damp(struct diff_sample *a, struct diff_sample *b);

/* Returns the least variance of a mean over visits, for RUNS runs with SUM events in
 * VISITS. */
double diff_variance_least(double sum, double visits, double runs);

/* Returns by how many standard errors B is above RATIO times A (Welch's t). */
double diff_distance(const struct diff_sample *a, const struct diff_sample *b,
		     double ratio);

/* Returns by how many standard errors B is further from A than EFFECT, a fraction of A,
 * or 0 if it is not. */
double diff_excess(const struct diff_sample *a, const struct diff_sample *b,
		   double effect);

/*
 * Computes bounds of B / A: the ratios from which B is at most CRITICAL standard errors
 * away. So LOW is above 1 + EFFECT, or HIGH below 1 - EFFECT, exactly if diff_excess() is
 * more than CRITICAL. *LOW is 0 or *HIGH is INFINITY if the runs set no bound there.
 * Returns false if they set neither.
 */
bool diff_interval(const struct diff_sample *a, const struct diff_sample *b,
		   double effect, double critical, double *low, double *high);

/* Returns in how many ways N + M runs can be split into sides of N and M. If the sides
 * have one size, exchanging A and B does not count as another way. */
double diff_ways(uint32_t n, uint32_t m);

/* Returns how many runs on each side can show a change at ALPHA. */
uint32_t diff_runs_needed(double alpha);

/* --- ranks -------------------------------------------------------------------------- */

/*
 * These functions use only the order of values, whatever their distribution: they return
 * medians, bounds of the difference of two sides (Hodges and Lehmann's, by Mann and Whitney's
 * distribution), and how many runs a difference needs to be seen.
 */

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

/* --- visits ------------------------------------------------------------------------- */

/* The visits of a region in one file, or in a run of several: the fastest one and the
 * histogram, from which the median follows. */
struct diff_visits {
	double fastest, slowest; /* in ticks */
	double tick_ns;		 /* the length of a tick; 0: no visit */
	double bins[PERFMON_PROFILE_BINS];
};

/* Adds FROM's visits to TO. Ticks of another length go to the nearest bin. */
void diff_visits_add(struct diff_visits *to, const struct diff_visits *from);

double diff_visits_count(const struct diff_visits *visits);

/* Return the time of the fastest visit, and the median of all, in ns. */
double diff_visits_fastest(const struct diff_visits *visits);
double diff_visits_median(const struct diff_visits *visits);

#endif
