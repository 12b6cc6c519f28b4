/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/text/statistics.h"

#include <math.h>

/* Beyond the table by Fisher's expansion from the normal quantile. */
double pm_student_99(double freedom)
{
	static const double few[] = {63.657, 9.925, 5.841, 4.604, 4.032,
				     3.707,  3.499, 3.355, 3.250, 3.169};
	const double z2 = PM_NORMAL_99 * PM_NORMAL_99, v = freedom;

	if (freedom < 1)
		return INFINITY;
	if (freedom <= 10)
		return few[(int)freedom - 1];
	return PM_NORMAL_99 *
	       (1 + (z2 + 1) / (4 * v) + ((5 * z2 + 16) * z2 + 3) / (96 * v * v) +
		(((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * v * v * v));
}

/*
 * All measured visits may be alike, and still show nothing about the others. With a
 * certainty of 99 %, the visits that differ are at most a certain share of all. If that
 * share is above this limit, there is no estimate.
 */
#define UNSEEN 0.01

/* Returns the error by that share if each of its visits is twice as much, or nothing. */
double pm_unseen_99(double sum, double measured, double all)
{
	double share = 1 - pow(0.01, 1 / measured);

	/* Twice nothing is nothing: a sum of 0 allows no estimate. */
	if (share > UNSEEN || !(sum > 0))
		return INFINITY;
	return sum / measured * fmin(all * share, all - measured);
}
