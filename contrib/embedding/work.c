/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program of the three recipes: one region. */
#include <perfmon/perfmon.h>

#include <stdio.h>

int main(void)
{
	double sum = 0;

	PERFMON_REGION_BEGIN("work");
	for (int i = 1; i < 1000000; i++)
		sum += 1.0 / i;
	PERFMON_REGION_END("work");
	printf("%.3f\n", sum);
	return 0;
}
