/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cost of a region's warm BEGIN and END: with 0, 1, 2 and 4 counters; among many
 * siblings, below many parents, deep down; with a stride; disarmed; that of saying a quantity; that of
 * adopting a path and leaving it; and that of suspending a visit and resuming it. Each number of
 * counters is a process of its own, since the events are planned once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perfmon/quantity.h>
#include <perfmon/task.h>
#include <perfmon/team.h>

#include "bench.h"

#define SIBLINGS 10000
#define PARENTS	 100
#define DEEP	 60
#define DEEPEST	 32

static struct perfmon_region regions[SIBLINGS];
static struct perfmon_region inner = PERFMON_REGION_INIT("inner");

__attribute__((noinline)) static void pairs(int n)
{
	for (int i = 0; i < n; i++) {
		PERFMON_REGION_BEGIN("pair");
		PERFMON_REGION_END("pair");
	}
}

static struct perfmon_token path;

__attribute__((noinline)) static void adoptions(int n)
{
	for (int i = 0; i < n; i++) {
		perfmon_region_adopt(&path);
		perfmon_region_leave();
	}
}

static struct perfmon_task task;

__attribute__((noinline)) static void suspensions(int n)
{
	for (int i = 0; i < n; i++) {
		perfmon_task_suspend(&task);
		perfmon_task_resume(&task);
	}
}

/* The same region again and again, but by its object as below. */
__attribute__((noinline)) static void same(int n)
{
	for (int i = 0; i < n; i++) {
		bench_begin(&regions[0]);
		bench_end(&regions[0]);
	}
}

__attribute__((noinline)) static void siblings(int n)
{
	for (int round = 0; round < n; round++) {
		for (int i = 0; i < SIBLINGS; i++) {
			bench_begin(&regions[i]);
			bench_end(&regions[i]);
		}
	}
}

__attribute__((noinline)) static void parents(int n)
{
	for (int round = 0; round < n; round++) {
		for (int i = 0; i < PARENTS; i++) {
			bench_begin(&regions[i]);
			bench_begin(&inner);
			bench_end(&inner);
			bench_end(&regions[i]);
		}
	}
}

__attribute__((noinline)) static void parents_alone(int n)
{
	for (int round = 0; round < n; round++) {
		for (int i = 0; i < PARENTS; i++) {
			bench_begin(&regions[i]);
			bench_end(&regions[i]);
		}
	}
}

static void make_names(void)
{
	for (int i = 0; i < SIBLINGS; i++) {
		char name[24];

		snprintf(name, sizeof(name), "region %d", i);
		regions[i].name = strdup(name);
	}
}

static int print_pair(const char *name, int k)
{
	struct perfmon_region_summary values = {.size = sizeof(values)};
	double cost = bench_user_only(name, pairs, NULL, 5000);

	if (perfmon_region_read("pair", &values, NULL, 0,
				sizeof(struct perfmon_region_count), 0) ||
	    values.counters != (uint32_t)k) {
		bench_say("%s: counts %u events, not %d", name, values.counters, k);
		return 77;
	}
	bench_print(name, cost, bench_unit());
	return 0;
}

static int relatives(void)
{
	double pair, cost;

	make_names();
	pair = bench_user(same, NULL, 5000);
	siblings(2);
	cost = bench_user_only("region.siblings", siblings, NULL, 4) / SIBLINGS;
	bench_print("region.siblings", cost, bench_unit());
	bench_print("region.siblings.over.pair", cost / pair, "ratio");

	parents(2);
	cost = bench_user(parents, parents_alone, 40) / PARENTS;
	bench_print("region.parents", cost, bench_unit());
	bench_print("region.parents.over.pair", cost / pair, "ratio");

	return 0;
}

/* The pairs at the deepest level. There are several, since another path may have taken a
 * path's place in the thread's table. */
__attribute__((noinline)) static void deepest(int n)
{
	for (int round = 0; round < n; round++) {
		for (int i = DEEP; i < DEEP + DEEPEST; i++) {
			bench_begin(&regions[i]);
			bench_end(&regions[i]);
		}
	}
}

static int deep(void)
{
	double pair, cost;

	make_names();
	pair = bench_user(same, NULL, 5000);
	for (int i = 1; i < DEEP; i++)
		bench_begin(&regions[i]);
	deepest(2);
	cost = bench_user_only("region.deep", deepest, NULL, 100) / DEEPEST;
	bench_print("region.deep", cost, bench_unit());
	bench_print("region.deep.over.pair", cost / pair, "ratio");
	for (int i = DEEP - 1; i > 0; i--)
		bench_end(&regions[i]);
	return 0;
}

static int disarmed(void)
{
	perfmon_region_disarm();
	bench_print("region.disarmed",
		    bench_user_only("region.disarmed", pairs, NULL, 20000), bench_unit());
	return 0;
}

/* The cost of unmeasured visits: one of 1,000 is measured. */
static int strided(void)
{
	setenv("PERFMON_STRIDE", "1000", 1);
	bench_print("region.strided",
		    bench_user_only("region.strided", pairs, NULL, 20000), bench_unit());
	return 0;
}

/* A thread of a team adopts the path of another and returns. */
static int adopted(void)
{
	PERFMON_REGION_BEGIN("team");
	perfmon_region_token(&path);
	PERFMON_REGION_END("team");
	bench_print("region.adopt",
		    bench_user_only("region.adopt", adoptions, NULL, 20000),
		    bench_unit());
	return 0;
}

/* A quantity of the innermost visit. */
__attribute__((noinline)) static void additions(int n)
{
	for (int i = 0; i < n; i++)
		PERFMON_REGION_ADD("bytes", "B", 24);
}

static int added(void)
{
	PERFMON_REGION_BEGIN("add");
	bench_print("region.add", bench_user_only("region.add", additions, NULL, 20000),
		    bench_unit());
	PERFMON_REGION_END("add");
	return 0;
}

/* A task with one visit open waits and goes on, with K counters. */
static int suspended(char k)
{
	char name[] = "region.suspend.0";

	name[sizeof(name) - 2] = k;
	perfmon_task_begin(&task);
	PERFMON_REGION_BEGIN("visit");
	bench_print(name, bench_user_only(name, suspensions, NULL, 20000), bench_unit());
	PERFMON_REGION_END("visit");
	perfmon_task_end(&task);
	return 0;
}

static int mode(const char *name)
{
	char pair[] = "region.pair.0";

	if (!strcmp(name, "disarmed"))
		return disarmed();
	if (!strcmp(name, "relatives"))
		return relatives();
	if (!strcmp(name, "deep"))
		return deep();
	if (!strcmp(name, "strided"))
		return strided();
	if (!strcmp(name, "adopted"))
		return adopted();
	if (!strcmp(name, "added"))
		return added();
	if (!strncmp(name, "suspended", strlen("suspended")))
		return suspended(name[strlen("suspended")]);
	pair[sizeof(pair) - 2] = name[0];
	return print_pair(pair, name[0] - '0');
}

int main(int argc, char **argv)
{
	static const int counters[] = {0, 1, 2, 4};
	int worst = 0;

	if (argc > 1)
		return mode(argv[1]);
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		char k[] = {(char)('0' + counters[i]), '\0'};

		/* Without counters that can be read from user space, a pair is two system
		 * calls, whose cost is not of interest. */
		if (!counters[i] || bench_counts_instructions())
			worst |= bench_again(k, bench_events(counters[i]));
	}
	worst |= bench_again("relatives",
			     bench_events(bench_counts_instructions() ? 2 : 0));
	worst |= bench_again("deep", bench_events(bench_counts_instructions() ? 2 : 0));
	worst |=
		bench_again("strided", bench_events(bench_counts_instructions() ? 2 : 0));
	worst |= bench_again("disarmed", "none");
	worst |=
		bench_again("adopted", bench_events(bench_counts_instructions() ? 2 : 0));
	worst |= bench_again("added", bench_events(bench_counts_instructions() ? 2 : 0));
	worst |= bench_again("suspended0", bench_events(0));
	if (bench_counts_instructions()) {
		worst |= bench_again("suspended1", bench_events(1));
		worst |= bench_again("suspended2", bench_events(2));
		worst |= bench_again("suspended4", bench_events(4));
	}
	return worst ? 1 : 0;
}
