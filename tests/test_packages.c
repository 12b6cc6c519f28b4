/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events of packages: opened once, read around regions, and never added up over threads. No machine
 * of the tests has a PMU of energy. A recorded one stands in, whose event is the kernel's cpu-clock
 * on CPU 0: it counts for real, one Joule a second. So a value in Joules is a time in seconds, which
 * other clocks bound.
 */
#include "config.h"

#include "core/packages/packages.h"
#include "core/report/merge/join.h"
#include "core/report/merge/merge.h"
#include "core/report/model/value.h"
#include "helpers.h"
#include "kernel_calls.h"
#include "perfmon/team.h"
#include "region_probe.h"
#include "tree.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include "report_text.h"

#define PMU "/sys/bus/event_source/devices/power/"
#define PKG "power/energy-pkg/"

/* The two clocks of a bound are apart by no more. */
#define APART 1e-3

static void describe(void)
{
	char path[96];

	tree_new();
	tree_write(PMU "type", "1");
	tree_write(PMU "cpumask", "0");
	tree_write(PMU "format/event", "config:0-63");
	tree_write(PMU "events/energy-pkg", "event=0x00");
	tree_write(PMU "events/energy-pkg.scale", "1e-9");
	tree_write(PMU "events/energy-pkg.unit", "Joules");
	tree_write(PMU "events/energy-psys", "event=0x00");
	tree_write(PMU "events/energy-psys.scale", "1e-9");
	tree_write(PMU "events/energy-psys.unit", "Joules");
	tree_write("/sys/devices/system/cpu/online", "0");
	for (int cpu = 0; cpu < 256; cpu++) {
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%d/topology/physical_package_id",
			 cpu);
		tree_write(path, "0");
	}
}

static void init(void)
{
	probe_quiet();
	setenv("PERFMON_EVENTS", PKG, 1);
	describe();
}

TestSuite(packages, .init = init, .fini = tree_remove, .timeout = 120);

/* Opens the event, or skips. */
static struct pm_packages *open_power(struct pm_event_list **list)
{
	struct pm_packages *packages = NULL;
	struct pm_diag diag = {0};
	int error[1], n;

	cr_assert_eq(pm_events_parse(PKG, 0, list, &diag), 0, "%s", diag.text);
	n = pm_packages_open(&packages, (*list)->events, 1, error, &diag);
	if (n <= 0) {
		pm_packages_close(packages);
		pm_events_free(*list);
		tree_remove();
		cr_skip_test("no event on a CPU: %s", diag.text);
	}
	return packages;
}

static void require_power(void)
{
	struct pm_event_list *list;

	pm_packages_close(open_power(&list));
	pm_events_free(list);
}

static double clock_s(void)
{
	return (double)now_ns(CLOCK_MONOTONIC) / 1e9;
}

static void work_s(double s)
{
	work_for_ns(CLOCK_MONOTONIC, (uint64_t)(s * 1e9));
}

/* Row: QU-06: it counts what happens on the CPU, and is bounded by the clocks around its readings. */
Test(packages, an_event_counts_on_its_own_cpu)
{
	struct pm_packages_reading first, second;
	struct pm_event_list *list;
	struct pm_packages *packages = open_power(&list);
	double before, begun, ended, after, counted;
	char place[64];

	before = clock_s();
	pm_packages_read(packages, &first);
	begun = clock_s();
	work_s(0.02);
	ended = clock_s();
	pm_packages_read(packages, &second);
	after = clock_s();
	counted = (double)(second.event[0].value - first.event[0].value) / 1e9;
	cr_expect(first.valid & 1 && second.valid & 1);
	cr_expect_geq(counted, (ended - begun) * (1 - APART));
	cr_expect_leq(counted, (after - before) * (1 + APART));
	pm_packages_place(packages, place, sizeof(place));
	cr_expect_str_eq(place, "package 0");
	pm_packages_close(packages);
	pm_events_free(list);
}

/* Row: QU-06: who else ran is told from the CPU time of the package, and not where that is little. */
Test(packages, whose_a_count_is)
{
	struct pm_packages_use use;
	struct pm_event_list *list;
	struct pm_packages *packages;
	char text[96];

	tree_write("/proc/stat", "cpu  9 9 9 9\ncpu0 100 10 5 7000 3000 2 3 50 100 0\n"
				 "cpu1 900 0 0 0 0 0 0 0 0 0\nintr 5");
	packages = open_power(&list);
	tree_write("/proc/stat", "cpu  9 9 9 9\ncpu0 300 10 5 8000 4000 2 3 90 100 0\n"
				 "cpu1 950 0 0 0 0 0 0 0 0 0\nintr 5");
	pm_packages_use(packages, &use);
	/* Time idle, waiting and of another machine's guest is no work; CPU 1 is not online. */
	cr_expect_eq(use.busy_ns, UINT64_C(2000000000));
	cr_expect_leq(use.own_ns, now_ns(CLOCK_PROCESS_CPUTIME_ID));
	pm_packages_close(packages);
	pm_events_free(list);
	cr_expect_eq(pm_packages_who(false, 0, 100000000), PM_PACKAGES_UNKNOWN);
	cr_expect_eq(pm_packages_who(false, 960000000, 1000000000), PM_PACKAGES_ALONE);
	cr_expect_eq(pm_packages_who(false, 1010000000, 1000000000), PM_PACKAGES_ALONE);
	cr_expect_eq(pm_packages_who(false, 940000000, 1000000000), PM_PACKAGES_SHARED);
	cr_expect_eq(pm_packages_who(true, 960000000, 1000000000), PM_PACKAGES_MACHINE);
	pm_packages_who_text(PM_PACKAGES_SHARED, 1, 4, text, sizeof(text));
	cr_expect_str_eq(text, "shared with others (25 % of the CPU time was its own)");
}

/* Row: QU-06: on a machine with two packages the event is opened in those of this process. */
Test(packages, only_where_the_process_may_run)
{
	struct pm_event_list *list;
	struct pm_packages *packages = NULL;
	struct pm_diag diag = {0};
	int error[1];

	tree_write(PMU "cpumask", "0,300");
	tree_write("/sys/devices/system/cpu/online", "0-3,300");
	tree_write("/sys/devices/system/cpu/cpu300/topology/physical_package_id", "1");
	/* CPU 300 is not on this machine, where opening it fails. */
	packages = open_power(&list);
	pm_packages_close(packages);
	tree_write(PMU "cpumask", "300");
	pm_events_free(list);
	cr_assert_eq(pm_events_parse(PKG, 0, &list, NULL), 0);
	cr_expect_eq(pm_packages_open(&packages, list->events, 1, error, &diag), 0);
	cr_expect_eq(error[0], -ENODEV);
	cr_expect(strstr(diag.text, "'power' counts on CPUs 300"), "%s", diag.text);
	pm_packages_close(packages);
	pm_events_free(list);
}

/* Row: QU-06: a refusal says what refuses, and what would help; regions are timed on. */
Test(packages, a_refusal_says_why)
{
	struct pm_snapshot *s;
	const char *note;

	tree_write("/proc/sys/kernel/perf_event_paranoid", "2");
	tree_write("/proc/self/status",
		   "Name:\tx\nCapEff:\t0000000000000000\nSeccomp:\t0");
	fail_calls(PM_CALL_PERF_EVENT_OPEN, -EACCES, 0);
	PERFMON_REGION_BEGIN("refused");
	PERFMON_REGION_END("refused");
	unwatch_calls();
	s = probe_take();
	note = probe_note(s, PKG);
	cr_assert_not_null(note);
	cr_expect(strstr(note, "kernel.perf_event_paranoid"), "%s", note);
	cr_expect(s->counters[0].flags & PERFMON_PROFILE_COUNTER_REFUSED);
	cr_expect(s->counters[0].flags & PERFMON_PROFILE_COUNTER_PACKAGE);
	cr_expect_eq(probe_visits(s, "refused"), 1);
	pm_snapshot_free(s);
}

/* --- regions --------------------------------------------------------------------------- */

/* A report's numbers of the process so far. */
struct look {
	struct pm_snapshot *s;
	struct pm_report_model model;
	struct pm_report_tree tree;
};

static void look_at(struct look *look, struct pm_snapshot *s)
{
	look->s = s;
	cr_assert_eq(pm_report_model_make(&look->model, s, false, NULL), 0);
	cr_assert_eq(pm_report_tree_make(&look->tree, &look->model, NULL, 0), 0);
}

static void look_end(struct look *look)
{
	pm_report_tree_free(&look->tree);
	pm_report_model_free(&look->model);
}

/* Returns the value of the first event in the region NAME; NULL: in all. */
static struct pm_value value_of(const struct look *look, const char *name, bool exclusive)
{
	uint32_t n = name ? 1 : 0;

	while (name && n < look->tree.node_count &&
	       strcmp(pm_path_name(&look->tree, n), name))
		n++;
	cr_assert_lt(n, look->tree.node_count, "%s", name);
	return pm_report_count(&look->tree, n, 0, exclusive);
}

static pthread_barrier_t at_once;

static void *work_at_once(void *token)
{
	PERFMON_TEAM_SCOPE((const struct perfmon_token *)token);
	PERFMON_REGION_BEGIN("work");
	pthread_barrier_wait(&at_once);
	work_s(0.05);
	pthread_barrier_wait(&at_once);
	PERFMON_REGION_END("work");
	return NULL;
}

/* Row: QU-06: threads in a region at once: its value is of the time in which any was there, and no
 * sum of them. What a thread or the outer region alone used of it is not said. */
Test(packages, threads_at_once_share_one_value)
{
	struct perfmon_token here;
	double before, after;
	struct pm_value value;
	struct look look;
	pthread_t thread[4];

	require_power();
	pthread_barrier_init(&at_once, NULL, 4);
	before = clock_s();
	PERFMON_REGION_BEGIN("solve");
	perfmon_region_token(&here);
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, work_at_once, &here);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	PERFMON_REGION_END("solve");
	after = clock_s();
	look_at(&look, probe_take());
	value = value_of(&look, "work", false);
	cr_expect_eq(value.state, PM_COUNTED);
	cr_expect_geq(value.value / 1e9, 0.05 * (1 - APART));
	cr_expect_leq(value.value, value_of(&look, "solve", false).value);
	cr_expect_leq(value_of(&look, "solve", false).value / 1e9,
		      (after - before) * (1 + APART));
	cr_expect_leq(value_of(&look, NULL, false).value / 1e9,
		      (after - before) * (1 + APART));
	cr_expect_eq(value_of(&look, "work", true).value, value.value);
	cr_expect_eq(value_of(&look, "solve", true).state, PM_NOT_SAID);
	pm_report_tree_free(&look.tree);
	cr_assert_eq(
		pm_report_tree_make(&look.tree, &look.model, (const uint32_t[]){0}, 1),
		0);
	for (uint32_t n = 0; n < look.tree.node_count; n++)
		cr_expect_neq(pm_report_count(&look.tree, n, 0, false).state, PM_COUNTED);
	look_end(&look);
	pm_snapshot_free(look.s);
}

/* Row: QU-06: one thread: a region and the regions inside of it; power; visits that are shorter than
 * the steps of such a counter are marked. */
Test(packages, one_thread_nests)
{
	struct pm_value outer, inner, tiny;
	struct look look;

	require_power();
	PERFMON_REGION_BEGIN("outer");
	work_s(0.02);
	PERFMON_REGION_BEGIN("inner");
	work_s(0.03);
	PERFMON_REGION_END("inner");
	PERFMON_REGION_END("outer");
	for (int i = 0; i < 100; i++) {
		PERFMON_REGION_BEGIN("tiny");
		PERFMON_REGION_END("tiny");
	}
	look_at(&look, probe_take());
	outer = value_of(&look, "outer", false);
	inner = value_of(&look, "inner", false);
	tiny = value_of(&look, "tiny", false);
	cr_expect_geq(inner.value / 1e9, 0.03 * (1 - APART));
	cr_expect_geq(outer.value - inner.value, 0.02e9 * (1 - APART));
	cr_expect_eq(value_of(&look, "outer", true).value, outer.value - inner.value);
	cr_expect_not(inner.marks & PM_MARK_COARSE);
	cr_expect(tiny.marks & PM_MARK_COARSE);
	cr_assert_eq(look.model.metric_count, 1);
	cr_expect_str_eq(look.model.metrics[0].metric->name, "watts");
	for (uint32_t n = 1; n < 3; n++)
		cr_expect_float_eq(pm_report_metric(&look.tree, n, 0, false).value, 1,
				   0.2);
	look_end(&look);
	pm_snapshot_free(look.s);
}

static pthread_barrier_t one_in, other_ended;

static void *stay(void *token)
{
	PERFMON_TEAM_SCOPE((const struct perfmon_token *)token);
	PERFMON_REGION_BEGIN("work");
	pthread_barrier_wait(&one_in);
	pthread_barrier_wait(&other_ended);
	PERFMON_REGION_END("work");
	return NULL;
}

/* Row: QU-06: where some thread is always in a region, what ended there is told before the last leaves. */
Test(packages, told_while_others_stay)
{
	struct perfmon_token here;
	struct look look;
	pthread_t thread;

	require_power();
	pthread_barrier_init(&one_in, NULL, 2);
	pthread_barrier_init(&other_ended, NULL, 2);
	PERFMON_REGION_BEGIN("solve");
	perfmon_region_token(&here);
	pthread_create(&thread, NULL, stay, &here);
	pthread_barrier_wait(&one_in);
	PERFMON_REGION_BEGIN("work");
	work_s(0.02);
	PERFMON_REGION_END("work");
	look_at(&look, probe_take());
	cr_expect_geq(value_of(&look, "work", false).value, 0.02e9 * (1 - APART));
	cr_expect(value_of(&look, "work", false).marks & PM_MARK_IN_FLIGHT);
	look_end(&look);
	pm_snapshot_free(look.s);
	pthread_barrier_wait(&other_ended);
	pthread_join(thread, NULL);
	PERFMON_REGION_END("solve");
}

static sigjmp_buf back;

static void jump(int signal)
{
	(void)signal;
	siglongjmp(back, 1);
}

/* Row: QU-06: a handler that jumps out of a reading does not end the counting of its thread. */
Test(packages, a_jump_out_of_a_reading)
{
	const struct sigaction action = {.sa_handler = jump};
	struct pm_value value;
	struct look look;
	volatile int jumps = 0;

	require_power();
	sigaction(SIGALRM, &action, NULL);
	while (jumps < 20) {
		struct itimerval soon = {.it_value.tv_usec = 500 + 37 * jumps};

		if (sigsetjmp(back, 1)) {
			jumps++;
			continue;
		}
		setitimer(ITIMER_REAL, &soon, NULL);
		for (;;) {
			PERFMON_REGION_BEGIN("read");
			PERFMON_REGION_END("read");
		}
	}
	PERFMON_REGION_BEGIN("after");
	work_s(0.02);
	PERFMON_REGION_END("after");
	look_at(&look, probe_take());
	value = value_of(&look, "after", false);
	cr_expect_eq(value.state, PM_COUNTED);
	cr_expect_geq(value.value, 0.02e9 * (1 - APART));
	look_end(&look);
	pm_snapshot_free(look.s);
}

/* Row: QU-06: steps are those of one thread, and have no value of packages. */
Test(packages, steps_have_none)
{
	struct pm_report_tree tree;
	bool apart[16];
	struct look look;

	require_power();
	setenv("PERFMON_STEPS", "loop", 1);
	for (int i = 0; i < 5; i++) {
		PERFMON_REGION_BEGIN("loop");
		work_s(0.001);
		PERFMON_REGION_END("loop");
	}
	look_at(&look, probe_take());
	cr_assert_eq(look.s->steps_count, 1);
	memset(apart, true, sizeof(apart));
	cr_assert_eq(pm_report_tree_steps(&tree, &look.model, look.s->steps, apart), 0);
	cr_expect_eq(tree.node_count, 6);
	for (uint32_t n = 1; n < tree.node_count; n++) {
		cr_expect_eq(pm_report_count(&tree, n, 0, false).state, PM_NOT_SAID);
		cr_expect_neq(pm_report_metric(&tree, n, 0, false).state, PM_COUNTED);
	}
	pm_report_tree_free(&tree);
	cr_expect_eq(value_of(&look, "loop", false).state, PM_COUNTED);
	look_end(&look);
	pm_snapshot_free(look.s);
}

/* Row: QU-06: the values of another run stand with their own time, in all, and beside steps. */
Test(packages, joined_to_the_times_of_another_run)
{
	const struct pm_join_run run = {.name = "other"};
	struct pm_merge *merge;
	struct pm_report_tree tree;
	bool apart[16];
	struct pm_snapshot *s;
	struct look look;
	double all;
	char *text;

	require_power();
	setenv("PERFMON_STEPS", "loop", 1);
	for (int i = 0; i < 5; i++) {
		PERFMON_REGION_BEGIN("loop");
		work_s(0.02);
		PERFMON_REGION_END("loop");
	}
	s = probe_take();
	look_at(&look, s);
	all = value_of(&look, NULL, false).value;
	look_end(&look);
	cr_assert_eq(pm_merge_create(&merge, false), 0);
	cr_assert_eq(pm_merge_add(merge, s, NULL), 0);
	cr_assert_eq(pm_merge_end(merge), 0);
	/* The run with the times took three times as long, and did not count. */
	for (uint32_t t = 0; t < s->thread_count; t++)
		s->threads[t].record.status[0] = -EACCES;
	s->plans[0].counters[0].flags |= PERFMON_PROFILE_COUNTER_REFUSED;
	memset(&s->packages, 0, sizeof(s->packages));
	for (uint32_t t = 0; t < s->thread_count; t++)
		for (uint32_t n = 2; n <= s->threads[t].node_count; n++)
			pm_snapshot_node(&s->threads[t], n)->time_ticks *= 3;
	cr_assert_eq(pm_join_add(s, merge, &run, NULL), 0);
	look_at(&look, s);
	cr_assert(look.model.events[0].joined);
	cr_expect_eq(value_of(&look, "loop", false).state, PM_COUNTED);
	cr_expect_eq(value_of(&look, NULL, false).value, all);
	cr_assert_eq(look.model.metric_count, 1);
	cr_expect_float_eq(pm_report_metric(&look.tree, 1, 0, false).value, 1, 0.2);
	memset(apart, true, sizeof(apart));
	cr_assert_eq(pm_report_tree_steps(&tree, &look.model, s->steps, apart), 0);
	cr_expect_eq(tree.node_count, 6);
	pm_report_tree_free(&tree);
	look_end(&look);
	text = report_text(s, &(struct pm_report_options){.top = 0});
	cr_expect(strstr(text, "Joules of package 0 while"), "%s", text);
	free(text);
	pm_merge_free(merge);
	pm_snapshot_free(s);
}

/* Row: QU-06: it is read at BEGIN and END, once for all threads, and not by programs without it. */
Test(packages, what_a_visit_calls)
{
	unsigned int reads;

	require_power();
	for (int i = 0; i < 2; i++) {
		watch_calls();
		PERFMON_REGION_BEGIN("warm");
		PERFMON_REGION_END("warm");
		reads = calls[PM_CALL_READ];
		unwatch_calls();
	}
	cr_expect_eq(reads, 2);
	cr_expect_eq(calls[PM_CALL_PERF_EVENT_OPEN], 0);
}

static void *open_and_close(void *unused)
{
	(void)unused;
	PERFMON_REGION_BEGIN("thread");
	PERFMON_REGION_END("thread");
	return NULL;
}

/* Row: QU-06: no thread opens it again. */
Test(packages, open_once)
{
	require_power();
	PERFMON_REGION_BEGIN("first");
	PERFMON_REGION_END("first");
	watch_calls();
	in_thread(open_and_close, NULL);
	cr_expect_eq(calls[PM_CALL_PERF_EVENT_OPEN], 0);
	unwatch_calls();
}

/* Row: QU-06: time in which it could not be read is no count of 0: the rest is scaled, and marked. */
Test(packages, readings_that_fail)
{
	struct pm_value value;
	struct look look;

	require_power();
	PERFMON_REGION_BEGIN("half");
	work_s(0.02);
	PERFMON_REGION_BEGIN("before");
	PERFMON_REGION_END("before");
	fail_calls(PM_CALL_READ, -EIO, 0);
	PERFMON_REGION_BEGIN("inside");
	work_s(0.02);
	PERFMON_REGION_END("inside");
	unwatch_calls();
	PERFMON_REGION_END("half");
	look_at(&look, probe_take());
	cr_expect_eq(value_of(&look, "inside", false).state, PM_NOT_COUNTED);
	value = value_of(&look, "half", false);
	cr_expect_eq(value.state, PM_COUNTED);
	cr_expect(value.marks & PM_MARK_MULTIPLEXED);
	cr_expect_lt(value.coverage, 0.9);
	cr_expect_geq(value.sum, 0.02e9 * (1 - APART));
	cr_expect_not_null(probe_note(look.s, "cannot be read any more"));
	look_end(&look);
	pm_snapshot_free(look.s);
}

static int child(void)
{
	struct pm_value value;
	struct look look;

	PERFMON_REGION_BEGIN("child");
	work_s(0.02);
	PERFMON_REGION_END("child");
	look_at(&look, probe_take());
	value = value_of(&look, "child", false);
	return value.state == PM_COUNTED && value.value >= 0.02e9 * (1 - APART) ? 0 : 1;
}

/* Row: QU-06: a forked child opens it anew, and the parent's count goes on. */
Test(packages, a_child_counts_by_itself)
{
	struct pm_value value;
	struct look look;

	require_power();
	PERFMON_REGION_BEGIN("parent");
	cr_expect_eq(probe_child(child), 0);
	PERFMON_REGION_END("parent");
	look_at(&look, probe_take());
	value = value_of(&look, "parent", false);
	cr_expect_geq(value.value, 0.02e9 * (1 - APART));
	look_end(&look);
	pm_snapshot_free(look.s);
}

/* Row: QU-06: what was open when regions were disarmed is not counted, also not later. */
Test(packages, disarmed_visits_count_nothing)
{
	struct pm_value value;
	double before, after;
	struct look look;

	require_power();
	PERFMON_REGION_BEGIN("open");
	perfmon_region_disarm();
	work_s(0.05);
	perfmon_region_arm();
	before = clock_s();
	PERFMON_REGION_BEGIN("open");
	work_s(0.01);
	PERFMON_REGION_END("open");
	after = clock_s();
	look_at(&look, probe_take());
	value = value_of(&look, "open", false);
	cr_expect_geq(value.value, 0.01e9 * (1 - APART));
	cr_expect_leq(value.value / 1e9, (after - before) * (1 + APART));
	look_end(&look);
	pm_snapshot_free(look.s);
}

/* Row: QU-06: processes of one host have counted the same packages: their merge has one of them, by
 * path and in all, and says so; with those of another host it is the sum. */
Test(packages, a_merge_takes_one_process_a_host)
{
	struct pm_merge *merge;
	struct pm_snapshot *s;
	double one, all;
	struct look look;
	char *text;

	require_power();
	PERFMON_REGION_BEGIN("rank");
	work_s(0.01);
	PERFMON_REGION_END("rank");
	s = probe_take();
	look_at(&look, s);
	one = value_of(&look, "rank", false).value;
	all = value_of(&look, NULL, false).value;
	look_end(&look);
	cr_assert_eq(pm_merge_create(&merge, false), 0);
	for (int rank = 0; rank < 3; rank++)
		cr_assert_eq(pm_merge_add(merge, s, NULL), 0);
	strcpy(s->header.boot_id, "another");
	strcpy(s->header.host, "another");
	cr_assert_eq(pm_merge_add(merge, s, NULL), 0);
	cr_assert_eq(pm_merge_end(merge), 0);
	look_at(&look, (struct pm_snapshot *)(uintptr_t)pm_merge_sum(merge));
	cr_expect_eq(value_of(&look, "rank", false).value, 2 * one);
	cr_expect_eq(value_of(&look, NULL, false).value, 2 * all);
	cr_expect_eq(pm_path(&look.tree, 1)->visits.ended, 4);
	look_end(&look);
	text = report_text(pm_merge_sum(merge),
			   &(struct pm_report_options){.merge = merge});
	cr_expect(strstr(text,
			 "Joules of packages, by the first process of each host alone"),
		  "%s", text);
	free(text);
	pm_merge_free(merge);
	pm_snapshot_free(s);
}

/* Adds to MERGE the packed sum of a process S of host FIRST and one of host SECOND. */
static void add_two(struct pm_merge *merge, struct pm_snapshot *s, const char *first,
		    const char *second)
{
	struct pm_diag diag = {0};
	struct pm_merge *part;
	size_t size;
	void *bytes;

	cr_assert_eq(pm_merge_create(&part, false), 0);
	strcpy(s->header.boot_id, first);
	cr_assert_eq(pm_merge_add(part, s, NULL), 0);
	strcpy(s->header.boot_id, second);
	cr_assert_eq(pm_merge_add(part, s, NULL), 0);
	cr_assert_eq(pm_merge_pack(part, &bytes, &size), 0);
	cr_assert_eq(pm_merge_add_packed(merge, bytes, size, &diag), 0, "%s", diag.text);
	free(bytes);
	pm_merge_free(part);
}

/* Row: QU-06: sums of several hosts, one of which has been counted, are left out. Who reads the report is told
 * so, unless the host comes again with others. */
Test(packages, a_merge_tells_which_hosts_it_lacks)
{
	struct pm_snapshot *s;

	require_power();
	PERFMON_REGION_BEGIN("rank");
	PERFMON_REGION_END("rank");
	s = probe_take();
	for (int again = 0; again < 2; again++) {
		struct pm_merge *merge;

		cr_assert_eq(pm_merge_create(&merge, false), 0);
		add_two(merge, s, "a", "a");
		add_two(merge, s, "a", "b");
		if (again)
			add_two(merge, s, "b", "c");
		cr_assert_eq(pm_merge_end(merge), 0);
		cr_expect_eq(probe_note(pm_merge_sum(merge),
					"packages are too low: those of 1 host came") !=
				     NULL,
			     !again);
		pm_merge_free(merge);
	}
	pm_snapshot_free(s);
}

/* Row: QU-06: with strides, which skip visits, it is refused with a sentence. */
Test(packages, not_with_strides)
{
	struct pm_snapshot *s;

	setenv("PERFMON_STRIDE", "10", 1);
	PERFMON_REGION_BEGIN("strided");
	PERFMON_REGION_END("strided");
	s = probe_take();
	cr_expect(s->counters[0].flags & PERFMON_PROFILE_COUNTER_REFUSED);
	cr_expect_not_null(probe_note(s, "not possible with PERFMON_STRIDE"));
	pm_snapshot_free(s);
}

/* Row: QU-06: the report says whose a count is, and what counts the machine. */
Test(packages, a_report_says_whose_it_is)
{
	const struct pm_report_options options = {.top = 0};
	struct pm_snapshot *s;
	char *text;

	require_power();
	setenv("PERFMON_EVENTS", PKG ",power/energy-psys/", 1);
	tree_write("/proc/stat", "cpu0 0 0 0 0 0 0 0 0 0 0");
	PERFMON_REGION_BEGIN("region");
	PERFMON_REGION_END("region");
	tree_write("/proc/stat", "cpu0 100000 0 0 0 0 0 0 0 0 0");
	s = probe_take();
	text = report_text(s, &options);
	cr_expect(strstr(text,
			 PKG ": Joules of package 0 while a thread was in the region, "
			     "shared with others ("),
		  "%s", text);
	cr_expect(strstr(text,
			 "energy-psys/: Joules of the machine while a thread was in the "
			 "region, the whole machine's"),
		  "%s", text);
	free(text);
	pm_snapshot_free(s);
}
