/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counters that count user and kernel together, as those of an emulated riscv64 machine: what
 * is read in user space and what regions count is exact. And what the library says where
 * user mode cannot be counted alone.
 */
#include <pthread.h>

#include "core/counters/counters.h"
#include "perfmon/session.h"
#include "perfmon/inline.h"
#include "region_probe.h"

#define EVENT "instructions:uk"

TestSuite(guest_whole, .init = probe_quiet, .timeout = 240);

static const uint64_t sizes[] = {10, 100, 1000, 10000, 100000, 1000000};
#define SIZES	    (sizeof(sizes) / sizeof(sizes[0]))
#define REPETITIONS 12

/* Exactly N instructions, N even and not 0, in a register that lives across calls. */
#if defined(__aarch64__)
#define BLOCK(pairs)                                                                     \
	__asm__ __volatile__("1: subs %0, %0, #1\n\tb.ne 1b"                             \
			     : "+r"(pairs)                                               \
			     :                                                           \
			     : "cc", "memory")
#elif defined(__x86_64__)
#define BLOCK(pairs)                                                                     \
	__asm__ __volatile__("1: sub $1, %0\n\tjne 1b" : "+r"(pairs) : : "cc", "memory")
#elif defined(__riscv)
#define BLOCK(pairs)                                                                     \
	__asm__ __volatile__("1: addi %0, %0, -1\n\tbnez %0, 1b"                         \
			     : "+r"(pairs)                                               \
			     :                                                           \
			     : "memory")
#else
#define BLOCK(pairs) ((void)(pairs))
#endif

/* --- the fast read ------------------------------------------------------------------- */

static struct perfmon_session *attached(const char *events)
{
	struct perfmon_session_options options = {.size = sizeof(options)};
	struct perfmon_session *session = NULL;

	cr_assert_eq(perfmon_session_create(&session, &options, NULL, 0), 0);
	if (perfmon_session_add_events(session, events) < 0 ||
	    perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0) < 0) {
		perfmon_session_close(session);
		return NULL;
	}
	return session;
}

static struct perfmon_session *running(const struct perfmon_reader **reader)
{
	struct perfmon_counter_info info = {.size = sizeof(info)};
	struct perfmon_session *session = attached(EVENT);

	if (!session)
		cr_skip_test("user and kernel cannot be counted together here; "
			     "scripts/guest --riscv64 can");
	cr_assert_eq(perfmon_session_reader(session, reader), 0);
	cr_assert_eq(perfmon_session_start(session), 0);
	cr_assert_eq(perfmon_session_get_counter(session, 0, &info), 0);
	if (!info.user_read)
		cr_skip_test("this machine grants no reads in user space");
	return session;
}

static __attribute__((noinline)) uint64_t
between_two_reads(const struct perfmon_reader *reader, uint64_t n)
{
	uint64_t pairs = n / 2, before = 0, after = 0;
	int err;

	err = perfmon_reader_read(reader, 0, &before);
	if (pairs)
		BLOCK(pairs);
	err |= perfmon_reader_read(reader, 0, &after);
	cr_assert_eq(err, 0);
	return after - before;
}

/* Ticks of the kernel come on top now and then: most pairs of reads have none. */
Test(guest_whole, two_reads_differ_by_a_constant)
{
	const struct perfmon_reader *reader;
	struct perfmon_session *session = running(&reader);
	uint64_t least = UINT64_MAX;
	int same = 0;

	for (int i = 0; i < 1000; i++) {
		uint64_t count = between_two_reads(reader, 0);

		if (count < least) {
			least = count;
			same = 0;
		}
		same += count == least;
	}
	cr_assert_gt(least, 0);
	cr_assert_lt(least, 100, "two reads are %llu apart", (unsigned long long)least);
	cr_assert_geq(same, 950, "of 1000 pairs %d are %llu apart", same,
		      (unsigned long long)least);
	perfmon_session_close(session);
}

Test(guest_whole, a_loop_reads_its_instructions_and_a_constant)
{
	const struct perfmon_reader *reader;
	struct perfmon_session *session = running(&reader);
	uint64_t constant = 0;

	for (size_t i = 0; i < SIZES; i++) {
		uint64_t least = UINT64_MAX;

		for (int j = 0; j < REPETITIONS; j++) {
			uint64_t count = between_two_reads(reader, sizes[i]);

			least = count < least ? count : least;
		}
		if (!i)
			constant = least - sizes[i];
		cr_assert_eq(least, sizes[i] + constant, "%llu of %llu, and %llu more",
			     (unsigned long long)least, (unsigned long long)sizes[i],
			     (unsigned long long)constant);
	}
	cr_assert_lt(constant, 100);
	perfmon_session_close(session);
}

/* --- regions ------------------------------------------------------------------------- */

/* Sets regions up; skips where they do not count EVENT. */
static void set_up(void)
{
	struct pm_snapshot *s;
	bool counted;

	setenv("PERFMON_EVENTS", EVENT, 1);
	PERFMON_REGION_BEGIN("first");
	PERFMON_REGION_END("first");
	s = probe_take();
	counted = s->counter_count &&
		  s->threads[0].record.status[0] == PERFMON_PROFILE_COUNTER_STATUS_USER;
	pm_snapshot_free(s);
	if (!counted)
		cr_skip_test(
			"user and kernel cannot be counted together, and read in user "
			"space, here; scripts/guest --riscv64 can");
}

#define DEPTH 4

/* Around N instructions so many regions. */
static __attribute__((noinline)) void nested_visit(int depth, uint64_t n)
{
	uint64_t pairs = n / 2;

	if (depth > 3)
		PERFMON_REGION_BEGIN("4");
	if (depth > 2)
		PERFMON_REGION_BEGIN("3");
	if (depth > 1)
		PERFMON_REGION_BEGIN("2");
	PERFMON_REGION_BEGIN("1");
	BLOCK(pairs);
	PERFMON_REGION_END("1");
	if (depth > 1)
		PERFMON_REGION_END("2");
	if (depth > 2)
		PERFMON_REGION_END("3");
	if (depth > 3)
		PERFMON_REGION_END("4");
	__asm__ __volatile__(""); /* the END is no tail call */
}

/* Of each level, 0 the innermost, what it has counted below the first DEPTH. */
static void sums(int depth, uint64_t *sum, uint64_t *marks)
{
	static const char *const paths[DEPTH] = {"1", "2/1", "3/2/1", "4/3/2/1"};
	struct pm_snapshot *s = probe_take();
	const struct perfmon_profile_node *node =
		probe_node(s, &s->threads[0], paths[depth - 1]);

	*marks = 0;
	for (int level = 0; level < depth; level++) {
		sum[level] = node ? node->count[0].sum : 0;
		*marks += node ? node->retries + node->fallback_reads + node->defects : 0;
		node = node ? pm_snapshot_node(&s->threads[0], node->parent) : NULL;
	}
	pm_snapshot_free(s);
}

/* What each level counts is N and a constant, which is what a visit was found to add: to
 * itself, and for each that it has inside. */
Test(guest_whole, regions_are_exact_at_each_depth)
{
	int64_t bias, pair;
	struct pm_snapshot *s;

	set_up();
	s = probe_take();
	cr_assert(s->counters[0].cost.known & PERFMON_PROFILE_COST_USER);
	bias = s->counters[0].cost.bias;
	pair = s->counters[0].cost.pair;
	pm_snapshot_free(s);
	cr_assert_gt(bias, 0);
	cr_assert_gt(pair, bias);
	for (int depth = 1; depth <= DEPTH; depth++) {
		uint64_t constant[DEPTH] = {0};

		nested_visit(depth, 100); /* the first pass is not warm */
		for (size_t i = 0; i < SIZES; i++) {
			uint64_t least[DEPTH], before[DEPTH], after[DEPTH], marks, moved;

			memset(least, 0xff, sizeof(least));
			for (int j = 0; j < REPETITIONS; j++) {
				sums(depth, before, &marks);
				nested_visit(depth, sizes[i]);
				sums(depth, after, &moved);
				for (int l = 0; l < depth && marks == moved; l++)
					if (after[l] - before[l] < least[l])
						least[l] = after[l] - before[l];
			}
			for (int l = 0; l < depth; l++) {
				int64_t own = bias + l * pair, more;

				if (!i)
					constant[l] = least[l] - sizes[i];
				more = (int64_t)(least[l] - sizes[i] - constant[l]);
				/* A visit that is the longest so far costs those around
				 * it a few instructions. */
				cr_assert_leq(llabs(more), 4 * l,
					      "depth %d, level %d: %llu of %llu", depth,
					      l, (unsigned long long)least[l],
					      (unsigned long long)sizes[i]);
				/* The tests of "depth" are the program's own, and a
				 * path that shares its place in the table of paths
				 * takes longer to find. */
				more = (int64_t)constant[l] - own;
				cr_assert(more >= -2 - 8 * l && more <= 2 + 40 * l,
					  "depth %d, level %d: %lld more, own cost %lld",
					  depth, l, (long long)constant[l],
					  (long long)own);
			}
		}
	}
}

static void *elsewhere(void *argument)
{
	for (int i = 0; i < 101; i++)
		nested_visit(1, *(const uint64_t *)argument);
	return NULL;
}

/* Each thread counts itself: with the others' it would have several times as many. */
Test(guest_whole, threads_count_themselves)
{
	static uint64_t numbers[4] = {1000, 20000, 50000, 5000};
	uint64_t expected = 0, sum = 0, visits = 0, bias;
	pthread_t threads[4];
	struct pm_snapshot *s;

	set_up();
	for (int i = 0; i < 4; i++) {
		cr_assert_eq(pthread_create(&threads[i], NULL, elsewhere, &numbers[i]),
			     0);
		expected += 101 * numbers[i];
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	s = probe_take();
	bias = s->counters[0].cost.bias;
	for (uint32_t t = 0; t < s->thread_count; t++) {
		const struct perfmon_profile_node *node =
			probe_node(s, &s->threads[t], "1");

		if (!node)
			continue;
		cr_assert_eq(node->defects + node->dropped_counts, 0);
		sum += node->count[0].sum;
		visits += pm_node_visits(node);
	}
	cr_assert_eq(visits, 404);
	cr_assert_geq(sum, expected + visits * (bias - 2));
	/* The kernel's ticks and the switches to other threads are in it. */
	cr_assert_leq(sum, expected + expected / 2);
	pm_snapshot_free(s);
}

/* --- where user mode cannot be counted alone ------------------------------------------ */

/* Skips where user mode is counted. */
static void expect_refusal(const char *events)
{
	struct pm_event_list *list;

	cr_assert_eq(pm_events_parse("instructions:u", 0, &list, NULL), 0);
	if (!pm_event_mode_is_ignored(&list->events[0])) {
		pm_events_free(list);
		cr_skip_test("user mode can be counted alone, or nothing can");
	}
	pm_events_free(list);
	if (events)
		setenv("PERFMON_EVENTS", events, 1);
	else
		unsetenv("PERFMON_EVENTS");
	PERFMON_REGION_BEGIN("first");
	PERFMON_REGION_END("first");
}

static bool says(const struct pm_snapshot *s, const char *text)
{
	for (uint32_t i = 0; i < s->note_count; i++)
		if (strstr(s->notes[i], text))
			return true;
	return false;
}

Test(guest_whole, a_session_of_user_mode_is_refused)
{
	expect_refusal(EVENT);
	cr_assert_null(attached("instructions:u"));
	cr_assert_null(attached("cycles:u"));
}

Test(guest_whole, a_region_s_counter_of_user_mode_is_refused)
{
	struct pm_snapshot *s;

	expect_refusal("instructions:u,instructions:uk");
	s = probe_take();
	cr_assert_eq(s->counter_count, 2);
	cr_assert(says(s, "cannot count user mode alone"));
	for (uint32_t i = 0; i < 2; i++)
		cr_assert_eq(s->threads[0].record.status[i] > 0,
			     !strcmp(s->counters[i].name, EVENT), "%s",
			     s->counters[i].name);
	pm_snapshot_free(s);
}

Test(guest_whole, by_default_regions_are_timed_and_say_why)
{
	struct pm_snapshot *s;

	expect_refusal(NULL);
	s = probe_take();
	cr_assert_eq(s->counter_count, 0);
	cr_assert(says(s, "regions are timed only"));
	cr_assert(says(s, "PERFMON_EVENTS=" EVENT ",cycles:uk"));
	pm_snapshot_free(s);
}
