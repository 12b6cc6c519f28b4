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
};

/* With fewer runs on a side nothing is known of the variance between runs. */
#define DIFF_RUNS 2

void diff_sample_make(struct diff_sample *sample, const double *values, uint32_t count);

/* P(T > t) for Student's T with DF degrees of freedom (any positive number); and the t
 * for which that is TAIL, between 0 and 0.5. */
double diff_t_tail(double t, double df);
double diff_t_quantile(double tail, double df);

/*
 * The least p that N and M runs can give, whatever their numbers are: the chance, at its
 * highest, that something with two outcomes shows one in all runs of one side and the
 * other in all of the other. Much that programs do has two outcomes: where memory came to
 * lie, which core a thread got.
 */
double diff_p_least(uint32_t n, uint32_t m);

/* How many runs on each side are needed for a p of P. */
uint32_t diff_runs_needed(double p);

/*
 * The probability, under the hypothesis that B differs from A by at most EFFECT (a
 * fraction of A), of a difference like that of the samples: Welch's test, for the shift
 * beyond EFFECT in either direction, and not less than diff_p_least(). Each side has at
 * least DIFF_RUNS runs.
 */
double diff_p(const struct diff_sample *a, const struct diff_sample *b, double effect);

/* Bounds of B / A, each side of which is missed with probability TAIL (Fieller's). False
 * if the runs set no bounds. */
bool diff_interval(const struct diff_sample *a, const struct diff_sample *b, double tail,
		   double *low, double *high);

/* Holm's correction: what each of COUNT p is worth in company of the others, in place.
 * 0 or -ENOMEM. */
int diff_holm(double *p, size_t count);

#endif
