/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where to look first in a tree: the path that most of the time leads down. */
#include <errno.h>
#include <stdlib.h>

#include "os/os.h"
#include "report/model.h"

/* The child of NODE with the most of TIME; 0: NODE has none. */
static uint32_t longest_child(const struct pm_report_tree *tree, uint32_t node,
			      const uint64_t *time)
{
	uint32_t longest = tree->nodes[node].first_child;

	for (uint32_t n = longest; n; n = tree->nodes[n].next)
		if (time[n] > time[longest])
			longest = n;
	return longest;
}

int pm_report_hottest(const struct pm_report_tree *tree, uint32_t *last)
{
	uint64_t *time = calloc(2 * (size_t)tree->node_count, sizeof(*time));
	uint64_t *below = time + tree->node_count;
	uint32_t node = 0, child;

	if (!time)
		return -ENOMEM;
	/* Children have higher numbers. */
	for (uint32_t n = tree->node_count; n-- > 0;) {
		uint32_t parent = tree->nodes[n].parent;

		time[n] = tree->nodes[n].time_ticks;
		if (time[n] < below[n])
			time[n] = below[n];
		if (n)
			below[parent] = pm_plus(below[parent], time[n]);
	}
	while ((child = longest_child(tree, node, time)) &&
	       time[child] > time[node] - below[node])
		node = child;
	free(time);
	*last = node;
	return 0;
}
