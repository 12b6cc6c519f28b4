/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Visits that are left out on request: by name, by depth, and because they are short. */
#include "helpers.h"
#include "region_probe.h"

#include <setjmp.h>

#include "core/report/report.h"
#include "core/settings/options.h"
#include "perfmon/report.h"
#include "perfmon/team.h"

static void set_up(void)
{
	probe_quiet();
	setenv("PERFMON_EVENTS", "none", 1);
}

TestSuite(filters, .init = set_up, .timeout = 240);

#define NAME  PERFMON_PROFILE_LEFT_OUT_NAME
#define DEPTH PERFMON_PROFILE_LEFT_OUT_DEPTH
#define MEAN  PERFMON_PROFILE_LEFT_OUT_MEAN

static size_t peak_kb(void)
{
	char line[200];
	size_t kb = 0;
	FILE *file = fopen("/proc/self/status", "re");

	CHECK(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, "VmHWM:", 6))
			kb = strtoul(line + 6, NULL, 10);
	fclose(file);
	CHECK(kb);
	return kb;
}

static void leaf(void)
{
	PERFMON_REGION_BEGIN("leaf");
	PERFMON_REGION_END("leaf");
}

static void middle(int times)
{
	PERFMON_REGION_BEGIN("middle");
	while (times--)
		leaf();
	PERFMON_REGION_END("middle");
}

static void outer(void)
{
	PERFMON_REGION_BEGIN("outer");
	middle(3);
	PERFMON_REGION_END("outer");
}

/* Checks that what the paths' visits have for themselves is what the outermost ones have. */
static void expect_sum(const struct pm_snapshot *s)
{
	int64_t all = 0, exclusive = 0;

	for (uint32_t t = 0; t < s->thread_count; t++) {
		for (uint32_t n = 2; n <= s->threads[t].node_count; n++) {
			const struct perfmon_profile_node *node =
				pm_snapshot_node(&s->threads[t], n);
			int64_t ticks = (int64_t)node->time_ticks;

			exclusive += ticks;
			if (node->parent == 1)
				all += ticks;
			else
				exclusive -= ticks;
		}
	}
	cr_assert_eq(all, exclusive);
}

/* --- names ---------------------------------------------------------------------------- */

/* Row: FO-08 */
Test(filters, what_is_inside_a_region_that_is_skipped_stays)
{
	struct pm_snapshot *s;

	setenv("PERFMON_SKIP", "nothing, mid*", 1);
	for (int i = 0; i < 10; i++)
		outer();
	s = probe_take();
	probe_expect(s, {"outer", 10}, {"outer/leaf", 30}, {"outer/middle", 0});
	cr_assert_eq(probe_sum(s, left_out[NAME]), 10);
	cr_assert_eq(s->header.left_out_regions, 1);
	cr_assert_eq(probe_all_lost(s) + probe_sum(s, unmatched_ends), 0);
	cr_assert(probe_note(s, "PERFMON_SKIP=nothing, mid* leaves visits out"));
	expect_sum(s);
	pm_snapshot_free(s);
}

/* Row: FO-08 */
Test(filters, only_the_regions_of_a_list_are_measured)
{
	char name[16];
	struct pm_snapshot *s;

	setenv("PERFMON_ONLY", "l?af,number 1*", 1);
	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "number %d", i);
		perfmon_region_begin_name(name);
		outer();
		perfmon_region_end_name(name);
	}
	s = probe_take();
	/* 1 and 10 to 19 */
	probe_expect(s, {"leaf", 19 * 3}, {"number 1/leaf", 3}, {"number 19/leaf", 3});
	cr_assert_eq(probe_sum(s, left_out[NAME]), 30 * 2 + 19);
	cr_assert_eq(s->header.left_out_regions, 2 + 19);
	pm_snapshot_free(s);
}

/* Row: FO-08 */
Test(filters, a_skipped_region_may_end_anywhere)
{
	struct pm_snapshot *s;

	setenv("PERFMON_SKIP", "skipped", 1);
	PERFMON_REGION_END("skipped");
	PERFMON_REGION_BEGIN("skipped");
	PERFMON_REGION_BEGIN("outer");
	PERFMON_REGION_END("skipped");
	PERFMON_REGION_BEGIN("skipped");
	PERFMON_REGION_END("outer");
	leaf();
	s = probe_take();
	probe_expect(s, {"outer", 1}, {"leaf", 1});
	cr_assert_eq(probe_sum(s, left_out[NAME]), 2);
	cr_assert_eq(probe_sum(s, unmatched_ends), 0);
	pm_snapshot_free(s);
}

/* Row: FO-08 FO-02 */
Test(filters, the_innermost_visit_may_be_one_that_is_left_out)
{
	struct pm_snapshot *s;

	setenv("PERFMON_SKIP", "skipped", 1);
	for (int i = 0; i < 5; i++) {
		PERFMON_REGION_BEGIN("a");
		PERFMON_REGION_BEGIN("skipped");
		PERFMON_REGION_BEGIN("skipped");
		PERFMON_REGION_BEGIN("b");
		perfmon_region_end_innermost();
		perfmon_region_end_innermost();
		leaf();
		PERFMON_REGION_END("skipped");
		perfmon_region_end_innermost();
		leaf();
	}
	s = probe_take();
	probe_expect(s, {"a", 5}, {"a/b", 5}, {"a/leaf", 5}, {"leaf", 5});
	cr_assert_eq(probe_sum(s, left_out[NAME]), 10);
	cr_assert_eq(probe_sum(s, unmatched_ends), 0);
	pm_snapshot_free(s);
}

/* --- depth ------------------------------------------------------------------------------ */

static void recurse(int depth)
{
	PERFMON_REGION_BEGIN("recursion");
	if (depth > 1)
		recurse(depth - 1);
	PERFMON_REGION_END("recursion");
}

static void *recurse_often(void *unused)
{
	struct pm_snapshot *s;
	size_t kb;
	uint64_t used;

	recurse(100000);
	kb = peak_kb();
	s = probe_take();
	used = s->header.used;
	pm_snapshot_free(s);
	for (int i = 1; i < 10; i++)
		recurse(100000);
	s = probe_take();
	cr_assert_eq(s->header.used, used);
	pm_snapshot_free(s);
	/* A sanitizer keeps frames of its own of what has returned. */
#ifndef __SANITIZE_ADDRESS__
	cr_assert(peak_kb() <= kb + 512, "%zu KiB, then %zu", kb, peak_kb());
#else
	(void)kb;
#endif
	return unused;
}

/* Row: FO-08 */
Test(filters, recursion_of_any_depth_has_as_many_levels_as_asked_for)
{
	const size_t stack = (size_t)256 << 20;
	pthread_attr_t attr;
	pthread_t thread;
	struct pm_snapshot *s;

	setenv("PERFMON_DEPTH", "4", 1);
	cr_assert_eq(pthread_attr_init(&attr), 0);
	cr_assert_eq(pthread_attr_setstacksize(&attr, stack), 0);
	cr_assert_eq(pthread_create(&thread, &attr, recurse_often, NULL), 0);
	cr_assert_eq(pthread_join(thread, NULL), 0);
	s = probe_take();
	cr_assert_eq(probe_all_visits(s), 10 * 4);
	cr_assert_eq(probe_visits(s, "recursion/recursion/recursion/recursion"), 10);
	cr_assert_eq(probe_sum(s, left_out[DEPTH]), UINT64_C(10) * (100000 - 4));
	cr_assert_eq(probe_all_lost(s) + probe_sum(s, unmatched_ends), 0);
	expect_sum(s);
	pm_snapshot_free(s);
}

static jmp_buf out;
static volatile bool out_is_set = true;

static void deep_jump(int depth)
{
	PERFMON_REGION_BEGIN("deep");
	if (depth)
		deep_jump(depth - 1);
	else if (out_is_set)
		longjmp(out, 1);
	PERFMON_REGION_END("deep");
}

/* Row: FO-08 */
Test(filters, jumps_out_of_visits_that_are_too_deep)
{
	struct pm_snapshot *s;

	setenv("PERFMON_DEPTH", "2", 1);
	for (int i = 0; i < 3; i++) {
		PERFMON_REGION_BEGIN("outer");
		PERFMON_REGION_BEGIN("inner");
		if (!setjmp(out))
			deep_jump(5);
		PERFMON_REGION_END("inner");
		leaf();
		PERFMON_REGION_END("outer");
	}
	s = probe_take();
	probe_expect(s, {"outer", 3}, {"outer/inner", 3}, {"outer/leaf", 3});
	cr_assert_eq(probe_sum(s, left_out[DEPTH]), 3 * 6);
	pm_snapshot_free(s);
}

/* --- short visits ------------------------------------------------------------------------ */

static void long_visit(void)
{
	PERFMON_REGION_BEGIN("long");
	let_time_pass_us(1000);
	leaf();
	PERFMON_REGION_END("long");
}

/* Row: FO-08 */
Test(filters, paths_whose_visits_are_short_are_left_out_after_a_sample)
{
	const int times = 100000;
	struct pm_snapshot *s;
	const struct perfmon_profile_node *node;

	setenv("PERFMON_MIN_MEAN", "100us", 1);
	PERFMON_REGION_BEGIN("outer");
	for (int i = 0; i < times; i++)
		middle(1);
	for (int i = 0; i < 1100; i++)
		long_visit();
	PERFMON_REGION_END("outer");
	s = probe_take();
	cr_assert_eq(probe_visits(s, "outer/long"), 1100);
	cr_assert(probe_visits(s, "outer/middle") < 2000);
	cr_assert_eq(probe_sum(s, left_out[MEAN]),
		     2 * (times - probe_visits(s, "outer/middle")) + 1100 -
			     probe_visits(s, "outer/long/leaf"),
		     "what is inside is left out, too");
	cr_assert_eq(probe_all_lost(s) + probe_sum(s, unmatched_ends), 0);
	node = probe_node(s, &s->threads[0], "outer/middle/leaf");
	cr_assert(node->flags & PERFMON_PROFILE_NODE_LEFT_OUT);
	node = probe_node(s, &s->threads[0], "outer/long");
	cr_assert_not(node->flags & PERFMON_PROFILE_NODE_LEFT_OUT);
	expect_sum(s);
	pm_snapshot_free(s);
}

/* --- with all else ------------------------------------------------------------------------ */

/* Row: FO-08 */
Test(filters, a_program_sets_them)
{
	char message[200];
	struct pm_snapshot *s;

	cr_assert_eq(
		perfmon_region_configure("skip", "middle", 0, message, sizeof(message)),
		0, "%s", message);
	cr_assert_eq(perfmon_region_configure("depth", "0", 0, message, sizeof(message)),
		     -EINVAL);
	cr_assert(strstr(message, "PERFMON_DEPTH=\"0\""), "%s", message);
	cr_assert_eq(perfmon_region_configure("min_mean", "5 parsec", 0, message,
					      sizeof(message)),
		     -EINVAL);
	cr_assert(strstr(message, "\"5 parsec\" is not a time"), "%s", message);
	cr_assert_eq(
		perfmon_region_configure("only", "a,,b", 0, message, sizeof(message)),
		-EINVAL);
	cr_assert(strstr(message, "\"a,,b\" has an empty item"), "%s", message);
	outer();
	s = probe_take();
	probe_expect(s, {"outer/leaf", 3});
	pm_snapshot_free(s);
}

static void *work_below(void *token)
{
	cr_assert_eq(perfmon_region_adopt(token), 0);
	outer();
	cr_assert_eq(perfmon_region_leave(), 0);
	return NULL;
}

/* Row: FO-08 FO-01 */
Test(filters, a_path_is_handed_on_out_of_visits_that_are_left_out)
{
	struct perfmon_token token;
	struct pm_snapshot *s;

	setenv("PERFMON_DEPTH", "2", 1);
	setenv("PERFMON_SKIP", "skipped", 1);
	PERFMON_REGION_BEGIN("solve");
	PERFMON_REGION_BEGIN("skipped");
	cr_assert_eq(perfmon_region_token(&token), 0);
	in_thread(work_below, &token);
	PERFMON_REGION_BEGIN("deepest");
	PERFMON_REGION_BEGIN("too deep");
	cr_assert_eq(perfmon_region_token(&token), 0);
	in_thread(work_below, &token);
	PERFMON_REGION_END("too deep");
	PERFMON_REGION_END("deepest");
	PERFMON_REGION_END("skipped");
	PERFMON_REGION_END("solve");
	s = probe_take();
	probe_expect(s, {"solve", 1}, {"solve/outer", 1}, {"solve/deepest", 1},
		     {"solve/deepest/outer", 0}, {"outer", 0});
	cr_assert_eq(probe_sum(s, left_out[NAME]), 1);
	cr_assert_eq(probe_sum(s, left_out[DEPTH]), 4 + 1 + 5);
	cr_assert_eq(probe_sum(s, unmatched_ends), 0);
	pm_snapshot_free(s);
}

static int child(void)
{
	struct pm_snapshot *s;

	PERFMON_REGION_END("too deep");
	PERFMON_REGION_END("skipped");
	leaf();
	PERFMON_REGION_END("outer");
	s = probe_take();
	CHILD_CHECK(probe_visits(s, "outer") == 1);
	CHILD_CHECK(probe_visits(s, "outer/leaf") == 0);
	CHILD_CHECK(probe_sum(s, left_out[DEPTH]) == 2);
	CHILD_CHECK(probe_sum(s, unmatched_ends) == 0);
	CHILD_CHECK(s->header.left_out_regions == 1);
	pm_snapshot_free(s);
	return 0;
}

/* Row: FO-08 */
Test(filters, a_child_goes_on_in_visits_that_are_left_out)
{
	setenv("PERFMON_DEPTH", "1", 1);
	setenv("PERFMON_SKIP", "skipped", 1);
	PERFMON_REGION_BEGIN("outer");
	PERFMON_REGION_BEGIN("skipped");
	PERFMON_REGION_BEGIN("too deep");
	cr_assert_eq(probe_child(child), 0);
	PERFMON_REGION_END("too deep");
	PERFMON_REGION_END("skipped");
	PERFMON_REGION_END("outer");
	cr_assert_eq(probe_now("outer"), 1);
}

/* Row: FO-08 */
Test(filters, strides_and_arming_go_on)
{
	struct pm_snapshot *s;
	uint64_t entered;

	setenv("PERFMON_STRIDE", "10", 1);
	setenv("PERFMON_SKIP", "middle", 1);
	setenv("PERFMON_DEPTH", "2", 1);
	for (int i = 0; i < 1000; i++)
		outer();
	PERFMON_REGION_BEGIN("outer");
	PERFMON_REGION_BEGIN("middle");
	PERFMON_REGION_BEGIN("leaf");
	PERFMON_REGION_BEGIN("too deep");
	perfmon_region_disarm();
	PERFMON_REGION_END("too deep");
	PERFMON_REGION_END("leaf");
	PERFMON_REGION_END("middle");
	PERFMON_REGION_END("outer");
	perfmon_region_arm();
	outer();
	s = probe_take();
	entered = probe_entered(s, "outer/leaf");
	cr_assert_eq(entered, 3 * 1001 + 1, "%lu", (unsigned long)entered);
	cr_assert(probe_visits(s, "outer") < 200);
	cr_assert_eq(probe_sum(s, left_out[NAME]), 1002);
	cr_assert_eq(probe_sum(s, left_out[DEPTH]), 1);
	cr_assert_eq(probe_sum(s, lost_other), 2);
	cr_assert_eq(probe_sum(s, unmatched_ends), 0);
	pm_snapshot_free(s);
}

static void *visits_of_a_thread(void *unused)
{
	for (int i = 0; i < 100; i++)
		outer();
	return unused;
}

/* Row: FO-08 */
Test(filters, threads_that_end_are_summed)
{
	struct pm_snapshot *s;

	setenv("PERFMON_SKIP", "outer", 1);
	setenv("PERFMON_DEPTH", "1", 1);
	for (int i = 0; i < 10; i++)
		in_thread(visits_of_a_thread, NULL);
	s = probe_take();
	probe_expect(s, {"middle", 1000});
	cr_assert_eq(probe_sum(s, left_out[NAME]), 1000);
	cr_assert_eq(probe_sum(s, left_out[DEPTH]), 3000);
	pm_snapshot_free(s);
}

static void visit_often(int times)
{
	for (int i = 0; i < times; i++) {
		PERFMON_REGION_BEGIN("tiny");
		PERFMON_REGION_END("tiny");
	}
}

/* Row: FO-08 */
Test(filters, ten_million_visits_take_no_memory_and_are_said)
{
	const int times = getenv("PERFMON_TEST_SHORT") ? 100000 : 10000000;
	struct perfmon_report_options options = {.size = sizeof(options)};
	char text[8192], expected[120];
	ssize_t length;
	size_t kb;
	int ends[2];

	setenv("PERFMON_SKIP", "tiny", 1);
	PERFMON_REGION_BEGIN("outer");
	visit_often(1000);
	kb = peak_kb();
	visit_often(times - 1000);
	cr_assert(peak_kb() <= kb + 256, "%zu KiB, then %zu", kb, peak_kb());
	PERFMON_REGION_END("outer");
	for (int json = 0; json < 2; json++) {
		options.format =
			json ? PERFMON_REPORT_FORMAT_JSON : PERFMON_REPORT_FORMAT_TEXT;
		/* The pipe holds all of it. */
		cr_assert_eq(pipe(ends), 0);
		cr_assert_eq(perfmon_report_write(ends[1], &options), 0);
		close(ends[1]);
		length = read(ends[0], text, sizeof(text) - 1);
		cr_assert_gt(length, 0);
		close(ends[0]);
		text[length] = '\0';
		snprintf(expected, sizeof(expected),
			 json ? "\"name\":{\"visits\":%d,\"regions\":1}"
			      : "left out: %d visits of 1 region, by PERFMON_ONLY or "
				"PERFMON_SKIP",
			 times);
		cr_assert(strstr(text, expected), "%s", text);
	}
}
