/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Quantiles for intervals that hold with a certainty of 99 %. */
#ifndef PM_TEXT_STATISTICS_H
#define PM_TEXT_STATISTICS_H

/* Of the normal distribution. */
#define PM_NORMAL_99 2.5758293035489004

/* Of Student's t for FREEDOM degrees, a whole number: within 0.1 %. INFINITY below 1. It is
 * asked for each node of a report; perfmon diff, which asks seldom, has the exact one. */
double pm_student_99(double freedom);

/* How far the total over ALL may be from what MEASURED of them say, which were all alike
 * and add up to SUM. INFINITY where they are too few to say so, or SUM is nothing. */
double pm_unseen_99(double sum, double measured, double all);

#endif
