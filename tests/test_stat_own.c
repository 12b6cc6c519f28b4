/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What perfmon stat makes of readings that no test can have the kernel give. */
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "cli/stat/inside.h"

struct text {
	char at[4096];
	size_t used;
};

static int keep(void *argument, const char *text, size_t size)
{
	struct text *to = argument;

	if (size >= sizeof(to->at) - to->used)
		return -ENOSPC;
	memcpy(to->at + to->used, text, size);
	to->used += size;
	to->at[to->used] = '\0';
	return 0;
}

static struct pm_event event = {
	.unit = "",
	.scale = 1,
	.attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS}};
static char label[] = "page-faults";
static struct stat_event asked = {.label = label, .event = &event};

/* The result of CELL, of the only event, in a format. */
static void tell(struct stat_cell *cell,
		 void (*write)(const struct stat_result *, struct pm_out *),
		 struct text *text)
{
	struct stat_options options = {.inherit = true, .descendants = true};
	struct stat_counting counting = {
		.events = {.count = 1, .events = &asked, .chosen = true},
		.group_count = 1,
		.apart = true};
	struct stat_result result = {.options = &options,
				     .counting = &counting,
				     .cells = cell,
				     .exit_status = 0};
	struct pm_out out = {.sink = keep, .argument = text};

	text->used = 0;
	write(&result, &out);
	cr_assert_eq(pm_out_end(&out), 0);
}

static void expect(struct stat_cell *cell, const char *csv, const char *json,
		   const char *table)
{
	struct text text;

	tell(cell, stat_csv_rows, &text);
	cr_assert_not_null(strstr(text.at, csv), "no '%s' in %s", csv, text.at);
	tell(cell, stat_json_end, &text);
	cr_assert_not_null(strstr(text.at, json), "no '%s' in %s", json, text.at);
	tell(cell, stat_text_end, &text);
	cr_assert_not_null(strstr(text.at, table), "no '%s' in %s", table, text.at);
}

static void run(struct stat_cell *cell, const struct perfmon_value *all,
		const struct perfmon_value *own)
{
	stat_cell_take(cell, &asked, all, own);
	stat_cell_end_run(cell);
}

static const struct perfmon_value all = {
	.value = 500, .enabled_ns = 1000, .running_ns = 1000};

/* Row: DC-02: an event that had no turn in the first thread is not 0 there, and what it
 * created did not count all. */
Test(stat_own, own_counts_without_a_turn)
{
	struct perfmon_value starved = {.enabled_ns = 100},
			     closed = {.status = PERFMON_VALUE_NEVER_OPENED},
			     idle = {.value = 0},
			     counted = {
				     .value = 60, .enabled_ns = 100, .running_ns = 100};
	struct stat_cell cell = {.absent = false};
	const struct perfmon_value *const unknown[] = {&starved, &closed};

	for (int i = 0; i < 2; i++) {
		cell = (struct stat_cell){.absent = false};
		run(&cell, &all, unknown[i]);
		expect(&cell, "page-faults,,500,counted,1,1,,500,500,,,,,",
		       "\"own\":null,\"children\":null",
		       "not counted  not counted  page-faults");
	}

	/* What counts in one run of two has no mean over both. */
	run(&cell, &all, &counted);
	expect(&cell, "page-faults,,500,counted,1,2,0,500,500,,,,,",
	       "\"own\":null,\"children\":null", "not counted  not counted");

	/* A thread that did not run did nothing. */
	cell = (struct stat_cell){.absent = false};
	run(&cell, &all, &idle);
	expect(&cell, ",500,500,0,500,,,", "\"own\":0,\"children\":500", "  0  ");
	cell = (struct stat_cell){.absent = false};
	run(&cell, &all, &counted);
	expect(&cell, ",500,500,60,440,,,", "\"own\":60,\"children\":440",
	       "60       440  page-faults");
}

/* An event that took turns in the first thread alone: all counts scaled alike would give
 * what it created twice what that counted. */
Test(stat_own, children_of_a_multiplexed_event_are_unknown)
{
	const struct perfmon_value turns = {
		.value = 700, .enabled_ns = 1100, .running_ns = 600};
	const struct perfmon_value own_turns = {
		.value = 250, .enabled_ns = 1000, .running_ns = 500};
	const struct perfmon_value own_whole = {
		.value = 440, .enabled_ns = 1000, .running_ns = 1000};
	struct stat_cell cell = {.absent = false};

	run(&cell, &turns, &own_turns);
	expect(&cell, ",500,,,,", "\"own\":500,\"children\":null",
	       "500  not counted  page-faults");
	cell = (struct stat_cell){.absent = false};
	run(&cell, &turns, &own_whole);
	expect(&cell, ",440,,,,", "\"own\":440,\"children\":null",
	       "440  not counted  page-faults");
	cell = (struct stat_cell){.absent = false};
	run(&cell, &all, &own_turns);
	expect(&cell, ",500,,,,", "\"own\":500,\"children\":null",
	       "500  not counted  page-faults");
}

/* The result of slots and the metrics of level 1, of which COUNT are counted, in a format. */
static void topdown(uint32_t count, const double *values,
		    void (*write)(const struct stat_result *, struct pm_out *),
		    struct text *text)
{
	static char names[][20] = {"slots", "topdown-retiring", "topdown-bad-spec",
				   "topdown-fe-bound", "topdown-be-bound"};
	struct pm_event events[5];
	struct stat_event wanted[5];
	struct stat_cell cells[5];
	struct perfmon_value value = all;
	struct stat_options options = {.inherit = true};
	struct stat_counting counting = {
		.events = {.count = count, .events = wanted, .chosen = true},
		.group_count = 1};
	struct stat_result result = {
		.options = &options, .counting = &counting, .cells = cells};
	struct pm_out out = {.sink = keep, .argument = text};

	memset(cells, 0, sizeof(cells));
	for (uint32_t i = 0; i < count; i++) {
		events[i] = event;
		events[i].attr.type = PERF_TYPE_RAW;
		events[i].attr.config = i ? 0x8000 + 0x100 * (i - 1) : 0x400;
		events[i].topdown = i ? PM_TOPDOWN_METRIC : PM_TOPDOWN_SLOTS;
		wanted[i] = (struct stat_event){.label = names[i], .event = &events[i]};
		value.value = (uint64_t)values[i];
		stat_cell_take(&cells[i], &wanted[i], &value, &value);
		stat_cell_end_run(&cells[i]);
	}
	text->used = 0;
	write(&result, &out);
	cr_assert_eq(pm_out_end(&out), 0);
}

/* Row: QU-08: shares of slots, with how far they may be off. */
Test(stat_own, topdown_metrics_are_shares_of_slots_with_their_error)
{
	static const double whole[] = {1e9, 4e8, 1e8, 2e8, 3e8},
			    beyond[] = {1e9, 4e8, 1e8, 2e8, 3.2e8};
	struct text text;

	topdown(5, whole, stat_text_end, &text);
	cr_expect(strstr(text.at, "40.00 % of slots"), "%s", text.at);
	cr_expect(strstr(text.at, "at most 0.4 % of slots"), "%s", text.at);
	topdown(5, beyond, stat_text_end, &text);
	cr_expect(strstr(text.at, "at most 2.4 % of slots"), "%s", text.at);
	topdown(3, whole, stat_json_end, &text);
	cr_expect(strstr(text.at, "or by more, which only all four"), "%s", text.at);
	topdown(1, whole, stat_text_end, &text);
	cr_expect(!strstr(text.at, "8-bit"), "%s", text.at);
}
