/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Means and variances, and quantiles for intervals that hold with a certainty of 99 %. */
#ifndef PM_TEXT_STATISTICS_H
#define PM_TEXT_STATISTICS_H

#include <stdint.h>

/* The numbers of runs, one at a time (Welford). Counts of 10^12 may differ only in their last
 * digits. */
struct pm_sum {
	uint64_t runs;
	double mean, squares, min, max;
};

static inline void pm_sum_add(struct pm_sum *sum, double value)
{
	double off = value - sum->mean;

	sum->runs++;
	sum->mean += off / (double)sum->runs;
	sum->squares += off * (value - sum->mean);
	if (sum->runs == 1 || value < sum->min)
		sum->min = value;
	if (sum->runs == 1 || value > sum->max)
		sum->max = value;
}

/* Returns the variance of one run; 0 with fewer than two. */
static inline double pm_sum_variance(const struct pm_sum *sum)
{
	return sum->runs > 1 ? sum->squares / ((double)sum->runs - 1) : 0;
}

/* The quantile of the normal distribution. */
#define PM_NORMAL_99 2.5758293035489004

/* Returns the quantile of Student's t distribution for FREEDOM degrees, a whole number,
 * within 0.1 %. INFINITY below 1. A report calls this for each node. perfmon diff calls
 * seldom and uses the exact quantile. */
double pm_student_99(double freedom);

/* Returns how far the total over ALL may be from the total that MEASURED of them
 * predict, which were all alike and add up to SUM. INFINITY if they are too few, or
 * if SUM is 0. */
double pm_unseen_99(double sum, double measured, double all);

#endif
