/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Quantiles for intervals that hold with a certainty of 99 %. */
#ifndef PM_TEXT_STATISTICS_H
#define PM_TEXT_STATISTICS_H

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
