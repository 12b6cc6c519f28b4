/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reports of profiles made by hand: exact text, and JSON and CSV read back. */
#include "config.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_JANSSON
#include <jansson.h>
#endif

#include "core/kernel/files.h"
#include "core/kernel/kernel.h"
#include "core/kernel/owned.h"
#include "core/report/output/file.h"
#include "core/report/output/number.h"
#include "core/report/report.h"
#include "helpers.h"
#include "profile_builder.h"
#include "report_text.h"

static struct pm_snapshot *snapshot(struct profile_builder *b)
{
	struct pm_snapshot *s;
	struct pm_diag diag = {0};

	cr_assert_eq(pm_snapshot_take(b->base, builder_used(b), &s, &diag), 0, "%s",
		     diag.text);
	return s;
}

static void expect(const char *got, const char *want)
{
	size_t i = 0;

	while (got[i] && got[i] == want[i])
		i++;
	cr_assert(!got[i] && !want[i], "from byte %zu:\n%s\n--- expected:\n%s\n", i, got,
		  want);
}

static void count(struct perfmon_profile_node *node, uint32_t c, uint64_t sum,
		  uint64_t lost_ns)
{
	node->count[c].sum = sum;
	node->count[c].lost_ns = lost_ns;
}

static void name(struct perfmon_profile_counter *counter, const char *text)
{
	snprintf(counter->name, sizeof(counter->name), "%s", text);
}

/*
 * One live thread and the sum of two that ended. Paths:
 *   main > solve > solve (recursion), main > io, solve.
 */
static void sample(struct profile_builder *b)
{
	struct perfmon_profile_plan *plan;
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_node *node;
	uint32_t r_main, solve, io;

	builder_begin(b, 1 << 17);
	plan = builder_plan(b, 1, 3);
	name(&plan->counter[0], "instructions:u");
	name(&plan->counter[1], "cycles:u");
	name(&plan->counter[2], "page-faults");
	plan->counter[0].cost.bias = 40;
	plan->counter[0].cost.known = 1;
	r_main = builder_region(b, "main");
	solve = builder_region(b, "solve");
	io = builder_region(b, "io");
	builder_note(b, "a note of the profile");

	thread = builder_thread(b, 4711, 1, 3);
	thread->status[2] = PERFMON_PROFILE_COUNTER_STATUS_SYSCALL;
	builder_nodes(b, thread, 16);
	builder_node(b, thread, 0, 0);
	node = builder_node(b, thread, 1, r_main); /* 2 */
	builder_visit(node, 1000000);
	count(node, 0, 2000000, 0);
	count(node, 1, 1000000, 0);
	count(node, 2, 5, 0);
	node = builder_node(b, thread, 2, solve); /* 3 */
	for (int i = 0; i < 10; i++)
		builder_visit(node, i % 2 ? 70000 : 50000);
	count(node, 0, 1500000, 0);
	count(node, 1, 500000, 0);
	count(node, 2, 3, 0);
	node = builder_node(b, thread, 3, solve); /* 4 */
	for (int i = 0; i < 4; i++)
		builder_visit(node, 25000);
	count(node, 0, 400000, 0);
	count(node, 1, 200000, 0);
	node = builder_node(b, thread, 2, io); /* 5 */
	builder_visit(node, 300000);
	node->off_cpu_ns = 200000;
	count(node, 0, 100000, 50000);
	count(node, 1, 80000, 0);
	count(node, 2, 2, 0);

	thread = builder_thread(b, 0, 1, 3);
	thread->state = PERFMON_PROFILE_THREAD_STATE_AGGREGATE;
	thread->aggregated = 2;
	thread->name[0] = '\0';
	thread->status[2] = -EMFILE;
	builder_nodes(b, thread, 4);
	builder_node(b, thread, 0, 0);
	node = builder_node(b, thread, 1, solve);
	for (int i = 0; i < 6; i++)
		builder_visit(node, 100000);
	node->entered++;
	node->threads = 2;
	node->thread_min_ticks = 200000;
	node->thread_max_ticks = 400000;
	count(node, 0, 600000, 0);
	count(node, 1, 300000, 0);
}

#define HEAD                                                                             \
	"perfmon " PACKAGE_VERSION ": /opt/solver, pid 4711 on node7\n"                  \
	"  began    2023-11-14 22:13:20 UTC, 2.000 s\n"

Test(report, the_tree_in_text)
{
	struct pm_machine machine = {.cpu_model = "Sandy",
				     .architecture = "x86-64",
				     .kernel = "6.1.0",
				     .packages = 1,
				     .cores = 2,
				     .cpus = 4};
	const char *notes[] = {"a note of the profile", "one more"};
	struct pm_report_options options = {
		.machine = &machine, .notes = notes, .note_count = 2};
	struct profile_builder b;
	char *got;

	sample(&b);
	got = report_built(&b, &options);
	/* clang-format off */
	expect(got, HEAD
"  machine  Sandy, 1 package, 2 cores, 4 CPUs, Linux 6.1.0\n"
"  clock    CLOCK_MONOTONIC\n"
"  threads  3 (2 ended), times and counts are summed over them\n"
"  events   inclusive, with nested regions\n"
"           instructions:u: read in user space, an empty region counts 40\n"
"           cycles:u: read in user space\n"
"           page-faults: read by read(2)\n"
"\n"
"region     visits       inclusive       exclusive     mean  stddev\n"
"                        ms      %       ms      %       us       %\n"
"main            1    1.000   62.5    0.100    6.3  1000.00\n"
"  solve        10    0.600   37.5    0.500   31.3    60.00    17.6\n"
"    solve       4    0.100    6.3    0.100    6.3    25.00     0.0\n"
"  io            1    0.300   18.8    0.300   18.8   300.00\n"
"solve           6  >=0.600   37.5  >=0.600   37.5   100.00     0.0\n"
"total              >=1.600  100.0  >=1.600  100.0\n"
"\n"
"region     instructions:u        cycles:u  page-faults     IPC        GHz\n"
"main              2000000         1000000            5    2.00       1.00\n"
"  solve           1500000          500000            3    3.00       0.83\n"
"    solve          400000          200000            0    2.00       2.00\n"
"  io               200000 ~50%      80000            2    2.50 ~50%  0.80\n"
"solve            >=600000        >=300000          n/a    2.00       0.50\n"
"total           >=2600000       >=1300000          >=5 &  2.00       0.81\n"
"\n"
"  hottest  solve, with 37.5 % of the time in itself\n"
"\n"
"inclusive time of a thread (imbalance: how far the most is above the mean):\n"
"region  threads    least     mean     most  imbalance\n"
"                      us       us       us          %\n"
"solve         2  200.000  300.000  400.000       33.3\n"
"\n"
"  lost to imbalance (the most less the mean):\n"
"    100.0 us   solve\n"
"    PERFMON_THREADS=keep names threads that have ended\n"
"\n"
"  ~N%   estimated: counters were shared, and it was counted for N % of the time.\n"
"        For exact numbers count fewer events.\n"
"  >=    at least: a visit has no END so far. Its values are those of the regions\n"
"        inside it. If the program has ended, add the END.\n"
"  &     too low: the event could not be opened in some threads. If the notes say\n"
"        so, raise 'ulimit -n'.\n"
"  n/a   never opened in these threads. The notes say why.\n"
"\n"
"  note: a note of the profile\n"
"  note: one more\n"
"  lost: 1 visit without an END: 'solve'; open when the program ended\n");
	/* clang-format on */
	free(got);
	builder_end(&b);
}

/* By hand: of solve's 20 visits of 100000 x 6, 60000 x 10 and 25000 x 4 ns on average the
 * four recursive ones are in the inclusive time once. */
/* One region, in a profile of a program that was called with the LENGTH bytes of TEXT. */
static char *called(const char *text, size_t length, uint32_t flags,
		    const struct pm_report_options *options)
{
	struct perfmon_profile_thread *thread;
	struct profile_builder b;
	char *got;

	builder_begin(&b, 1 << 17);
	builder_plan(&b, 1, 0);
	if (text)
		builder_arguments(&b, text, length)->flags = flags;
	thread = builder_tree(&b, 4711, 1, 0, 16);
	builder_visit(builder_node(&b, thread, 1, builder_region(&b, "r")), 100);
	got = report_built(&b, options);
	builder_end(&b);
	return got;
}

static void check_called(const char *text, size_t length, uint32_t flags,
			 enum pm_format format, const char *want)
{
	struct pm_report_options options = {.format = format};
	char *got = called(text, length, flags, &options);

	if (want)
		cr_assert(strstr(got, want), "%s", got);
	else
		cr_assert(!strstr(got, "  command "), "%s", got);
	free(got);
}

#define CALL(text) text, sizeof(text) - 1
Test(report, how_the_program_was_called)
{
	static const char hostile[] = "./a.out\0a b\0it's\0\0x\x1b[2J\0-n=1";
	const uint32_t cut = PERFMON_PROFILE_ARGUMENTS_CUT;
	char line[sizeof("./a.out\0") + 3000];

	check_called(hostile, sizeof(hostile), 0, PM_FORMAT_TEXT,
		     "\n  command  ./a.out 'a b' 'it'\\''s' '' 'x\\x1b[2J' -n=1\n");
	check_called(
		hostile, sizeof(hostile), 0, PM_FORMAT_JSON,
		"\"arguments\":[\"./a.out\",\"a b\",\"it's\",\"\",\"x\\u001b[2J\",\"-n="
		"1\"],\"pid\"");
	check_called(CALL("a\0b\0lon"), cut, PM_FORMAT_TEXT, "  command  a b lon ...\n");
	check_called(CALL("a\0b\0lon"), cut, PM_FORMAT_JSON,
		     "\"arguments\":[\"a\",\"b\",\"lon\"],\"arguments_cut\":true");
	/* What says no more than the program's name, and older profiles. */
	check_called(CALL("./a.out\0"), 0, PM_FORMAT_TEXT, NULL);
	check_called(CALL(""), 0, PM_FORMAT_TEXT, NULL);
	check_called(NULL, 0, 0, PM_FORMAT_TEXT, NULL);
	check_called(NULL, 0, 0, PM_FORMAT_JSON, "\"arguments\":null");
	memset(line, 'x', sizeof(line));
	memcpy(line, "./a.out", 8);
	check_called(line, sizeof(line), 0, PM_FORMAT_TEXT, "xx...xx");
}

/* A program that was killed: what is open counts as much as what is inside of it. */
Test(report, a_total_is_not_below_its_parts)
{
	struct pm_report_options options = {.format = PM_FORMAT_TEXT};
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_node *node;
	struct perfmon_profile_plan *plan;
	struct profile_builder b;
	uint32_t setup, outer, child;
	char *got;

	builder_begin(&b, 1 << 17);
	plan = builder_plan(&b, 1, 1);
	name(&plan->counter[0], "page-faults");
	setup = builder_region(&b, "setup");
	outer = builder_region(&b, "outer");
	child = builder_region(&b, "child");
	thread = builder_tree(&b, 4711, 1, 1, 16);
	node = builder_node(&b, thread, 1, setup);
	builder_visit(node, 1000000);
	count(node, 0, 256, 0);
	node = builder_node(&b, thread, 1, outer); /* 3 */
	node->entered = 1;
	node = builder_node(&b, thread, 3, child);
	builder_visit(node, 20000000);
	count(node, 0, 5120, 0);
	got = report_built(&b, &options);
	cr_assert(strstr(got, " >=5120\n  child "), "%s", got);
	cr_assert(strstr(got, " >=5376\n"), "%s", got);
	free(got);
	options.format = PM_FORMAT_FLAT;
	got = report_built(&b, &options);
	cr_assert(strstr(got, " >=5376\n"), "%s", got);
	free(got);
	builder_end(&b);
}

Test(report, by_region_in_text_with_each_thread)
{
	struct pm_report_options options = {.format = PM_FORMAT_FLAT, .per_thread = true};
	struct profile_builder b;
	char *got;

	sample(&b);
	got = report_built(&b, &options);
	/* clang-format off */
	expect(got, HEAD
"  clock    CLOCK_MONOTONIC\n"
"  threads  3 (2 ended), times and counts are summed over them\n"
"  events   exclusive, without nested regions\n"
"           instructions:u: read in user space, an empty region counts 40\n"
"           cycles:u: read in user space\n"
"           page-faults: read by read(2)\n"
"\n"
"region  visits       inclusive       exclusive     mean  stddev\n"
"                     ms      %       ms      %       us       %\n"
"solve       20  >=1.200   75.0  >=1.200   75.0    65.00    43.2\n"
"io           1    0.300   18.8    0.300   18.8   300.00\n"
"main         1    1.000   62.5    0.100    6.3  1000.00\n"
"total           >=1.600  100.0  >=1.600  100.0\n"
"\n"
"region  instructions:u        cycles:u  page-faults     IPC        GHz\n"
"solve        >=2100000        >=800000          >=3 &  2.63       0.67\n"
"io              200000 ~50%      80000            2    2.50 ~50%  0.80\n"
"main            400000          420000            0    0.95       1.40\n"
"total        >=2600000       >=1300000          >=5 &  2.00       0.81\n"
"\n"
"region  ~median  ~95 %\n"
"             us     us\n"
"solve     68.10  96.23\n"
"io\n"
"main\n"
"\n"
"thread 4711 (thread4711), running, 2.000 s:\n"
"region  visits     inclusive     exclusive     mean  stddev\n"
"                   ms      %     ms      %       us       %\n"
"solve       14  0.600   60.0  0.600   60.0    50.00    37.2\n"
"io           1  0.300   30.0  0.300   30.0   300.00\n"
"main         1  1.000  100.0  0.100   10.0  1000.00\n"
"total           1.000  100.0  1.000  100.0\n"
"\n"
"region  instructions:u       cycles:u  page-faults   IPC        GHz\n"
"solve          1500000         500000            3  3.00       0.83\n"
"io              200000 ~50%     80000            2  2.50 ~50%  0.80\n"
"main            400000         420000            0  0.95       1.40\n"
"total          2000000        1000000            5  2.00       1.00\n"
"\n"
"ended threads, 2 of them, summed:\n"
"region  visits         inclusive         exclusive   mean  stddev\n"
"                       us      %         us      %     us       %\n"
"solve        6  >=600.000  100.0  >=600.000  100.0  100.0     0.0\n"
"total           >=600.000  100.0  >=600.000  100.0\n"
"\n"
"region  instructions:u  cycles:u  page-faults   IPC   GHz\n"
"solve         >=600000  >=300000          n/a  2.00  0.50\n"
"total         >=600000  >=300000          n/a  2.00  0.50\n"
"\n"
"  ~N%   estimated: counters were shared, and it was counted for N % of the time.\n"
"        For exact numbers count fewer events.\n"
"  >=    at least: a visit has no END so far. Its values are those of the regions\n"
"        inside it. If the program has ended, add the END.\n"
"  &     too low: the event could not be opened in some threads. If the notes say\n"
"        so, raise 'ulimit -n'.\n"
"  ~95 % what 95 % of the visits took at most, and ~median half of them:\n"
"        estimated from a histogram, off by less than a factor of 2.\n"
"  n/a   never opened in these threads. The notes say why.\n"
"\n"
"  note: a note of the profile\n"
"  lost: 1 visit without an END: 'solve'; open when the program ended\n");
	/* clang-format on */
	free(got);
	builder_end(&b);
}

Test(report, bias_is_subtracted_on_request)
{
	struct pm_report_options options = {.subtract_bias = true};
	struct profile_builder b;
	char *got;

	sample(&b);
	got = report_built(&b, &options);
	/* clang-format off */
	expect(got, HEAD
"  clock    CLOCK_MONOTONIC\n"
"  threads  3 (2 ended), times and counts are summed over them\n"
"  events   inclusive, with nested regions\n"
"           instructions:u: read in user space, an empty region counts 40 (subtracted)\n"
"           cycles:u: read in user space\n"
"           page-faults: read by read(2)\n"
"\n"
"region     visits       inclusive       exclusive     mean  stddev\n"
"                        ms      %       ms      %       us       %\n"
"main            1    1.000   62.5    0.100    6.3  1000.00\n"
"  solve        10    0.600   37.5    0.500   31.3    60.00    17.6\n"
"    solve       4    0.100    6.3    0.100    6.3    25.00     0.0\n"
"  io            1    0.300   18.8    0.300   18.8   300.00\n"
"solve           6  >=0.600   37.5  >=0.600   37.5   100.00     0.0\n"
"total              >=1.600  100.0  >=1.600  100.0\n"
"\n"
"region     instructions:u        cycles:u  page-faults     IPC        GHz\n"
"main              1999360         1000000            5    2.00       1.00\n"
"  solve           1499440          500000            3    3.00       0.83\n"
"    solve          399840          200000            0    2.00       2.00\n"
"  io               199960 ~50%      80000            2    2.50 ~50%  0.80\n"
"solve            >=599760        >=300000          n/a    2.00       0.50\n"
"total           >=2599120       >=1300000          >=5 &  2.00       0.81\n"
"\n"
"  hottest  solve, with 37.5 % of the time in itself\n"
"\n"
"inclusive time of a thread (imbalance: how far the most is above the mean):\n"
"region  threads    least     mean     most  imbalance\n"
"                      us       us       us          %\n"
"solve         2  200.000  300.000  400.000       33.3\n"
"\n"
"  lost to imbalance (the most less the mean):\n"
"    100.0 us   solve\n"
"    PERFMON_THREADS=keep names threads that have ended\n"
"\n"
"  ~N%   estimated: counters were shared, and it was counted for N % of the time.\n"
"        For exact numbers count fewer events.\n"
"  >=    at least: a visit has no END so far. Its values are those of the regions\n"
"        inside it. If the program has ended, add the END.\n"
"  &     too low: the event could not be opened in some threads. If the notes say\n"
"        so, raise 'ulimit -n'.\n"
"  n/a   never opened in these threads. The notes say why.\n"
"\n"
"  note: a note of the profile\n"
"  note: times and counts exclude what measuring added, by the least cost of a visit at start-up\n"
"  lost: 1 visit without an END: 'solve'; open when the program ended\n");
	/* clang-format on */
	free(got);
	builder_end(&b);
}

/* Something else holds the counter all the time: said as perfmon stat says it, and only
 * of an event that no visit has counted. */
Test(report, an_event_that_never_got_a_counter)
{
	static const char sentence[] =
		"event 'cycles:u' never got a counter: the NMI watchdog or another "
		"monitor may hold the counters";
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_plan *plan;
	struct perfmon_profile_node *node;

	for (int way = 0; way < 4; way++) {
		struct pm_report_options options = {.format = way == 1 ? PM_FORMAT_JSON
								       : PM_FORMAT_TEXT};
		struct profile_builder b;
		char *got;

		builder_begin(&b, 1 << 16);
		plan = builder_plan(&b, 1, 2);
		name(&plan->counter[0], "page-faults");
		name(&plan->counter[1], "cycles:u");
		thread = builder_thread(&b, 1, 1, 2);
		builder_nodes(&b, thread, 4);
		builder_node(&b, thread, 0, 0);
		for (uint32_t r = 1; r <= 2; r++) {
			builder_region(&b, r == 1 ? "work" : "rest");
			node = builder_node(&b, thread, 1, r);
			builder_visit(node, 100000);
			count(node, 0, 0, 0);
			count(node, 1, 0, node->time_ticks);
			/* A turn that counted something, or nothing. */
			if (r == 2 && way == 2)
				node->count[1].sum = 9;
			if (r == 2 && way == 3)
				node->count[1].lost_ns = node->time_ticks / 2;
		}
		got = report_built(&b, &options);
		cr_expect_eq(strstr(got, sentence) != NULL, way < 2, "%d: %s", way, got);
		cr_expect_null(strstr(got, "'page-faults'"));
		free(got);
		builder_end(&b);
	}
}

/* An event may be named twice, as in two groups: two columns, and no sum of them. */
Test(report, an_event_named_twice_is_counted_twice)
{
	struct pm_report_options options = {0};
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_plan *plan;
	struct perfmon_profile_node *node;
	struct profile_builder b;
	char *got;

	builder_begin(&b, 1 << 16);
	/* Two plans, as after a fork: the same two columns. */
	for (uint32_t p = 1; p <= 2; p++) {
		plan = builder_plan(&b, p, 2);
		name(&plan->counter[0], "page-faults");
		name(&plan->counter[1], "page-faults");
		plan->counter[1].logical = 1;
	}
	for (uint32_t p = 1; p <= 2; p++) {
		thread = builder_thread(&b, p, p, 2);
		builder_nodes(&b, thread, 4);
		builder_node(&b, thread, 0, 0);
		if (p == 1)
			builder_region(&b, "work");
		node = builder_node(&b, thread, 1, 1);
		builder_visit(node, 1000);
		count(node, 0, 7, 0);
		count(node, 1, 20, 0);
	}
	got = report_built(&b, &options);
	cr_expect(!strstr(got, "kinds of core"), "%s", got);
	cr_expect(strstr(got, " 14 "), "%s", got);
	cr_expect(strstr(got, " 40\n"), "%s", got);
	free(got);
	builder_end(&b);
}

/* Every mark once, and only the marks that are used in the legend. */
Test(report, marks_and_their_legend)
{
	struct pm_report_options options = {0};
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_plan *plan;
	struct perfmon_profile_node *node;
	struct profile_builder b;
	uint32_t r;
	char *got;

	builder_begin(&b, 1 << 17);
	plan = builder_plan(&b, 1, 5);
	name(&plan->counter[0], "cpu_core/cycles/");
	name(&plan->counter[1], "cpu_atom/cycles/");
	strcpy(plan->counter[0].pmu, "cpu_core");
	strcpy(plan->counter[1].pmu, "cpu_atom");
	plan->counter[1].logical = 0;
	name(&plan->counter[2], "context-switches:u");
	plan->counter[2].flags = PERFMON_PROFILE_COUNTER_KERNEL_ONLY;
	name(&plan->counter[3], "energy");
	strcpy(plan->counter[3].unit, "Joules");
	plan->counter[3].scale = 0.25;
	name(&plan->counter[4], "LLC-misses");
	plan->counter[4].flags |= PERFMON_PROFILE_COUNTER_REFUSED;
	plan->counter[4].error = -ENOENT;
	thread = builder_thread(&b, 1, 1, 5);
	thread->status[4] = -ENOENT;
	thread->lost_too_deep = 3;
	builder_header(&b)->lost_threads = 2;
	builder_header(&b)->rank = 3;
	builder_header(&b)->ranks = 8;
	builder_nodes(&b, thread, 16);
	builder_node(&b, thread, 0, 0);
	for (int i = 0; i < 9; i++) {
		static const char *const names[] = {"hybrid",	"part",	   "retried",
						    "fallback", "torn",	   "mismatched",
						    "dropped",	"defects", "open"};

		r = builder_region(&b, names[i]);
		node = builder_node(&b, thread, 1, r);
		for (int v = 0; i != 8 && v < 2; v++)
			builder_visit(node, 1000 * (9 - (unsigned int)i));
		count(node, 0, i == 8 ? 0 : 1000, node->time_ticks / 2);
		count(node, 1, i == 8 ? 0 : 500, node->time_ticks / 2);
		count(node, 3, i == 8 ? 0 : 2, 0);
		if (i == 1)
			node->count[1].lost_ns = node->time_ticks;
		node->retries = i == 2;
		node->fallback_reads = i == 3;
		node->sequence += i == 4;
		node->mismatched_ends = i == 5;
		if (i == 6)
			node->count[0].lost_ns = node->count[1].lost_ns =
				node->time_ticks / 4;
		node->dropped_counts = i == 6;
		node->defects = i == 7;
		node->entered += i == 8;
	}
	/* A second thread where energy could not be opened. */
	thread = builder_thread(&b, 2, 1, 5);
	thread->status[3] = thread->status[4] = -EMFILE;
	builder_nodes(&b, thread, 2);
	builder_node(&b, thread, 0, 0);
	builder_visit(builder_node(&b, thread, 1, 1), 1);
	got = report_built(&b, &options);
	/* clang-format off */
	expect(got, "perfmon " PACKAGE_VERSION ": /opt/solver, pid 4711 on node7, rank 3 of 8\n"
"  began    2023-11-14 22:13:20 UTC, 2.000 s\n"
"  clock    CLOCK_MONOTONIC\n"
"  threads  2, times and counts are summed over them\n"
"  events   inclusive, with nested regions\n"
"           cycles: sum over 2 kinds of core, read in user space\n"
"           context-switches:u: read in user space, happens in the kernel alone\n"
"           energy: read in user space\n"
"           LLC-misses: refused (No such file or directory)\n"
"\n"
"region      visits           inclusive           exclusive   mean  stddev\n"
"                          us         %        us         %     us       %\n"
"hybrid           3    18.001      20.5    18.001      20.5  6.000    86.6\n"
"part             2    16.000      18.2    16.000      18.2  8.000     0.0\n"
"retried          2    14.000      15.9    14.000      15.9  7.000     0.0\n"
"fallback         2    12.000      13.6    12.000      13.6  6.000     0.0\n"
"torn             2    10.000 ?    11.4    10.000 ?    11.4  5.000     0.0\n"
"mismatched       2     8.000 !     9.1     8.000 !     9.1  4.000     0.0\n"
"dropped          2     6.000       6.8     6.000       6.8  3.000     0.0\n"
"defects          2     4.000       4.5     4.000       4.5  2.000     0.0\n"
"open             0         -                   -\n"
"total               >=88.001 !?  100.0  >=88.001 !?  100.0\n"
"\n"
"region       cycles           context-switches:u   energy        LLC-misses\n"
"                                                   Joules\n"
"hybrid         1500                            -    0.500 &             n/a\n"
"part           1500 <50%                       -    0.500               n/a\n"
"retried        1500                            -    0.500               n/a\n"
"fallback       1500                            -    0.500               n/a\n"
"torn           1500 ?                          -    0.500 ?             n/a\n"
"mismatched     1500 !                          -    0.500 !             n/a\n"
"dropped        1500 @                          -    0.500 @             n/a\n"
"defects        1500 $                          -    0.500 $             n/a\n"
"open              -                            -        -               n/a\n"
"total       >=12000 <91%!@$?                   -  >=4.000 !@&$?         n/a\n"
"\n"
"region       GHz\n"
"hybrid      0.08\n"
"part        0.09 <50%\n"
"retried     0.11\n"
"fallback    0.13\n"
"torn        0.15 ?\n"
"mismatched  0.19 !\n"
"dropped     0.50 @\n"
"defects     0.38 $\n"
"open           -\n"
"total       0.14 <91%!@$?\n"
"\n"
"  hottest  hybrid, with 20.5 % of the time in itself\n"
"\n"
"inclusive time of a thread (imbalance: how far the most is above the mean):\n"
"region  threads  least   mean    most  imbalance\n"
"                    us     us      us          %\n"
"hybrid        2  0.001  9.001  18.000      100.0\n"
"\n"
"  lost to imbalance (the most less the mean):\n"
"    9.000 us   hybrid: the most in thread 1 (thread1), the least in thread 2 (thread2)\n"
"\n"
"  <N%   too low: counted for N % of the time, on some kinds of core. Bind the\n"
"        threads to one kind.\n"
"  >=    at least: a visit has no END so far. Its values are those of the regions\n"
"        inside it. If the program has ended, add the END.\n"
"  !     too low: the END of an outer region closed some visits here or around\n"
"        here. Add the missing END.\n"
"  @     too low: a counter could not be read in some visits, or the events had\n"
"        changed. Count fewer events.\n"
"  &     too low: the event could not be opened in some threads. If the notes say\n"
"        so, raise 'ulimit -n'.\n"
"  $     too low: the counter went backwards in some visits, which are left out.\n"
"        Do not rely on this event here.\n"
"  ?     read while it changed: may contain part of one more visit. Report again\n"
"        later.\n"
"  -     not counted: no visit has ended, or no counter was free. If none was\n"
"        free, count fewer events.\n"
"  n/a   never opened in these threads. The notes say why.\n"
"\n"
"  lost: 2 threads could not be set up: their visits are missing\n"
"  lost: 3 visits are missing: they were nested deeper than 256\n"
"  lost: 1 visit without an END: 'mismatched'; closed by the END of an outer region\n"
"  lost: 1 visit without an END: 'open'; open when the program ended\n");
	/* clang-format on */
	free(got);
	builder_end(&b);
}

Test(report, multiplexed_to_nothing_is_not_zero)
{
	struct pm_report_options options = {0};
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_node *node;
	struct profile_builder b;
	char *got;

	builder_begin(&b, 1 << 16);
	builder_plan(&b, 1, 2);
	builder_region(&b, "r");
	thread = builder_tree(&b, 1, 1, 2, 2);
	node = builder_node(&b, thread, 1, 1);
	builder_visit(node, 1000);
	count(node, 0, 0, 1000);
	got = report_built(&b, &options);
	cr_assert(strstr(got, "       -       0\n"), "%s", got);
	cr_assert(strstr(got, "not counted"));
	cr_assert(!strstr(got, "n/a"));
	free(got);
	builder_end(&b);
}

Test(report, paths_of_equal_names_are_one)
{
	struct pm_report_options options = {.format = PM_FORMAT_CSV};
	struct perfmon_profile_thread *thread;
	struct profile_builder b;
	char *got;

	builder_begin(&b, 1 << 16);
	builder_region(&b, "twin");
	builder_region(&b, "twin");
	thread = builder_tree(&b, 1, 1, 0, 3);
	builder_visit(builder_node(&b, thread, 1, 1), 10);
	builder_visit(builder_node(&b, thread, 1, 2), 20);
	got = report_built(&b, &options);
	cr_assert(strstr(got, "\r\nall,,1,0,1,twin,twin,2,2,30,30,15,"), "%s", got);
	cr_assert(!strstr(got, "\r\nall,,2,"));
	free(got);
	builder_end(&b);
}

/* Names that hurt: the bytes of each, and what JSON must give back, and text and CSV
 * show. */
static const struct {
	const char *raw, *json, *plain, *csv;
} names[] = {
	{"say \"hi\"", "say \"hi\"", "say \"hi\"", "say \"hi\""},
	{"tab\there\nline\x1b[31mred", "tab\there\nline\x1b[31mred",
	 "tab\\x09here\\x0aline\\x1b[31mred", "tab\\x09here\\x0aline\\x1b[31mred"},
	{"bad \xff\xfe utf \xc3", "bad \xef\xbf\xbd\xef\xbf\xbd utf \xef\xbf\xbd",
	 "bad \\xff\\xfe utf \\xc3", "bad \xef\xbf\xbd\xef\xbf\xbd utf \xef\xbf\xbd"},
	{"gr\xc3\xbc\xc3\x9f, dich;a\\b", "gr\xc3\xbc\xc3\x9f, dich;a\\b",
	 "gr\xc3\xbc\xc3\x9f, dich;a\\b", "gr\xc3\xbc\xc3\x9f, dich;a\\b"},
	{"\xc2\x85next \xed\xa0\x80", "\xc2\x85next \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
	 "\\xc2\\x85next \\xed\\xa0\\x80",
	 "\\xc2\\x85next \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
	{"=1+1", "=1+1", "=1+1", "'=1+1"},
	{"'-1", "'-1", "'-1", "''-1"},
	{"%s%n", "%s%n", "%s%n", "%s%n"},
};
#define NAMES (sizeof(names) / sizeof(names[0]))

static void sample_names(struct profile_builder *b)
{
	struct perfmon_profile_thread *thread;

	builder_begin(b, 1 << 16);
	thread = builder_thread(b, 1, 1, 0);
	builder_nodes(b, thread, NAMES + 1);
	builder_node(b, thread, 0, 0);
	for (size_t i = 0; i < NAMES; i++)
		builder_visit(builder_node(b, thread, 1, builder_region(b, names[i].raw)),
			      1000 - i);
}

Test(report, names_that_hurt_in_text)
{
	struct pm_report_options options = {0};
	struct profile_builder b;
	char *got;

	sample_names(&b);
	got = report_built(&b, &options);
	for (size_t i = 0; i < NAMES; i++)
		cr_assert(strstr(got, names[i].plain), "%s in\n%s", names[i].plain, got);
	for (const char *c = got; *c; c++)
		cr_assert(*c == '\n' || (unsigned char)*c >= 0x20);
	free(got);
	builder_end(&b);
}

Test(report, long_names_and_deep_paths_stay_readable)
{
	struct pm_report_options options = {0};
	struct perfmon_profile_thread *thread;
	struct profile_builder b;
	char wide[200], *got, *line;

	memset(wide, 'w', sizeof(wide) - 1);
	wide[sizeof(wide) - 1] = '\0';
	wide[0] = 'a';
	wide[sizeof(wide) - 2] = 'z';
	builder_begin(&b, 1 << 18);
	builder_region(&b, wide);
	thread = builder_tree(&b, 1, 1, 0, 260);
	for (uint32_t n = 1; n < 250; n++)
		builder_visit(builder_node(&b, thread, n, 1), 1000 - n);
	/* Where lines may be long a name is whole; a terminal is not left. */
	got = report_built(&b, &options);
	cr_assert(strstr(got, wide), "%s", got);
	cr_assert(strstr(got, "[200] aww"));
	free(got);
	options.columns = 80;
	got = report_built(&b, &options);
	for (line = got; line; line = strchr(line + 1, '\n'))
		cr_assert_leq(strcspn(line + 1, "\n"), 80, "%.100s", line);
	cr_assert(strstr(got, "\naww"));
	cr_assert(strstr(got, "...ww"));
	cr_assert(strstr(got, "wz "));
	cr_assert(strstr(got, "[200] aww"));
	free(got);
	builder_end(&b);
}

Test(report, an_empty_profile_says_so)
{
	struct pm_report_options options = {0};
	struct profile_builder b;
	char *got;

	builder_begin(&b, 1 << 16);
	for (int format = PM_FORMAT_TEXT; format < PM_FORMATS; format++) {
		options.format = (enum pm_format)format;
		options.per_thread = true;
		got = report_built(&b, &options);
		if (format <= PM_FORMAT_FLAT)
			cr_assert(strstr(got, "no region was entered\n"));
		free(got);
	}
	builder_end(&b);
}

/* Cells: value, text. */
Test(report, cells)
{
	static const struct {
		double value;
		const char *time, *count;
	} rows[] = {
		{0, "0 ns", "0"},
		{1, "1 ns", "1"},
		{999, "999 ns", "999"},
		{12.5, "12.50 ns", "13"},
		{999.96, "1.000 us", "1000"},
		{1000, "1.000 us", "1000"},
		{99999, "100.0 us", "99999"},
		{100000, "100.0 us", "100.0k"},
		{123456789, "123.5 ms", "123.5M"},
		{999949999, "999.9 ms", "999.9M"},
		{999950000, "1.000 s", "1.000G"},
		{5e12, "5000 s", "5.000T"},
		{1.8446744073709552e19, "18446744074 s", "18.45E"},
	};
	char cell[PM_CELL];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pm_cell_time(cell, rows[i].value);
		cr_assert_str_eq(cell, rows[i].time, "%s for %g", cell, rows[i].value);
		pm_cell_count(cell, rows[i].value);
		cr_assert_str_eq(cell, rows[i].count, "%s for %g", cell, rows[i].value);
	}
	pm_cell_unit(cell, 0.00125, "J");
	cr_assert_str_eq(cell, "1.250 mJ");
	pm_cell_unit(cell, 0, "J");
	cr_assert_str_eq(cell, "0 J");
	pm_cell_unit(cell, 2.1e9, "Hz");
	cr_assert_str_eq(cell, "2.100 GHz");
	pm_cell_fixed(cell, NAN, 2);
	cr_assert_str_eq(cell, "?");
}

/* Fields of one CSV row; what is in quotes is one field. Returns their number. */
static size_t csv_split(char *row, char **fields, size_t room)
{
	size_t n = 0;
	char *to = row;

	for (;;) {
		bool quoted = *row == '"';

		cr_assert_lt(n, room);
		fields[n++] = to;
		row += quoted;
		while (*row && (quoted || *row != ',')) {
			if (quoted && *row == '"') {
				row++;
				if (*row != '"')
					break;
			}
			*to++ = *row++;
		}
		cr_assert(!*row || *row == ',');
		if (!*row) {
			*to = '\0';
			return n;
		}
		row++;
		*to++ = '\0';
	}
}

/* The end of a row: CR LF outside of quotes. */
static char *csv_end(char *row)
{
	bool quoted = false;

	for (; *row; row++) {
		if (*row == '"')
			quoted = !quoted;
		else if (!quoted && row[0] == '\r' && row[1] == '\n')
			return row;
	}
	return NULL;
}

Test(report, csv_reads_back)
{
	struct pm_report_options options = {.format = PM_FORMAT_CSV, .per_thread = true};
	char *got, *row, *end, *heads[64], *fields[64];
	struct profile_builder b;
	size_t columns, rows = 0;

	sample(&b);
	got = report_built(&b, &options);
	row = got;
	end = csv_end(row);
	*end = '\0';
	columns = csv_split(row, heads, 64);
	cr_assert_str_eq(heads[0], "thread");
	cr_assert_str_eq(heads[24], "instructions:u");
	cr_assert_str_eq(heads[27], "instructions:u.coverage");
	cr_assert_str_eq(heads[38], "page-faults.status");
	cr_assert_str_eq(heads[39], "ipc");
	cr_assert_str_eq(heads[41], "time_ns.marks");
	cr_assert_str_eq(heads[44], "instructions:u.exclusive_marks");
	cr_assert_str_eq(heads[51], "median_ns");
	cr_assert_str_eq(heads[52], "p95_ns");
	cr_assert_str_eq(heads[56], "thread_max_tid");
	cr_assert_eq(columns, 57);
	for (row = end + 2; *row; row = end + 2) {
		end = csv_end(row);
		cr_assert(end);
		*end = '\0';
		cr_assert_eq(csv_split(row, fields, 64), columns);
		if (!strcmp(fields[0], "all") && !strcmp(fields[5], "main;io")) {
			cr_assert_str_eq(fields[9], "300000");
			cr_assert_str_eq(fields[24], "200000");
			cr_assert_str_eq(fields[26], "100000");
			cr_assert_str_eq(fields[27], "0.5");
			cr_assert_str_eq(fields[28], "counted");
			cr_assert_str_eq(fields[39], "2.5");
			cr_assert_str_eq(fields[51], "300000");
			cr_assert_str_eq(fields[54], "300000");
			cr_assert_str_eq(fields[56], "4711");
		}
		if (!strcmp(fields[0], "ended")) {
			cr_assert_str_eq(fields[7], "7");
			cr_assert_str_eq(fields[8], "6");
			cr_assert_str_eq(fields[34], "");
			cr_assert_str_eq(fields[38], "never opened");
		}
		rows++;
	}
	/* Five paths of all, four of the live thread, one of the ended. */
	cr_assert_eq(rows, 5 + 4 + 1);
	free(got);
	builder_end(&b);
}

Test(report, names_that_hurt_in_csv)
{
	struct pm_report_options options = {.format = PM_FORMAT_CSV};
	char *got, *row, *end, *fields[64];
	struct profile_builder b;
	size_t i = 0;

	sample_names(&b);
	got = report_built(&b, &options);
	row = csv_end(got) + 2;
	for (; *row; row = end + 2) {
		end = csv_end(row);
		cr_assert(end);
		*end = '\0';
		cr_assert_eq(csv_split(row, fields, 64), 32);
		cr_assert_str_eq(fields[6], names[i++].csv);
	}
	cr_assert_eq(i, NAMES);
	free(got);
	builder_end(&b);
}

#ifdef HAVE_JANSSON
static json_t *report_json(struct profile_builder *b, bool per_thread)
{
	struct pm_report_options options = {.format = PM_FORMAT_JSON,
					    .per_thread = per_thread};
	char *got = report_built(b, &options);
	json_error_t error;
	json_t *root = json_loads(got, JSON_REJECT_DUPLICATES, &error);

	cr_assert(root, "%s at %d in\n%s", error.text, error.position, got);
	free(got);
	return root;
}

static uint64_t number(json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	cr_assert(json_is_integer(value), "%s", key);
	return (uint64_t)json_integer_value(value);
}

Test(report, json_names_that_hurt)
{
	struct profile_builder b;
	json_t *root, *nodes;

	sample_names(&b);
	root = report_json(&b, false);
	nodes = json_object_get(root, "nodes");
	cr_assert_eq(json_array_size(nodes), NAMES);
	for (size_t i = 0; i < NAMES; i++)
		cr_assert_str_eq(json_string_value(json_object_get(
					 json_array_get(nodes, i), "region")),
				 names[i].json);
	json_decref(root);
	builder_end(&b);
}

/* Each node of each thread, field by field, at the edge of what JSON readers take. */
Test(report, json_has_every_number_in_full)
{
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_node *node;
	struct profile_builder b;
	struct pm_snapshot *s;
	json_t *root, *threads;

	sample(&b);
	thread = builder_tree(&b, 77, 1, 3, 2);
	node = builder_node(&b, thread, 1, 3);
	builder_visit(node, UINT64_C(0x1fffffffffffff) + 2); /* no double has it */
	count(node, 1, INT64_MAX, 0);
	node->histogram[47] = UINT32_MAX;
	node->retries = 1;
	node->migrations = 2;
	node->spilled = 3;
	s = snapshot(&b);
	root = report_json(&b, true);
	cr_assert_eq(number(root, "format"), 1);
	cr_assert_eq(number(root, "pid"), 4711);
	cr_assert_str_eq(json_string_value(json_object_get(root, "began")),
			 "2023-11-14T22:13:20Z");
	cr_assert(json_is_null(json_object_get(root, "rank")));
	threads = json_object_get(root, "threads");
	cr_assert_eq(json_array_size(threads), s->thread_count);
	for (uint32_t t = 0; t < s->thread_count; t++) {
		json_t *nodes = json_object_get(json_array_get(threads, t), "nodes");
		uint32_t of = s->threads[t].node_count;

		cr_assert_eq(json_array_size(nodes), of - 1);
		for (uint32_t n = 2; n <= of; n++) {
			json_t *got = json_array_get(nodes, n - 2), *counts, *bins,
			       *quality;

			node = pm_snapshot_node(&s->threads[t], n);
			cr_assert_eq(number(got, "id"), n - 1);
			cr_assert_eq(number(got, "parent"), node->parent - 1);
			cr_assert_eq(number(got, "entered"), node->entered);
			cr_assert_eq(number(got, "visits"), node->sequence / 2);
			cr_assert_eq(number(got, "time_ticks"), node->time_ticks);
			cr_assert_eq(number(got, "min_ticks"), node->time_min);
			cr_assert_eq(number(got, "max_ticks"), node->time_max);
			cr_assert_eq(number(got, "off_cpu_ns"), node->off_cpu_ns);
			quality = json_object_get(got, "quality");
			cr_assert_eq(number(quality, "retries"), node->retries);
			cr_assert_eq(number(quality, "migrations"), node->migrations);
			cr_assert_eq(number(quality, "spilled"), node->spilled);
			bins = json_object_get(got, "histogram");
			for (size_t i = 0; i < PERFMON_PROFILE_BINS; i++)
				cr_assert_eq(json_integer_value(json_array_get(bins, i)),
					     node->histogram[i]);
			counts = json_object_get(got, "counts");
			for (uint32_t c = 0; c < 3; c++) {
				json_t *value = json_array_get(counts, c);

				if (s->threads[t].record.status[c] <= 0) {
					cr_assert(json_is_null(
						json_object_get(value, "sum")));
					cr_assert_str_eq(
						json_string_value(
							json_object_get(value, "status")),
						"never opened");
					continue;
				}
				cr_assert_eq(number(value, "sum"), node->count[c].sum);
				cr_assert_eq(number(value, "lost_ns"),
					     node->count[c].lost_ns);
			}
		}
	}
	cr_assert_eq(number(json_object_get(root, "lost"), "too_deep"), 0);
	pm_snapshot_free(s);
	json_decref(root);
	builder_end(&b);
}

/* A thread's first visit may have been counted when its extremes were not there yet. */
Test(report, json_has_no_extremes_that_are_not_known)
{
	struct profile_builder b;
	struct perfmon_profile_node *node;
	json_t *root, *got;

	sample(&b);
	node = builder_node(&b, builder_tree(&b, 77, 1, 3, 2), 1, 3);
	builder_visit(node, 10);
	node->time_min = UINT64_MAX;
	node->time_max = 0;
	root = report_json(&b, false);
	got = json_array_get(json_object_get(root, "nodes"),
			     json_array_size(json_object_get(root, "nodes")) - 1);
	cr_assert_eq(number(got, "measured"), 1);
	cr_expect(json_is_null(json_object_get(got, "min_ticks")));
	cr_expect(json_is_null(json_object_get(got, "max_ticks")));
	cr_expect(json_is_null(json_object_get(got, "p95_ticks")));
	json_decref(root);
	builder_end(&b);
}

Test(report, json_does_not_depend_on_the_locale)
{
	static const char *const locales[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
	struct profile_builder b;
	json_t *root;
	size_t i;

	for (i = 0; i < 3 && !setlocale(LC_ALL, locales[i]); i++)
		;
	if (i == 3)
		cr_skip_test("no locale with a decimal comma is installed");
	sample(&b);
	root = report_json(&b, true);
	json_decref(root);
	builder_end(&b);
}
#endif

/* Whatever a profile holds, no report falls over and JSON stays JSON. */
Test(report, of_any_bytes)
{
#ifdef __x86_64__
	unsigned int rounds = 3000;
#else
	unsigned int rounds = 500; /* an emulated machine, most likely */
#endif
	uint64_t state = 4101842887655102017u;
	struct profile_builder b;
	unsigned char *bad;
	size_t used;

	if (getenv("PERFMON_TEST_LONG"))
		rounds = 200000;
	sample(&b);
	used = builder_used(&b);
	bad = malloc(used);
	for (unsigned int i = 0; i < rounds; i++) {
		struct pm_report_options options = {.per_thread = true,
						    .subtract_bias = i & 1,
						    .format = (enum pm_format)(i % 4)};
		struct report_kept text = {NULL, 0};
		struct pm_snapshot *s;

		memcpy(bad, b.base, used);
		for (int change = 0; change < 6; change++) {
			uint64_t value;

			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			value = state % 3 ? state : state % 3 ? UINT64_MAX : INT64_MAX;
			memcpy(bad + (state >> 8) % (used - 8), &value, 1u << state % 4);
		}
		if (pm_snapshot_take(bad, used, &s, NULL))
			continue;
		cr_assert_eq(pm_report_write(s, &options, report_keep, &text), 0);
#ifdef HAVE_JANSSON
		if (options.format == PM_FORMAT_JSON) {
			json_error_t error;
			/* Counters of a hostile profile may exceed jansson's 63 bits. */
			json_t *root =
				json_loads(text.text, JSON_DECODE_INT_AS_REAL, &error);

			cr_assert(root, "%s at %d in\n%s", error.text, error.position,
				  text.text);
			json_decref(root);
		}
#endif
		free(text.text);
		pm_snapshot_free(s);
	}
	free(bad);
	builder_end(&b);
}

static int refuse(void *argument, const char *text, size_t size)
{
	(void)text;
	(void)size;
	++*(int *)argument;
	return -ENOSPC;
}

Test(report, a_sinks_error_ends_it)
{
	struct pm_report_options options = {.format = PM_FORMAT_JSON, .per_thread = true};
	struct profile_builder b;
	struct pm_snapshot *s;
	int calls = 0;

	sample(&b);
	s = snapshot(&b);
	cr_assert_eq(pm_report_write(s, &options, refuse, &calls), -ENOSPC);
	cr_assert_eq(calls, 1);
	pm_snapshot_free(s);
	builder_end(&b);
}

/* --- where it goes ------------------------------------------------------------------ */

static char folder[32];

static char *file_text(const char *path)
{
	static char text[1 << 16];
	FILE *file = fopen(path, "r");
	size_t n;

	cr_assert(file, "%s", path);
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = '\0';
	fclose(file);
	return text;
}

/* The exit report of OPTIONS, with stderr at FD; what that came to. */
static int at_exit_to(const struct pm_options *options, bool forked, int fd)
{
	struct profile_builder b;
	struct pm_snapshot *s;
	int saved, err;

	sample(&b);
	s = snapshot(&b);
	saved = dup(2);
	dup2(fd, 2);
	close(fd);
	err = pm_report_at_exit(s, options, NULL, forked, NULL);
	dup2(saved, 2);
	close(saved);
	pm_snapshot_free(s);
	builder_end(&b);
	return err;
}

/* Whether that is a file of a folder, which is made. */
static bool into_folder;

/* The exit report for PERFMON_OUTPUT=OUTPUT below the folder; what went to stderr. */
static char *at_exit(const char *output, bool forked)
{
	struct pm_options options;
	char path[4096], errors[64];

	snprintf(path, sizeof(path), "%s/%s", folder, output);
	snprintf(errors, sizeof(errors), "%s/stderr", folder);
	pm_options_default(&options);
	options.output = PM_OUTPUT_PATH;
	options.output_path = path;
	options.output_folder = into_folder;
	cr_assert_eq(at_exit_to(&options, forked,
				open(errors, O_RDWR | O_CREAT | O_TRUNC, 0600)),
		     0);
	return file_text(errors);
}

static void enter_folder(void)
{
	make_folder(folder, sizeof(folder));
	cr_assert_eq(chdir(folder), 0);
}

static void leave_folder(void)
{
	cr_assert_eq(chdir("/"), 0);
	remove_folder(folder);
}

Test(report, goes_into_a_file, .init = enter_folder, .fini = leave_folder)
{
	struct stat st;

	umask(022);
	cr_assert_str_eq(at_exit("out.%p.%h", false), "");
	cr_assert(strstr(file_text("out.4711.node7"), "main "));
	cr_assert_eq(stat("out.4711.node7", &st), 0);
	cr_assert_eq(st.st_mode & 07777, 0644);
	/* Overwritten, not added to. */
	cr_assert_str_eq(at_exit("out.%p.%h", false), "");
	cr_assert_eq(stat("out.4711.node7", &st) ? 0 : (long)st.st_size,
		     (long)strlen(file_text("out.4711.node7")));
}

Test(report, of_a_forked_child_has_its_own_file, .init = enter_folder,
     .fini = leave_folder)
{
	at_exit("plain", true);
	cr_assert(strstr(file_text("plain.4711"), "main "));
	at_exit("with.%p", true);
	cr_assert(strstr(file_text("with.4711"), "main "));
	at_exit("percent.%%p", true);
	cr_assert(strstr(file_text("percent.%p.4711"), "main "));
}

Test(report, that_cannot_be_written_goes_to_stderr, .init = enter_folder,
     .fini = leave_folder)
{
	char *errors;

	errors = at_exit("no/such/folder", false);
	cr_assert(strstr(errors, "main "));
	cr_assert(strstr(errors, "no/such/folder' (No such file or directory): the "
				 "report is here instead"));
	cr_assert_eq(symlink("target", "link"), 0);
	errors = at_exit("link", false);
	cr_assert(strstr(errors, "main ") &&
		  strstr(errors, "the path is a symbolic link"));
	cr_assert_eq(access("target", F_OK), -1);
	cr_assert_eq(mkfifo("fifo", 0600), 0);
	errors = at_exit("fifo", false);
	cr_assert(strstr(errors, "main ") && strstr(errors, "nobody reads this FIFO"));
	cr_assert_eq(mkdir("folder", 0700), 0);
	errors = at_exit("folder", false);
	cr_assert(strstr(errors, "main ") && strstr(errors, "Is a directory"));
}

/* The hook refuses call number `turn` of its kind with `error`. */
static struct {
	enum pm_kernel_call call;
	int turn, error;
} refusal;

static int refuse_call(enum pm_kernel_call call)
{
	return call == refusal.call && !refusal.turn-- ? refusal.error : 0;
}

static void refuse_from_now(enum pm_kernel_call call, int turn, int error)
{
	refusal.call = call;
	refusal.turn = turn;
	refusal.error = error;
	pm_kernel_fault = refuse_call;
}

static char *at_exit_refused(const char *output, enum pm_kernel_call call, int error)
{
	char *errors;

	refuse_from_now(call, 0, error);
	errors = at_exit(output, false);
	pm_kernel_fault = NULL;
	return errors;
}

static unsigned int files_in_folder(void)
{
	DIR *directory = opendir(folder);
	unsigned int count = 0;

	while (readdir(directory))
		count++;
	closedir(directory);
	return count - 2;
}

static void write_old(const char *name, mode_t mode)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	cr_assert_eq(fchmod(fd, mode), 0);
	cr_assert_eq(write(fd, "old\n", 4), 4);
	close(fd);
}

static int never_ready(enum pm_kernel_call call)
{
	return call == PM_CALL_POLL ? -EINTR : 0;
}

Test(report, an_older_file_is_replaced_by_a_whole_one_or_not_at_all, .init = enter_folder,
     .fini = leave_folder)
{
	static const struct {
		enum pm_kernel_call call;
		int error;
		const char *why;
	} rows[] = {
		{PM_CALL_WRITE, -ENOSPC,
		 "old' (No space left on device): the report is here"},
		{PM_CALL_RENAME, -EIO, "old' (Input/output error): the report is here"},
	};
	struct stat before, after;
	char *errors;

	write_old("old", 0640);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		errors = at_exit_refused("old", rows[i].call, rows[i].error);
		cr_assert(strstr(errors, "main ") && strstr(errors, rows[i].why), "%s",
			  errors);
		cr_assert_str_eq(file_text("old"), "old\n");
		cr_assert_eq(files_in_folder(), 2);
		/* Nor is an empty one left where there was none. */
		at_exit_refused("new", rows[i].call, rows[i].error);
		cr_assert_eq(files_in_folder(), 2);
	}
	cr_assert_eq(stat("old", &before), 0);
	cr_assert_str_eq(at_exit("old", false), "");
	cr_assert(strstr(file_text("old"), "main "));
	cr_assert_eq(stat("old", &after), 0);
	cr_assert_eq(after.st_mode, before.st_mode);
	cr_assert_neq(after.st_ino, before.st_ino);
	cr_assert_eq(files_in_folder(), 2);
	/* The rights of what stood there are not the report's. */
	write_old("old", 06755);
	cr_assert_str_eq(at_exit("old", false), "");
	cr_assert_eq(stat("old", &after), 0);
	cr_assert_eq(after.st_mode & 07777, 0755);
}

Test(report, a_missing_folder_is_made_or_the_report_is_here, .init = enter_folder,
     .fini = leave_folder)
{
	const char *why = "new/out' (No such file or directory): the report is here";

	into_folder = true;
	cr_assert(strstr(at_exit_refused("new/out", PM_CALL_MKDIR, -EACCES), why));
	cr_assert_eq(files_in_folder(), 1);
	cr_assert_str_eq(at_exit("new/out", false), "");
	cr_assert(strstr(file_text("new/out"), "main "));
	/* Only where the path is said to be a folder. */
	into_folder = false;
	cr_assert(strstr(at_exit("other/out", false), "other/out' (No such file"));
	cr_assert_eq(unlink("new/out"), 0);
	cr_assert_eq(rmdir("new"), 0);
}

Test(report, where_no_file_can_be_made_the_older_one_is_written, .init = enter_folder,
     .fini = leave_folder)
{
	static const struct {
		enum pm_kernel_call call;
		int turn, error;
	} rows[] = {
		/* The first open looks at it, the second opens it, the third makes
		   another. */
		{PM_CALL_OPEN, 2, -EACCES},
		/* Others could read the new one. */
		{PM_CALL_FCHMOD, 0, -EPERM},
		/* It would be somebody else's. */
		{PM_CALL_FCHOWN, 0, -EPERM},
	};
	struct pm_report_file file;
	struct stat before, after;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		write_old("old", 0600);
		/* Which only root can make of it. */
		if (rows[i].call == PM_CALL_FCHOWN && chown("old", 1, (gid_t)-1))
			continue;
		cr_assert_eq(stat("old", &before), 0);
		refuse_from_now(rows[i].call, rows[i].turn, rows[i].error);
		cr_assert_eq(pm_report_file_open(&file, "old", false), 0);
		pm_kernel_fault = NULL;
		cr_assert_eq(pm_report_fd_write(&file.fd, "new", 3), 0);
		cr_assert_str_eq(file_text("old"), "old\n");
		cr_assert_eq(pm_report_file_end(&file, -EIO), -EIO);
		cr_assert_str_eq(file_text("old"), "old\n");
		refuse_from_now(rows[i].call, rows[i].turn, rows[i].error);
		cr_assert_eq(pm_report_file_open(&file, "old", false), 0);
		pm_kernel_fault = NULL;
		cr_assert_eq(pm_report_fd_write(&file.fd, "new", 3), 0);
		cr_assert_eq(pm_report_file_end(&file, 0), 0);
		cr_assert_eq(stat("old", &after), 0);
		cr_assert_eq(after.st_ino, before.st_ino);
		cr_assert_str_eq(file_text("old"), "new");
		cr_assert_eq(files_in_folder(), 1);
	}
	/* A disk that is full has no room for its text either. */
	write_old("old", 0600);
	refuse_from_now(PM_CALL_OPEN, 2, -ENOSPC);
	cr_assert_eq(pm_report_file_open(&file, "old", false), -ENOSPC);
	pm_kernel_fault = NULL;
	cr_assert_str_eq(file_text("old"), "old\n");
}

/* Without a handler the signal ends the program. */
Test(report, beyond_the_limit_of_a_file_raises_no_signal, .init = enter_folder,
     .fini = leave_folder)
{
	struct rlimit old, small;
	struct pm_options options;
	char text[16384] = "", path[64];
	sigset_t pending;
	int ends[2], saved, fd;

	snprintf(path, sizeof(path), "%s/old", folder);
	write_old(path, 0600);
	pm_options_default(&options);
	options.output_path = path;
	cr_assert_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = 100;
	for (int to_stdout = 0; to_stdout < 2; to_stdout++) {
		options.output = to_stdout ? PM_OUTPUT_STDOUT : PM_OUTPUT_PATH;
		cr_assert_eq(pipe(ends), 0);
		fflush(stdout);
		saved = dup(1);
		fd = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
		dup2(fd, 1);
		close(fd);
		cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
		cr_assert_eq(at_exit_to(&options, false, ends[1]), 0);
		cr_assert_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
		dup2(saved, 1);
		close(saved);
		cr_assert_gt(read(ends[0], text, sizeof(text) - 1), 0);
		close(ends[0]);
		cr_assert(strstr(text, "main ") &&
				  strstr(text, "(File too large): the report is here"),
			  "%s", text);
	}
	cr_assert_str_eq(file_text("old"), "old\n");
	cr_assert_eq(sigpending(&pending), 0);
	cr_assert(!sigismember(&pending, SIGXFSZ));
}

/* The terminal of a shell is open for reading, too; a program may open it again to write. */
Test(report, to_the_same_stderr_in_another_mode, .init = enter_folder,
     .fini = leave_folder)
{
	struct pm_options options;
	int first = open("errors", O_RDWR | O_CREAT, 0600), saved = dup(2);

	pm_options_default(&options);
	cr_assert_geq(first, 0);
	dup2(first, 2);
	pm_standard_learn();
	cr_assert_eq(at_exit_to(&options, false, open("errors", O_WRONLY)), 0);
	cr_assert(strstr(file_text("errors"), "main "));
	/* Another file is not that of the report. */
	at_exit_to(&options, false, open("data", O_WRONLY | O_CREAT, 0600));
	dup2(saved, 2);
	cr_assert_str_eq(file_text("data"), "");
}

/* A path may be longer than a name below /proc. */
Test(report, reads_a_file_of_a_long_path, .init = enter_folder, .fini = leave_folder)
{
	char path[3001], *text;
	FILE *file = fopen("notes", "w");

	fputs("here\n", file);
	fclose(file);
	for (size_t i = 0; i < 2994; i += 2)
		memcpy(path + i, "./", 2);
	memcpy(path + 2994, "/notes", 7);
	cr_assert_eq(pm_file_read(path, &text), 4, "%zu", strlen(path));
	cr_assert_str_eq(text, "here");
	free(text);
}

/* Somebody has opened the FIFO, and reads nothing. */
Test(report, to_a_fifo_that_is_not_read_does_not_hang, .init = enter_folder,
     .fini = leave_folder)
{
	char *errors, byte = 0;
	int fd;

	cr_assert_eq(mkfifo("fifo", 0600), 0);
	fd = open("fifo", O_RDWR | O_NONBLOCK);
	cr_assert_geq(fd, 0);
	while (write(fd, &byte, 1) == 1)
		;
	/* Each wait ends at once. */
	pm_kernel_fault = never_ready;
	alarm(60);
	errors = at_exit("fifo", false);
	alarm(0);
	pm_kernel_fault = NULL;
	cr_assert(strstr(errors, "main ") && strstr(errors, "nobody reads the output"),
		  "%s", errors);
	close(fd);
}

Test(report, to_a_closed_pipe_raises_no_signal)
{
	struct pm_report_options options = {0};
	struct profile_builder b;
	struct pm_snapshot *s;
	int ends[2];

	sample(&b);
	s = snapshot(&b);
	cr_assert_eq(pipe(ends), 0);
	close(ends[0]);
	cr_assert_eq(pm_report_write_fd(s, &options, ends[1]), -EPIPE);
	close(ends[1]);
	cr_assert_eq(pm_report_write_fd(s, &options, ends[1]), -EBADF);
	pm_snapshot_free(s);
	builder_end(&b);
}
