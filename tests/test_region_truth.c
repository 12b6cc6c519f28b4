/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Regions on real counters: what they count is true. Needs a PMU: the guest has one. */
#include "core/report/model/value.h"
#include "region_probe.h"

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/syscall.h>

#include "raw_codes.h"

TestSuite(region_truth, .init = probe_quiet, .timeout = 120);

static char refusal[1000];

/* Sets regions up with EVENTS; false, with a reason, if the first is not counted here. */
static bool counts(const char *events)
{
	struct probe_values values = {0};
	struct pm_snapshot *s;
	bool counted;

	setenv("PERFMON_EVENTS", events, 1);
	PERFMON_REGION_BEGIN("first");
	PERFMON_REGION_END("first");
	cr_assert_eq(probe_read("first", &values), 0);
	s = probe_take();
	counted = s->threads[0].record.status[0] > 0;
	if (!counted)
		snprintf(refusal, sizeof(refusal), "%s",
			 s->note_count ? s->notes[0] : "no counter");
	pm_snapshot_free(s);
	return counted;
}

/* Exactly N instructions, N even and not 0. In a register that lives across the calls of
 * BEGIN and END, so that nothing but the two calls is added. */
#if defined(__aarch64__)
#define BLOCK(pairs)                                                                     \
	__asm__ __volatile__("1: subs %0, %0, #1\n\tb.ne 1b"                             \
			     : "+r"(pairs)                                               \
			     :                                                           \
			     : "cc", "memory")
#elif defined(__x86_64__)
#define BLOCK(pairs)                                                                     \
	__asm__ __volatile__("1: sub $1, %0\n\tjne 1b" : "+r"(pairs) : : "cc", "memory")
#else
#define BLOCK(pairs) ((void)(pairs))
#endif

/* What a function with calls saves on the stack. */
#if defined(__aarch64__)
#define PAIR_FRAME "x30", "memory"
#else
#define PAIR_FRAME "memory"
#endif

static uint64_t instructions(void)
{
	struct probe_values values = {0};

	cr_assert_eq(probe_read("block", &values), 0);
	return values.sum[0];
}

/* Visits in which a page had moved, which may count differently. */
static uint64_t disturbed(void)
{
	struct pm_snapshot *s = probe_take();
	const struct perfmon_profile_node *node = probe_node(s, &s->threads[0], "block");
	uint64_t sum = node->retries + node->fallback_reads + node->migrations;

	pm_snapshot_free(s);
	return sum;
}

static __attribute__((noinline)) void visit(uint64_t n)
{
	uint64_t pairs = n / 2;

	PERFMON_REGION_BEGIN("block");
	BLOCK(pairs);
	PERFMON_REGION_END("block");
	__asm__ __volatile__(""); /* the END is no tail call */
}

/*
 * A judge: an event of our own on the same instructions, read by read(2). The emulator
 * counts some of the kernel's instructions for the user when a tick comes at an unlucky
 * moment; then the judge has them, too, and the visit says nothing.
 */
static int judge_fd = -1;

static uint64_t judge(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.size = sizeof(attr),
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	uint64_t value = 0;

	if (judge_fd < 0)
		judge_fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	cr_assert_eq(read(judge_fd, &value, sizeof(value)), sizeof(value));
	return value;
}

static uint64_t bias_of(uint32_t counter)
{
	struct pm_snapshot *s = probe_take();
	uint64_t bias = s->counters[counter].cost.bias;

	cr_assert(s->counters[counter].cost.known);
	pm_snapshot_free(s);
	return bias;
}

static void check_truth(const char *events)
{
	static const uint64_t sizes[] = {100, 1000, 10000, 100000, 1000000, 10000000};
	int64_t constant = 0, judged = 0, bias;
	int compared = 0, unlucky = 0, warm = 0;

	if (!counts(events))
		cr_skip_test("%s", refusal);
	bias = (int64_t)bias_of(0);
	visit(100); /* the path's first pass is not warm */
	judge();
	judge();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int repetitions = sizes[i] < 1000000 ? 200 : 5;

		while (repetitions--) {
			uint64_t moved = disturbed(), before = instructions();
			uint64_t start = judge();
			int64_t more, seen;

			visit(sizes[i]);
			seen = (int64_t)(judge() - start - sizes[i]);
			more = (int64_t)(instructions() - before - sizes[i]);
			if (disturbed() != moved)
				continue;
			/* The judge has to become warm, too, and to be lucky: the
			 * least. */
			if (warm < 10) {
				if (!warm++ || seen < judged) {
					constant = more;
					judged = seen;
				}
				continue;
			}
			if (seen != judged) {
				unlucky++;
				continue;
			}
			cr_assert_eq(more, constant, "of %llu: %lld more, before %lld",
				     (unsigned long long)sizes[i], (long long)more,
				     (long long)constant);
			compared++;
		}
	}
	cr_assert_gt(compared, 700, "most visits are not disturbed: %d (%d unlucky)",
		     compared, unlucky);
	cr_assert_leq(llabs(constant - bias), 2, "counts %lld too many, bias %lld",
		      (long long)constant, (long long)bias);
}

/* Row: DC-04 PC-10 */
Test(region_truth, one_counter_is_exact)
{
	check_truth("instructions");
}

Test(region_truth, two_counters_are_exact)
{
	check_truth("instructions,cycles");
}

Test(region_truth, four_counters_are_exact)
{
	char events[64];

	snprintf(events, sizeof(events), "instructions,cycles,r%x,r%x", RAW_INSTRUCTIONS,
		 RAW_CYCLES);
	check_truth(events);
}

/* Whether instructions and cycles are read in user space in this process: 0, or 1. */
static int default_is_fast(void)
{
	struct pm_snapshot *s;

	PERFMON_REGION_BEGIN("first");
	PERFMON_REGION_END("first");
	s = probe_take();
	for (uint32_t i = 0; i < 2; i++)
		if (s->counter_count != 2 ||
		    s->threads[0].record.status[i] != PERFMON_PROFILE_COUNTER_STATUS_USER)
			return 1;
	return strcmp(s->counters[0].name, "instructions:u") ||
	       strcmp(s->counters[1].name, "cycles:u");
}

static int named_are_fast(void)
{
	setenv("PERFMON_EVENTS", "instructions,cycles", 1);
	return default_is_fast();
}

static uint64_t count_of(const char *name)
{
	struct probe_values values = {0};

	cr_assert_eq(probe_read(name, &values), 0);
	return values.sum[0];
}

#define PLACE(name)                                                                      \
	static __attribute__((noinline)) void name(void)                                 \
	{                                                                                \
		uint64_t pairs = 50;                                                     \
                                                                                         \
		PERFMON_REGION_BEGIN(#name);                                             \
		BLOCK(pairs);                                                            \
		PERFMON_REGION_END(#name);                                               \
		__asm__ __volatile__("");                                                \
	}
PLACE(place_0)
PLACE(place_1)
PLACE(place_2)
PLACE(place_3)

/* The first visit of a path and of a place takes the slow path, of which nothing is counted: not
 * in the visit, and next to nothing in the one around it. */
Test(region_truth, first_visits_count_as_all_others)
{
	static void (*const places[])(void) = {place_0, place_1, place_2, place_3};
	static const char *const names[] = {"place_0", "place_1", "place_2", "place_3"};
	uint64_t around[3], before = 0, first[4];
	struct pm_snapshot *s;
	int judged = 0;

	if (!counts("instructions:u"))
		cr_skip_test("%s", refusal);
	for (int round = 0; round < 3; round++) {
		PERFMON_REGION_BEGIN("around");
		for (int i = 0; i < 4; i++)
			places[i]();
		PERFMON_REGION_END("around");
		around[round] = count_of("around") - before;
		before += around[round];
		for (int i = 0; i < 4 && !round; i++)
			first[i] = count_of(names[i]);
	}
	s = probe_take();
	for (int i = 0; i < 4; i++) {
		char path[32];
		const struct perfmon_profile_node *node;

		snprintf(path, sizeof(path), "around/%s", names[i]);
		node = probe_node(s, &s->threads[0], path);
		if (node->retries || node->fallback_reads || node->migrations)
			continue;
		judged++;
		/* A search may take a step of a few instructions more. */
		cr_expect_leq(3 * first[i], node->count[0].sum + 12, "%s: %llu of %llu",
			      names[i], (unsigned long long)first[i],
			      (unsigned long long)node->count[0].sum);
	}
	cr_expect_gt(judged, 0);
	/* Six slow paths, of several hundred instructions each. */
	if (judged == 4)
		cr_expect_lt(around[0], around[2] + 100, "%llu against %llu",
			     (unsigned long long)around[0],
			     (unsigned long long)around[2]);
	pm_snapshot_free(s);
}

/* Leaf functions, with regions of 10 to 100 instructions. */
#define FINE(name, instructions, ...)                                                    \
	static __attribute__((noinline)) void name(void)                                 \
	{                                                                                \
		uint64_t pairs = (instructions) / 2;                                     \
                                                                                         \
		PERFMON_REGION_BEGIN(#name);                                             \
		BLOCK(pairs);                                                            \
		__VA_ARGS__;                                                             \
		PERFMON_REGION_END(#name);                                               \
		__asm__ __volatile__("");                                                \
	}
FINE(fine_10, 10, )
FINE(fine_30, 30, )
FINE(fine_100, 100, )
FINE(fine_below, 20, fine_10())

#define FINE_ROUNDS 4000
#define FINE_PAIRS  5 /* in a round */

static __attribute__((noinline)) void fine_rounds(void)
{
	for (int i = 0; i < FINE_ROUNDS; i++) {
		fine_10();
		fine_30();
		fine_100();
		fine_below();
	}
}

static __attribute__((noinline)) void fine(void)
{
	PERFMON_REGION_BEGIN("fine");
	fine_rounds();
	PERFMON_REGION_END("fine");
	__asm__ __volatile__("");
}

/* Functions of their own, so that no loop keeps the addresses that a pair needs in registers. */
static __attribute__((noinline)) void visit_empty(void)
{
	PERFMON_REGION_BEGIN("empty");
	PERFMON_REGION_END("empty");
	__asm__ __volatile__("" ::: PAIR_FRAME);
}

static __attribute__((noinline)) void visit_none(void)
{
	__asm__ __volatile__("" ::: PAIR_FRAME);
}

static __attribute__((noinline)) void pair_loop(void)
{
	for (int i = 0; i < FINE_ROUNDS; i++)
		visit_empty();
}

static __attribute__((noinline)) void empty_loop(void)
{
	for (int i = 0; i < FINE_ROUNDS; i++)
		visit_none();
}

/* Returns the least of some runs, in which no tick came. */
static int64_t judged(void (*work)(void))
{
	int64_t least = INT64_MAX;

	judge();
	for (int i = 0; i < 5; i++) {
		uint64_t start = judge();

		work();
		start = judge() - start;
		least = (int64_t)start < least ? (int64_t)start : least;
	}
	return least;
}

/* PERFMON_BIAS=subtract leaves what the code takes by itself, also where regions are short:
 * the same binary disarmed, less its disarmed pairs. */
Test(region_truth, what_is_subtracted_from_fine_code_is_true)
{
	struct pm_report_model model;
	struct pm_report_tree tree;
	struct pm_snapshot *s;
	int64_t plain, pairs;
	double part = 0, measured = 0;

	if (!counts("instructions:u"))
		cr_skip_test("%s", refusal);
	fine();
	s = probe_take();
	cr_assert_eq(pm_report_model_make(&model, s, true, NULL), 0);
	cr_assert_eq(pm_report_tree_make(&tree, &model, NULL, 0), 0);
	for (uint32_t n = 1; n < tree.node_count; n++)
		if (!strcmp(pm_path_name(&tree, n), "fine")) {
			struct pm_value value = pm_report_count(&tree, n, 0, false);

			cr_assert_eq(value.state, PM_COUNTED);
			part = value.value;
			measured = (double)value.sum;
		}
	pm_report_tree_free(&tree);
	pm_report_model_free(&model);
	pm_snapshot_free(s);
	perfmon_region_disarm();
	plain = judged(fine_rounds);
	pairs = (judged(pair_loop) - judged(empty_loop)) * FINE_PAIRS;
	plain -= pairs;
	cr_log_info("%.0f counted, %.0f subtracted from, %lld disarmed, %lld of pairs",
		    part, measured, (long long)plain, (long long)pairs);
	cr_assert_leq(fabs(part / (double)plain - 1), 0.02,
		      "%.0f of %.0f, and disarmed %lld without the %lld of its pairs",
		      part, measured, (long long)plain, (long long)pairs);
}

/* Where both can be read in user space, nobody has to ask for them. */
Test(region_truth, the_default_is_instructions_and_cycles)
{
	if (probe_child(named_are_fast))
		cr_skip_test("instructions and cycles cannot be read in user space here");
	cr_assert_eq(default_is_fast(), 0);
}

/* The general form of BEGIN and END: another number, a fence. */
Test(region_truth, the_fenced_form_is_exact)
{
	setenv("PERFMON_FENCE", "1", 1);
	check_truth("instructions");
}

Test(region_truth, the_form_after_arming_anew_is_exact)
{
	if (!counts("instructions"))
		cr_skip_test("%s", refusal);
	perfmon_region_disarm();
	perfmon_region_arm();
	visit(1000);
	for (int i = 0; i < 50; i++) {
		uint64_t moved = disturbed(), before = instructions(), more;
		static uint64_t first;

		visit(1000);
		more = instructions() - before;
		if (disturbed() != moved)
			continue;
		first = first ? first : more;
		cr_assert_eq(more, first);
		cr_assert_leq(more, 1100);
	}
}

static void *elsewhere(void *argument)
{
	visit(100);
	for (int i = 0; i < 100; i++)
		visit(*(const uint64_t *)argument);
	return NULL;
}

#define LEVELS 3
static const char *const level_names[LEVELS] = {"outer", "outer/middle",
						"outer/middle/block"};

struct levels {
	uint64_t sum[LEVELS];
	uint64_t marks[LEVELS]; /* visits that say that they were disturbed */
};

static struct levels levels_now(void)
{
	struct levels now = {{0}, {0}};
	struct pm_snapshot *s = probe_take();

	for (int i = 0; i < LEVELS; i++) {
		const struct perfmon_profile_node *node =
			probe_node(s, &s->threads[0], level_names[i]);

		if (!node)
			continue;
		now.sum[i] = node->count[0].sum;
		now.marks[i] = node->retries + node->fallback_reads;
	}
	pm_snapshot_free(s);
	return now;
}

/* One visit at three levels, in the middle of which the thread waits for so long. */
static __attribute__((noinline)) void visit_levels(int wait_ms)
{
	PERFMON_REGION_BEGIN("outer");
	PERFMON_REGION_BEGIN("middle");
	PERFMON_REGION_BEGIN("block");
	poll(NULL, 0, wait_ms);
	PERFMON_REGION_END("block");
	PERFMON_REGION_END("middle");
	PERFMON_REGION_END("outer");
	__asm__ __volatile__(""); /* the END is no tail call */
}

/* What a switch makes the library do is in the counts of all regions around it, and each
 * of them says so. Row: DC-04 */
Test(region_truth, a_switch_inside_is_marked_at_every_level)
{
	uint64_t least[LEVELS], switched = 0, more[LEVELS] = {0};

	if (!counts("instructions"))
		cr_skip_test("%s", refusal);
	memset(least, 0xff, sizeof(least));
	visit_levels(0);
	/* At first it does not wait, then it does in each visit. */
	for (int i = 0; i < 200; i++) {
		struct levels before = levels_now(), after;

		visit_levels(i >= 100);
		after = levels_now();
		for (int l = 0; l < LEVELS; l++) {
			uint64_t count = after.sum[l] - before.sum[l];

			if (after.marks[l] == before.marks[l]) {
				if (count < least[l])
					least[l] = count;
				cr_assert_lt(count, least[l] + 100,
					     "%s, visit %d: %llu more unmarked",
					     level_names[l], i,
					     (unsigned long long)(count - least[l]));
			} else if (i >= 100 && count > least[l] + 100) {
				more[l]++;
			}
		}
		switched += after.marks[LEVELS - 1] != before.marks[LEVELS - 1];
	}
	cr_assert_geq(switched, 50);
	cr_assert_gt(more[0], 0, "a switch costs the outermost region nothing any more");
}

/* Each thread counts itself, and nothing of the others. */
Test(region_truth, threads_count_themselves)
{
	static uint64_t sizes[4] = {1000, 20000, 300000, 50000};
	uint64_t expected = 0, sum = 0, visits = 0, bias;
	pthread_t threads[4];
	struct pm_snapshot *s;

	if (!counts("instructions"))
		cr_skip_test("%s", refusal);
	bias = bias_of(0);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, elsewhere, &sizes[i]);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		expected += 100 + 100 * sizes[i];
	}
	s = probe_take();
	for (uint32_t i = 0; i < s->thread_count; i++) {
		const struct perfmon_profile_node *node =
			probe_node(s, &s->threads[i], "block");

		if (!node)
			continue;
		cr_assert_eq(
			node->count[0].lost_ns + node->defects + node->dropped_counts, 0);
		sum += node->count[0].sum;
		visits += pm_node_visits(node);
	}
	cr_assert_eq(visits, 404);
	/* A disturbed visit counts some more of our own instructions, and the emulator
	 * some of the kernel's for the user's (qemu 7.2). With those of the others a
	 * thread would have three times as many. */
	cr_assert_geq(sum, expected + visits * (bias - 2));
	cr_assert_leq(sum, expected + expected / 2);
	pm_snapshot_free(s);
}

/* Row: PC-11 DC-04: forced migration, and being switched out, inside of a region. */
Test(region_truth, migrations_lose_and_invent_nothing)
{
	cpu_set_t two[2];
	int cpu = 0, found = 0;
	cpu_set_t all;

	CPU_ZERO(&all);
	sched_getaffinity(0, sizeof(all), &all);
	for (cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++) {
		if (CPU_ISSET(cpu, &all)) {
			CPU_ZERO(&two[found]);
			CPU_SET(cpu, &two[found++]);
		}
	}
	if (found < 2)
		cr_skip_test("this process may use one CPU only");
	if (!counts("instructions"))
		cr_skip_test("%s", refusal);
	visit(100);
	for (int i = 0; i < 200; i++) {
		uint64_t before = instructions(), pairs = 50000, count, judged,
			 start = judge();

		PERFMON_REGION_BEGIN("block");
		BLOCK(pairs);
		sched_setaffinity(0, sizeof(two[0]), &two[i & 1]);
		pairs = 50000;
		BLOCK(pairs);
		PERFMON_REGION_END("block");
		judged = judge() - start;
		count = instructions() - before;
		cr_assert_geq(count, 200000, "visit %d counted %llu", i,
			      (unsigned long long)count);
		/* The judge's readings lie outside of the region's. */
		cr_assert_leq(count, judged, "visit %d counted %llu, the judge %llu", i,
			      (unsigned long long)count, (unsigned long long)judged);
	}
	sched_setaffinity(0, sizeof(all), &all);
	struct pm_snapshot *s = probe_take();
	const struct perfmon_profile_node *node = probe_node(s, &s->threads[0], "block");

	cr_assert_geq(node->retries, 100, "only %u visits saw a moved page",
		      node->retries);
	cr_assert_eq(node->defects, 0);
	cr_assert_eq(node->count[0].lost_ns, 0);
	pm_snapshot_free(s);
}

/* The same in visits shorter than the reads around them: the time off the hardware is a
 * share of the visit, not of the reads, and what was counted is never shown as all there
 * was. */
Test(region_truth, turns_longer_than_visits_are_scaled)
{
	const uint64_t visits = 5000, each = 1000;
	struct pm_report_model model;
	struct pm_report_tree tree;
	struct pm_snapshot *s;
	uint32_t scaled = 0, turns = 0;

	if (!counts("instructions,cycles,r1,r2,r3,r4,r5,r6,r7,r9"))
		cr_skip_test("%s", refusal);
	for (uint64_t i = 0; i < visits; i++)
		visit(each);
	s = probe_take();
	cr_assert_eq(pm_report_model_make(&model, s, false, NULL), 0);
	cr_assert_eq(pm_report_tree_make(&tree, &model, NULL, 0), 0);
	for (uint32_t n = 1; n < tree.node_count; n++) {
		if (strcmp(pm_path_name(&tree, n), "block"))
			continue;
		for (uint32_t e = 0; e < model.event_count; e++) {
			struct pm_value value = pm_report_count(&tree, n, e, false);

			turns += tree.counts[n * model.event_count + e].lost_ns > 0;
			if (value.state != PM_COUNTED ||
			    model.events[e].generic != PM_GENERIC_INSTRUCTIONS)
				continue;
			cr_assert(value.coverage > 0 || value.marks & PM_MARK_PART);
			if (!(value.marks & PM_MARK_MULTIPLEXED) || value.coverage < 0.2)
				continue;
			scaled++;
			/* With what the library itself has executed it is more. */
			cr_assert_geq(value.value, 0.95 * (double)(visits * each),
				      "%s: %g, of %llu", model.events[e].name,
				      value.value, (unsigned long long)value.sum);
		}
		for (uint32_t m = 0; m < model.metric_count; m++)
			cr_assert_eq(pm_report_metric(&tree, n, m, false).marks &
					     PM_MARK_IMPLAUSIBLE,
				     0);
	}
	if (!turns)
		cr_skip_test("this machine has counters for all of ten events");
	cr_assert_gt(scaled, 0, "no estimate of instructions");
	pm_report_tree_free(&tree);
	pm_report_model_free(&model);
	pm_snapshot_free(s);
}

/* Row: PM-16 PC-16: a raw code counts what the name does. */
Test(region_truth, a_raw_code_counts_the_same)
{
	struct probe_values values = {0};
	char events[64];

	if (!RAW_INSTRUCTIONS)
		cr_skip_test("no code for instructions is known on this architecture");
	snprintf(events, sizeof(events), "instructions,r%x", RAW_INSTRUCTIONS);
	if (!counts(events))
		cr_skip_test("%s", refusal);
	visit(100);
	visit(1000000);
	cr_assert_eq(probe_read("block", &values), 0);
	cr_assert_geq(values.sum[1], 1000100);
	cr_assert_leq(llabs((long long)(values.sum[0] - values.sum[1])), 2 * 2 * 100);
}

/* More events than the hardware has counters: coverage is told, estimates are near. */
Test(region_truth, too_many_events_take_turns)
{
	enum { EVENTS = 16 };
	struct probe_values values = {0};
	const struct perfmon_profile_node *node;
	struct pm_snapshot *s;
	uint64_t truth = 0;
	char events[8 * EVENTS] = "";
	double ns;

	if (!RAW_INSTRUCTIONS)
		cr_skip_test("no code for instructions is known on this architecture");
	for (int i = 0; i < EVENTS; i++)
		snprintf(events + strlen(events), 8, "%sr%x", i ? "," : "",
			 RAW_INSTRUCTIONS);
	if (!counts(events))
		cr_skip_test("%s", refusal);
	visit(100);
	for (int i = 0; i < 20; i++) {
		visit(20000000);
		truth += 20000000;
	}
	cr_assert_eq(probe_read("block", &values), 0);
	cr_assert_eq(values.counters, EVENTS);
	cr_assert_neq(values.counted, (1u << EVENTS) - 1,
		      "some counter must have been off");
	s = probe_take();
	node = probe_node(s, &s->threads[0], "block");
	ns = pm_snapshot_ns(s, (double)node->time_ticks) - (double)node->off_cpu_ns;
	for (uint32_t i = 0; i < EVENTS; i++) {
		double on = ns - (double)node->count[i].lost_ns;

		if (s->threads[0].record.status[i] <= 0)
			continue;
		cr_assert_leq(values.sum[i], truth + 21 * 20000, "counter %u", i);
		if (on < ns * 0.2)
			continue;
		cr_assert_float_eq((double)values.sum[i] * ns / on / (double)truth, 1,
				   0.05, "counter %u: %llu in %.0f of %.0f ns", i,
				   (unsigned long long)values.sum[i], on, ns);
	}
	cr_assert_eq(node->defects, 0);
	pm_snapshot_free(s);
}
