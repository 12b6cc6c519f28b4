/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Visits that overlap, and that end on another thread. */
#include "core/report/model/value.h"
#include "perfmon/overlap.h"
#include "region_probe.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include "core/regions/regions.h"

TestSuite(overlap, .init = probe_quiet, .timeout = 120);

#define PAGES 64

/* Faults COUNT pages in. */
__attribute__((noinline, no_sanitize("address"), no_sanitize("thread"))) static void
fault(uint32_t count)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *pages = mmap(NULL, PAGES * size, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise((void *)(uintptr_t)pages, PAGES * size, MADV_NOHUGEPAGE);
	for (uint32_t i = 0; i < count; i++)
		pages[i * size] = 1;
	munmap((void *)(uintptr_t)pages, PAGES * size);
}

struct sums {
	struct pm_snapshot *snapshot;
	struct pm_report_model model;
	struct pm_report_tree tree;
};

static void sums_take(struct sums *sums)
{
	sums->snapshot = probe_take();
	cr_assert_eq(pm_report_model_make(&sums->model, sums->snapshot, false, NULL), 0);
	cr_assert_eq(pm_report_tree_make(&sums->tree, &sums->model, -1), 0);
}

static void sums_free(struct sums *sums)
{
	pm_report_tree_free(&sums->tree);
	pm_report_model_free(&sums->model);
	pm_snapshot_free(sums->snapshot);
}

static uint32_t node_of(const struct sums *sums, const char *name)
{
	for (uint32_t n = 1; n < sums->tree.node_count; n++)
		if (!strcmp(pm_report_name(&sums->tree, n), name))
			return n;
	cr_assert(false, "there is no %s", name);
	return 0;
}

static bool is_counted(const struct sums *sums)
{
	return sums->model.event_count && sums->model.events[0].syscall_read;
}

/* Row: FO-03: visits begin and end in any order; each has its own time and events, and no sum has
 * them. */
Test(overlap, visits_cross)
{
	struct perfmon_overlap first = {0}, second = {0};
	struct sums sums;
	uint32_t node;

	setenv("PERFMON_EVENTS", "page-faults", 1);
	PERFMON_REGION_BEGIN("main");
	for (int i = 0; i < 3; i++) {
		cr_expect_eq(perfmon_overlap_begin(&first, "first"), 0);
		fault(10);
		cr_expect_eq(perfmon_overlap_begin(&second, "second"), 0);
		PERFMON_REGION_BEGIN("work");
		fault(20);
		PERFMON_REGION_END("work");
		cr_expect_eq(perfmon_overlap_end(&first), 0);
		fault(30);
		cr_expect_eq(perfmon_overlap_end(&second), 0);
	}
	PERFMON_REGION_END("main");
	sums_take(&sums);
	node = node_of(&sums, "first (overlapping)");
	cr_expect_eq(sums.tree.nodes[node].parent, node_of(&sums, "main"));
	cr_expect_eq(sums.tree.nodes[node].visits, 3);
	cr_expect_eq(sums.tree.nodes[node].entered, 3);
	cr_expect_gt(sums.tree.nodes[node].time_ticks, 0);
	cr_expect_eq(pm_report_time(&sums.tree, node, true).sum, 0);
	/* The total is that of "main" alone. */
	cr_expect_eq(sums.tree.total_ticks,
		     sums.tree.nodes[node_of(&sums, "main")].time_ticks);
	if (is_counted(&sums)) {
		uint64_t outer =
			pm_report_sums(&sums.tree, node_of(&sums, "main"), 0, false).sum;

		cr_expect_geq(pm_report_sums(&sums.tree, node, 0, false).sum, 3 * 30);
		cr_expect_lt(pm_report_sums(&sums.tree, node, 0, false).sum, outer);
		cr_expect_eq(pm_report_sums(&sums.tree, node, 0, true).sum, 0);
		node = node_of(&sums, "second (overlapping)");
		cr_expect_geq(pm_report_sums(&sums.tree, node, 0, false).sum, 3 * 50);
		cr_expect_eq(outer, pm_report_sums(&sums.tree, 0, 0, false).sum);
	}
	sums_free(&sums);
}

static struct perfmon_overlap message;

static void *receive(void *argument)
{
	cr_expect_eq(perfmon_overlap_end(&message), 0);
	return argument;
}

/* Row: FO-03: a visit that ends on another thread has its time below the path where it began, and its
 * events are marked as not known. */
Test(overlap, ends_on_another_thread)
{
	pthread_t thread;
	struct sums sums;
	struct pm_value count;
	uint32_t node;

	setenv("PERFMON_EVENTS", "page-faults", 1);
	PERFMON_REGION_BEGIN("send");
	cr_assert_eq(perfmon_overlap_begin(&message, "message"), 0);
	PERFMON_REGION_END("send");
	cr_assert_eq(pthread_create(&thread, NULL, receive, NULL), 0);
	pthread_join(thread, NULL);
	sums_take(&sums);
	node = node_of(&sums, "message (overlapping)");
	cr_expect_eq(sums.tree.nodes[node].parent, node_of(&sums, "send"));
	cr_expect_eq(sums.tree.nodes[node].visits, 1);
	cr_expect_gt(sums.tree.nodes[node].time_ticks, 0);
	/* Ending it is no work of a team. */
	cr_expect(!sums.tree.nodes[node_of(&sums, "send")].is_team);
	cr_expect_eq(sums.tree.nodes[node_of(&sums, "send")].threads, 1);
	if (is_counted(&sums)) {
		count = pm_report_count(&sums.tree, node, 0, false);
		cr_expect_neq(count.state, PM_COUNTED);
		cr_expect_eq(sums.tree.nodes[node].dropped_counts, 1);
	}
	sums_free(&sums);
}

/* Wrong use is counted as lost, with one sentence, and changes nothing. */
Test(overlap, wrong_use_is_counted_as_lost)
{
	struct perfmon_overlap visit = {0}, disarmed = {0};
	struct sums sums;
	bool noted = false;
	int status;
	pid_t child;

	setenv("PERFMON_EVENTS", "none", 1);
	cr_expect_eq(perfmon_overlap_begin(NULL, "a"), -EINVAL);
	cr_expect_eq(perfmon_overlap_begin(&visit, NULL), -EINVAL);
	cr_expect_eq(perfmon_overlap_end(NULL), -EINVAL);
	PERFMON_REGION_BEGIN("main");
	cr_expect_eq(perfmon_overlap_end(&visit), -ENOENT);
	cr_expect_eq(perfmon_overlap_begin(&visit, "a"), 0);
	cr_expect_eq(perfmon_overlap_begin(&visit, "b"), -EALREADY);
	child = fork();
	if (!child)
		_exit(perfmon_overlap_end(&visit) == -ESTALE ? 0 : 1);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	cr_expect_eq(perfmon_overlap_end(&visit), 0);
	perfmon_region_disarm();
	cr_expect_eq(perfmon_overlap_begin(&disarmed, "a"), 0);
	perfmon_region_arm();
	cr_expect_eq(perfmon_overlap_end(&disarmed), 0);
	PERFMON_REGION_END("main");
	sums_take(&sums);
	cr_expect_eq(sums.tree.nodes[node_of(&sums, "a (overlapping)")].visits, 1);
	for (uint32_t i = 0; i < sums.snapshot->note_count; i++)
		noted |= !!strstr(sums.snapshot->notes[i],
				  "perfmon_overlap_begin() was called");
	cr_expect(noted);
	sums_free(&sums);
}
