/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of teams, tasks and quantities: the tree of the process's own profile, summed over threads. */
#ifndef PM_TESTS_SUMS_PROBE_H
#define PM_TESTS_SUMS_PROBE_H

#include <sys/mman.h>

#include "core/report/model/value.h"
#include "region_probe.h"

/* Faults COUNT pages in, exactly. Sanitizers have shadows that fault, too. */
__attribute__((noinline, unused, no_sanitize("address"),
	       no_sanitize("thread"))) static void
fault(uint32_t count)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *pages = mmap(NULL, count * size, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise((void *)(uintptr_t)pages, count * size, MADV_NOHUGEPAGE);
	for (uint32_t i = 0; i < count; i++)
		pages[i * size] = 1;
	munmap((void *)(uintptr_t)pages, count * size);
}

struct sums {
	struct pm_snapshot *snapshot;
	struct pm_metrics *metrics; /* NULL: the built-in ones */
	struct pm_report_model model;
	struct pm_report_tree tree;
};

/* Without assertions: also in a forked child. */
static inline bool try_sums(struct sums *sums)
{
	struct pm_diag diag = {0};

	memset(sums, 0, sizeof(*sums));
	return !pm_regions_snapshot(&sums->snapshot, &diag) &&
	       !pm_report_model_make(&sums->model, sums->snapshot, false, NULL) &&
	       !pm_report_tree_make(&sums->tree, &sums->model, NULL, 0);
}

static inline void sums_take(struct sums *sums)
{
	cr_assert(try_sums(sums));
}

/* The same with METRICS, a text, besides the built-in ones. */
static inline void sums_take_with(struct sums *sums, const char *metrics)
{
	struct pm_diag diag = {0};

	memset(sums, 0, sizeof(*sums));
	sums->snapshot = probe_take();
	cr_assert_eq(pm_metrics_parse(metrics, &sums->metrics, &diag), 0, "%s",
		     diag.text);
	cr_assert_eq(
		pm_report_model_make(&sums->model, sums->snapshot, false, sums->metrics),
		0);
	cr_assert_eq(pm_report_tree_make(&sums->tree, &sums->model, NULL, 0), 0);
}

static inline void sums_free(struct sums *sums)
{
	pm_report_tree_free(&sums->tree);
	pm_report_model_free(&sums->model);
	pm_metrics_free(sums->metrics);
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

			snprintf(longer, sizeof(longer), "%s%s%s", pm_path_name(tree, at),
				 *text ? "/" : "", text);
			strcpy(text, longer);
			at = pm_path(tree, at)->parent;
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
		const struct pm_path_times *times = &pm_path(tree, n)->times;

		cr_expect_leq(times->children, times->inclusive, "%s",
			      pm_path_name(tree, n));
		cr_expect_leq(times->inclusive, tree->total_ticks);
		ticks += times->inclusive - times->children;
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
