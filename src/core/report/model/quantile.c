/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What part of a node's visits took how long, by its histogram. */
#include <math.h>

#include "core/report/model/tree.h"

double pm_report_quantile(const struct pm_report_node *node, double part)
{
	double least = (double)node->time_min, most = (double)node->time_max;
	double all = 0, before = 0, low, high, wanted, ticks;
	int i = 0;

	for (int bin = 0; bin < PERFMON_PROFILE_BINS; bin++)
		all += (double)node->histogram[bin];
	/* A bin that is full does not say how many more there were. */
	if (!node->measured || node->spilled || !(all > 0) || least > most)
		return -1;
	wanted = part * all;
	while (i + 1 < PERFMON_PROFILE_BINS &&
	       before + (double)node->histogram[i] < wanted)
		before += (double)node->histogram[i++];
	low = fmax(fmax(least, 1), ldexp(1, i));
	high = fmax(low, fmin(most + 1, ldexp(1, i + 1)));
	ticks = low * pow(high / low, (wanted - before) / (double)node->histogram[i]);
	/* Damaged profiles have visits in bins beyond their extremes. */
	return fmin(fmax(ticks, least), most);
}
