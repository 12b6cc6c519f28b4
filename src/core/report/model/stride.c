/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How far the total of all visits may be from what the measured ones say of it. */
#include <float.h>
#include <math.h>

#include "core/report/model/tree.h"
#include "core/text/statistics.h"

#define Z PM_NORMAL_99

/*
 * Visits are drawn one from each run of a stride, whose error is no more than that of a
 * simple random sample of as many. Of a skewed quantity Student's interval covers less than it
 * says; by the Edgeworth expansion of the studentised mean the share that is missing is
 * 2 Z phi(Z) k^2 (Z^4 + 2 Z^2 - 3) / (18 n) to first order, k the skewness, so the
 * interval is widened in that proportion.
 */
double pm_report_error(double sum, double squares, double cubes, double measured,
		       double all)
{
	double z2 = Z * Z, mean, variance, skew, wider;

	if (measured >= all)
		return 0;
	if (measured < 2)
		return INFINITY;
	mean = sum / measured;
	variance = squares / measured - mean * mean;
	/* The sums are rounded with each visit: less than that is no variance. */
	if (!(variance > mean * mean * measured * DBL_EPSILON))
		return pm_unseen_99(sum, measured, all);
	skew = cubes / measured - 3 * mean * squares / measured + 2 * mean * mean * mean;
	skew /= variance * sqrt(variance);
	wider = 1 + skew * skew * (z2 * z2 + 2 * z2 - 3) / (18 * measured);
	return all * pm_student_99(measured - 1) * wider *
	       sqrt(variance / (measured - 1) * (1 - measured / all));
}
