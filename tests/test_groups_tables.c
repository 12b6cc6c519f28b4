/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tables of groups for each family of CPUs, whichever this machine has: which table a
 * CPU gets, that each formula can be read, and what it makes of counts.
 * Row: QU-03
 */
#include "config.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/named/named.h"
#include "core/report/model/metric.h"

/* A CPU of each family, the beginning of its name, and what GFLOP/s are if each event
 * counts 1 in a nanosecond; 0: it does not count operations. */
static const struct {
	struct pm_cpu_kind kind;
	const char *family;
	double flops;
} cpus[] = {
	{{PM_CPU_INTEL, 6, 0x5e}, "Intel Skylake and its clients", 1 + 2 + 4 + 8},
	{{PM_CPU_INTEL, 6, 0xa5}, "Intel Skylake and its clients", 1 + 2 + 4 + 8},
	{{PM_CPU_INTEL, 6, 0x55}, "Intel Skylake, Cascade", 1 + 2 + 4 + 8 + 16},
	{{PM_CPU_INTEL, 6, 0x6a}, "Intel Ice Lake", 1 + 2 + 4 + 8 + 16},
	{{PM_CPU_INTEL, 6, 0x7e}, "Intel Ice Lake", 1 + 2 + 4 + 8 + 16},
	{{PM_CPU_INTEL, 6, 0x8f}, "Intel Sapphire", 1 + 2 + 4 + 8 + 16},
	{{PM_CPU_AMD, 0x17, 0x31}, "AMD Zen 2", 1},
	{{PM_CPU_AMD, 0x19, 0x01}, "AMD Zen 3", 1},
	{{PM_CPU_AMD, 0x19, 0x21}, "AMD Zen 3", 1},
	{{PM_CPU_AMD, 0x19, 0x11}, "AMD Zen 4", 1},
	{{PM_CPU_AMD, 0x19, 0x61}, "AMD Zen 4", 1},
	{{PM_CPU_ARM, 0x41, 0xd0c}, "Arm Neoverse N1", 0},
	{{PM_CPU_ARM, 0x41, 0xd40}, "Arm Neoverse V1", 1 + 2},
	{{PM_CPU_ARM, 0x41, 0xd07}, "Arm Cortex-A57", 0},
	{{PM_CPU_ARM, 0x41, 0xd08}, "Arm Cortex-A57", 0},
	{{PM_CPU_INTEL, 6, 0x54}, "CPUs without", 0},
	{{PM_CPU_ARM, 0x42, 0xd0c}, "CPUs without", 0},
	{{PM_CPU_UNKNOWN, 0, 0}, "CPUs without", 0},
};
#define CPUS (sizeof(cpus) / sizeof(cpus[0]))

static struct pm_named_groups *groups_of(const struct pm_cpu_kinds *kinds, bool exact,
					 const char *names)
{
	const struct pm_named_request request = {names, exact, kinds};
	struct pm_named_groups *groups = NULL;
	struct pm_diag diag = {0};

	cr_assert_eq(pm_named_find(&request, &groups, &diag), 0, "%s", diag.text);
	return groups;
}

static struct pm_named_groups *groups_of_cpu(size_t i)
{
	struct pm_cpu_kinds kinds = {.count = 1, .kind = {cpus[i].kind}};

	return groups_of(&kinds, false, NULL);
}

/* A count for an event: its value, and 1 if it is not listed. */
struct count {
	const char *part; /* of its name */
	double value;
};

/* Returns the value of METRIC, whose name begins with NAME, with COUNTS up to one without a
 * part. */
static double value_of(const struct pm_named_metric *metric, const struct count *counts)
{
	struct pm_metrics *metrics = NULL;
	struct pm_diag diag = {0};
	double values[PM_METRIC_INPUTS], value = -1;
	char text[4096];
	const struct pm_metric *formula;

	snprintf(text, sizeof(text), "none; %s = %s", metric->name, metric->formula);
	cr_assert_eq(pm_metrics_parse(text, &metrics, &diag), 0, "%s", diag.text);
	formula = &metrics->metrics[0];
	for (uint32_t i = 0; i < formula->input_count; i++) {
		const struct count *c = counts;

		while (c->part && !strstr(formula->inputs[i].name, c->part))
			c++;
		values[i] = c->part ? c->value : 1;
	}
	cr_assert(pm_metric_value(formula, values, &value), "%s", text);
	pm_metrics_free(metrics);
	return value;
}

static const struct pm_named_group *group_of(const struct pm_named_groups *groups,
					     const char *name)
{
	for (uint32_t g = 0; g < groups->count; g++)
		if (!strcmp(groups->groups[g].name, name))
			return &groups->groups[g];
	cr_assert_fail("no group %s of %s", name, groups->family);
	return NULL;
}

/* All formulas give a value when all events count. */
Test(groups_tables, each_cpu_has_its_table_and_each_formula_a_value)
{
	static const struct count all[] = {{NULL, 0}};

	for (size_t i = 0; i < CPUS; i++) {
		struct pm_named_groups *groups = groups_of_cpu(i);

		cr_assert(
			!strncmp(groups->family, cpus[i].family, strlen(cpus[i].family)),
			"%s is not %s", groups->family, cpus[i].family);
		cr_assert_geq(groups->count, 6);
		for (uint32_t g = 0; g < groups->count; g++)
			for (uint32_t m = 0; m < groups->groups[g].count; m++)
				value_of(&groups->groups[g].metrics[m], all);
		pm_named_free(groups);
	}
}

Test(groups_tables, operations_are_weighted_by_what_an_instruction_does)
{
	static const struct count ones[] = {{NULL, 0}};

	for (size_t i = 0; i < CPUS; i++) {
		struct pm_named_groups *groups = groups_of_cpu(i);
		const struct pm_named_group *group = group_of(groups, "FLOPS");

		if (cpus[i].flops)
			cr_assert_eq(value_of(&group->metrics[0], ones), cpus[i].flops,
				     "%s", groups->family);
		pm_named_free(groups);
	}
}

/* Whole numbers of slots: 40 of 400 wait for instructions, and so on. */
Test(groups_tables, the_shares_of_slots_are_all_of_them)
{
	static const struct count skylake[] = {
		{"event=0x9c", 40}, {"event=0xe,", 220}, {"event=0xc2", 200},
		{"event=0xd,", 5},  {"cycles", 100},	 {NULL, 0},
	};
	static const struct count slots[] = {
		{"retiring", 200}, {"bad-spec", 40}, {"fe-bound", 40},
		{"be-bound", 120}, {"slots", 400},   {NULL, 0},
	};
	static const struct count neoverse[] = {
		{"r3f", 192}, {"r3e", 72},	  {"r3d", 120},	      {"r3a", 200},
		{"r3b", 208}, {"br_mis_pred", 1}, {"cpu_cycles", 50}, {NULL, 0},
	};
	static const struct count zen[] = {
		{"event=0x1a0,umask=0x1/", 60},
		{"event=0x1a0,umask=0x1e/", 180},
		{"event=0xaa", 360},
		{"event=0xc1", 300},
		{"event=0x76", 100},
		{NULL, 0},
	};
	static const double shares[] = {50, 10, 10, 30};

	for (size_t i = 0; i < CPUS; i++) {
		struct pm_named_groups *groups = groups_of_cpu(i);
		const struct pm_named_group *group = group_of(groups, "TOPDOWN");
		const struct count *counts = skylake;

		if (cpus[i].kind.maker == PM_CPU_AMD)
			counts = zen;
		else if (cpus[i].kind.maker == PM_CPU_ARM)
			counts = neoverse;
		else if (group->count && strstr(group->metrics[0].formula, "slots"))
			counts = slots;
		cr_assert(i >= 6 || group->count == 4);
		for (uint32_t m = 0; group->count == 4 && m < 4; m++)
			cr_assert_float_eq(value_of(&group->metrics[m], counts),
					   shares[m], 1e-9, "%s: %s", groups->family,
					   group->metrics[m].name);
		pm_named_free(groups);
	}
}

/* No event is the same on both kinds. */
Test(groups_tables, a_machine_of_several_kinds_takes_generic_events)
{
	struct pm_cpu_kinds kinds = {
		.count = 2,
		.kind = {{PM_CPU_ARM, 0x41, 0xd07}, {PM_CPU_ARM, 0x41, 0xd03}}};
	struct pm_named_groups *groups = groups_of(&kinds, false, "branch");

	cr_assert(!strncmp(groups->family, "CPUs without", 12));
	cr_assert_eq(groups->count, 1);
	cr_assert_str_eq(groups->groups[0].name, "BRANCH");
	pm_named_free(groups);
}

struct noted {
	unsigned int count;
	char last[1000];
};

static void note(void *argument, const char *sentence)
{
	struct noted *noted = argument;

	noted->count++;
	snprintf(noted->last, sizeof(noted->last), "%s", sentence);
}

/* Exact events cannot be missing, so that they show what is joined. */
Test(groups_tables, the_events_of_several_groups_are_named_once)
{
	struct pm_named_groups *groups = groups_of(NULL, true, "MEM, flops");
	struct noted noted = {.count = 0};
	struct pm_diag diag = {0};
	char *events, *metrics;

	cr_assert_eq(pm_named_join(groups, &events, &metrics, note, &noted, &diag), 0);
	cr_assert_eq(noted.count, 0);
	cr_assert_str_eq(events, "exact::sp-flops,exact::dp-flops,exact::load-bytes,"
				 "exact::store-bytes,exact::instructions");
	cr_assert(strstr(metrics, "; B/visit [B] = ('exact::load-bytes' + "), "%s",
		  metrics);
	free(events);
	free(metrics);
	/* A metric that lacks an event is left out, and said. */
	free(groups->groups[0].metrics[0].missing);
	groups->groups[0].metrics[0].missing = strdup("sp_flops");
	groups->groups[0].metrics[0].why = strdup("it is broken");
	cr_assert_eq(pm_named_join(groups, &events, &metrics, note, &noted, &diag), 0);
	cr_assert_eq(noted.count, 1);
	cr_assert_str_eq(noted.last, "group FLOPS has no flop/visit here, event "
				     "'sp_flops' is missing: it is broken");
	cr_assert(!strstr(metrics, "flop/visit"));
	free(events);
	free(metrics);
	pm_named_free(groups);
}

Test(groups_tables, names_of_no_group_are_quoted)
{
	static const struct {
		const char *names, *sentence;
		bool exact;
	} rows[] = {
		{"FLOP", "'FLOP' is not a group: did you mean 'FLOPS'?", false},
		{"MEM,,TLB", "'' is not a group: 'perfmon list groups' shows them",
		 false},
		{"", "'' is not a group: 'perfmon list groups' shows them", false},
		{"TLB",
		 "'TLB' is not a group of what --exact counts: 'perfmon list "
		 "groups' shows them",
		 true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct pm_named_request request = {rows[i].names, rows[i].exact,
							 NULL};
		struct pm_named_groups *groups = NULL;
		struct pm_diag diag = {0};

		cr_assert_eq(pm_named_find(&request, &groups, &diag), -EINVAL);
		cr_assert_str_eq(diag.text, rows[i].sentence);
		cr_assert_null(groups);
	}
}

Test(groups_tables, events_join_those_of_the_user)
{
	static const struct {
		const char *named, *more, *all;
	} rows[] = {
		{NULL, "a,b", "a,b"},
		{"c", "a,b", "c,a,b"},
		{"b,power/energy-pkg/", "power/energy-pkg/,b,bb",
		 "b,power/energy-pkg/,bb"},
		{"c;d", "a", "c,a;d"},
		{"cpu/event=1,umask=2/,c;d", "cpu/event=1,umask=2/,d",
		 "cpu/event=1,umask=2/,c,d;d"},
		{"{x,b}", "{a,b}", "{x,b},{a,b}"},
		/* Twice is what the user has asked for. */
		{NULL, "a,a", "a,a"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *to = rows[i].named ? strdup(rows[i].named) : NULL;

		cr_assert_eq(pm_named_add_events(&to, rows[i].more), 0);
		cr_expect_str_eq(to, rows[i].all);
		free(to);
	}
}
