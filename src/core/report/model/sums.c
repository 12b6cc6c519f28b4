/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sums in a node of a tree: with its children or without, and per visit. */
#include <math.h>

#include "core/report/model/tree_build.h"

struct pm_report_count pm_count_less(const struct pm_report_count *a,
				     const struct pm_report_count *b)
{
	struct pm_report_count d = *a;

	if (a->largest)
		return d;
	d.sum = pm_less(a->sum, b->sum);
	d.lost_ns = pm_less(a->lost_ns, b->lost_ns);
	d.error = a->error + b->error;
	d.windows = pm_less(a->windows, b->windows);
	d.added = fmax(0, a->added - b->added);
	d.time_ns = fmax(0, a->time_ns - b->time_ns);
	d.on_cpu_ns = fmax(0, a->on_cpu_ns - b->on_cpu_ns);
	d.running_ns = fmax(0, a->running_ns - b->running_ns);
	return d;
}

struct pm_report_count pm_report_sums(const struct pm_report_tree *tree, uint32_t node,
				      uint32_t event, bool exclusive)
{
	size_t at = (size_t)node * tree->model->column_count + event;

	return exclusive ? pm_count_less(&tree->counts[at], &tree->children[at])
			 : tree->counts[at];
}
