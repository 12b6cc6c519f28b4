/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a program says of the work of its regions: sums, largest and last values, over threads, in
 * reports, in formulas and by the reader. */
#include "perfmon/profile.h"
#include "perfmon/quantity.h"
#include "perfmon/team.h"
#include "sums_probe.h"

#include <pthread.h>
#include <signal.h>

TestSuite(quantity, .init = probe_quiet, .timeout = 120);

#define WORKERS 4

static uint32_t column(const struct sums *sums, const char *name)
{
	uint32_t e = 0;

	while (e < sums->model.event_count &&
	       strcmp(sums->model.events[e].name, name) != 0)
		e++;
	cr_assert_lt(e, sums->model.event_count, "there is no column %s", name);
	return e;
}

static uint32_t region(const struct sums *sums, const char *name)
{
	for (uint32_t n = 1; n < sums->tree.node_count; n++)
		if (!strcmp(pm_path_name(&sums->tree, n), name))
			return n;
	return 0;
}

/* Returns the value of a quantity in a region, or -1: nothing was said. */
static double value(const struct sums *sums, const char *name, const char *quantity,
		    bool exclusive)
{
	struct pm_value v = pm_report_count(&sums->tree, region(sums, name),
					    column(sums, quantity), exclusive);

	cr_assert(v.state == PM_COUNTED || v.state == PM_NOT_SAID);
	return v.state == PM_COUNTED ? v.value : -1;
}

static struct pm_value metric(const struct sums *sums, const char *name, const char *of)
{
	for (uint32_t m = 0; m < sums->model.metric_count; m++)
		if (!strcmp(sums->model.metrics[m].metric->name, of))
			return pm_report_metric(&sums->tree, region(sums, name), m,
						false);
	return (struct pm_value){.state = PM_NEVER_OPENED};
}

static void work(uint64_t n)
{
	PERFMON_REGION_BEGIN("inner");
	PERFMON_REGION_ADD("bytes", "B", n);
	PERFMON_REGION_MAXIMUM("residual", "", 100 - n);
	PERFMON_REGION_LAST("step", "", n);
	PERFMON_REGION_END("inner");
}

/* Row: FO-05: the innermost open visit has what was said, inclusive values have what is below. */
Test(quantity, belongs_to_the_innermost_visit)
{
	struct sums sums;

	setenv("PERFMON_EVENTS", "none", 1);
	PERFMON_REGION_BEGIN("outer");
	PERFMON_REGION_ADD("bytes", "B", 1000);
	for (uint64_t i = 1; i <= 10; i++)
		work(i);
	PERFMON_REGION_ADD("bytes", "B", 2000);
	PERFMON_REGION_END("outer");
	PERFMON_REGION_BEGIN("silent");
	PERFMON_REGION_END("silent");
	sums_take(&sums);
	cr_expect_eq(value(&sums, "inner", "bytes", false), 55);
	cr_expect_eq(value(&sums, "outer", "bytes", false), 3055);
	cr_expect_eq(value(&sums, "outer", "bytes", true), 3000);
	cr_expect_eq(value(&sums, "inner", "residual.max", true), 99);
	/* That is no part of what is around it. */
	cr_expect_eq(value(&sums, "outer", "residual.max", false), -1);
	cr_expect_eq(value(&sums, "inner", "step.last", false), 10);
	cr_expect_eq(value(&sums, "silent", "bytes", false), -1);
	/* A quantity is no region, and no visit of one that is called the same. */
	cr_expect_eq(region(&sums, "bytes [B]"), 0);
	cr_expect_eq(sums.tree.node_count, 4);
	cr_expect_str_eq(sums.model.events[column(&sums, "bytes")].first->unit, "B");
	sums_free(&sums);
}

static struct perfmon_token token;

static void *member(void *argument)
{
	cr_expect_eq(perfmon_region_adopt(&token), 0);
	/* The adopted path is the main thread's, which has it. */
	PERFMON_REGION_ADD("bytes", "B", 7);
	work((uint64_t)(uintptr_t)argument);
	cr_expect_eq(perfmon_region_leave(), 0);
	return NULL;
}

/* Row: FO-05: values of threads are put together, of live ones and of those that have ended. */
Test(quantity, is_summed_over_threads)
{
	pthread_t threads[WORKERS];
	struct sums sums;

	setenv("PERFMON_EVENTS", "none", 1);
	PERFMON_REGION_BEGIN("solve");
	cr_assert_eq(perfmon_region_token(&token), 0);
	for (int round = 0; round < 2; round++) {
		for (uintptr_t i = 0; i < WORKERS; i++)
			cr_assert_eq(pthread_create(&threads[i], NULL, member,
						    (void *)(i + 1)),
				     0);
		for (uintptr_t i = 0; i < WORKERS; i++)
			pthread_join(threads[i], NULL);
	}
	work(50);
	PERFMON_REGION_END("solve");
	sums_take(&sums);
	cr_expect_eq(value(&sums, "inner", "bytes", false), 2 * 10 + 50);
	cr_expect_eq(value(&sums, "solve", "bytes", true), 2 * 7 * WORKERS);
	cr_expect_eq(value(&sums, "solve", "bytes", false), 2 * 7 * WORKERS + 70);
	cr_expect_eq(value(&sums, "inner", "residual.max", false), 99);
	cr_expect_eq(value(&sums, "inner", "step.last", false), 50);
	sums_free(&sums);
}

/* Row: FO-05: formulas take quantities; one that is for a region is for that region alone. */
Test(quantity, stands_in_formulas)
{
	struct sums sums;
	struct pm_value rate;

	setenv("PERFMON_EVENTS", "none", 1);
	PERFMON_REGION_BEGIN("triad");
	PERFMON_REGION_ADD("bytes", "B", 24000);
	PERFMON_REGION_ADD("flops", "", 2000);
	for (volatile int i = 0; i < 1000000; i++)
		;
	PERFMON_REGION_END("triad");
	PERFMON_REGION_BEGIN("copy");
	PERFMON_REGION_END("copy");
	sums_take_with(&sums, "copy: per_visit = 7 * visits; per_visit [x] = 2 * visits; "
			      "tri*: only_here = bytes / 1000; c*: GB/s = 5 * visits");
	rate = metric(&sums, "triad", "gb_per_s");
	cr_expect_eq(rate.state, PM_COUNTED);
	cr_expect_gt(rate.value, 0);
	cr_expect_lt(rate.value, 24000 / 1e5);
	cr_expect_eq(metric(&sums, "triad", "intensity").value, 2000.0 / 24000);
	cr_expect_eq(metric(&sums, "copy", "intensity").state, PM_NOT_SAID);
	cr_expect_eq(metric(&sums, "copy", "per_visit").value, 7);
	cr_expect_eq(metric(&sums, "triad", "per_visit").value, 2);
	cr_expect_eq(metric(&sums, "triad", "only_here").value, 24);
	cr_expect_eq(metric(&sums, "copy", "only_here").state, PM_NOT_SAID);
	/* The column of the built-in metric, by its heading. */
	cr_expect_eq(metric(&sums, "copy", "gb_per_s").value, 5);
	sums_free(&sums);
}

static void in_handler(int signal)
{
	(void)signal;
	PERFMON_REGION_BEGIN("handler");
	PERFMON_REGION_ADD("bytes", "B", 5);
	PERFMON_REGION_END("handler");
}

/* Outside of regions a value is lost, with a note; while disarmed nothing is said. */
Test(quantity, is_lost_outside)
{
	struct sums sums;

	setenv("PERFMON_EVENTS", "none", 1);
	PERFMON_REGION_ADD("early", "", 1);
	perfmon_region_add(NULL, 1);
	perfmon_region_quantity_name(NULL, NULL, PERFMON_QUANTITY_KIND_SUM, 1);
	PERFMON_REGION_BEGIN("a");
	perfmon_region_quantity_name("named", "kg", PERFMON_QUANTITY_KIND_SUM, 3);
	perfmon_region_quantity_name("named", "kg", 99, 3);
	perfmon_region_disarm();
	PERFMON_REGION_ADD("named", "kg", 100);
	perfmon_region_arm();
	PERFMON_REGION_END("a");
	PERFMON_REGION_BEGIN("a");
	signal(SIGUSR1, in_handler);
	raise(SIGUSR1);
	PERFMON_REGION_END("a");
	sums_take(&sums);
	cr_expect_eq(value(&sums, "a", "named", false), 3);
	cr_expect_eq(value(&sums, "handler", "bytes", false), 5);
	cr_expect_not_null(probe_note(sums.snapshot, "'early' was added outside"));
	sums_free(&sums);
}

/* The same place in the code, warm, by the macro and by the call. */
static void say_warm(uint64_t n)
{
	static struct perfmon_quantity called = PERFMON_QUANTITY_INIT("called", "");

	PERFMON_REGION_ADD("macro", "", n);
	perfmon_region_add(&called, n);
}

static bool disarm_and_arm(bool elsewhere);

static void *disarm_elsewhere(void *unused)
{
	disarm_and_arm(false);
	return unused;
}

static bool disarm_and_arm(bool elsewhere)
{
	pthread_t thread;

	if (elsewhere)
		return !pthread_create(&thread, NULL, disarm_elsewhere, NULL) &&
		       !pthread_join(thread, NULL);
	perfmon_region_disarm();
	perfmon_region_arm();
	return true;
}

/* A disarm drops open visits, by whichever thread. What is said in them is outside of regions, also
 * where the thread has said it before, and what is said later is found again. */
Test(quantity, is_lost_in_visits_that_a_disarm_drops)
{
	struct sums sums;

	setenv("PERFMON_EVENTS", "none", 1);
	for (int round = 0; round < 2; round++) {
		PERFMON_REGION_BEGIN("dropped");
		say_warm(1);
		say_warm(10);
		perfmon_region_disarm();
		say_warm(100);
		perfmon_region_arm();
		say_warm(1000);
		PERFMON_REGION_BEGIN("kept");
		say_warm(3);
		cr_expect(disarm_and_arm(round));
		say_warm(100);
		PERFMON_REGION_BEGIN("last");
		say_warm(4);
		say_warm(5);
		PERFMON_REGION_END("last");
		say_warm(1000);
	}
	sums_take(&sums);
	for (int i = 0; i < 2; i++) {
		const char *quantity = i ? "called" : "macro";

		cr_expect_eq(value(&sums, "dropped", quantity, true), 22);
		cr_expect_eq(value(&sums, "kept", quantity, true), 6);
		cr_expect_eq(value(&sums, "last", quantity, true), 18);
		cr_expect_eq(
			pm_report_sums(&sums.tree, 0, column(&sums, quantity), false).sum,
			46);
	}
	cr_expect_not_null(probe_note(sums.snapshot, "added outside"));
	sums_free(&sums);
}

/* So many paths that some have the place of others in the thread's table. */
Test(quantity, is_found_on_many_paths)
{
	struct perfmon_region regions[300];
	char names[300][16];
	struct sums sums;
	double sum = 0;

	setenv("PERFMON_EVENTS", "none", 1);
	for (int i = 0; i < 300; i++) {
		snprintf(names[i], sizeof(names[i]), "r%d", i);
		regions[i] = (struct perfmon_region)PERFMON_REGION_INIT(names[i]);
	}
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 300; i++) {
			perfmon_region_begin(&regions[i]);
			say_warm((uint64_t)i);
			perfmon_region_end(&regions[i]);
		}
	}
	sums_take(&sums);
	for (int i = 0; i < 300; i++) {
		cr_expect_eq(value(&sums, names[i], "macro", true), 3 * i);
		sum += value(&sums, names[i], "called", true);
	}
	cr_expect_eq(sum, 3 * 299 * 150);
	sums_free(&sums);
}

static int in_a_child(void)
{
	struct sums sums;

	PERFMON_REGION_ADD("bytes", "B", 3);
	return try_sums(&sums) && value(&sums, "parent", "bytes", false) == 3 ? 0 : 1;
}

/* The child of a fork goes on where its parent was, with values of its own. */
Test(quantity, goes_on_in_a_child)
{
	setenv("PERFMON_EVENTS", "none", 1);
	PERFMON_REGION_BEGIN("parent");
	PERFMON_REGION_ADD("bytes", "B", 10);
	cr_expect_eq(probe_child(in_a_child), 0);
	PERFMON_REGION_END("parent");
}

/* The reader has quantities as nodes of a kind of their own, which have nothing else. */
Test(quantity, is_read_as_a_node)
{
	struct perfmon_profile_thread_info thread = {.size = sizeof(thread)};
	struct perfmon_profile *profile;
	bool found = false;

	setenv("PERFMON_EVENTS", "none", 1);
	PERFMON_REGION_BEGIN("outer");
	work(4);
	PERFMON_REGION_END("outer");
	cr_assert_eq(perfmon_profile_open_process(&profile, getpid(), 0, NULL, 0), 0);
	cr_assert_eq(perfmon_profile_get_thread(profile, 0, &thread), 0);
	for (uint32_t n = 1; n < thread.nodes; n++) {
		struct perfmon_profile_node_info node = {.size = sizeof(node)};

		cr_assert_eq(perfmon_profile_get_node(profile, 0, n, &node), 0);
		if (node.kind != PERFMON_PROFILE_NODE_KIND_QUANTITY) {
			cr_expect_eq(node.quantity, 0);
			cr_expect_eq(node.visits, 1);
			continue;
		}
		cr_expect_eq(node.time_ns, 0);
		cr_expect_eq(node.visits, 0);
		if (strcmp(node.name, "bytes [B]") != 0)
			continue;
		found = true;
		cr_expect_eq(node.quantity, 4);
		cr_expect_eq(node.quantity_kind, PERFMON_QUANTITY_KIND_SUM);
	}
	cr_expect(found);
	perfmon_profile_close(profile);
}

/* A report has room for 32; the others stay in the profile, and a note says so. */
Test(quantity, has_a_column_up_to_a_limit)
{
	struct sums sums;
	char name[20];
	bool noted = false;

	setenv("PERFMON_EVENTS", "none", 1);
	PERFMON_REGION_BEGIN("outer");
	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "quantity %d", i);
		perfmon_region_quantity_name(name, "", PERFMON_QUANTITY_KIND_SUM, 1);
	}
	PERFMON_REGION_END("outer");
	sums_take(&sums);
	cr_expect_eq(sums.model.event_count, 32);
	cr_expect_eq(value(&sums, "outer", "quantity 31", false), 1);
	for (uint32_t i = 0; i < sums.model.note_count; i++)
		noted |= !!strstr(sums.model.notes[i], "quantity 32");
	cr_expect(noted);
	sums_free(&sums);
}

/* Values that no stride measures count, too. */
Test(quantity, counts_whatever_the_stride)
{
	struct sums sums;

	setenv("PERFMON_EVENTS", "none", 1);
	setenv("PERFMON_STRIDE", "10", 1);
	for (uint64_t i = 0; i < 1000; i++)
		work(3);
	sums_take(&sums);
	cr_expect_eq(value(&sums, "inner", "bytes", false), 3000);
	sums_free(&sums);
}

/* What is said in a visit that is left out belongs to the one around it. */
Test(quantity, is_said_in_visits_that_are_left_out)
{
	struct sums sums;

	setenv("PERFMON_EVENTS", "none", 1);
	setenv("PERFMON_DEPTH", "1", 1);
	setenv("PERFMON_SKIP", "skipped", 1);
	PERFMON_REGION_BEGIN("outer");
	work(3);
	PERFMON_REGION_BEGIN("skipped");
	PERFMON_REGION_ADD("bytes", "B", 4);
	PERFMON_REGION_END("skipped");
	PERFMON_REGION_END("outer");
	sums_take(&sums);
	cr_expect_eq(sums.tree.node_count, 2);
	cr_expect_eq(value(&sums, "outer", "bytes", true), 7);
	sums_free(&sums);
}
