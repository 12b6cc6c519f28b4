/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a person sees of a text report: its width, its order, its sums and its names. */
#include <criterion/criterion.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "core/report/cells.h"
#include "core/report/model/tree_build.h"
#include "core/report/output/utf8.h"
#include "core/report/report.h"
#include "core/report/table.h"
#include "profile_builder.h"
#include "report_text.h"

/* The columns of the longest line of TEXT, by the table of the C library. */
static size_t widest(const char *text)
{
	size_t widest = 0, width = 0, length;

	for (; *text; text += length) {
		int32_t c = pm_utf8_next(text, &length);

		if (c == '\n') {
			widest = width > widest ? width : widest;
			width = 0;
		} else {
			width += (size_t)wcwidth((wchar_t)c);
		}
	}
	return widest;
}

static bool use_utf8(void)
{
	return setlocale(LC_CTYPE, "C.UTF-8") || setlocale(LC_CTYPE, "en_US.UTF-8");
}

/* wcwidth() may be of a newer Unicode, which has characters that the table has not. */
Test(report_text, widths_are_those_of_the_c_library)
{
	unsigned int different = 0, printable = 0;

	if (!use_utf8())
		cr_skip_test("no locale with UTF-8 is installed");
	for (int32_t c = ' '; c < 0x110000; c++) {
		int width = wcwidth((wchar_t)c);

		if (width < 0)
			continue;
		printable++;
		different += (size_t)width != pm_width(c);
	}
	cr_expect_gt(printable, 100000);
	cr_expect_lt(different, printable / 1000, "%u of %u", different, printable);
	cr_expect_eq(pm_width('a'), 1);
	cr_expect_eq(pm_width(0xe9), 1, "e with acute");
	cr_expect_eq(pm_width(0x301), 0, "combining acute");
	cr_expect_eq(pm_width(0x200d), 0, "joiner");
	cr_expect_eq(pm_width(0x8ba1), 2, "Chinese");
	cr_expect_eq(pm_width(0xac00), 2, "Korean");
	cr_expect_eq(pm_width(0x3042), 2, "Japanese");
	cr_expect_eq(pm_width(0x1f600), 2, "emoji");
}

static struct perfmon_profile_node *path(struct profile_builder *b,
					 struct perfmon_profile_thread *thread,
					 uint32_t parent, const char *name,
					 uint64_t ticks)
{
	struct perfmon_profile_node *node =
		builder_node(b, thread, parent, builder_region(b, name));

	if (ticks)
		builder_visit(node, ticks);
	else
		node->entered++;
	return node;
}

/* "main" with 1000 ticks has 900 below it: in "a" 500, of which 400 are in "deep"; in "b" 300
 * and in "c" 100. */
static char *top_report(uint32_t top, enum pm_format format)
{
	struct pm_report_options options = {.format = format, .top = top};
	struct profile_builder b;
	struct perfmon_profile_thread *thread;
	char *text;

	builder_begin(&b, 1 << 16);
	builder_plan(&b, 1, 0);
	thread = builder_tree(&b, 7, 1, 0, 16);
	path(&b, thread, 1, "main", 1000);
	path(&b, thread, 2, "a", 500);
	path(&b, thread, 3, "deep", 400);
	path(&b, thread, 2, "b", 300);
	path(&b, thread, 2, "c", 100);
	text = report_built(&b, &options);
	builder_end(&b);
	return text;
}

/* The rows with the most time in themselves are shown, with what is above them. */
Test(report_text, top_leaves_the_rest_out_and_says_how_much)
{
	char *got = top_report(2, PM_FORMAT_TEXT);

	has(got, "\nmain ");
	has(got, "\n  a ");
	has(got, "\n    deep ");
	has(got, "\n  b ");
	has_not(got, "\n  c ");
	has(got, "left out 1 row, with 10.0 % of the time in itself\n");
	has(got, "\ntotal");
	free(got);
	got = top_report(1, PM_FORMAT_TEXT);
	has(got, "\n    deep ");
	has_not(got, "\n  b ");
	has(got, "left out 2 rows, with 40.0 % of the time in themselves\n");
	free(got);
	got = top_report(1, PM_FORMAT_FLAT);
	has(got, "\ndeep ");
	has_not(got, "\nmain ");
	has(got, "left out 4 rows, with 60.0 % of the time in themselves\n");
	free(got);
}

Test(report_text, top_of_all_leaves_nothing_out)
{
	char *got = top_report(5, PM_FORMAT_TEXT);

	has(got, "\n  c ");
	has_not(got, "left out");
	free(got);
}

/* Three threads: in "a" they take 100, 200 and 600 ticks, in "b" 1000, 1001 and 1002, in "c" 500, 500
 * and 620. The mean of "a" is 300, that of "c" 540. */
Test(report_text, imbalance_is_sorted_by_what_it_loses_and_names_threads)
{
	static const uint64_t ticks[3][3] = {
		{600, 1000, 500}, {200, 1001, 620}, {100, 1002, 500}};
	struct pm_report_options options = {.format = PM_FORMAT_TEXT};
	struct profile_builder b;
	char *got;

	builder_begin(&b, 1 << 16);
	builder_plan(&b, 1, 0);
	for (uint32_t t = 0; t < 3; t++) {
		struct perfmon_profile_thread *thread = builder_tree(&b, 70 + t, 1, 0, 8);

		path(&b, thread, 1, "a", ticks[t][0]);
		path(&b, thread, 1, "b", ticks[t][1]);
		path(&b, thread, 1, "c", ticks[t][2]);
	}
	got = report_built(&b, &options);
	has(got,
	    "\n  lost to imbalance (the most less the mean):\n"
	    "    300 ns     a: the most in thread 70 (thread70), the least in thread 72 "
	    "(thread72)\n"
	    "    80 ns      c: the most in thread 71 (thread71), the least in thread 70 "
	    "(thread70)\n");
	free(got);
	options.columns = 80;
	got = report_built(&b, &options);
	cr_expect_leq(widest(got), 80, "%s", got);
	free(got);
	options.top = 1;
	got = report_built(&b, &options);
	has_not(got, "lost to imbalance");
	free(got);
	builder_end(&b);
}

/* The first of three threads works for 100 ticks and waits for the others for 500; they work for 600 and
 * 200. What it waited is no work of its: without it all have less than twice the mean. */
Test(report_text, imbalance_is_that_of_the_work_without_its_waits)
{
	static const uint64_t ticks[3] = {600, 600, 200};
	struct pm_report_options options = {.format = PM_FORMAT_TEXT};
	struct profile_builder b;
	char *got;

	builder_begin(&b, 1 << 16);
	builder_plan(&b, 1, 0);
	for (uint32_t t = 0; t < 3; t++) {
		struct perfmon_profile_thread *thread = builder_tree(&b, 70 + t, 1, 0, 8);

		path(&b, thread, 1, "solve", ticks[t]);
		if (!t) {
			path(&b, thread, 2, "work", 510);
			path(&b, thread, 3, "(join)", 500);
			path(&b, thread, 4, "(barrier)", 400);
		}
	}
	got = report_built(&b, &options);
	has(got, "\ninclusive time of a thread less its waits\n(imbalance: ");
	has(got, "\nsolve         3    100   300   600      100.0\n");
	has(got, "\n    300 ns     solve: the most in thread 71 (thread71), the least in "
		 "thread 70 (thread70)\n");
	free(got);
	builder_end(&b);
}

/* Of two values of a key the later one holds; nothing in a note is trusted. */
Test(report_text, notes_of_the_run_stand_in_the_head)
{
	struct pm_report_options options = {.format = PM_FORMAT_TEXT};
	struct profile_builder b;
	struct pm_snapshot *s;
	struct pm_diag diag = {0};
	char *got;

	builder_begin(&b, 1 << 16);
	builder_plan(&b, 1, 0);
	builder_tree(&b, 7, 1, 0, 16);
	builder_run_note(&b, "n", "64");
	builder_run_note(&b, "where", "here > there");
	builder_run_note(&b, "n", "128");
	got = report_built(&b, &options);
	has(got, "\n  noted    n=128, where=here > there\n  began ");
	free(got);
	for (int bad = 0; bad < 5; bad++) {
		static const char *const keys[] = {"a b", "", "k", "k", "k"};
		static const char *const values[] = {"1", "1", "", "a\nb", "1"};
		struct perfmon_profile_run_note *note =
			builder_run_note(&b, keys[bad], values[bad]);

		if (bad == 4)
			note->value_length = UINT32_MAX;
		cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, &diag), 0);
		cr_expect(s->partial &&
				  strstr(s->problem, "a bad note of the run at byte"),
			  "%d: %s", bad, s->problem);
		cr_expect_eq(s->run_notes->count, 2);
		pm_snapshot_free(s);
		note->record.type = PERFMON_PROFILE_TYPE_FREE;
	}
	builder_end(&b);
}

/* What PART of 20 visits took, of which FEW took LONG ticks, and the others 100 each. */
static double quantile(double part, uint32_t few, uint64_t longer)
{
	struct pm_report_node node = {.path.visits.measured = 20, .path.times.min = 100};

	for (uint32_t i = 0; i < 20; i++)
		node.path.visits.histogram[i < few ? 63 - __builtin_clzll(longer) : 6]++;
	node.path.times.max = few ? longer : 100;
	return pm_path_quantile(&(struct pm_report_tree){.nodes = &node}, 0, part);
}

/* Bin 6 has 64 to 127 ticks, and no visit was faster than 100. */
Test(report_text, quantiles_are_within_the_bin_of_the_visit)
{
	struct pm_report_node node = {
		.path.visits.measured = 1, .path.times.min = 5, .path.times.max = 5};
	const struct pm_report_tree tree = {.nodes = &node};

	cr_expect_eq(quantile(0.5, 0, 0), 100, "all visits took as long");
	cr_expect_eq(quantile(0.95, 0, 0), 100);
	cr_expect(quantile(0.5, 2, 100000) >= 100 && quantile(0.5, 2, 100000) < 128);
	/* 65536 to 131071, and none was slower than 100000. */
	cr_expect(quantile(0.95, 2, 100000) >= 65536 &&
		  quantile(0.95, 2, 100000) <= 100000);
	cr_expect_leq(quantile(0.9, 2, 100000), 128, "18 of 20 were short");
	cr_expect_lt(pm_path_quantile(&tree, 0, 0.5), 0, "no bin has the visit");
	node.path.visits.histogram[2] = 1;
	cr_expect_eq(pm_path_quantile(&tree, 0, 0.5), 5);
	node.path.visits.spilled = 1;
	cr_expect_lt(pm_path_quantile(&tree, 0, 0.5), 0, "a bin is full");
}

/* VISITS of 1000 ticks but for one of 1000000. */
static char *skewed(int visits, enum pm_format format)
{
	struct pm_report_options options = {.format = format};
	struct profile_builder b;
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_node *node;
	char *text;

	builder_begin(&b, 1 << 16);
	builder_plan(&b, 1, 0);
	thread = builder_tree(&b, 7, 1, 0, 16);
	node = path(&b, thread, 1, "step", 1000000);
	for (int i = 1; i < visits; i++)
		builder_visit(node, 1000);
	text = report_built(&b, &options);
	builder_end(&b);
	return text;
}

/* By hand: bin 9 has visits from 512 ticks on, the fastest took 1000, and bin 10 begins at 1024.
 * Of 40 visits 39 are in it: the median is 1000 * 1.024 ^ (20 / 39). */
Test(report_text, median_and_95_percent_are_beside_a_skewed_mean)
{
	char *got = skewed(40, PM_FORMAT_TEXT);

	has(got, "~median  ~95 %\n");
	has(got, "1.012  1.023\n");
	has(got, "  ~95 % what 95 % of the visits took at most");
	free(got);
	got = skewed(19, PM_FORMAT_TEXT);
	has_not(got, "~median");
	has_not(got, "~95 %");
	free(got);
	got = skewed(40, PM_FORMAT_CSV);
	has(got, ",median_ns,p95_ns,");
	has(got, ",1012.23658");
	free(got);
	got = skewed(40, PM_FORMAT_JSON);
	has(got, "\"median_ticks\":1012.23658");
	has(got, "\"p95_ticks\":1023.3");
	free(got);
}

/* Of COUNTERS events, with a path of long, wide and invisible names. */
static struct perfmon_profile_thread *sample(struct profile_builder *b, uint32_t counters)
{
	struct perfmon_profile_plan *plan;
	struct perfmon_profile_thread *thread;

	builder_begin(b, 1 << 17);
	plan = builder_plan(b, 1, counters);
	for (uint32_t c = 0; c < counters; c++)
		snprintf(plan->counter[c].name, sizeof(plan->counter[c].name),
			 "MEM_LOAD_RETIRED:L%u_MISS:u", c);
	thread = builder_tree(b, 1, 1, counters, 16);
	return thread;
}

static void sample_names(struct profile_builder *b)
{
	struct perfmon_profile_thread *thread = sample(b, 10);

	path(b, thread, 1, "a_very_long_name_of_a_region_with_forty_characters", 9000000);
	path(b, thread, 2, "\xe8\xae\xa1\xe7\xae\x97\xe5\x8e\x8b\xe5\x8a\x9b\xe5\x9c\xba",
	     4000);
	path(b, thread, 3, " io", 3000);
	path(b, thread, 4, "", 2000);
	path(b, thread, 1, "total", 1000);
	builder_note(b, "a note that is so long that no terminal of eighty columns has a "
			"line for the whole of it, so that it is broken between words");
}

Test(report_text, fits_the_terminal)
{
	struct profile_builder b;
	char *got;

	if (!use_utf8())
		cr_skip_test("no locale with UTF-8 is installed");
	sample_names(&b);
	for (unsigned int columns = 60; columns <= 200; columns++) {
		struct pm_report_options options = {.columns = columns};

		got = report_built(&b, &options);
		cr_expect_leq(widest(got), columns, "%u columns:\n%s", columns, got);
		free(got);
	}
	builder_end(&b);
}

/* In a file, names and sentences are whole, and can be searched for. */
Test(report_text, is_whole_in_a_file)
{
	struct pm_report_options options = {0};
	struct profile_builder b;
	char *got;

	sample_names(&b);
	got = report_built(&b, &options);
	has(got, "\na_very_long_name_of_a_region_with_forty_characters ");
	has(got, "has a line for the whole of it, so that it is broken between words\n");
	has(got, "  MEM_LOAD_RETIRED:L9_MISS:u");
	free(got);
	builder_end(&b);
}

Test(report_text, names_that_nobody_sees_stand_in_quotes)
{
	struct pm_report_options options = {0};
	struct profile_builder b;
	char *got;

	sample_names(&b);
	got = report_built(&b, &options);
	has(got, "\n    \" io\" ");
	has(got, "\n      \"\" ");
	has(got, "\n\"total\" ");
	has(got, "\ntotal ");
	free(got);
	builder_end(&b);
}

Test(report_text, is_sorted_by_inclusive_time_with_a_total_and_the_hottest_path)
{
	struct pm_report_options options = {0};
	struct perfmon_profile_thread *thread;
	struct profile_builder b;
	char *got;

	thread = sample(&b, 0);
	path(&b, thread, 1, "own", 1000000);
	path(&b, thread, 1, "outer", 3000000);
	path(&b, thread, 3, "less", 900000);
	path(&b, thread, 3, "more", 2000001);
	got = report_built(&b, &options);
	has(got, "region  visits     inclusive     exclusive    mean  stddev\n"
		 "                   ms      %     ms      %      us       %\n"
		 "outer        1  3.000   75.0  0.100    2.5  3000.0\n"
		 "  more       1  2.000   50.0  2.000   50.0  2000.0\n"
		 "  less       1  0.900   22.5  0.900   22.5   900.0\n"
		 "own          1  1.000   25.0  1.000   25.0  1000.0\n"
		 "total           4.000  100.0  4.000  100.0\n"
		 "\n"
		 "  hottest  outer > more, with 50.0 % of the time in itself\n");
	free(got);
	builder_end(&b);
}

/* What is not nothing is not shown as nothing. */
Test(report_text, one_unit_a_column)
{
	static const struct {
		enum pm_column_kind kind;
		const char *unit;
		double least, most, value;
		const char *text, *shown_unit;
	} rows[] = {
		{PM_COLUMN_TIME, "", 1, 65e6, 65.0312e6, "65.031", "ms"},
		{PM_COLUMN_TIME, "", 1, 65e6, 300, "<0.001", "ms"},
		{PM_COLUMN_TIME, "", 1, 65e6, 0, "0.000", "ms"},
		{PM_COLUMN_TIME, "", 1, 86400e9, 86400e9, "86400.0", "s"},
		{PM_COLUMN_TIME, "", 1, 900, 900, "900", "ns"},
		{PM_COLUMN_VISIT, "", 200, 3e9, 3e9, "3000000", "us"},
		{PM_COLUMN_VISIT, "", 200, 3e9, 259, "0.259", "us"},
		{PM_COLUMN_VISIT, "", 200, 3e9, 12.5e3, "12.50", "us"},
		{PM_COLUMN_VISIT, "", 102e3, 65e6, 214.6e3, "214.6", "us"},
		{PM_COLUMN_SHARE, "", 1, 100, 0.04, "<0.1", "%"},
		{PM_COLUMN_EXACT, "", 1, 5e9, 5e9, "5000000000", ""},
		{PM_COLUMN_EVENT, "", 1, 573812, 573812, "573812", ""},
		{PM_COLUMN_EVENT, "", 1, 573.8e6, 573.8e6, "573.800", "M"},
		{PM_COLUMN_EVENT, "J", 0.1, 0.5, 0.5, "500.000", "mJ"},
		{PM_COLUMN_EVENT, "ns", 1, 45e6, 45.516e6, "45.516", "ms"},
		{PM_COLUMN_METRIC, "ns", 83.33, 83.33, 83.33, "83.33", "ns"},
		{PM_COLUMN_METRIC, "", 1e-5, 2, 1e-5, "1.000e-5", ""},
		{PM_COLUMN_METRIC, "%", 3, 60, 31.25, "31.250", "%"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pm_scale scale;
		char text[PM_CELL];

		pm_scale_choose(&scale, rows[i].kind, rows[i].unit, rows[i].least,
				rows[i].most);
		pm_scale_text(&scale, rows[i].value, text);
		cr_expect_str_eq(text, rows[i].text, "row %zu: '%s'", i, text);
		cr_expect_str_eq(scale.unit, rows[i].shown_unit, "row %zu: '%s'", i,
				 scale.unit);
	}
}

/* A program that was killed: what is around the regions that ended took their time. */
Test(report_text, an_open_visit_took_what_is_inside_of_it_at_least)
{
	struct pm_report_options options = {0};
	struct perfmon_profile_thread *thread;
	struct profile_builder b;
	char *got;

	thread = sample(&b, 0);
	path(&b, thread, 1, "main", 0);
	path(&b, thread, 2, "loop", 0);
	path(&b, thread, 3, "step", 6200000000);
	path(&b, thread, 1, "init", 100000000);
	got = report_built(&b, &options);
	has(got, "\nmain           0  >=6.200   98.4        -\n");
	has(got, "\n  loop         0  >=6.200   98.4        -\n");
	has(got, "\n    step       1    6.200   98.4    6.200   98.4 ");
	has(got, "\ntotal             >=6.300  100.0  >=6.300  100.0\n");
	has(got, "  >=    at least: a visit has no END so far.");
	has(got, "  hottest  main > loop > step, with 98.4 % of the time in itself\n");
	free(got);
	builder_end(&b);
}

Test(report_text, the_spread_over_threads)
{
	struct pm_report_options options = {0};
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_node *node;
	struct profile_builder b;
	char *got;

	thread = sample(&b, 0);
	path(&b, thread, 1, "work", 1000000);
	path(&b, thread, 1, "alone", 7000000);
	thread = builder_tree(&b, 2, 1, 0, 4);
	node = builder_node(&b, thread, 1, 1);
	builder_visit(node, 2000000);
	got = report_built(&b, &options);
	has(got, "  threads  2, times and counts are summed over them\n");
	has(got, "above the mean):\n"
		 "region  threads  least   mean   most  imbalance\n"
		 "                    ms     ms     ms          %\n"
		 "work          2  1.000  1.500  2.000       33.3\n");
	has_not(got, "alone         1");
	free(got);
	builder_end(&b);
}

static void unmatched(struct profile_builder *b, const char *name, const char *place,
		      uint64_t count)
{
	struct perfmon_profile_unmatched *kind =
		builder_record(b, PERFMON_PROFILE_TYPE_UNMATCHED,
			       sizeof(*kind) + strlen(name) + strlen(place));

	kind->count = count;
	kind->name_length = (uint32_t)strlen(name);
	kind->place_length = (uint32_t)strlen(place);
	memcpy(kind->text, name, strlen(name));
	memcpy(kind->text + strlen(name), place, strlen(place));
}

/* By name and place: a typing error is told from a missing BEGIN. */
Test(report_text, unmatched_ends_and_unclosed_begins_are_named)
{
	struct pm_report_options options = {0};
	struct perfmon_profile_thread *thread;
	struct profile_builder b;
	char *got;

	thread = sample(&b, 0);
	path(&b, thread, 1, "main", 0);
	path(&b, thread, 2, "solve", 1000)->mismatched_ends = 2;
	unmatched(&b, "slove", "main > solve", 1);
	unmatched(&b, "solve", "", 3);
	unmatched(&b, "other", "main", 2);
	thread->unmatched_ends = 10;
	got = report_built(&b, &options);
	has(got, "  lost: 1 END without a BEGIN: 'slove' (did you mean 'solve'?), inside "
		 "main > "
		 "solve\n");
	has(got, "  lost: 3 ENDs without a BEGIN: 'solve', outside of all regions\n");
	has(got, "  lost: 2 ENDs without a BEGIN: 'other', inside main\n");
	has(got, "  lost: 4 more ENDs without a BEGIN\n");
	has(got, "  lost: 1 visit without an END: 'main'; open when the program ended\n");
	has(got,
	    "  lost: 2 visits without an END: 'solve', inside main; closed by the END of "
	    "an outer region\n");
	free(got);
	options.format = PM_FORMAT_JSON;
	got = report_built(&b, &options);
	has(got, "\"unmatched\":[\n{\"region\":\"slove\",\"inside\":\"main > "
		 "solve\",\"count\":1},");
	free(got);
	/* Of a program that still runs, visits are open as they should be. */
	options.format = PM_FORMAT_TEXT;
	builder_header(&b)->state = PERFMON_PROFILE_STATE_RUNNING;
	got = report_built(&b, &options);
	has_not(got, "open when the program ended");
	free(got);
	builder_end(&b);
}

/* A record that says more than it holds is left out, and the profile is partial. */
Test(report_text, a_bad_record_of_ends_is_a_problem)
{
	struct perfmon_profile_unmatched *kind;
	struct pm_snapshot *s;
	struct profile_builder b;

	sample(&b, 0);
	unmatched(&b, "good", "place", 1);
	for (int i = 0; i < 2; i++) {
		kind = builder_record(&b, PERFMON_PROFILE_TYPE_UNMATCHED,
				      sizeof(*kind) + 8);
		kind->name_length = i ? UINT32_MAX : 4;
		kind->place_length = i ? 2 : 5;
	}
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, NULL), 0);
	cr_assert(s->partial);
	cr_assert_eq(s->unmatched_count, 1);
	cr_assert_str_eq(s->unmatched[0].name, "good");
	cr_assert_str_eq(s->unmatched[0].place, "place");
	pm_snapshot_free(s);
	builder_end(&b);
}

/* A sign that is a letter would be taken for a unit: "200 m". */
Test(report_text, no_mark_is_a_letter)
{
	for (uint32_t bit = 0; bit < PM_MARKS; bit++) {
		struct pm_value value = {.state = PM_COUNTED,
					 .value = 200,
					 .coverage = 0.5,
					 .error = 4,
					 .marks = 1u << bit};
		uint32_t marks = 0, states = 0;
		struct pm_cell cell;

		pm_cell_value(&cell, &value, &marks, &states);
		for (const char *c = cell.marks; *c; c++)
			cr_expect(!(*c >= 'a' && *c <= 'z') && !(*c >= 'A' && *c <= 'Z'),
				  "%s", cell.marks);
	}
}
