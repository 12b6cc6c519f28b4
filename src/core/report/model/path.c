/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/report/model/path.h"

#include <math.h>
#include <string.h>

#include "core/report/model/tree_build.h"

bool pm_name_is_wait(const char *name)
{
	return name[0] == '(' && name[strlen(name) - 1] == ')';
}

const struct pm_path *pm_path(const struct pm_report_tree *tree, uint32_t path)
{
	return &tree->nodes[path].path;
}

const char *pm_path_name(const struct pm_report_tree *tree, uint32_t path)
{
	return tree->model->snapshot->regions[tree->nodes[path].path.region];
}

uint32_t pm_path_next(const struct pm_report_tree *tree, uint32_t path)
{
	if (tree->nodes[path].path.first_child)
		return tree->nodes[path].path.first_child;
	while (path && !tree->nodes[path].path.next)
		path = tree->nodes[path].path.parent;
	return tree->nodes[path].path.next;
}

bool pm_path_is_open(const struct pm_report_tree *tree, uint32_t path)
{
	return tree->nodes[path].path.visits.entered !=
	       tree->nodes[path].path.visits.ended;
}

bool pm_path_has_values(const struct pm_report_tree *tree, uint32_t path)
{
	/* Without a visit it may have parts of those that were suspended. */
	return tree->nodes[path].path.visits.measured > 0 ||
	       tree->nodes[path].path.times.inclusive;
}

uint64_t pm_path_exclusive(const struct pm_report_tree *tree, uint32_t path)
{
	return pm_less(tree->nodes[path].path.times.inclusive,
		       tree->nodes[path].path.times.children);
}

bool pm_path_has_spread(const struct pm_report_tree *tree, uint32_t path)
{
	const struct pm_report_node *node = &tree->nodes[path];

	return node->path.visits.ended && !node->path.is_overlapping &&
	       !node->path.visits.unmeasured && !node->path.threads.is_unknown &&
	       node->path.threads.min <= node->path.threads.max;
}

double pm_path_mean(const struct pm_report_tree *tree, uint32_t path)
{
	const struct pm_report_node *node = &tree->nodes[path];
	double mean;

	if (!node->path.visits.measured)
		return -1;
	mean = (double)node->path.visits.ticks / (double)node->path.visits.measured;
	/* As much of it is measuring as of their sum. */
	return node->path.times.inclusive < node->all_ticks
		       ? mean * (double)node->path.times.inclusive /
				 (double)node->all_ticks
		       : mean;
}

double pm_path_deviation(const struct pm_report_tree *tree, uint32_t path)
{
	const struct pm_report_node *node = &tree->nodes[path];
	double n = (double)node->path.visits.measured,
	       sum = (double)node->path.visits.ticks, variance;

	if (node->path.visits.measured < 2)
		return -1;
	variance = (node->time_squares - sum * sum / n) / (n - 1);
	return isfinite(variance) && variance > 0 ? sqrt(variance) : 0;
}

double pm_path_quantile(const struct pm_report_tree *tree, uint32_t path, double part)
{
	const struct pm_report_node *node = &tree->nodes[path];
	double least = (double)node->path.times.min, most = (double)node->path.times.max;
	double all = 0, before = 0, low, high, wanted, ticks;
	int i = 0;

	for (int bin = 0; bin < PERFMON_PROFILE_BINS; bin++)
		all += (double)node->path.visits.histogram[bin];
	/* A bin that is full does not say how many more there were. */
	if (!node->path.visits.measured || node->path.visits.spilled || !(all > 0) ||
	    least > most)
		return -1;
	wanted = part * all;
	while (i + 1 < PERFMON_PROFILE_BINS &&
	       before + (double)node->path.visits.histogram[i] < wanted)
		before += (double)node->path.visits.histogram[i++];
	low = fmax(fmax(least, 1), ldexp(1, i));
	high = fmax(low, fmin(most + 1, ldexp(1, i + 1)));
	ticks = low * pow(high / low,
			  (wanted - before) / (double)node->path.visits.histogram[i]);
	/* Damaged profiles have visits in bins beyond their extremes. */
	return fmin(fmax(ticks, least), most);
}
