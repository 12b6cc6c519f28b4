/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds what part of a node's visits took how long, by its histogram. */
#include <math.h>

#include "core/report/model/tree_node.h"

double pm_path_quantile(const struct pm_report_tree *tree, uint32_t path, double part)
{
	const struct pm_report_node *node = &tree->nodes[path];
	double least = (double)node->times.min, most = (double)node->times.max;
	double all = 0, before = 0, low, high, wanted, ticks;
	int i = 0;

	for (int bin = 0; bin < PERFMON_PROFILE_BINS; bin++)
		all += (double)node->visits.histogram[bin];
	/* A bin that is full does not say how many more there were. */
	if (!node->visits.measured || node->visits.spilled || !(all > 0) || least > most)
		return -1;
	wanted = part * all;
	while (i + 1 < PERFMON_PROFILE_BINS &&
	       before + (double)node->visits.histogram[i] < wanted)
		before += (double)node->visits.histogram[i++];
	low = fmax(fmax(least, 1), ldexp(1, i));
	high = fmax(low, fmin(most + 1, ldexp(1, i + 1)));
	ticks = low *
		pow(high / low, (wanted - before) / (double)node->visits.histogram[i]);
	/* Damaged profiles have visits in bins beyond their extremes. */
	return fmin(fmax(ticks, least), most);
}
