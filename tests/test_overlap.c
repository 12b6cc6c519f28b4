/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Visits that overlap, and that end on another thread. */
#include "perfmon/overlap.h"
#include "sums_probe.h"

#include <errno.h>
#include <pthread.h>

#include "core/regions/threads/state.h"

TestSuite(overlap, .init = probe_quiet, .timeout = 120);

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
	node = node_at(&sums, "main/first (overlapping)");
	cr_assert_neq(node, 0);
	cr_expect_eq(pm_path(&sums.tree, node)->visits.ended, 3);
	cr_expect_eq(pm_path(&sums.tree, node)->visits.entered, 3);
	cr_expect_gt(pm_path(&sums.tree, node)->times.inclusive, 0);
	cr_expect_eq(pm_report_time(&sums.tree, node, true).sum, 0);
	/* The total is that of "main" alone. */
	cr_expect_eq(sums.tree.total_ticks,
		     pm_path(&sums.tree, node_at(&sums, "main"))->times.inclusive);
	if (is_counted(&sums)) {
		uint64_t outer =
			pm_report_sums(&sums.tree, node_at(&sums, "main"), 0, false).sum;

		cr_expect_geq(pm_report_sums(&sums.tree, node, 0, false).sum, 3 * 30);
		cr_expect_lt(pm_report_sums(&sums.tree, node, 0, false).sum, outer);
		cr_expect_eq(pm_report_sums(&sums.tree, node, 0, true).sum, 0);
		node = node_at(&sums, "main/second (overlapping)");
		cr_expect_geq(pm_report_sums(&sums.tree, node, 0, false).sum, 3 * 50);
		cr_expect_eq(outer, pm_report_sums(&sums.tree, 0, 0, false).sum);
	}
	sums_free(&sums);
}

/* Row: FO-03: a visit is below the path where it began, also if the path where it ends has had one of
 * the same name. */
Test(overlap, ends_in_another_path_of_its_thread)
{
	struct perfmon_overlap here = {0}, below = {0};
	struct sums sums;

	setenv("PERFMON_EVENTS", "none", 1);
	cr_expect_eq(perfmon_overlap_begin(&here, "crossing"), 0);
	PERFMON_REGION_BEGIN("main");
	cr_expect_eq(perfmon_overlap_end(&here), 0);
	cr_expect_eq(perfmon_overlap_begin(&here, "crossing"), 0);
	cr_expect_eq(perfmon_overlap_begin(&below, "crossing"), 0);
	cr_expect_eq(perfmon_overlap_end(&below), 0);
	PERFMON_REGION_BEGIN("inner");
	cr_expect_eq(perfmon_overlap_begin(&below, "crossing"), 0);
	PERFMON_REGION_END("inner");
	cr_expect_eq(perfmon_overlap_end(&below), 0);
	PERFMON_REGION_END("main");
	cr_expect_eq(perfmon_overlap_end(&here), 0);
	sums_take(&sums);
	for (int i = 0; i < 3; i++) {
		static const char *const paths[] = {"crossing (overlapping)",
						    "main/crossing (overlapping)",
						    "main/inner/crossing (overlapping)"};
		static const uint64_t visits[] = {1, 2, 1};
		uint32_t node = node_at(&sums, paths[i]);

		cr_assert_neq(node, 0, "%s", paths[i]);
		cr_expect_eq(pm_path(&sums.tree, node)->visits.entered, visits[i], "%s",
			     paths[i]);
		cr_expect_eq(pm_path(&sums.tree, node)->visits.ended, visits[i], "%s",
			     paths[i]);
	}
	cr_expect(!pm_path(&sums.tree, node_at(&sums, "main"))->is_team);
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
	node = node_at(&sums, "send/message (overlapping)");
	cr_assert_neq(node, 0);
	cr_expect_eq(pm_path(&sums.tree, node)->visits.ended, 1);
	cr_expect_gt(pm_path(&sums.tree, node)->times.inclusive, 0);
	/* Ending it is no work of a team. */
	cr_expect(!pm_path(&sums.tree, node_at(&sums, "send"))->is_team);
	cr_expect_eq(pm_path(&sums.tree, node_at(&sums, "send"))->threads.count, 1);
	if (is_counted(&sums)) {
		count = pm_report_count(&sums.tree, node, 0, false);
		cr_expect_neq(count.state, PM_COUNTED);
		cr_expect_eq(pm_path(&sums.tree, node)->visits.dropped_counts, 1);
	}
	sums_free(&sums);
}

static struct perfmon_overlap visit;

static int in_a_child(void)
{
	return perfmon_overlap_end(&visit) == -ESTALE ? 0 : 1;
}

static uint64_t lost(void)
{
	struct pm_snapshot *snapshot = probe_take();
	uint64_t count = probe_sum(snapshot, lost_other);

	pm_snapshot_free(snapshot);
	return count;
}

/* Wrong use is counted as lost, with one sentence, and changes nothing. */
Test(overlap, wrong_use_is_counted_as_lost)
{
	struct sums sums;

	setenv("PERFMON_EVENTS", "none", 1);
	cr_expect_eq(perfmon_overlap_begin(NULL, "a"), -EINVAL);
	cr_expect_eq(perfmon_overlap_begin(&visit, NULL), -EINVAL);
	cr_expect_eq(perfmon_overlap_end(NULL), -EINVAL);
	PERFMON_REGION_BEGIN("main");
	cr_expect_eq(perfmon_overlap_end(&visit), -ENOENT);
	cr_expect_eq(perfmon_overlap_begin(&visit, "a"), 0);
	cr_expect_eq(perfmon_overlap_begin(&visit, "b"), -EALREADY);
	cr_expect_eq(lost(), 2);
	cr_expect_eq(probe_child(in_a_child), 0);
	cr_expect_eq(perfmon_overlap_end(&visit), 0);
	PERFMON_REGION_END("main");
	sums_take(&sums);
	cr_expect_eq(
		pm_path(&sums.tree, node_at(&sums, "main/a (overlapping)"))->visits.ended,
		1);
	cr_expect_not_null(
		probe_note(sums.snapshot, "perfmon_overlap_begin() was called"));
	sums_free(&sums);
}

/* What began while regions were disarmed counts nothing. A visit that is open when they are is lost,
 * as others are. */
Test(overlap, disarming_drops_visits)
{
	setenv("PERFMON_EVENTS", "none", 1);
	PERFMON_REGION_BEGIN("main");
	PERFMON_REGION_END("main");
	perfmon_region_disarm();
	cr_expect_eq(perfmon_overlap_begin(&visit, "a"), 0);
	perfmon_region_arm();
	cr_expect_eq(perfmon_overlap_end(&visit), 0);
	cr_expect_eq(lost(), 0);
	cr_expect_eq(perfmon_overlap_begin(&visit, "a"), 0);
	perfmon_region_disarm();
	cr_expect_eq(perfmon_overlap_end(&visit), 0);
	perfmon_region_arm();
	cr_expect_eq(lost(), 1);
	cr_expect_eq(probe_now("a (overlapping)"), 0);
}
