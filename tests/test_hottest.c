/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The hottest path, of profiles made by hand, and its member in JSON. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "core/report/model/path.h"
#include "core/report/report.h"
#include "profile_builder.h"
#include "report_text.h"

static struct profile_builder b;
static struct perfmon_profile_thread *thread;

static void begin(void)
{
	builder_begin(&b, 1 << 16);
	builder_plan(&b, 1, 0);
	thread = builder_tree(&b, 7, 1, 0, 16);
}

/* A path of one visit; with TICKS 0 the visit has not ended. Returns its number. */
static uint32_t path(uint32_t parent, const char *name, uint64_t ticks)
{
	struct perfmon_profile_node *node =
		builder_node(&b, thread, parent, builder_region(&b, name));

	if (ticks)
		builder_visit(node, ticks);
	else
		node->entered++;
	return thread->node_count;
}

/* Checks that the hottest path is WANT, "a > b", of the tree or FLAT. */
static void hottest_is(const char *want, bool flat)
{
	struct pm_report_tree tree, by_region;
	const struct pm_report_tree *of = &tree;
	struct pm_report_model model;
	struct pm_snapshot *s;
	struct pm_diag diag = {0};
	char got[200] = "", rest[200];

	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, &diag), 0, "%s",
		     diag.text);
	cr_assert_eq(pm_report_model_make(&model, s, false, NULL), 0);
	cr_assert_eq(pm_report_tree_make(&tree, &model, NULL, 0), 0);
	if (flat) {
		cr_assert_eq(pm_report_tree_flatten(&by_region, &tree), 0);
		of = &by_region;
	}
	for (uint32_t n = pm_report_hottest(of); n; n = pm_path(of, n)->parent) {
		snprintf(rest, sizeof(rest), "%s%s", *got ? " > " : "", got);
		snprintf(got, sizeof(got), "%s%s", pm_path_name(of, n), rest);
	}
	cr_assert_str_eq(got, want);
	if (flat)
		pm_report_tree_free(&by_region);
	pm_report_tree_free(&tree);
	pm_report_model_free(&model);
	pm_snapshot_free(s);
}

/* The array of ids in JSON. */
static void json_has(const char *want)
{
	struct pm_report_options options = {.format = PM_FORMAT_JSON};
	char *text = report_built(&b, &options);

	has(text, want);
	free(text);
	builder_end(&b);
}

Test(hottest, leads_to_where_the_time_is_spent)
{
	uint32_t n, step;

	begin();
	path(1, "setup", 300);
	n = path(1, "main", 1000);
	/* "many" has more time in all, "few" has it in one place. */
	step = path(n, "many", 550);
	path(step, "one", 180);
	path(step, "two", 190);
	step = path(n, "few", 400);
	path(step, "loop", 350);
	hottest_is("main > few > loop", false);
	json_has("\"hottest_path\":[2,6,7]");
}

Test(hottest, ends_in_the_middle_where_a_region_itself_has_the_most)
{
	uint32_t n;

	begin();
	n = path(1, "main", 1000);
	/* main itself has 400. */
	path(n, "one", 300);
	path(n, "two", 300);
	hottest_is("main", false);
	json_has("\"hottest_path\":[1]");
}

Test(hottest, leads_through_visits_that_have_not_ended)
{
	uint32_t n;

	begin();
	path(1, "setup", 210);
	n = path(1, "main", 0);
	n = path(n, "loop", 0);
	path(n, "even", 200);
	path(n, "odd", 250);
	hottest_is("main > loop > odd", false);
	json_has("\"hottest_path\":[2,3,5]");
}

Test(hottest, by_region_all_paths_of_it_count)
{
	uint32_t n, twice;

	begin();
	n = path(1, "main", 1000);
	path(n, "step", 490);
	twice = builder_region(&b, "twice");
	for (int i = 0; i < 2; i++)
		builder_visit(builder_node(&b, thread, i ? 3 : 2, twice), 200);
	hottest_is("main", false);
	hottest_is("twice", true);
	builder_end(&b);
}

Test(hottest, without_time_there_is_none)
{
	begin();
	hottest_is("", false);
	path(1, "main", 0);
	hottest_is("", false);
	json_has("\"hottest_path\":[]");
}
