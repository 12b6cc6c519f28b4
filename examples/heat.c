/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The first program of the README: heat spreads over a plate. */
#include <perfmon/perfmon.h>
#include <stdio.h>

static double grid[512][512], next[512][512];

static void sweep(void)
{
	PERFMON_REGION_SCOPE("sweep");
	for (int i = 1; i < 511; i++)
		for (int j = 1; j < 511; j++)
			next[i][j] = 0.25 * (grid[i - 1][j] + grid[i + 1][j] +
					     grid[i][j - 1] + grid[i][j + 1]);
}

static double change(void)
{
	double sum = 0;

	PERFMON_REGION_SCOPE("change");
	for (int i = 1; i < 511; i++)
		for (int j = 1; j < 511; j++) {
			double d = next[i][j] - grid[i][j];

			sum += d * d;
			grid[i][j] = next[i][j];
		}
	return sum;
}

int main(void)
{
	double last = 0;

	for (int i = 0; i < 512; i++)
		grid[i][0] = 100;
	PERFMON_REGION_BEGIN("solve");
	for (int n = 0; n < 200; n++) {
		sweep();
		last = change();
	}
	PERFMON_REGION_END("solve");
	printf("last change %g\n", last);
	return 0;
}
