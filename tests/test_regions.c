/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Regions in one thread: nesting, names, ENDs that do not match, depth, the public calls. Row: DC-07 */
#include "helpers.h"
#include "region_probe.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>

#include "core/kernel/files.h"
#include "core/kernel/kernel.h"
#include "perfmon/profile.h"
#include "perfmon/report.h"

TestSuite(regions, .init = probe_quiet, .timeout = 60);

/* Row: DC-02 (nesting) */
Test(regions, nesting_is_a_call_tree)
{
	struct pm_snapshot *s;

	for (int i = 0; i < 3; i++) {
		PERFMON_REGION_BEGIN("a");
		PERFMON_REGION_BEGIN("b");
		PERFMON_REGION_BEGIN("c");
		PERFMON_REGION_END("c");
		PERFMON_REGION_END("b");
		PERFMON_REGION_BEGIN("c");
		PERFMON_REGION_END("c");
		PERFMON_REGION_END("a");
	}
	PERFMON_REGION_BEGIN("c");
	PERFMON_REGION_END("c");
	PERFMON_REGION_BEGIN("open");
	s = probe_take();
	cr_assert_eq(s->thread_count, 1);
	cr_assert_eq(s->threads[0].node_count, 1 + 6,
		     "the thread, six paths and the open one");
	probe_expect(s, {"a", 3}, {"a/b", 3}, {"a/b/c", 3}, {"a/c", 3}, {"c", 1},
		     {"b", 0}, {"open", 0});
	cr_assert_eq(probe_entered(s, "open"), 1);
	cr_assert_eq(probe_all_lost(s), 0);
	pm_snapshot_free(s);
}

/* Of two visits the least and the most are all: sums and squares are known from them. */
Test(regions, a_node_holds_what_its_visits_took)
{
	const struct perfmon_profile_node *outer, *inner;
	struct pm_snapshot *s;
	double squares;

	for (int i = 0; i < 2; i++) {
		PERFMON_REGION_BEGIN("outer");
		PERFMON_REGION_BEGIN("inner");
		let_time_pass_us(i ? 20000 : 100);
		PERFMON_REGION_END("inner");
		PERFMON_REGION_END("outer");
	}
	s = probe_take();
	outer = probe_node(s, &s->threads[0], "outer");
	inner = probe_node(s, &s->threads[0], "outer/inner");
	cr_assert_eq(pm_node_visits(inner), 2);
	cr_assert_geq(outer->time_ticks, inner->time_ticks);
	cr_assert_eq(inner->time_ticks, inner->time_min + inner->time_max);
	cr_assert_geq(pm_snapshot_ns(s, (double)inner->time_max), 20e6);
	cr_assert_geq(pm_snapshot_ns(s, (double)inner->time_min), 100e3);
	squares = (double)inner->time_min * (double)inner->time_min +
		  (double)inner->time_max * (double)inner->time_max;
	cr_assert_float_eq(pm_node_squares(inner) / squares, 1, 1e-9);
	for (int i = 0; i < PERFMON_PROFILE_BINS; i++)
		cr_assert_eq(
			inner->histogram[i],
			(uint32_t)(i == 63 - __builtin_clzll(inner->time_min)) +
				(uint32_t)(i == 63 - __builtin_clzll(inner->time_max)),
			"bin %d", i);
	cr_assert_eq(inner->defects + inner->mismatched_ends + inner->spilled, 0);
	pm_snapshot_free(s);
}

static void recurse(int depth)
{
	PERFMON_REGION_BEGIN("recursion");
	if (depth > 1)
		recurse(depth - 1);
	PERFMON_REGION_END("recursion");
}

Test(regions, recursion_is_bounded_and_repaired)
{
	const uint64_t kept = PERFMON_PROFILE_DEPTH_MAX;
	struct pm_snapshot *s;

	recurse(1000);
	s = probe_take();
	cr_assert_eq(probe_all_visits(s), kept, "one visit at each of the kept levels");
	cr_assert_eq(probe_sum(s, lost_too_deep), 1000 - kept);
	cr_assert_eq(probe_sum(s, unmatched_ends), 0);
	pm_snapshot_free(s);

	recurse(10);
	PERFMON_REGION_BEGIN("after");
	PERFMON_REGION_END("after");
	cr_assert_eq(probe_now("recursion/recursion"), 2);
	cr_assert_eq(probe_now("after"), 1);

	/* Also deeper than the keys that are remembered. */
	recurse(5000);
	PERFMON_REGION_BEGIN("after");
	PERFMON_REGION_END("after");
	s = probe_take();
	cr_assert_eq(probe_visits(s, "after"), 2);
	cr_assert_eq(probe_sum(s, lost_too_deep), 6000 - 2 * kept);
	cr_assert_eq(probe_sum(s, unmatched_ends), 0);
	pm_snapshot_free(s);
}

static jmp_buf top;

static volatile bool jump = true;

static void dive(int depth)
{
	PERFMON_REGION_BEGIN("dive");
	if (depth > 1)
		dive(depth - 1);
	if (jump)
		longjmp(top, 1);
	PERFMON_REGION_END("dive"); /* never reached */
}

Test(regions, a_jump_out_of_any_depth_is_repaired)
{
	static const int depths[] = {1, 10, 255, 256, 257, 1000, 1279, 1280, 1281, 3000};

	for (volatile size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		PERFMON_REGION_BEGIN("jump");
		if (!setjmp(top))
			dive(depths[i]);
		PERFMON_REGION_END("jump");
		PERFMON_REGION_BEGIN("after");
		PERFMON_REGION_END("after");
		cr_assert_eq(probe_now("jump"), i + 1, "after depth %d", depths[i]);
		cr_assert_eq(probe_now("after"), i + 1, "after depth %d", depths[i]);
	}
	struct pm_snapshot *s = probe_take();
	const struct perfmon_profile_node *first =
		probe_node(s, &s->threads[0], "jump/dive");

	cr_assert_eq(first->entered, sizeof(depths) / sizeof(depths[0]));
	cr_assert_eq(pm_node_visits(first), 0, "none of them has ended");
	cr_assert_eq(first->mismatched_ends, first->entered);
	cr_assert_eq(probe_sum(s, unmatched_ends), 0);
	pm_snapshot_free(s);
}

Test(regions, ends_that_do_not_match_are_counted)
{
	struct pm_snapshot *s;
	uint64_t named = 0;

	PERFMON_REGION_END("never begun");
	PERFMON_REGION_BEGIN("a");
	PERFMON_REGION_END("never begun");
	PERFMON_REGION_BEGIN("b");
	PERFMON_REGION_END("a"); /* closes b as well */
	PERFMON_REGION_END("b"); /* unmatched */
	PERFMON_REGION_BEGIN("a");
	PERFMON_REGION_END("a");
	PERFMON_REGION_END("a"); /* unmatched */
	s = probe_take();
	cr_assert_eq(probe_visits(s, "a"), 2);
	cr_assert_eq(probe_visits(s, "a/b"), 0);
	cr_assert_eq(probe_node(s, &s->threads[0], "a/b")->mismatched_ends, 1);
	/* The very first END came before the thread was set up, and says nothing. */
	cr_assert_eq(probe_sum(s, unmatched_ends), 3);
	for (uint32_t u = 0; u < s->unmatched_count; u++)
		named += s->unmatched[u].count;
	cr_assert_eq(named, 3, "each has a name and a place");
	cr_assert_eq(probe_all_lost(s), 0);
	pm_snapshot_free(s);
}

Test(regions, names_are_known_only_at_run_time)
{
	char name[64], longer[3000];
	struct pm_snapshot *s;

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 300; i++) {
			/* The first 16 bytes, by which the cache goes, are all the same. */
			snprintf(name, sizeof(name), "the same beginning, number %d", i);
			perfmon_region_begin_name(name);
			memset(name, 'x', 8);
			snprintf(name, sizeof(name), "the same beginning, number %d", i);
			perfmon_region_end_name(name);
		}
	}
	PERFMON_REGION_BEGIN("the same beginning, number 7");
	perfmon_region_end_name("the same beginning, number 7");
	perfmon_region_begin_name("");
	perfmon_region_end_name("");

	memset(longer, 'n', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	perfmon_region_begin_name(longer);
	longer[2000] = '\0'; /* the same region: names are cut at 1,000 */
	perfmon_region_end_name(longer);
	longer[1000] = '\0';

	s = probe_take();
	cr_assert_eq(s->region_count, 302);
	probe_expect(s, {"the same beginning, number 7", 4},
		     {"the same beginning, number 299", 3}, {"", 1}, {longer, 1});
	cr_assert_eq(probe_all_visits(s), 3 * 300 + 1 + 1 + 1);
	cr_assert_eq(probe_all_lost(s) + probe_sum(s, unmatched_ends), 0);
	pm_snapshot_free(s);
}

/* Keys of the program's own making, of which one is that of a region not yet registered. */
Test(regions, a_key_that_is_not_the_librarys)
{
	struct perfmon_region made[] = {{12345, "made 0"},
					{PM_REGION_KEY(1000), "made 1"},
					{UINT64_MAX, "made 2"},
					{PERFMON_REGION_KEY_LATER_, NULL}};
	struct pm_snapshot *s;

	/* A name of a later version need not be a string. */
	made[3].name = (const char *)(uintptr_t)64;
	PERFMON_REGION_BEGIN("outer");
	for (int i = 0; i < 4; i++) {
		perfmon_region_begin(&made[i]);
		perfmon_region_end(&made[i]);
	}
	PERFMON_REGION_END("outer");
	perfmon_region_end(&made[3]);
	s = probe_take();
	probe_expect(s, {"outer", 1}, {"outer/made 0", 1}, {"outer/made 1", 1},
		     {"outer/made 2", 1});
	cr_assert_eq(probe_sum(s, lost_unnamed), 1);
	cr_assert_eq(probe_sum(s, unmatched_ends), 1);
	pm_snapshot_free(s);
}

Test(regions, a_region_without_a_name_is_counted_as_lost)
{
	struct perfmon_region nameless = PERFMON_REGION_INIT(NULL);
	struct pm_snapshot *s;

	PERFMON_REGION_BEGIN("outer");
	perfmon_region_begin_name(NULL);
	PERFMON_REGION_BEGIN("inner");
	PERFMON_REGION_END("inner");
	perfmon_region_end_name(NULL);
	perfmon_region_begin(&nameless);
	perfmon_region_end(&nameless);
	perfmon_region_begin(NULL);
	perfmon_region_end(NULL);
	PERFMON_REGION_END("outer");
	PERFMON_REGION_BEGIN("outer");
	perfmon_region_begin_name(NULL);
	PERFMON_REGION_END("outer"); /* jumps over it */
	PERFMON_REGION_BEGIN("inner");
	PERFMON_REGION_END("inner");
	s = probe_take();
	probe_expect(s, {"outer", 2}, {"inner", 1}, {"outer/inner", 0});
	cr_assert_eq(probe_sum(s, lost_unnamed), 5, "four nameless and the one inside");
	cr_assert_eq(probe_sum(s, unmatched_ends), 0);
	pm_snapshot_free(s);
}

Test(regions, ten_thousand_siblings)
{
	struct probe_values values = {0};
	char name[32];

	PERFMON_REGION_BEGIN("parent");
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 10000; i++) {
			snprintf(name, sizeof(name), "sibling %d", i);
			perfmon_region_begin_name(name);
			perfmon_region_end_name(name);
		}
	}
	PERFMON_REGION_END("parent");
	for (int i = 0; i < 10000; i += 97) {
		snprintf(name, sizeof(name), "sibling %d", i);
		cr_assert_eq(probe_read(name, &values), 0);
		cr_assert_eq(values.visits, 2);
	}
	struct pm_snapshot *s = probe_take();

	cr_assert_eq(probe_all_visits(s), 20001);
	cr_assert_eq(s->threads[0].node_count, 10002);
	pm_snapshot_free(s);
}

static int leave_by(int way)
{
	int i;

	for (i = 0; i < 2; i++) {
		PERFMON_REGION_SCOPE("scope");
		PERFMON_REGION_SCOPE("second");
		if (way == 0)
			return 0;
		if (way == 1)
			break;
		if (way == 2)
			continue;
		if (way == 3)
			goto out;
	}
out:
	return i;
}

Test(regions, a_scope_ends_however_its_block_is_left)
{
	struct pm_snapshot *s;

	cr_assert_eq(leave_by(0), 0);
	cr_assert_eq(leave_by(1), 0);
	cr_assert_eq(leave_by(2), 2);
	cr_assert_eq(leave_by(3), 0);
	cr_assert_eq(leave_by(4), 2);
	s = probe_take();
	cr_assert_eq(probe_visits(s, "scope"), 7);
	cr_assert_eq(probe_visits(s, "scope/second"), 7);
	cr_assert_eq(probe_all_visits(s), 14);
	cr_assert_eq(probe_sum(s, unmatched_ends), 0);
	pm_snapshot_free(s);
}

/* Row: DC-02 */
Test(regions, disarmed_nothing_is_counted)
{
	static struct perfmon_region region = PERFMON_REGION_INIT("as a function");
	struct pm_snapshot *s;

	setenv("PERFMON_ARM", "0", 1);
	PERFMON_REGION_BEGIN("a");
	PERFMON_REGION_END("a");
	perfmon_region_begin(&region);
	perfmon_region_end(&region);
	perfmon_region_begin_name("b");
	perfmon_region_end_name("b");
	cr_assert_null(perfmon_region_begin_armed);
	cr_assert_null(perfmon_region_end_armed);
	s = probe_take();
	cr_assert_eq(s->thread_count, 0);
	cr_assert_eq(s->region_count, 0);
	pm_snapshot_free(s);

	perfmon_region_arm();
	perfmon_region_arm();
	perfmon_region_begin(&region);
	perfmon_region_end(&region);
	cr_assert_eq(probe_now("as a function"), 1);
	perfmon_region_disarm();
	perfmon_region_begin(&region);
	perfmon_region_end(&region);
	cr_assert_eq(probe_now("as a function"), 1);
}

/* As a library does around work that is not to be counted. */
static void *bracket(void *unused)
{
	perfmon_region_disarm();
	perfmon_region_arm();
	return unused;
}

static uint64_t one_more(void)
{
	PERFMON_REGION_BEGIN("one more");
	PERFMON_REGION_END("one more");
	return probe_now("one more");
}

Test(regions, disarms_nest)
{
	cr_assert_eq(perfmon_region_disarmed(), 0);
	perfmon_region_arm(); /* undoes nothing, also not later */
	cr_assert_eq(perfmon_region_disarmed(), 0);
	cr_assert_eq(one_more(), 1);
	perfmon_region_disarm();
	bracket(NULL);
	cr_assert_eq(perfmon_region_disarmed(), 1);
	cr_assert_eq(one_more(), 1);
	perfmon_region_disarm();
	perfmon_region_arm();
	cr_assert_eq(one_more(), 1);
	perfmon_region_arm();
	cr_assert_eq(perfmon_region_disarmed(), 0);
	cr_assert_eq(one_more(), 2);
	bracket(NULL);
	cr_assert_eq(one_more(), 3);
}

Test(regions, the_environment_disarms_once)
{
	setenv("PERFMON_ARM", "0", 1);
	bracket(NULL);
	cr_assert_eq(perfmon_region_disarmed(), 1);
	cr_assert_eq(one_more(), 0);
	perfmon_region_arm();
	cr_assert_eq(perfmon_region_disarmed(), 0);
	cr_assert_eq(one_more(), 1);
	bracket(NULL);
	cr_assert_eq(one_more(), 2);
}

static void *brackets(void *unused)
{
	for (int i = 0; i < 200; i++)
		bracket(unused);
	return unused;
}

/* None of the threads' arms may end what the first thread has asked. */
Test(regions, disarms_of_threads_add_up)
{
	pthread_t threads[3];

	perfmon_region_disarm();
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, brackets, NULL);
	for (int i = 0; i < 200; i++)
		cr_assert_eq(one_more(), 0);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	cr_assert_eq(perfmon_region_disarmed(), 1);
	perfmon_region_arm();
	cr_assert_eq(one_more(), 1);
}

Test(regions, visits_open_while_disarmed_are_dropped)
{
	struct pm_snapshot *s;

	PERFMON_REGION_BEGIN("a");
	PERFMON_REGION_BEGIN("b");
	perfmon_region_disarm();
	PERFMON_REGION_END("b");
	PERFMON_REGION_BEGIN("c");
	perfmon_region_arm();
	PERFMON_REGION_END("c"); /* its BEGIN did not run */
	PERFMON_REGION_BEGIN("d");
	PERFMON_REGION_END("d");
	PERFMON_REGION_END("a"); /* dropped */
	s = probe_take();
	cr_assert_eq(probe_visits(s, "d"), 1, "d is no child of a");
	cr_assert_eq(probe_all_visits(s), 1);
	cr_assert_eq(probe_sum(s, lost_other), 2, "a and b");
	cr_assert_eq(probe_sum(s, unmatched_ends), 2, "c and a");
	pm_snapshot_free(s);

	/* Also from below the deepest level. */
	for (int i = 0; i < 300; i++)
		PERFMON_REGION_BEGIN("deep");
	perfmon_region_disarm();
	perfmon_region_arm();
	PERFMON_REGION_BEGIN("d");
	PERFMON_REGION_END("d");
	cr_assert_eq(probe_now("d"), 2);
}

static void *churn(void *unused)
{
	for (int i = 0; i < 20000; i++) {
		PERFMON_REGION_BEGIN("outer");
		PERFMON_REGION_BEGIN("inner");
		PERFMON_REGION_END("inner");
		PERFMON_REGION_END("outer");
	}
	return unused;
}

Test(regions, arming_while_threads_run)
{
	const struct perfmon_profile_node *own = NULL;
	pthread_t threads[3];
	struct pm_snapshot *s;

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, churn, NULL);
	for (int i = 0; i < 50; i++) {
		perfmon_region_disarm();
		sched_yield();
		perfmon_region_arm();
		let_time_pass_us(200);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	churn(NULL);
	s = probe_take();
	/* The last ones, and of the others at most as many as there were. */
	for (uint32_t t = 0; t < s->thread_count; t++)
		if (s->threads[t].record.tid == (uint32_t)getpid())
			own = probe_node(s, &s->threads[t], "outer/inner");
	cr_assert_not_null(own);
	cr_assert_eq(pm_node_visits(own), 20000);
	cr_assert_leq(probe_visits(s, "outer/inner"), 80000);
	/* inner is begun inside of outer: nothing else can come of it than these. */
	cr_assert_eq(probe_all_visits(s), probe_visits(s, "outer") +
						  probe_visits(s, "inner") +
						  probe_visits(s, "outer/inner"));
	pm_snapshot_free(s);
}

/* Row: PM-10 (values of the own thread, without a system call) */
static int calls_made;
static int count_calls(enum pm_kernel_call call)
{
	calls_made += call != PM_CALL_CLOCK_GETTIME; /* answered by the vDSO */
	return 0;
}

Test(regions, the_own_values_are_read)
{
	struct perfmon_region_summary plain, before;
	struct perfmon_region_count count[2];
	struct probe_values values = {0};

	setenv("PERFMON_EVENTS", "page-faults", 1);
	cr_assert_null(perfmon_region_counter(0));
	cr_assert_eq(probe_read("a", &values), -ENOENT);
	for (int i = 0; i < 5; i++) {
		PERFMON_REGION_BEGIN("a");
		PERFMON_REGION_BEGIN("b");
		PERFMON_REGION_BEGIN("a"); /* counted in the outer one */
		let_time_pass_ms(1);
		PERFMON_REGION_END("a");
		PERFMON_REGION_END("b");
		PERFMON_REGION_END("a");
	}
	PERFMON_REGION_BEGIN("a");
	pm_kernel_fault = count_calls;
	cr_assert_eq(probe_read("a", &values), 0);
	pm_kernel_fault = NULL;
	cr_assert_eq(calls_made, 0);
	PERFMON_REGION_END("a");
	cr_assert_eq(values.visits, 10);
	cr_assert_eq(values.entered, 11);
	cr_assert_geq(values.time_ns, 5e6);
	cr_assert_lt(values.time_ns, 5e9);
	cr_assert_eq(values.counters, 1);
	for (uint32_t i = 0; i < values.counters; i++)
		cr_assert_not_null(perfmon_region_counter(i));
	cr_assert_null(perfmon_region_counter(values.counters));
	cr_assert_null(perfmon_region_counter(UINT32_MAX));

	memset(&plain, 0x55, sizeof(plain));
	plain.size = sizeof(plain);
	before = plain;
	cr_assert_eq(perfmon_region_read(NULL, &plain, NULL, 0, sizeof(count[0]), 0),
		     -EINVAL);
	cr_assert_eq(perfmon_region_read("a", NULL, NULL, 0, sizeof(count[0]), 0),
		     -EINVAL);
	cr_assert_eq(perfmon_region_read("a", &plain, NULL, 1, sizeof(count[0]), 0),
		     -EINVAL);
	cr_assert_eq(perfmon_region_read("a", &plain, count, 1, sizeof(count[0]) - 8, 0),
		     -EINVAL);
	cr_assert_eq(perfmon_region_read("no such region", &plain, count, 1,
					 sizeof(count[0]), 0),
		     -ENOENT);
	plain.size = before.size = 8;
	cr_assert_eq(perfmon_region_read("a", &plain, count, 1, sizeof(count[0]), 0),
		     -EINVAL);
	cr_assert_eq(memcmp(&plain, &before, sizeof(plain)), 0);
	plain.size = sizeof(plain);
	count[1].value = 42;
	cr_assert_eq(perfmon_region_read("a", &plain, count, 1, sizeof(count[0]), 0), 0);
	cr_assert_eq(count[1].value, 42, "no more than was asked for");
	cr_assert_eq(perfmon_region_read("a", &plain, NULL, 0, 0, 1), -EINVAL);
	cr_assert_eq(perfmon_region_read("a", &plain, NULL, 0, 0, 0), 0);
}

static void *see_nothing(void *unused)
{
	struct probe_values values = {0};

	(void)unused;
	if (probe_read("a", &values) != -ENOENT)
		return "a thread without regions reads some";
	PERFMON_REGION_BEGIN("b");
	PERFMON_REGION_END("b");
	if (probe_read("a", &values) != -ENOENT)
		return "a thread reads another's region";
	return NULL;
}

Test(regions, another_threads_values_are_not_the_own)
{
	pthread_t thread;
	void *wrong;

	PERFMON_REGION_BEGIN("a");
	PERFMON_REGION_END("a");
	pthread_create(&thread, NULL, see_nothing, NULL);
	pthread_join(thread, &wrong);
	cr_assert_null(wrong, "%s", (char *)wrong);
}

static void *keep_errno(void *unused)
{
	char name[32];

	for (int i = 0; i < 200; i++) {
		errno = 12345;
		PERFMON_REGION_BEGIN("first, then warm");
		if (errno != 12345)
			return "BEGIN";
		snprintf(name, sizeof(name), "name %d", i);
		perfmon_region_begin_name(name);
		perfmon_region_end_name(name);
		if (errno != 12345)
			return "a run-time name";
		PERFMON_REGION_END("never begun");
		PERFMON_REGION_END("first, then warm");
		if (errno != 12345)
			return "END";
		perfmon_region_disarm();
		perfmon_region_arm();
		if (errno != 12345)
			return "arming";
	}
	return unused;
}

/* The first thread, which sets the process up, and another. */
Test(regions, errno_is_left_alone)
{
	pthread_t thread;
	void *wrong = keep_errno(NULL);

	cr_assert_null(wrong, "%s", (char *)wrong);
	pthread_create(&thread, NULL, keep_errno, NULL);
	pthread_join(thread, &wrong);
	cr_assert_null(wrong, "%s", (char *)wrong);
}

static int reached;
static void *be_cancelled(void *first)
{
	pthread_cancel(pthread_self());
	if (first) {
		PERFMON_REGION_BEGIN("cancelled");
		reached = 1;
	}
	for (int i = 0; i < 100; i++) {
		char name[32];

		snprintf(name, sizeof(name), "cancelled %d", i);
		perfmon_region_begin_name(name);
		perfmon_region_end_name(name);
	}
	if (first)
		PERFMON_REGION_END("cancelled");
	reached = 2;
	pthread_testcancel();
	reached = 3;
	return NULL;
}

Test(regions, no_call_is_a_cancellation_point)
{
	for (intptr_t first = 1; first >= 0; first--) {
		pthread_t thread;
		void *result;

		pthread_create(&thread, NULL, be_cancelled, (void *)first);
		pthread_join(thread, &result);
		cr_assert_eq(result, PTHREAD_CANCELED);
		cr_assert_eq(reached, 2);
	}
	PERFMON_REGION_BEGIN("after");
	PERFMON_REGION_END("after");
	cr_assert_eq(probe_now("after"), 1);
	cr_assert_eq(probe_now("cancelled/cancelled 99"), 1);
}

/* CPU time for regions of names that are new, from number FIRST on. */
static long long naming_ns(int first, int names)
{
	uint64_t since = now_ns(CLOCK_THREAD_CPUTIME_ID);
	char name[32];

	for (int i = first; i < first + names; i++) {
		snprintf(name, sizeof(name), "name number %d", i);
		perfmon_region_begin_name(name);
		perfmon_region_end_name(name);
	}
	return (long long)(now_ns(CLOCK_THREAD_CPUTIME_ID) - since);
}

/* Where chains of a table grow with the names, the last take tens of times as long. */
Test(regions, a_new_name_costs_the_same_after_many)
{
	const int names = getenv("PERFMON_TEST_SHORT") ? 100000 : 200000, few = 4000;
	struct probe_values values;
	long long first, last;

	setenv("PERFMON_EVENTS", "none", 1);
	naming_ns(0, few);
	first = naming_ns(few, few);
	naming_ns(2 * few, names - 3 * few);
	last = naming_ns(names - few, few);
	cr_assert_lt(last, 8 * first, "%lld ns, then %lld", first, last);
	cr_assert_eq(probe_read("name number 0", &values), 0);
	cr_assert_eq(values.visits, 1);
}

/* Row: DC-06 */
Test(regions, a_million_visits_take_no_memory)
{
	struct pm_snapshot *before, *after;

	for (int i = 0; i < 1000000; i++) {
		PERFMON_REGION_BEGIN("visited");
		PERFMON_REGION_END("visited");
		if (i == 0)
			before = probe_take();
	}
	after = probe_take();
	cr_assert_eq(probe_visits(after, "visited"), 1000000);
	cr_assert_eq(before->header.used, after->header.used);
	pm_snapshot_free(before);
	pm_snapshot_free(after);
}

/* What it says later is for the program's children. */
Test(regions, the_environment_is_read_once)
{
	struct perfmon_report_options options = {.size = sizeof(options)};
	FILE *file = tmpfile();
	char line[128] = "";

	cr_assert_not_null(file);
	PERFMON_REGION_BEGIN("r");
	PERFMON_REGION_END("r");
	setenv("PERFMON_FORMAT", "json", 1);
	setenv("PERFMON_LEVEL", "core", 1);
	cr_assert_eq(perfmon_report_write(fileno(file), NULL), 0);
	options.level = "package";
	cr_assert_eq(perfmon_report_write(fileno(file), &options), 0);
	rewind(file);
	cr_assert_not_null(fgets(line, sizeof(line), file));
	cr_assert_neq(line[0], '{', "%s", line);
	fclose(file);
}

/* As the kernel has them: those of the test program. */
Test(regions, the_profile_has_the_arguments)
{
	char text[PERFMON_PROFILE_ARGUMENTS_MAX + 2];
	ssize_t length = pm_file_text("/proc/self/cmdline", text, sizeof(text));
	struct pm_snapshot *s;

	PERFMON_REGION_BEGIN("r");
	PERFMON_REGION_END("r");
	s = probe_take();
	cr_assert_gt(length, 0);
	cr_assert_not_null(s->arguments);
	cr_assert_eq(s->arguments_length, length);
	cr_assert(!s->arguments_cut && !memcmp(s->arguments, text, (size_t)length));
	pm_snapshot_free(s);
}

Test(regions, arguments_are_left_out_on_request)
{
	struct pm_snapshot *s;

	setenv("PERFMON_ARGUMENTS", "0", 1);
	PERFMON_REGION_BEGIN("r");
	PERFMON_REGION_END("r");
	s = probe_take();
	cr_assert_null(s->arguments);
	pm_snapshot_free(s);
}

/* What a call of perfmon_region_configure() that gives RESULT says. */
static const char *configured(const char *name, const char *value, int result)
{
	static char message[300];

	strcpy(message, "untouched");
	cr_expect_eq(perfmon_region_configure(name, value, 0, message, sizeof(message)),
		     result, "%s=%s: %s", name, value ? value : "NULL", message);
	return message;
}

Test(regions, a_program_configures_them_before_the_first)
{
	char message[300];

	unsetenv("PERFMON_ARM");
	unsetenv("PERFMON_FORMAT");
	cr_expect_str_eq(configured("arm", "0", 0), "");
	cr_expect_str_eq(configured("ARM", NULL, 0), "");
	cr_expect_str_eq(configured("arm", "0", 0), "");
	cr_expect_str_eq(configured("format", "xml", -EINVAL),
			 "PERFMON_FORMAT=\"xml\" is not one of text, flat, json, csv");
	cr_expect_str_eq(configured("evnts", "cycles", -EINVAL),
			 "'evnts' is not a setting of libperfmon: did you mean EVENTS?");
	configured(NULL, "1", -EINVAL);
	cr_expect_eq(perfmon_region_configure("arm", "1", 1, message, sizeof(message)),
		     -EINVAL);
	cr_expect_str_eq(message, "unknown flags 0x1");
	cr_expect_eq(perfmon_region_disarmed(), 1);
	cr_expect(strstr(configured("arm", "1", -EBUSY), "before the first"));
}

Test(regions, the_environment_wins_over_the_program)
{
	setenv("PERFMON_ARM", "1", 1);
	cr_expect_str_eq(configured("arm", "0", 0), "");
	cr_expect_eq(perfmon_region_disarmed(), 0);
}

/* The value of KEY in the notes of S, "" without one. */
static const char *run_note(const struct pm_snapshot *s, const char *key)
{
	const struct pm_run_note *note = pm_run_note_find(s->run_notes, pm_slice_of(key));

	return note ? note->value : "";
}

Test(regions, a_program_says_things_of_its_run)
{
	char key[80];
	struct pm_snapshot *s;

	setenv("PERFMON_NOTE", "n=64; user = me ;\nlast=1", 1);
	cr_expect_eq(perfmon_profile_note("before", "1"), 0);
	cr_expect_eq(perfmon_profile_note("before", "2"), 0);
	cr_expect_eq(perfmon_profile_note("n", "128"), 0, "the environment wins");
	PERFMON_REGION_BEGIN("r");
	PERFMON_REGION_END("r");
	cr_expect_eq(perfmon_profile_note("after", "a b"), 0);
	cr_expect_eq(perfmon_profile_note("after", "c"), 0);
	cr_expect_eq(perfmon_profile_note("user", "you"), 0);
	s = probe_take();
	cr_assert(s->run_notes);
	cr_expect_eq(s->run_notes->count, 5);
	cr_expect_str_eq(run_note(s, "n"), "64");
	cr_expect_str_eq(run_note(s, "user"), "me");
	cr_expect_str_eq(run_note(s, "last"), "1");
	cr_expect_str_eq(run_note(s, "before"), "2");
	cr_expect_str_eq(run_note(s, "after"), "c");
	pm_snapshot_free(s);
	cr_expect_eq(perfmon_profile_note(NULL, "1"), -EINVAL);
	cr_expect_eq(perfmon_profile_note("k", NULL), -EINVAL);
	cr_expect_eq(perfmon_profile_note("k", ""), -EINVAL);
	cr_expect_eq(perfmon_profile_note("", "1"), -EINVAL);
	cr_expect_eq(perfmon_profile_note("a b", "1"), -EINVAL);
	cr_expect_eq(perfmon_profile_note("k", "two\nlines"), -EINVAL);
	memset(key, 'k', sizeof(key));
	key[64] = '\0';
	cr_expect_eq(perfmon_profile_note(key, "1"), -EINVAL);
	key[63] = '\0';
	cr_expect_eq(perfmon_profile_note(key, "1"), 0);
	for (int i = 6; i < PM_RUN_NOTES; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		cr_expect_eq(perfmon_profile_note(key, "1"), 0);
	}
	cr_expect_eq(perfmon_profile_note("one_more", "1"), -ENOSPC);
}

Test(regions, the_reader_has_the_notes_of_the_run)
{
	struct perfmon_profile_info info = {.size = sizeof(info)};
	struct perfmon_profile_run_note_info note = {.size = sizeof(note)};
	struct perfmon_profile *profile;
	char message[200];

	cr_expect_eq(perfmon_profile_note("n", "128"), 0);
	PERFMON_REGION_BEGIN("r");
	PERFMON_REGION_END("r");
	cr_expect_eq(perfmon_profile_note("compiler", "gcc 12"), 0);
	cr_assert_eq(perfmon_profile_open_process(&profile, getpid(), 0, message,
						  sizeof(message)),
		     0, "%s", message);
	cr_assert_eq(perfmon_profile_get_info(profile, &info), 0);
	cr_expect_eq(info.run_notes, 2);
	cr_expect_eq(perfmon_profile_get_run_note(profile, 0, &note), 0);
	cr_expect_str_eq(note.key, "n");
	cr_expect_str_eq(note.value, "128");
	cr_expect_eq(perfmon_profile_get_run_note(profile, 1, &note), 0);
	cr_expect_str_eq(note.key, "compiler");
	cr_expect_str_eq(note.value, "gcc 12");
	cr_expect_eq(perfmon_profile_get_run_note(profile, 2, &note), -EINVAL);
	perfmon_profile_message(profile, message, sizeof(message));
	cr_expect_str_eq(message, "there is no such note of the run");
	perfmon_profile_close(profile);
}

Test(regions, a_note_that_changes_all_the_time_takes_bounded_memory)
{
	char value[16];
	int changes = 0, err = 0;

	PERFMON_REGION_BEGIN("r");
	PERFMON_REGION_END("r");
	for (; !err && changes < 5000; changes += !err) {
		snprintf(value, sizeof(value), "%d", changes);
		err = perfmon_profile_note("step", value);
	}
	cr_expect_eq(err, -ENOSPC);
	cr_expect_eq(changes, 1000);
}

Test(regions, a_child_has_its_parents_notes)
{
	struct pm_snapshot *s;
	pid_t child;
	int status;

	cr_expect_eq(perfmon_profile_note("n", "128"), 0);
	PERFMON_REGION_BEGIN("r");
	PERFMON_REGION_END("r");
	child = fork();
	if (!child) {
		PERFMON_REGION_BEGIN("r");
		PERFMON_REGION_END("r");
		s = probe_take();
		_exit(strcmp(run_note(s, "n"), "128") != 0);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect_eq(status, 0);
}
