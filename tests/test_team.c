/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Paths that are handed on to other threads, and visits that end without their name. */
#include "perfmon/report.h"
#include "perfmon/team.h"
#include "sums_probe.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

TestSuite(team, .init = probe_quiet, .timeout = 120);

#define WORKERS 8

static struct perfmon_token token;

static void part(uint32_t pages)
{
	PERFMON_REGION_BEGIN("part");
	fault(pages);
	PERFMON_REGION_BEGIN("inner");
	fault(1);
	PERFMON_REGION_END("inner");
	PERFMON_REGION_END("part");
}

static void *work(void *pages)
{
	/* It is warm then: the first visit of a path touches memory of the library's. */
	for (int i = 0; i < 3; i++) {
		cr_expect_eq(perfmon_region_adopt(&token), 0);
		part((uint32_t)(uintptr_t)pages);
		cr_expect_eq(perfmon_region_leave(), 0);
	}
	return NULL;
}

static void run_team(void *(*function)(void *), uint32_t workers)
{
	pthread_t threads[WORKERS];

	cr_assert_eq(perfmon_region_token(&token), 0);
	for (uint32_t i = 0; i < workers; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, function,
					    (void *)(uintptr_t)(i + 1)),
			     0);
	for (uint32_t i = 0; i < workers; i++)
		pthread_join(threads[i], NULL);
}

static bool has_sanitizer(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
	return true;
#endif
#endif
	return false;
}

/* Row: FO-01: what a team does stands below the region of the thread that handed its path on, once,
 * while the team lives and when it has ended. */
Test(team, sums_are_below_the_region_that_was_handed_on)
{
	struct sums sums;
	uint32_t node;

	setenv("PERFMON_EVENTS", "page-faults", 1);
	PERFMON_REGION_BEGIN("main");
	PERFMON_REGION_BEGIN("solve");
	run_team(work, WORKERS);
	part(1);
	PERFMON_REGION_END("solve");
	PERFMON_REGION_END("main");
	sums_take(&sums);
	check_whole(&sums);
	node = node_at(&sums, "main/solve/part");
	cr_assert_neq(node, 0);
	cr_expect_eq(node_at(&sums, "part"), 0);
	cr_expect_eq(pm_path(&sums.tree, node)->visits.ended, 3 * WORKERS + 1);
	cr_expect_eq(pm_path(&sums.tree, node)->threads.count, WORKERS + 1);
	node = node_at(&sums, "main/solve");
	cr_expect_eq(pm_path(&sums.tree, node)->visits.ended, 1);
	cr_expect_eq(pm_path(&sums.tree, node)->threads.count, WORKERS + 1);
	/* Its own visits are the main thread's, which did next to nothing else. */
	cr_expect_lt(pm_path(&sums.tree, node)->visits.ticks, sums.tree.total_ticks);
	if (sums.model.event_count && sums.model.events[0].syscall_read) {
		uint64_t pages = 0;

		for (uint64_t i = 1; i <= WORKERS; i++)
			pages += 3 * i;
		/* The first visits of a path touch memory of the library's, in the visit
		 * around them, and a sanitizer's memory is touched, too. */
		cr_expect_geq(count_at(&sums, "main/solve/part/inner", true),
			      3 * WORKERS + 1);
		cr_expect_geq(count_at(&sums, "main/solve/part", true), pages + 1);
		cr_expect_eq(count_at(&sums, "main/solve/part", false),
			     count_at(&sums, "main/solve/part", true) +
				     count_at(&sums, "main/solve/part/inner", false));
		if (!has_sanitizer()) {
			cr_expect_eq(count_at(&sums, "main/solve/part/inner", true),
				     3 * WORKERS + 1);
			cr_expect_leq(count_at(&sums, "main/solve/part", true),
				      pages + 1 + 4 * (WORKERS + 1));
		}
		cr_expect_geq(count_at(&sums, "main", false),
			      count_at(&sums, "main/solve/part", false));
	}
	sums_free(&sums);
}

static void *hand_on(void *unused)
{
	struct perfmon_token outer = token;
	pthread_t thread;

	(void)unused;
	cr_expect_eq(perfmon_region_adopt(&outer), 0);
	PERFMON_REGION_BEGIN("middle");
	cr_expect_eq(perfmon_region_token(&token), 0);
	pthread_create(&thread, NULL, work, (void *)1);
	pthread_join(thread, NULL);
	PERFMON_REGION_END("middle");
	cr_expect_eq(perfmon_region_leave(), 0);
	return NULL;
}

/* Row: FO-01: a team of a team. */
Test(team, of_a_team)
{
	struct sums sums;

	setenv("PERFMON_EVENTS", "none", 1);
	PERFMON_REGION_BEGIN("main");
	run_team(hand_on, 1);
	PERFMON_REGION_END("main");
	sums_take(&sums);
	check_whole(&sums);
	cr_expect_neq(node_at(&sums, "main/middle/part/inner"), 0);
	cr_expect_eq(pm_path(&sums.tree, node_at(&sums, "main"))->threads.count, 3);
	sums_free(&sums);
}

/* Row: FO-01: one's own path goes on where it is; another one is in none of the visits around. */
Test(team, adopted_inside_of_visits)
{
	struct perfmon_token first;
	struct sums sums;
	uint32_t other, apart;

	setenv("PERFMON_EVENTS", "none", 1);
	PERFMON_REGION_BEGIN("first");
	cr_assert_eq(perfmon_region_token(&first), 0);
	cr_assert_eq(perfmon_region_adopt(&first), 0);
	part(1);
	cr_assert_eq(perfmon_region_leave(), 0);
	PERFMON_REGION_END("first");
	for (int i = 0; i < 2; i++) {
		PERFMON_REGION_BEGIN("other");
		cr_assert_eq(perfmon_region_adopt(&first), 0);
		PERFMON_REGION_BEGIN("apart");
		work_for_ns(CLOCK_MONOTONIC, 20000000);
		PERFMON_REGION_END("apart");
		cr_assert_eq(perfmon_region_leave(), 0);
		PERFMON_REGION_END("other");
	}
	sums_take(&sums);
	check_whole(&sums);
	cr_expect_neq(node_at(&sums, "first/part"), 0);
	other = node_at(&sums, "other");
	apart = node_at(&sums, "first/apart");
	cr_assert(other && apart);
	cr_expect_eq(pm_path(&sums.tree, node_at(&sums, "first"))->threads.count, 1);
	cr_expect_eq(pm_path(&sums.tree, other)->visits.ended, 2);
	cr_expect_lt(2 * pm_path(&sums.tree, other)->times.inclusive,
		     pm_path(&sums.tree, apart)->times.inclusive);
	sums_free(&sums);
}

/* Row: FO-01: what goes on further out, as a task that runs inside of a wait, is in the visits that
 * its path goes through, and in none of the others. */
Test(team, adopted_further_out)
{
	uint32_t outer, wait, task, deep, second;
	struct perfmon_token in_outer;
	struct sums sums;

	setenv("PERFMON_EVENTS", "none", 1);
	PERFMON_REGION_BEGIN("main");
	PERFMON_REGION_BEGIN("outer");
	cr_assert_eq(perfmon_region_token(&in_outer), 0);
	for (int i = 0; i < 2; i++) {
		PERFMON_REGION_BEGIN("wait");
		cr_assert_eq(perfmon_region_adopt(&in_outer), 0);
		PERFMON_REGION_BEGIN("task");
		work_for_ns(CLOCK_MONOTONIC, 10000000);
		PERFMON_REGION_BEGIN("deep");
		/* Once more, from inside of it. */
		cr_assert_eq(perfmon_region_adopt(&in_outer), 0);
		PERFMON_REGION_BEGIN("second");
		work_for_ns(CLOCK_MONOTONIC, 10000000);
		PERFMON_REGION_END("second");
		cr_assert_eq(perfmon_region_leave(), 0);
		PERFMON_REGION_END("deep");
		PERFMON_REGION_END("task");
		cr_assert_eq(perfmon_region_leave(), 0);
		PERFMON_REGION_END("wait");
	}
	PERFMON_REGION_END("outer");
	PERFMON_REGION_END("main");
	sums_take(&sums);
	check_whole(&sums);
	outer = node_at(&sums, "main/outer");
	wait = node_at(&sums, "main/outer/wait");
	task = node_at(&sums, "main/outer/task");
	deep = node_at(&sums, "main/outer/task/deep");
	second = node_at(&sums, "main/outer/second");
	cr_assert(outer && wait && task && deep && second);
	/* They are children of the thread's own visits. */
	cr_expect_eq(pm_path(&sums.tree, outer)->threads.count, 1);
	cr_expect_eq(pm_path(&sums.tree, outer)->visits.ticks,
		     pm_path(&sums.tree, outer)->times.inclusive);
	cr_expect_geq(pm_path(&sums.tree, outer)->visits.ticks,
		      pm_path(&sums.tree, task)->times.inclusive +
			      pm_path(&sums.tree, second)->times.inclusive);
	cr_expect_lt(4 * pm_path(&sums.tree, wait)->times.inclusive,
		     pm_path(&sums.tree, task)->times.inclusive);
	cr_expect_lt(4 * pm_path(&sums.tree, deep)->times.inclusive,
		     pm_path(&sums.tree, task)->times.inclusive);
	sums_free(&sums);
}

/* Row: FO-01: so it is with counters that are read in user space, to the instruction. */
Test(team, adopted_inside_of_visits_counts_are_apart)
{
	struct probe_values alone = {0}, around = {0}, apart = {0};
	struct perfmon_token first;

	setenv("PERFMON_EVENTS", "instructions:u", 1);
	PERFMON_REGION_BEGIN("first");
	cr_assert_eq(perfmon_region_token(&first), 0);
	PERFMON_REGION_END("first");
	for (int i = 0; i < 20; i++) {
		PERFMON_REGION_BEGIN("alone");
		PERFMON_REGION_END("alone");
		PERFMON_REGION_BEGIN("around");
		cr_assert_eq(perfmon_region_adopt(&first), 0);
		PERFMON_REGION_BEGIN("apart");
		for (volatile int k = 0; k < 10000; k++)
			;
		PERFMON_REGION_END("apart");
		cr_assert_eq(perfmon_region_leave(), 0);
		PERFMON_REGION_END("around");
	}
	cr_assert_eq(probe_read("alone", &alone), 0);
	cr_assert_eq(probe_read("around", &around), 0);
	cr_assert_eq(probe_read("apart", &apart), 0);
	if (!alone.counters || !(alone.counted & 1) || !(around.counted & 1))
		cr_skip_test("no instructions are counted in user space here");
	cr_expect_gt(apart.sum[0], 20 * 20000);
	/* What the two calls take. */
	cr_expect_lt(around.sum[0], alone.sum[0] + 20 * 3000);
}

static void *end_what_is_outside(void *unused)
{
	(void)unused;
	PERFMON_REGION_BEGIN("outside");
	cr_expect_eq(perfmon_region_adopt(&token), 0);
	PERFMON_REGION_END("outside");
	cr_expect_eq(unmatched(), 2);
	cr_expect_eq(perfmon_region_end_innermost(), -ENOENT);
	cr_expect_eq(unmatched(), 3);
	PERFMON_REGION_BEGIN("left open");
	cr_expect_eq(perfmon_region_leave(), 0);
	PERFMON_REGION_END("outside");
	cr_expect_eq(unmatched(), 3);
	cr_expect_eq(perfmon_region_leave(), -ENOENT);
	cr_expect_eq(unmatched(), 4);
	return NULL;
}

/* Row: FO-01: wrong use is counted and changes nothing. */
Test(team, wrong_use)
{
	struct perfmon_token bad = {.path = UINT64_C(1) << 40}, none = {0};
	struct sums sums;
	uint32_t node;

	setenv("PERFMON_EVENTS", "none", 1);
	cr_expect_eq(perfmon_region_token(NULL), -EINVAL);
	PERFMON_REGION_BEGIN("main");
	cr_expect_eq(perfmon_region_adopt(NULL), -EINVAL);
	cr_expect_eq(perfmon_region_adopt(&bad), -ESTALE);
	cr_expect_eq(perfmon_region_leave(), -ENOENT);
	cr_expect_eq(unmatched(), 1);
	cr_assert_eq(perfmon_region_token(&token), 0);
	bad = token;
	bad.path += 1000;
	cr_expect_eq(perfmon_region_adopt(&bad), -EINVAL);
	bad.path = 7;
	cr_expect_eq(perfmon_region_adopt(&bad), -EINVAL);
	/* At the top. */
	cr_expect_eq(perfmon_region_adopt(&none), 0);
	part(1);
	cr_expect_eq(perfmon_region_leave(), 0);
	run_team(end_what_is_outside, 1);
	PERFMON_REGION_END("main");
	sums_take(&sums);
	check_whole(&sums);
	cr_expect_neq(node_at(&sums, "part"), 0);
	cr_expect_neq(node_at(&sums, "outside"), 0);
	node = node_at(&sums, "main/left open");
	cr_assert_neq(node, 0);
	cr_expect_eq(pm_path(&sums.tree, node)->visits.mismatched_ends, 1);
	sums_free(&sums);
}

/* Row: FO-07: a program that asks for a path has no regions by that, and no report. */
Test(team, token_without_regions)
{
	struct perfmon_token here = {1};

	cr_expect_eq(perfmon_region_token(&here), 0);
	cr_expect_eq(here.path, 0);
	/* Nothing is written: there is nothing to report. */
	cr_expect_eq(perfmon_report_write(STDOUT_FILENO, NULL), -ENOENT);
	cr_expect_eq(perfmon_region_adopt(&here), 0);
	PERFMON_REGION_BEGIN("first");
	PERFMON_REGION_END("first");
	cr_expect_eq(perfmon_region_leave(), 0);
	cr_expect_eq(perfmon_region_token(&here), 0);
	cr_expect_neq(here.path, 0);
}

/* Row: FO-01: a token is refused in a child, which goes on where its parent was. */
Test(team, a_child_goes_on)
{
	struct sums sums;
	int status;
	pid_t pid;

	setenv("PERFMON_EVENTS", "none", 1);
	PERFMON_REGION_BEGIN("main");
	cr_assert_eq(perfmon_region_token(&token), 0);
	PERFMON_REGION_END("main");
	cr_assert_eq(perfmon_region_adopt(&token), 0);
	PERFMON_REGION_BEGIN("open");
	pid = fork();
	if (!pid) {
		int failed = perfmon_region_adopt(&token) != -ESTALE;

		part(1);
		PERFMON_REGION_END("open");
		failed |= perfmon_region_leave() != 0;
		failed |= perfmon_region_leave() != -ENOENT;
		failed |= !try_sums(&sums) || !node_at(&sums, "main/open/part");
		_exit(failed);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0);
	PERFMON_REGION_END("open");
	cr_expect_eq(perfmon_region_leave(), 0);
}

/* Row: FO-01: a child of a thread that has adopted no path. */
Test(team, a_child_of_a_thread_at_the_top)
{
	struct perfmon_token none = {0};
	int status;
	pid_t pid;

	setenv("PERFMON_EVENTS", "none", 1);
	cr_assert_eq(perfmon_region_adopt(&none), 0);
	PERFMON_REGION_BEGIN("open");
	pid = fork();
	if (!pid) {
		PERFMON_REGION_END("open");
		_exit(perfmon_region_leave() != 0);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0);
	PERFMON_REGION_END("open");
	cr_expect_eq(perfmon_region_leave(), 0);
}

static void *sort(void *unused)
{
	struct probe_values values = {0};

	(void)unused;
	cr_expect_eq(perfmon_region_adopt(&token), 0);
	PERFMON_REGION_BEGIN("sort");
	work_for_ns(CLOCK_MONOTONIC, 2000000);
	PERFMON_REGION_END("sort");
	cr_expect_eq(perfmon_region_leave(), 0);
	/* An adopted path of the same name has nothing of it. */
	cr_expect_eq(probe_read("sort", &values), 0);
	cr_expect_eq(values.visits, 1);
	cr_expect_geq(values.time_ns, 1e6);
	return NULL;
}

/* Row: FO-01: threads that have a path in visits and adopted are counted once each, and what a thread
 * reads of a region that is below itself is what it did. */
Test(team, of_a_region_below_itself)
{
	struct sums sums;
	uint32_t node;

	setenv("PERFMON_EVENTS", "none", 1);
	PERFMON_REGION_BEGIN("sort");
	run_team(sort, 4);
	PERFMON_REGION_END("sort");
	sums_take(&sums);
	check_whole(&sums);
	node = node_at(&sums, "sort");
	cr_expect_eq(pm_path(&sums.tree, node)->threads.count, 5);
	cr_expect_eq(pm_path(&sums.tree, node_at(&sums, "sort/sort"))->visits.ended, 4);
	sums_free(&sums);
}

/* Row: FO-01: counts that are read by calls are apart, too. */
Test(team, counts_by_calls_are_apart)
{
	struct perfmon_token first;
	struct sums sums;

	setenv("PERFMON_EVENTS", "page-faults", 1);
	PERFMON_REGION_BEGIN("first");
	cr_assert_eq(perfmon_region_token(&first), 0);
	PERFMON_REGION_END("first");
	for (int i = 0; i < 4; i++) {
		PERFMON_REGION_BEGIN("around");
		fault(10);
		cr_assert_eq(perfmon_region_adopt(&first), 0);
		PERFMON_REGION_BEGIN("apart");
		fault(16);
		PERFMON_REGION_END("apart");
		cr_assert_eq(perfmon_region_leave(), 0);
		PERFMON_REGION_END("around");
	}
	sums_take(&sums);
	check_whole(&sums);
	if (sums.model.event_count && sums.model.events[0].syscall_read) {
		cr_expect_geq(count_at(&sums, "first/apart", false), 64);
		cr_expect_geq(count_at(&sums, "around", false), 40);
		if (!has_sanitizer())
			cr_expect_lt(count_at(&sums, "around", false), 40 + 24);
	}
	sums_free(&sums);
}

/* Row: FO-01: paths have as many levels as without a team. */
Test(team, as_deep_as_paths)
{
	char name[20];
	int deep = 0, err = 0;

	setenv("PERFMON_EVENTS", "none", 1);
	/* Each visit is begun below an adoption of the last one. */
	for (; deep < 2 * PERFMON_PROFILE_DEPTH_MAX; deep++) {
		snprintf(name, sizeof(name), "level %d", deep);
		perfmon_region_begin_name(name);
		err = perfmon_region_token(&token);
		if (!err)
			err = perfmon_region_adopt(&token);
		if (err)
			break;
	}
	cr_expect_eq(err, -EOVERFLOW);
	cr_expect_gt(deep, 100);
	for (perfmon_region_end_innermost(); deep; deep--) {
		cr_expect_eq(perfmon_region_leave(), 0);
		cr_expect_eq(perfmon_region_end_innermost(), 0);
	}
	cr_expect_eq(unmatched(), 0);
}

static void *in_team_while_disarmed(void *unused)
{
	struct perfmon_token other;

	(void)unused;
	PERFMON_REGION_BEGIN("other");
	cr_expect_eq(perfmon_region_token(&other), 0);
	PERFMON_REGION_END("other");
	/* Left while disarmed. */
	cr_expect_eq(perfmon_region_adopt(&token), 0);
	PERFMON_REGION_BEGIN("dropped");
	perfmon_region_disarm();
	PERFMON_REGION_END("dropped");
	cr_expect_eq(perfmon_region_leave(), 0);
	perfmon_region_arm();
	part(1);
	/* Adopted while disarmed, inside of another one. */
	cr_expect_eq(perfmon_region_adopt(&token), 0);
	PERFMON_REGION_BEGIN("dropped");
	perfmon_region_disarm();
	cr_expect_eq(perfmon_region_adopt(&other), 0);
	perfmon_region_arm();
	PERFMON_REGION_BEGIN("inside");
	PERFMON_REGION_END("inside");
	cr_expect_eq(perfmon_region_leave(), 0);
	PERFMON_REGION_BEGIN("again");
	PERFMON_REGION_END("again");
	cr_expect_eq(perfmon_region_leave(), 0);
	cr_expect_eq(perfmon_region_leave(), -ENOENT);
	return NULL;
}

/* Row: FO-01: what is adopted and left while regions are disarmed matches what is so before and after. */
Test(team, adopted_across_a_disarm)
{
	struct sums sums;

	setenv("PERFMON_EVENTS", "none", 1);
	PERFMON_REGION_BEGIN("main");
	run_team(in_team_while_disarmed, 1);
	sums_take(&sums);
	cr_expect_neq(node_at(&sums, "part/inner"), 0);
	cr_expect_eq(node_at(&sums, "main/part"), 0);
	cr_expect_neq(node_at(&sums, "other/inside"), 0);
	cr_expect_neq(node_at(&sums, "main/again"), 0);
	sums_free(&sums);
}

/* Disarmed they do nothing, and what was adopted is dropped, as visits are. */
Test(team, disarmed)
{
	setenv("PERFMON_EVENTS", "none", 1);
	PERFMON_REGION_BEGIN("main");
	cr_assert_eq(perfmon_region_token(&token), 0);
	PERFMON_REGION_END("main");
	perfmon_region_disarm();
	cr_expect_eq(perfmon_region_adopt(&token), 0);
	cr_expect_eq(perfmon_region_leave(), 0);
	cr_expect_eq(perfmon_region_leave(), 0);
	cr_expect_eq(perfmon_region_end_innermost(), 0);
	perfmon_region_arm();
	cr_expect_eq(perfmon_region_adopt(&token), 0);
	part(1);
	cr_expect_eq(perfmon_region_leave(), 0);
	cr_expect_eq(unmatched(), 0);
}

/* Row: FO-02: the innermost visit ends, whatever its name. */
Test(team, the_innermost_visit_ends)
{
	struct probe_values values = {0};

	setenv("PERFMON_EVENTS", "none", 1);
	cr_expect_eq(perfmon_region_end_innermost(), -ENOENT);
	for (int i = 0; i < 3; i++) {
		PERFMON_REGION_BEGIN("outer");
		perfmon_region_begin_name("inner");
		cr_expect_eq(perfmon_region_end_innermost(), 0);
		cr_expect_eq(perfmon_region_end_innermost(), 0);
	}
	cr_assert_eq(probe_read("outer", &values), 0);
	cr_expect_eq(values.visits, 3);
	cr_assert_eq(probe_read("inner", &values), 0);
	cr_expect_eq(values.visits, 3);
	cr_expect_eq(perfmon_region_end_innermost(), -ENOENT);
}
