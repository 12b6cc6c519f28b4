/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of teams and tasks: the tree of the process's own profile, summed over threads. */
#ifndef PM_TESTS_SUMS_PROBE_H
#define PM_TESTS_SUMS_PROBE_H

#include "core/report/model/value.h"
#include "region_probe.h"

struct sums {
	struct pm_snapshot *snapshot;
	struct pm_report_model model;
	struct pm_report_tree tree;
};

/* Without assertions: also in a forked child. */
static inline bool try_sums(struct sums *sums)
{
	struct pm_diag diag = {0};

	return !pm_regions_snapshot(&sums->snapshot, &diag) &&
	       !pm_report_model_make(&sums->model, sums->snapshot, false, NULL) &&
	       !pm_report_tree_make(&sums->tree, &sums->model, -1);
}

static inline void sums_take(struct sums *sums)
{
	cr_assert(try_sums(sums));
}

static inline void sums_free(struct sums *sums)
{
	pm_report_tree_free(&sums->tree);
	pm_report_model_free(&sums->model);
	pm_snapshot_free(sums->snapshot);
}

/* Returns the node of PATH in the sum over threads, names with "/" between; 0: there is none. */
static inline uint32_t node_at(const struct sums *sums, const char *path)
{
	const struct pm_report_tree *tree = &sums->tree;

	for (uint32_t n = 1; n < tree->node_count; n++) {
		char text[200] = "";
		uint32_t at = n;

		while (at) {
			char longer[200];

			snprintf(longer, sizeof(longer), "%s%s%s",
				 pm_report_name(tree, at), *text ? "/" : "", text);
			strcpy(text, longer);
			at = tree->nodes[at].parent;
		}
		if (!strcmp(text, path))
			return n;
	}
	return 0;
}

static inline uint64_t count_at(const struct sums *sums, const char *path, bool exclusive)
{
	uint32_t node = node_at(sums, path);

	cr_assert_neq(node, 0, "there is no %s", path);
	return pm_report_sums(&sums->tree, node, 0, exclusive).sum;
}

/* All exclusive values add up to the total, and none is more than all. */
static inline void check_whole(const struct sums *sums)
{
	const struct pm_report_tree *tree = &sums->tree;
	uint64_t ticks = 0, count = 0;

	for (uint32_t n = 1; n < tree->node_count; n++) {
		const struct pm_report_node *node = &tree->nodes[n];

		cr_expect_leq(node->children_ticks, node->time_ticks, "%s",
			      pm_report_name(tree, n));
		cr_expect_leq(node->time_ticks, tree->total_ticks);
		ticks += node->time_ticks - node->children_ticks;
		if (tree->model->event_count)
			count += pm_report_sums(tree, n, 0, true).sum;
	}
	cr_expect_eq(ticks, tree->total_ticks);
	if (tree->model->event_count)
		cr_expect_eq(count, pm_report_sums(tree, 0, 0, false).sum);
}

/* The ENDs without a BEGIN. */
static inline uint64_t unmatched(void)
{
	struct pm_snapshot *s = probe_take();
	uint64_t count = s->header.unmatched_ends;

	for (uint32_t t = 0; t < s->thread_count; t++)
		count += s->threads[t].record.unmatched_ends;
	pm_snapshot_free(s);
	return count;
}

#endif
