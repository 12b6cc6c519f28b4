/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where to look first in a tree, and a tree of which only the dearest nodes are shown. */
#include <errno.h>
#include <stdlib.h>

#include "core/report/model/tree_build.h"

uint32_t pm_report_hottest(const struct pm_report_tree *tree)
{
	uint64_t most = 0;
	uint32_t hottest = 0;

	/* From the top down in the order of the report: of equals the first one. */
	for (uint32_t n = pm_path_next(tree, 0); n; n = pm_path_next(tree, n)) {
		const struct pm_report_node *node = &tree->nodes[n];
		uint64_t own = pm_path_exclusive(tree, n);

		/* A time whose error is as large as itself may be nothing. */
		if (node->own_error > (double)own * (double)own)
			continue;
		if (own > most) {
			most = own;
			hottest = n;
		}
	}
	return hottest;
}

/* Orders numbers of nodes by their exclusive time. */
static int by_own(const void *a, const void *b, void *argument)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t p = pm_path_exclusive(argument, x), q = pm_path_exclusive(argument, y);

	return p != q ? (p > q ? -1 : 1) : x < y ? -1 : x > y;
}

/* Takes the nodes that are not KEPT out of the lists of children. */
static void unlink_others(struct pm_report_tree *tree, const bool *kept)
{
	for (uint32_t n = 0; n < tree->node_count; n++) {
		uint32_t *link = &tree->nodes[n].path.first_child;

		while (*link) {
			if (kept[*link])
				link = &tree->nodes[*link].path.next;
			else
				*link = tree->nodes[*link].path.next;
		}
	}
}

int pm_report_tree_keep_top(struct pm_report_tree *tree, uint32_t most,
			    struct pm_report_left_out *left)
{
	uint32_t *order = malloc(tree->node_count * sizeof(*order));
	bool *kept = calloc(tree->node_count, sizeof(*kept));
	int err = order && kept ? 0 : -ENOMEM;

	*left = (struct pm_report_left_out){.nodes = 0};
	if (err)
		goto out;
	for (uint32_t n = 0; n < tree->node_count; n++)
		order[n] = n;
	qsort_r(order + 1, tree->node_count - 1, sizeof(*order), by_own, tree);
	for (uint32_t i = 1; i < tree->node_count && i <= most; i++)
		for (uint32_t n = order[i]; n && !kept[n]; n = tree->nodes[n].path.parent)
			kept[n] = true;
	for (uint32_t n = 1; n < tree->node_count; n++) {
		left->nodes += !kept[n];
		left->ticks += kept[n] ? 0 : (double)pm_path_exclusive(tree, n);
	}
	unlink_others(tree, kept);
out:
	free(kept);
	free(order);
	return err;
}
