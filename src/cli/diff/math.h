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
#include <stddef.h>
#include <stdint.h>

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

#endif
