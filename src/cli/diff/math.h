/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The statistics of perfmon diff. The unit is the run: one number for each, the mean of a
 * quantity over the run's visits. Visits inside a run share its memory layout, its
 * machine's state and its neighbours; they are not independent, and no number of them
 * stands for a second run.
 */
#ifndef PM_CLI_DIFF_MATH_H
#define PM_CLI_DIFF_MATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Runs of one side, as their mean and their variance between runs. */
struct diff_sample {
	uint32_t runs;
	double mean;
	double variance; /* of one run; 0 with less than two */
	double min, max;
	/* Where all runs are above 0: of diff_damped(). */
	double damped_mean, damped_variance;
	bool damped; /* compared by these: MEAN is what their mean is of */
};

/* With fewer runs on a side nothing is known of the variance between runs. */
#define DIFF_RUNS 2

void diff_sample_make(struct diff_sample *sample, const double *values, uint32_t count);

/*
 * On what scale times are compared: 1 / sqrt(time), between the logarithm and the speed.
 * What disturbs a run makes it longer, up to hundreds of times. One such run in six hides a
 * change by nine tenths in the mean of times; on this scale it comes near 0, however long
 * it took.
 */
double diff_damped(double value);

/* Has A and B compared on that scale, if no run has a 0. */
void diff_samples_damp(struct diff_sample *a, struct diff_sample *b);

/* The least variance of a mean over visits: of RUNS runs with SUM events in all VISITS. */
double diff_variance_least(double sum, double visits, double runs);

/* By how many standard errors B is above RATIO times A (Welch's t). */
double diff_distance(const struct diff_sample *a, const struct diff_sample *b,
		     double ratio);

/* By how many standard errors B is further from A than EFFECT, a fraction of A; 0: it is
 * not. */
double diff_excess(const struct diff_sample *a, const struct diff_sample *b,
		   double effect);

/*
 * Bounds of B / A: the ratios from which B is no further than CRITICAL standard errors. So
 * LOW is above 1 + EFFECT, or HIGH below 1 - EFFECT, exactly if diff_excess() is more than
 * CRITICAL. *LOW is 0, *HIGH is INFINITY where the runs set no bound. False if they set
 * none on either side.
 */
bool diff_interval(const struct diff_sample *a, const struct diff_sample *b,
		   double effect, double critical, double *low, double *high);

/* In how many ways N + M runs can be split into sides of N and M; where the sides are of
 * one size, A and B exchanged are the same. */
double diff_ways(uint32_t n, uint32_t m);

/* How many runs on each side can show a change at ALPHA. */
uint32_t diff_runs_needed(double alpha);

#endif
