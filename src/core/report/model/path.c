/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/report/model/path.h"

#include <math.h>
#include <string.h>

bool pm_name_is_wait(const char *name)
{
	return name[0] == '(' && name[strlen(name) - 1] == ')';
}

const char *pm_path_name(const struct pm_report_tree *tree, uint32_t path)
{
	return tree->model->snapshot->regions[tree->nodes[path].region];
}

uint32_t pm_path_next(const struct pm_report_tree *tree, uint32_t path)
{
	if (tree->nodes[path].first_child)
		return tree->nodes[path].first_child;
	while (path && !tree->nodes[path].next)
		path = tree->nodes[path].parent;
	return tree->nodes[path].next;
}

bool pm_path_is_open(const struct pm_report_tree *tree, uint32_t path)
{
	return tree->nodes[path].visits.entered != tree->nodes[path].visits.ended;
}

bool pm_path_has_values(const struct pm_report_tree *tree, uint32_t path)
{
	/* Without a visit it may have parts of those that were suspended. */
	return tree->nodes[path].visits.measured > 0 || tree->nodes[path].times.inclusive;
}

uint64_t pm_path_exclusive(const struct pm_report_tree *tree, uint32_t path)
{
	return pm_less(tree->nodes[path].times.inclusive,
		       tree->nodes[path].times.children);
}

bool pm_path_has_spread(const struct pm_report_tree *tree, uint32_t path)
{
	const struct pm_report_node *node = &tree->nodes[path];

	return node->visits.ended && !node->is_overlapping && !node->visits.unmeasured &&
	       !node->threads.is_unknown && node->threads.min <= node->threads.max;
}

double pm_path_mean(const struct pm_report_tree *tree, uint32_t path)
{
	const struct pm_report_node *node = &tree->nodes[path];
	double mean;

	if (!node->visits.measured)
		return -1;
	mean = (double)node->visits.ticks / (double)node->visits.measured;
	/* As much of it is measuring as of their sum. */
	return node->times.inclusive < node->all_ticks
		       ? mean * (double)node->times.inclusive / (double)node->all_ticks
		       : mean;
}

double pm_path_deviation(const struct pm_report_tree *tree, uint32_t path)
{
	const struct pm_report_node *node = &tree->nodes[path];
	double n = (double)node->visits.measured, sum = (double)node->visits.ticks,
	       variance;

	if (node->visits.measured < 2)
		return -1;
	variance = (node->time_squares - sum * sum / n) / (n - 1);
	return isfinite(variance) && variance > 0 ? sqrt(variance) : 0;
}

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
