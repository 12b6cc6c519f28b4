/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A program of 35 regions for perfmon diff: diff_phases [FASTER]. Five phases with six
 * steps each, below a phase and with work of its own. Without FASTER each takes its whole
 * work; with it, between 2 % and 30 % of that.
 */
#include <stdio.h>

#include <perfmon/region.h>

#define PHASES 5
#define STEPS  6
#define VISITS 10

static char names[PHASES][STEPS + 1][16];

static void work(unsigned int region, int faster)
{
	/* The largest region has eight times the work of the smallest. */
	unsigned long amount = 50000 + 10000 * region,
		      percent =
			      faster ? 2 + 28 * region / (PHASES * (STEPS + 1) - 1) : 100;

	for (volatile unsigned long i = 0; i < amount * percent / 100; i++)
		;
}

int main(int argc, char **argv)
{
	int faster = argc > 1;

	(void)argv;
	for (int p = 0; p < PHASES; p++)
		for (int s = 0; s <= STEPS; s++)
			if (s)
				snprintf(names[p][s], sizeof(names[p][s]), "step%d.%d", p,
					 s);
			else
				snprintf(names[p][s], sizeof(names[p][s]), "phase%d", p);
	for (int v = 0; v < VISITS; v++)
		for (int p = 0; p < PHASES; p++) {
			unsigned int region = (unsigned int)p * (STEPS + 1);

			perfmon_region_begin_name(names[p][0]);
			work(region, faster);
			for (int s = 1; s <= STEPS; s++) {
				perfmon_region_begin_name(names[p][s]);
				work(region + (unsigned int)s, faster);
				perfmon_region_end_name(names[p][s]);
			}
			perfmon_region_end_name(names[p][0]);
		}
	return 0;
}
