/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "os/statistics.h"

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
