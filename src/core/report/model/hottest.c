/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where to look first in a tree. */
#include "core/report/model/tree_node.h"

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
