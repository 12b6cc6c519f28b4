/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What measuring itself adds: it is measured at start-up, told in reports, marked, and taken
 * out of times and counts on request. */
#include "core/report/model/value.h"
#include "core/report/report.h"
#include "profile_builder.h"
#include "region_probe.h"
#include "report_text.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>

TestSuite(cost, .init = probe_quiet, .timeout = 120);

/* --- what a report makes of it ------------------------------------------------------- */

static struct perfmon_profile_node *inner; /* of nested() */

/*
 * One visit of "outer" with 100 of "inner". In its own counts an empty visit has 40, of
 * which enclosing visits have 130; of time 20 and 60 ticks.
 */
static struct perfmon_profile_plan *nested(struct profile_builder *b)
{
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_node *node;
	struct perfmon_profile_plan *plan;

	builder_begin(b, 1 << 16);
	plan = builder_plan(b, 1, 1);
	strcpy(plan->counter[0].name, "instructions:u");
	plan->counter[0].cost = (struct perfmon_profile_cost){
		.known = PERFMON_PROFILE_COST_USER, .bias = 40, .pair = 130};
	plan->time = (struct perfmon_profile_cost){
		.known = PERFMON_PROFILE_COST_USER, .bias = 20, .pair = 60};
	thread = builder_tree(b, 1, 1, 1, 8);
	node = builder_node(b, thread, 1, builder_region(b, "outer"));
	builder_visit(node, 20000);
	node->count[0].sum = 100000;
	node = inner = builder_node(b, thread, 2, builder_region(b, "inner"));
	for (int i = 0; i < 100; i++)
		builder_visit(node, 100);
	node->count[0].sum = 60000;
	return plan;
}

static double count_in(const struct pm_report_tree *tree, uint32_t node, bool exclusive)
{
	return pm_report_count(tree, node, 0, exclusive).value;
}

static double time_in(const struct pm_report_tree *tree, uint32_t node, bool exclusive)
{
	return pm_report_time(tree, node, exclusive).value;
}

/* The tree of B's profile, of whose nodes 1 is outer and 2 inner; FLAT: by region. */
static void check(struct profile_builder *b, bool subtract, bool by_region,
		  void (*look)(const struct pm_report_tree *tree))
{
	struct pm_report_tree tree, flat;
	struct pm_report_model model;
	struct pm_snapshot *s;
	struct pm_diag diag = {0};

	cr_assert_eq(pm_snapshot_take(b->base, builder_used(b), &s, &diag), 0, "%s",
		     diag.text);
	cr_assert_eq(pm_report_model_make(&model, s, subtract, NULL), 0);
	cr_assert_eq(pm_report_tree_make(&tree, &model, NULL, 0), 0);
	cr_assert_str_eq(pm_path_name(&tree, 1), "outer");
	if (by_region) {
		cr_assert_eq(pm_report_tree_flatten(&flat, &tree), 0);
		look(&flat);
		pm_report_tree_free(&flat);
	} else {
		look(&tree);
	}
	pm_report_tree_free(&tree);
	pm_report_model_free(&model);
	pm_snapshot_free(s);
}

static void as_counted(const struct pm_report_tree *tree)
{
	cr_expect_eq(count_in(tree, 1, false), 100000);
	cr_expect_eq(count_in(tree, 1, true), 40000);
	cr_expect_eq(time_in(tree, 1, false), 20000);
	cr_expect_eq(time_in(tree, 2, false), 10000);
	/* 2,000 of inner's 10,000 ticks; 20 + 40 * 100 of outer's own 10,000. */
	cr_expect(pm_report_time(tree, 2, false).marks & PM_MARK_SHORT);
	cr_expect(pm_report_time(tree, 1, false).marks & PM_MARK_SHORT);
	cr_expect(pm_report_time(tree, 1, true).marks & PM_MARK_SHORT);
}

static void as_subtracted(const struct pm_report_tree *tree)
{
	cr_expect_eq(count_in(tree, 1, false), 100000 - 40 - 100 * 130);
	cr_expect_eq(count_in(tree, 1, true), 40000 - 40 - 100 * 90);
	cr_expect_eq(count_in(tree, 2, false), 60000 - 100 * 40);
	cr_expect_eq(count_in(tree, 2, true), 60000 - 100 * 40);
	cr_expect_eq(time_in(tree, 1, false), 20000 - 20 - 100 * 60);
	cr_expect_eq(time_in(tree, 1, true), 10000 - 20 - 100 * 40);
	cr_expect_eq(time_in(tree, 2, false), 10000 - 100 * 20);
	cr_expect_float_eq(pm_path_mean(tree, 2), 80, 1e-9);
	cr_expect_eq(tree->total_ticks, 20000 - 20 - 100 * 60);
}

Test(cost, nested_visits_are_taken_out_of_what_is_around_them)
{
	struct profile_builder b;

	nested(&b);
	for (int by_region = 0; by_region < 2; by_region++) {
		check(&b, false, by_region, as_counted);
		check(&b, true, by_region, as_subtracted);
	}
	builder_end(&b);
}

/* Of 20,000 ticks and the 40 of a BEGIN and END around them. */
Test(cost, the_report_says_what_part_of_the_time_it_was)
{
	struct perfmon_profile_plan *plan;
	struct profile_builder b;
	char *got;

	plan = nested(&b);
	got = report_built(&b, &(struct pm_report_options){.format = PM_FORMAT_TEXT});
	has(got, "  cost     a visit takes about 60 ns; measuring took about 30 % of the "
		 "time, most of it in inner\n"
		 "           PERFMON_STRIDE=auto brings it to 14 % or less, "
		 "PERFMON_BIAS=subtract takes it out\n");
	free(got);
	/* Beside work that waits a pair takes a third. */
	plan->time.known |= PERFMON_PROFILE_COST_OVERLAP;
	plan->time.overlapped = 20;
	got = report_built(&b, &(struct pm_report_options){.format = PM_FORMAT_TEXT});
	has(got, "; measuring took 10 to 31 % of the time, most of it in inner\n");
	free(got);
	got = report_built(&b, &(struct pm_report_options){.format = PM_FORMAT_JSON});
	has(got, "\"share\":0.302");
	has(got, "\"least_share\":0.1007");
	free(got);
	/* Reads by system calls do not overlap. */
	inner->fallback_reads = 100;
	got = report_built(&b, &(struct pm_report_options){.format = PM_FORMAT_TEXT});
	has(got, "; measuring took about 30 % of the time, most of it in inner\n");
	free(got);
	plan->time.known = 0;
	plan->time.bias = plan->time.pair = 0;
	got = report_built(&b, &(struct pm_report_options){.format = PM_FORMAT_TEXT});
	has_not(got, "  cost ");
	free(got);
	plan->time.known = PERFMON_PROFILE_COST_USER;
	plan->time.pair = 1;
	got = report_built(&b, &(struct pm_report_options){.format = PM_FORMAT_TEXT});
	has(got, "; measuring took less than 1 % of the time\n");
	free(got);
	builder_end(&b);
}

/* A damaged profile may hold any cost: no value comes out below 0. */
Test(cost, nonsense_leaves_no_negative_value)
{
	struct perfmon_profile_plan *plan;
	struct profile_builder b;
	char *got;

	plan = nested(&b);
	memset(&plan->time, 0xff, sizeof(plan->time));
	memset(&plan->counter[0].cost, 0xff, sizeof(plan->counter[0].cost));
	got = report_built(&b, &(struct pm_report_options){.format = PM_FORMAT_TEXT,
							   .subtract_bias = true});
	has(got, "  inner");
	has_not(got, " -");
	free(got);
	builder_end(&b);
}

/* --- at start-up --------------------------------------------------------------------- */

static struct pm_snapshot *visited(const char *events)
{
	if (events)
		setenv("PERFMON_EVENTS", events, 1);
	PERFMON_REGION_BEGIN("some");
	PERFMON_REGION_END("some");
	return probe_take();
}

static const struct perfmon_profile_cost *time_cost(const struct pm_snapshot *s)
{
	return &s->threads[0].plan->time;
}

#define IN_USER_SPACE (PERFMON_PROFILE_COST_USER | PERFMON_PROFILE_COST_OVERLAP)

Test(cost, time_has_one_without_events)
{
	struct pm_snapshot *s = visited("none");

	cr_expect_eq(time_cost(s)->known, IN_USER_SPACE);
	cr_expect_gt(time_cost(s)->pair, time_cost(s)->bias);
	pm_snapshot_free(s);
}

Test(cost, reads_by_call_have_theirs)
{
	struct pm_snapshot *s = visited("task-clock");

	if (s->threads[0].record.status[0] <= 0)
		cr_skip_test("%s", s->note_count ? s->notes[0] : "no task-clock");
	cr_expect_eq(time_cost(s)->known, PERFMON_PROFILE_COST_CALL);
	cr_expect_gt(time_cost(s)->call_pair, time_cost(s)->call_bias);
	cr_expect_eq(s->counters[0].cost.known, PERFMON_PROFILE_COST_CALL);
	cr_expect_gt(s->counters[0].cost.call_pair, s->counters[0].cost.call_bias);
	pm_snapshot_free(s);
}

Test(cost, what_a_stride_passes_over_costs_less)
{
	struct pm_snapshot *s;

	setenv("PERFMON_STRIDE", "10", 1);
	s = visited("none");
	cr_expect_eq(time_cost(s)->known, IN_USER_SPACE | PERFMON_PROFILE_COST_SKIPPED);
	cr_expect_lt(time_cost(s)->skipped, time_cost(s)->pair);
	pm_snapshot_free(s);
}

/* Its profile is a new one, and nothing is measured again. */
Test(cost, a_forked_child_knows_it)
{
	struct pm_snapshot *s = visited("none");
	uint32_t pair = time_cost(s)->pair;
	int status;
	pid_t pid;

	pm_snapshot_free(s);
	pid = fork();
	if (!pid) {
		s = visited(NULL);
		_exit(time_cost(s)->known == IN_USER_SPACE && time_cost(s)->pair == pair
			      ? 0
			      : 1);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0);
}

/* --- the truth ------------------------------------------------------------------------ */

/* So many instructions in each visit, two a round: by any compiler that optimises. */
#define BLOCK 300

static inline __attribute__((always_inline)) void block(void)
{
	for (uint64_t rounds = BLOCK / 2; rounds; rounds--)
		__asm__ __volatile__("" : "+r"(rounds) : : "memory");
}

/* Six levels, once with regions and once without; 20,501 visits. */
#define LEVEL(name, inner, fan, begin, end)                                              \
	static __attribute__((noinline)) void name(void)                                 \
	{                                                                                \
		begin;                                                                   \
		block();                                                                 \
		for (int i = 0; i < (fan); i++)                                          \
			inner();                                                         \
		end;                                                                     \
		__asm__ __volatile__("");                                                \
	}
#define LEVELS(X)                                                                        \
	X(5, leaf, 0)                                                                    \
	X(4, level_5, 9)                                                                 \
	X(3, level_4, 5)                                                                 \
	X(2, level_3, 5)                                                                 \
	X(1, level_2, 4)                                                                 \
	X(0, level_1, 20)

static __attribute__((noinline)) void leaf(void)
{
	__asm__ __volatile__("");
}
#define WITH(n, inner, fan)                                                              \
	LEVEL(level_##n, inner, fan, PERFMON_REGION_BEGIN("level " #n),                  \
	      PERFMON_REGION_END("level " #n))
LEVELS(WITH)

#define bare_leaf	       leaf
#define WITHOUT(n, inner, fan) LEVEL(bare_level_##n, bare_##inner, fan, (void)0, (void)0)
LEVELS(WITHOUT)

static void (*const bare[6])(void) = {bare_level_0, bare_level_1, bare_level_2,
				      bare_level_3, bare_level_4, bare_level_5};

/* The least of several, by an event of our own: the emulator counts some of the kernel's
 * instructions for the user's when a tick comes at an unlucky moment. */
static uint64_t judged(int fd, void (*call)(void))
{
	uint64_t before, after, least = UINT64_MAX;

	for (int i = 0; i < 5; i++) {
		cr_assert_eq(read(fd, &before, sizeof(before)), sizeof(before));
		call();
		cr_assert_eq(read(fd, &after, sizeof(after)), sizeof(after));
		if (after - before < least)
			least = after - before;
	}
	return least;
}

static double truth[6];

static void is_true(const struct pm_report_tree *tree)
{
	uint32_t n = 1;

	for (int level = 0; level < 6; level++, n = pm_path(tree, n)->first_child) {
		double value = count_in(tree, n, false);
		double visits = (double)pm_path(tree, n)->visits.ended;

		printf("level %d: %.0f visits, %.0f true, %.0f told: %+.3f %%\n", level,
		       visits, truth[level] * visits, value,
		       100 * (value / (truth[level] * visits) - 1));
		/* What is left is what the calls make of the code around them. */
		cr_expect_leq(value, 1.02 * truth[level] * visits);
		cr_expect_geq(value, 0.995 * truth[level] * visits);
	}
}

/* With PERFMON_BIAS=subtract each region has the program's own instructions, though BEGIN and
 * END take a third of all. */
Test(cost, without_it_nested_regions_are_true)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.size = sizeof(attr),
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	struct pm_report_tree tree;
	struct pm_report_model model;
	struct pm_snapshot *s;
	uint64_t nothing;
	int fd;

	setenv("PERFMON_EVENTS", "instructions", 1);
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	if (fd < 0)
		cr_skip_test("no instructions are counted here: %s", strerror(errno));
	judged(fd, leaf);
	nothing = judged(fd, leaf);
	for (int level = 0; level < 6; level++)
		truth[level] = (double)(judged(fd, bare[level]) - nothing);
	close(fd);
	level_0();
	s = probe_take();
	if (s->threads[0].record.status[0] <= 0)
		cr_skip_test("%s", s->note_count ? s->notes[0] : "no instructions");
	cr_assert_eq(pm_report_model_make(&model, s, false, NULL), 0);
	cr_assert_eq(pm_report_tree_make(&tree, &model, NULL, 0), 0);
	/* Else the test shows nothing. */
	cr_expect_gt(count_in(&tree, 1, false), 1.2 * truth[0]);
	pm_report_tree_free(&tree);
	pm_report_model_free(&model);
	cr_assert_eq(pm_report_model_make(&model, s, true, NULL), 0);
	cr_assert_eq(pm_report_tree_make(&tree, &model, NULL, 0), 0);
	is_true(&tree);
	pm_report_tree_free(&tree);
	pm_report_model_free(&model);
	pm_snapshot_free(s);
}
