/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What reports say against their own numbers: too short against the bias, more than the
 * CPU can do, known errata, migrations. */
#include "config.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_JANSSON
#include <jansson.h>
#endif

#include "core/profile/profile.h"
#include "core/report/merge/merge.h"
#include "core/report/model/value.h"
#include "core/report/report.h"
#include "profile_builder.h"
#include "region_probe.h"
#include "report_text.h"
#include "tree.h"

static const char cortex_a72[] = "processor\t: 0\nBogoMIPS\t: 108.00\n"
				 "CPU implementer\t: 0x41\nCPU architecture: 8\n"
				 "CPU variant\t: 0x0\nCPU part\t: 0xd08\n"
				 "CPU revision\t: 3\n\n";
static const char cortex_a53[] = "processor\t: 1\nCPU implementer\t: 0x41\n"
				 "CPU part\t: 0xd03\nCPU revision\t: 4\n\n";
static const char unheard_of[] = "processor\t: 1\nCPU implementer\t: 0x41\n"
				 "CPU part\t: 0xfff\nCPU revision\t: 4\n\n";
static const char skylake[] = "processor\t: 0\nvendor_id\t: GenuineIntel\n"
			      "cpu family\t: 6\nmodel\t\t: 94\n"
			      "model name\t: Intel(R) Core(TM)\nstepping\t: 3\n\n";
static const char zen2[] = "processor\t: 0\nvendor_id\t: AuthenticAMD\n"
			   "cpu family\t: 23\nmodel\t\t: 49\nmodel name\t: AMD\n";

Test(sanity, kinds_of_cpus_are_read)
{
	struct pm_cpu_kinds kinds;
	char text[2000];

	pm_cpu_kinds_read(&kinds, skylake);
	cr_assert_eq(kinds.count, 1);
	cr_assert(kinds.kind[0].maker == PM_CPU_INTEL && kinds.kind[0].family == 6 &&
		  kinds.kind[0].model == 0x5e);
	pm_cpu_kinds_read(&kinds, zen2);
	cr_assert(kinds.kind[0].maker == PM_CPU_AMD && kinds.kind[0].family == 0x17 &&
		  kinds.kind[0].model == 0x31);
	/* Each kind once, however many CPUs are of it. */
	snprintf(text, sizeof(text), "%s%s%s%s", cortex_a53, cortex_a53, cortex_a72,
		 cortex_a53);
	pm_cpu_kinds_read(&kinds, text);
	cr_assert_eq(kinds.count, 2);
	cr_assert(kinds.kind[0].maker == PM_CPU_ARM && kinds.kind[0].family == 0x41 &&
		  kinds.kind[0].model == 0xd03 && kinds.kind[1].model == 0xd08);
	/* RISC-V says none of these; nor does a file that is cut off. */
	pm_cpu_kinds_read(&kinds, "processor\t: 0\nhart\t: 1\nisa\t: rv64imafdc\n");
	cr_assert_eq(kinds.count, 0);
	pm_cpu_kinds_read(&kinds, "vendor_id");
	cr_assert_eq(kinds.count, 0);
	pm_cpu_kinds_read(&kinds, "");
	cr_assert_eq(kinds.count, 0);
}

static struct pm_cpu_kinds kinds_of(const char *first, const char *second)
{
	struct pm_cpu_kinds kinds;
	char text[2000];

	snprintf(text, sizeof(text), "%s\n%s", first, second);
	pm_cpu_kinds_read(&kinds, text);
	return kinds;
}

Test(sanity, issue_widths_are_known_or_not_judged)
{
	struct pm_cpu_kinds kinds = kinds_of(skylake, "");

	cr_assert_eq(pm_cpu_issue_width(&kinds), 8);
	kinds = kinds_of(zen2, "");
	cr_assert_eq(pm_cpu_issue_width(&kinds), 10);
	kinds = kinds_of(cortex_a72, "");
	cr_assert_eq(pm_cpu_issue_width(&kinds), 6);
	kinds = kinds_of(cortex_a53, cortex_a72);
	cr_assert_eq(pm_cpu_issue_width(&kinds), 6);
	/* One unknown kind is enough to know nothing, unless the PMUs tell. */
	kinds = kinds_of(cortex_a72, unheard_of);
	cr_assert_eq(pm_cpu_issue_width(&kinds), 0);
	kinds.slots = 5;
	cr_assert_eq(pm_cpu_issue_width(&kinds), 10);
	memset(&kinds, 0, sizeof(kinds));
	cr_assert_eq(pm_cpu_issue_width(&kinds), 0);
}

Test(sanity, pmus_tell_how_wide_they_are)
{
	struct pm_cpu_kinds kinds;

	tree_new();
	tree_write("/proc/cpuinfo", unheard_of);
	tree_write("/sys/bus/event_source/devices/armv8_pmuv3_0/caps/slots",
		   "0x00000005");
	tree_write("/sys/bus/event_source/devices/software/type", "1");
	pm_cpu_kinds_here(&kinds);
	cr_assert(kinds.count == 1 && kinds.kind[0].model == 0xfff);
	cr_assert_eq(kinds.slots, 5);
	cr_assert_eq(pm_cpu_issue_width(&kinds), 10);
	tree_write("/sys/bus/event_source/devices/armv8_pmuv3_1/caps/slots",
		   "0x00000008");
	pm_cpu_kinds_here(&kinds);
	cr_assert_eq(kinds.slots, 8);
	tree_write("/sys/bus/event_source/devices/armv8_pmuv3_2/caps/slots",
		   "0x00000000");
	pm_cpu_kinds_here(&kinds);
	cr_assert_eq(kinds.slots, 0, "one that does not count stalled slots");
	cr_assert_eq(pm_cpu_issue_width(&kinds), 0);
	tree_remove();
}

/* By whatever way this machine is asked. */
Test(sanity, this_machine_is_known_by_one_name)
{
	struct pm_cpu_kinds here, text;
	char *cpuinfo;

	pm_cpu_kinds_here(&here);
	cr_assert_geq(pm_file_read("/proc/cpuinfo", &cpuinfo), 0);
	pm_cpu_kinds_read(&text, cpuinfo);
	free(cpuinfo);
	cr_assert_eq(here.count, text.count);
	cr_assert(!memcmp(here.kind, text.kind, sizeof(here.kind)));
}

Test(sanity, kinds_of_machines_are_joined)
{
	struct pm_cpu_kinds sum = kinds_of(cortex_a53, ""),
			    other = kinds_of(cortex_a72, ""), none = {0},
			    many = {.count = PM_CPU_KINDS};

	sum.slots = 4;
	other.slots = 6;
	pm_cpu_kinds_join(&sum, &other);
	pm_cpu_kinds_join(&sum, &other);
	cr_assert_eq(sum.count, 2);
	cr_assert_eq(sum.slots, 6);
	other.slots = 0;
	pm_cpu_kinds_join(&sum, &other);
	cr_assert_eq(sum.slots, 0);
	for (uint32_t i = 0; i < PM_CPU_KINDS; i++)
		many.kind[i].model = i;
	pm_cpu_kinds_join(&many, &many);
	cr_assert_eq(many.count, PM_CPU_KINDS);
	pm_cpu_kinds_join(&many, &other);
	cr_assert_eq(many.count, 0, "too many to be looked at");
	pm_cpu_kinds_join(&sum, &none);
	cr_assert_eq(sum.count, 0);
	pm_cpu_kinds_join(&sum, &other);
	cr_assert_eq(sum.count, 0, "and so it stays");
}

Test(sanity, errata_concern_their_event_on_their_cpu)
{
	static const struct {
		const char *cpu, *event;
		bool instructions, branches;
		const char *number;
	} rows[] = {
		{cortex_a53, "INST_RETIRED", true, false, "855827"},
		{cortex_a53, "cpu-cycles", false, false, NULL},
		{cortex_a72, "INST_RETIRED", true, false, NULL},
		{skylake, "branches", false, true, "SKL091"},
		{skylake, "instructions", true, false, NULL},
		{zen2, "irperf", false, false, NULL},
		{"vendor_id: AuthenticAMD\ncpu family: 23\nmodel: 1\n", "irperf", false,
		 false, "1054"},
		{"vendor_id: GenuineIntel\ncpu family: 6\nmodel: 58\n",
		 "MEM_LOAD_UOPS_RETIRED.L1_HIT", false, false, "BV98"},
		{"vendor_id: GenuineIntel\ncpu family: 6\nmodel: 58\n", "MEM_LOAD", false,
		 false, NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pm_cpu_kinds kinds = kinds_of(rows[i].cpu, "");
		const struct pm_erratum *erratum =
			pm_cpu_erratum(&kinds, rows[i].event, strlen(rows[i].event),
				       rows[i].instructions, rows[i].branches);

		cr_assert_eq(!!erratum, !!rows[i].number, "row %zu", i);
		if (erratum)
			cr_assert_str_eq(erratum->number, rows[i].number);
	}
}

/* --- in reports --------------------------------------------------------------------- */

static char *report(struct profile_builder *b, struct pm_report_options options)
{
	return report_built(b, &options);
}

static struct perfmon_profile_thread *begin(struct profile_builder *b, uint64_t bias)
{
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_plan *plan;

	builder_begin(b, 1 << 17);
	plan = builder_plan(b, 1, 3);
	strcpy(plan->counter[0].name, "instructions:u");
	strcpy(plan->counter[1].name, "cycles:u");
	strcpy(plan->counter[2].name, "branches:u");
	plan->counter[0].cost.bias = bias;
	plan->counter[0].cost.known = 1;
	thread = builder_tree(b, 1, 1, 3, 64);
	return thread;
}

/* A path of VISITS visits with so many instructions and cycles in all. */
static struct perfmon_profile_node *
path(struct profile_builder *b, struct perfmon_profile_thread *thread, uint32_t parent,
     const char *name, unsigned int visits, uint64_t instructions, uint64_t cycles)
{
	struct perfmon_profile_node *node =
		builder_node(b, thread, parent, builder_region(b, name));

	for (unsigned int v = 0; v < visits; v++)
		builder_visit(node, 1000);
	node->count[0].sum = instructions;
	node->count[1].sum = cycles;
	node->count[2].sum = 7;
	return node;
}

/* Row: DC-02: 180 instructions a visit, of which measuring counts 40, are too few; 100
 * visits of just 4,000 are enough, of one less they are not. */
Test(sanity, a_region_too_short_says_what_would_do)
{
	struct perfmon_profile_thread *thread;
	struct profile_builder b;
	char *got;

	thread = begin(&b, 40);
	path(&b, thread, 1, "tiny", 10, 1800, 1000);
	path(&b, thread, 1, "enough", 100, 400000, 200000);
	path(&b, thread, 1, "nearly", 100, 399999, 200000);
	path(&b, thread, 1, "nothing", 10, 400, 100);
	got = report(&b, (struct pm_report_options){.format = PM_FORMAT_TEXT});
	has(got, "               1800 *      1000");
	has(got, "           400000      200000");
	has(got, "           399999 *    200000");
	has(got, "  *     too short: over 1 % of the count, or 10 % of the time, is "
		 "measuring.");
	has(got,
	    "  short: tiny: 180 instructions:u a visit against a bias of 40: measure "
	    "at least 4000, or the work of 29 visits in one\n");
	has(got, "  short: nearly: 4000 instructions:u a visit against a bias of 40: "
		 "measure at least 4000, or the work of 2 visits in one\n");
	has(got, "  short: nothing: 40 instructions:u a visit against a bias of 40: "
		 "measure at least 4000\n");
	has_not(got, "short: enough");
	free(got);
#ifdef HAVE_JANSSON
	got = report(&b, (struct pm_report_options){.format = PM_FORMAT_JSON});
	{
		json_t *all = json_loads(got, 0, NULL), *node, *c;

		cr_assert_not_null(all);
		node = json_array_get(json_object_get(all, "nodes"), 0);
		c = json_array_get(json_object_get(node, "counts"), 0);
		cr_assert_str_eq(
			json_string_value(json_array_get(json_object_get(c, "marks"), 0)),
			"too_short");
		cr_assert_float_eq(json_number_value(json_object_get(c, "bias_error")),
				   400.0 / 1800, 1e-12);
		cr_assert_eq(json_number_value(json_object_get(c, "bias_per_visit")), 40);
		cr_assert_eq(json_number_value(json_object_get(c, "needed_per_visit")),
			     4000);
		cr_assert_eq(json_number_value(json_object_get(c, "needed_batch")), 29);
		c = json_array_get(json_object_get(node, "counts"), 1);
		cr_assert_eq(json_array_size(json_object_get(c, "marks")), 0);
		cr_assert(json_is_null(json_object_get(c, "bias_error")));
		node = json_array_get(json_object_get(all, "nodes"), 1);
		c = json_array_get(json_object_get(node, "counts"), 0);
		cr_assert_eq(json_array_size(json_object_get(c, "marks")), 0);
		json_decref(all);
	}
	free(got);
#endif
	builder_end(&b);
}

/* Some of the visits were read by read(2), which counts more: their bias is that. */
Test(sanity, each_way_of_reading_has_its_bias)
{
	struct pm_report_options less = {.format = PM_FORMAT_FLAT, .subtract_bias = true};
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_plan *plan;
	struct profile_builder b;
	char *got;

	thread = begin(&b, 40);
	plan = (void *)(b.base + sizeof(struct perfmon_profile_header));
	plan->counter[0].cost.call_bias = 600;
	plan->counter[0].cost.known =
		PERFMON_PROFILE_COST_USER | PERFMON_PROFILE_COST_CALL;
	plan->counter[1].cost.call_bias = 700;
	plan->counter[1].cost.known = PERFMON_PROFILE_COST_CALL;
	path(&b, thread, 1, "warm", 10, 100000, 100000);
	path(&b, thread, 1, "some", 10, 100000, 100000)->fallback_reads = 2;
	path(&b, thread, 1, "calls", 10, 100000, 100000)->fallback_reads = 10;
	got = report(&b, (struct pm_report_options){.format = PM_FORMAT_TEXT});
	has(got,
	    "instructions:u: read in user space, an empty region counts 40, 600 if read "
	    "by read(2)\n");
	has(got, "cycles:u: read in user space, an empty region counts 700\n");
	has_not(got, "short: warm");
	has(got,
	    "  short: some: 10000 instructions:u a visit against a bias of 152: measure "
	    "at least 15200, or the work of 2 visits in one\n");
	has(got,
	    "  short: calls: 10000 instructions:u a visit against a bias of 600: measure "
	    "at least 60000, or the work of 7 visits in one\n");
	has(got, "  short: calls: 10000 cycles:u a visit against a bias of 700: ");
	free(got);
	got = report(&b, less);
	has(got, "99600   ");
	has(got, "98480 *");
	has(got, "94000 *");
	has(got, "93000 *");
	free(got);
#ifdef HAVE_JANSSON
	got = report(&b, (struct pm_report_options){.format = PM_FORMAT_JSON});
	{
		json_t *all = json_loads(got, 0, NULL), *events;

		cr_assert_not_null(all);
		events = json_object_get(all, "events");
		cr_assert_eq(json_number_value(
				     json_object_get(json_array_get(events, 0), "bias")),
			     40);
		cr_assert_eq(json_number_value(json_object_get(json_array_get(events, 0),
							       "call_bias")),
			     600);
		cr_assert(
			json_is_null(json_object_get(json_array_get(events, 1), "bias")));
		json_decref(all);
	}
	free(got);
#endif
	builder_end(&b);
}

/* What read(2) counts is measured when the process begins. */
Test(sanity, an_event_read_by_calls_has_a_bias, .init = probe_quiet)
{
	struct pm_report_model model;
	struct pm_report_tree tree;
	struct pm_snapshot *s;
	struct pm_short judged;

	setenv("PERFMON_EVENTS", "task-clock", 1);
	for (int i = 0; i < 100; i++) {
		PERFMON_REGION_BEGIN("empty");
		PERFMON_REGION_END("empty");
	}
	s = probe_take();
	if (s->threads[0].record.status[0] <= 0)
		cr_skip_test("%s", s->note_count ? s->notes[0] : "no task-clock");
	cr_assert_eq(s->counters[0].cost.known, PERFMON_PROFILE_COST_CALL);
	cr_assert_gt(s->counters[0].cost.call_bias, 0);
	cr_assert_eq(pm_report_model_make(&model, s, false, NULL), 0);
	cr_assert_eq(pm_report_tree_make(&tree, &model, NULL, 0), 0);
	cr_assert(pm_report_is_short(&tree, 1, 0, false, &judged));
	cr_assert_eq(judged.bias, s->counters[0].cost.call_bias);
	cr_assert(pm_report_count(&tree, 1, 0, false).marks & PM_MARK_SHORT);
	pm_report_tree_free(&tree);
	pm_report_model_free(&model);
	pm_snapshot_free(s);
}

/* An event that by its times was never on the hardware, and counted something. */
Test(sanity, a_count_without_coverage_is_not_shown_as_whole)
{
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_node *node;
	struct profile_builder b;
	char *got;

	thread = begin(&b, 0);
	node = path(&b, thread, 1, "turns", 10, 100000, 500);
	node->count[1].lost_ns = 10000000;
	got = report(&b, (struct pm_report_options){.format = PM_FORMAT_TEXT});
	has(got, " 500 <1%");
	has(got, "  <N%   too low: counted for N % of the time");
	has_not(got, "implausible");
	has_not(got, "^");
	free(got);
	builder_end(&b);
}

/* Whatever the bias and the work of a visit are: with the visits put together that the
 * sentence asks for the mark goes, with one less it stays. */
Test(sanity, what_is_asked_for_is_just_enough)
{
	static const uint64_t biases[] = {1, 7, 40, 44, 1234},
			      works[] = {1, 3, 100, 140, 2500, 99999};

	for (size_t i = 0; i < sizeof(biases) / sizeof(biases[0]); i++) {
		for (size_t w = 0; w < sizeof(works) / sizeof(works[0]); w++) {
			uint64_t batch = 1;

			/* At first as it is; then what was asked for; then one less. */
			for (int round = 0; round < 3; round++) {
				struct perfmon_profile_thread *thread;
				struct pm_report_model model;
				struct pm_report_tree tree;
				struct profile_builder b;
				struct pm_snapshot *s;
				struct pm_short judged;
				bool is_short;

				thread = begin(&b, biases[i]);
				path(&b, thread, 1, "r", 10,
				     10 * (works[w] * batch + biases[i]), 1);
				pm_snapshot_take(b.base, builder_used(&b), &s, NULL);
				pm_report_model_make(&model, s, false, NULL);
				pm_report_tree_make(&tree, &model, NULL, 0);
				is_short =
					pm_report_is_short(&tree, 1, 0, false, &judged);
				pm_report_tree_free(&tree);
				pm_report_model_free(&model);
				pm_snapshot_free(s);
				builder_end(&b);
				if (!round && !is_short)
					break;
				cr_assert_eq(is_short, round != 1,
					     "bias %d work %d round %d", (int)biases[i],
					     (int)works[w], round);
				if (!round)
					batch = (uint64_t)judged.batch;
				else
					batch--;
			}
		}
	}
}

/* The bias of nested visits counts for the inclusive value. */
Test(sanity, nested_visits_shorten_the_region_around_them)
{
	struct perfmon_profile_thread *thread;
	struct profile_builder b;
	char *got;

	thread = begin(&b, 40);
	path(&b, thread, 1, "outer", 1, 100000, 50000);
	path(&b, thread, 2, "inner", 100, 90000, 45000);
	got = report(&b, (struct pm_report_options){.format = PM_FORMAT_TEXT});
	has(got, "  short: outer: 100.0k instructions:u a visit against a bias of 4040: "
		 "measure at least 404.0k, or have fewer visits inside\n");
	free(got);
	/* By itself it is long enough: of its own 10,000 measuring counts 40. */
	got = report(&b, (struct pm_report_options){.format = PM_FORMAT_FLAT});
	has(got, "90000 * ");
	has(got, "10000   ");
	free(got);
	builder_end(&b);
}

Test(sanity, sentences_come_to_an_end)
{
	struct perfmon_profile_thread *thread;
	struct profile_builder b;
	char *got, name[20];
	int lines = 0;

	thread = begin(&b, 40);
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "r%d", i);
		path(&b, thread, 1, name, 1, 100, 1);
	}
	got = report(&b, (struct pm_report_options){.format = PM_FORMAT_TEXT});
	for (const char *at = got; (at = strstr(at, "  short: ")); at++)
		lines++;
	cr_assert_eq(lines, 9);
	has(got, "  short: and 12 more\n");
	free(got);
	builder_end(&b);
}

/* Six a cycle are the most that a Cortex-A72 can, fused pairs included. */
Test(sanity, more_than_the_cpu_can_issue_is_marked)
{
	struct pm_machine machine = {.cpus = 1};
	struct pm_report_options options = {.machine = &machine};
	struct perfmon_profile_thread *thread;
	struct profile_builder b;
	char *got;

	thread = begin(&b, 0);
	path(&b, thread, 1, "best", 1, 6000000, 1000000);
	path(&b, thread, 1, "wrong", 1, 6010000, 1000000);
	pm_cpu_kinds_read(&machine.kinds, cortex_a72);
	got = report(&b, options);
	has(got, "  6.00    ");
	has(got, "  6.01 ^  ");
	has(got, "  ^     more than this CPU can do.");
	has(got,
	    "  implausible: wrong: IPC of 6.01 instructions a cycle is more than the 6 "
	    "that this CPU can issue\n");
	free(got);
#ifdef HAVE_JANSSON
	options.format = PM_FORMAT_JSON;
	got = report(&b, options);
	has(got, "\"marks\":[\"implausible\"],\"exclusive_marks\":[\"implausible\"],"
		 "\"limit\":6}");
	has(got, "\"marks\":[],\"exclusive_marks\":[],\"limit\":6}");
	options.format = PM_FORMAT_TEXT;
	free(got);
#endif
	/* Of a CPU that is not known nothing is said. */
	pm_cpu_kinds_read(&machine.kinds, unheard_of);
	got = report(&b, options);
	has_not(got, "^");
	free(got);
	options.machine = NULL;
	got = report(&b, options);
	has_not(got, "^");
	free(got);
	builder_end(&b);
}

/* The CPUs of a profile are its own, wherever it is read. Row: DC-02 */
Test(sanity, a_profile_tells_whose_cpus_have_counted)
{
	static const struct perfmon_profile_kind kinds[] = {
		{PERFMON_PROFILE_MAKER_ARM, 0x41, 0xd08, 0},
		{PERFMON_PROFILE_MAKER_ARM, 0x41, 0xd03, 0}};
	struct pm_machine machine = {.cpus = 1};
	struct pm_report_options options = {.machine = NULL};
	struct perfmon_profile_thread *thread;
	struct pm_snapshot *s, *packed;
	struct pm_merge *merge;
	struct profile_builder b;
	size_t size;
	void *bytes;
	char *got;

	thread = begin(&b, 0);
	path(&b, thread, 1, "wrong", 1, 6010000, 1000000);
	builder_machine(&b, kinds, 2, 0);
	for (int i = 0; i < 2; i++) {
		got = report(&b, options);
		has(got, "more than the 6 that this CPU can issue\n");
		has(got, "(855827, ");
		free(got);
		/* Of another machine than this one. */
		pm_cpu_kinds_read(&machine.kinds, skylake);
		options.machine = &machine;
	}
	/* It goes along when it is sent, and into a sum. */
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, NULL), 0);
	cr_assert(!s->partial, "%s", s->problem);
	cr_assert_eq(s->kinds.count, 2);
	cr_assert_eq(pm_snapshot_pack(s, &bytes, &size), 0);
	cr_assert_eq(pm_snapshot_take(bytes, size, &packed, NULL), 0);
	cr_assert(!memcmp(&s->kinds, &packed->kinds, sizeof(s->kinds)));
	cr_assert_eq(pm_merge_create(&merge, false), 0);
	cr_assert_eq(pm_merge_add(merge, s, NULL), 0);
	packed->kinds.kind[0].model = 0xd0c;
	cr_assert_eq(pm_merge_add(merge, packed, NULL), 0);
	cr_assert_eq(pm_merge_sum(merge)->kinds.count, 3);
	cr_assert_eq(pm_cpu_issue_width(&pm_merge_sum(merge)->kinds), 8);
	packed->kinds.count = 0;
	cr_assert_eq(pm_merge_add(merge, packed, NULL), 0);
	cr_assert_eq(pm_merge_sum(merge)->kinds.count, 0);
	cr_assert_eq(pm_merge_end(merge), 0);
	pm_merge_free(merge);
	pm_snapshot_free(packed);
	pm_snapshot_free(s);
	free(bytes);
	builder_end(&b);
}

Test(sanity, a_machine_that_is_damaged_is_told)
{
	static const struct perfmon_profile_kind kinds[PM_CPU_KINDS + 1] = {
		{99, 0x41, 0xd08, 0}};
	struct perfmon_profile_machine *machine;
	struct profile_builder b;
	struct pm_snapshot *s;

	begin(&b, 0);
	machine = (void *)(b.base + builder_used(&b));
	builder_machine(&b, kinds, PM_CPU_KINDS + 1, UINT32_MAX);
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, NULL), 0);
	cr_assert(!s->partial && !s->kinds.count, "%s", s->problem);
	pm_snapshot_free(s);
	machine->kinds = PM_CPU_KINDS;
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, NULL), 0);
	cr_assert(!s->partial && s->kinds.count == PM_CPU_KINDS && !s->kinds.slots);
	cr_assert_eq(s->kinds.kind[0].maker, PM_CPU_UNKNOWN);
	pm_snapshot_free(s);
	machine->kinds = PM_CPU_KINDS + 2;
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, NULL), 0);
	cr_assert(s->partial && strstr(s->problem, "bad machine"), "%s", s->problem);
	cr_assert_eq(s->kinds.count, 0);
	pm_snapshot_free(s);
	builder_end(&b);
}

/* ... as a program writes it, and the children that it forks. */
Test(sanity, a_program_keeps_its_machine)
{
	struct pm_cpu_kinds here;
	struct pm_snapshot *s;
	int status;
	pid_t pid;

	probe_quiet();
	pm_cpu_kinds_here(&here);
	PERFMON_REGION_BEGIN("r");
	PERFMON_REGION_END("r");
	s = probe_take();
	cr_assert(!memcmp(&s->kinds, &here, sizeof(here)));
	pm_snapshot_free(s);
	pid = fork();
	if (!pid) {
		PERFMON_REGION_BEGIN("r");
		PERFMON_REGION_END("r");
		s = probe_take();
		_exit(memcmp(&s->kinds, &here, sizeof(here)) != 0);
	}
	cr_assert(waitpid(pid, &status, 0) == pid && !status);
}

Test(sanity, an_erratum_marks_its_event_and_names_its_source)
{
	struct pm_machine machine = {.cpus = 1};
	struct pm_report_options options = {.machine = &machine};
	struct perfmon_profile_thread *thread;
	struct profile_builder b;
	char *got;

	thread = begin(&b, 0);
	path(&b, thread, 1, "r", 1, 100000, 200000);
	pm_cpu_kinds_read(&machine.kinds, cortex_a53);
	got = report(&b, options);
	has(got, "100000 #    200000           7  0.50 #");
	has(got, "  #     this CPU is known to miscount the event.");
	has(got,
	    "  erratum: instructions:u may count more instructions than were executed "
	    "(855827, Arm Cortex-A53 MPCore Software Developers Errata Notice)\n");
	free(got);
	options.format = PM_FORMAT_JSON;
	got = report(&b, options);
	has(got, "\"erratum\":{\"number\":\"855827\",");
	has(got, "\"erratum\":null,");
	free(got);
	builder_end(&b);
}

Test(sanity, migrations_mark_the_counts)
{
	struct perfmon_profile_thread *thread;
	struct profile_builder b;
	char *got;

	thread = begin(&b, 0);
	path(&b, thread, 1, "moved", 3, 30000, 20000)->migrations = 2;
	path(&b, thread, 1, "stayed", 3, 30001, 20000);
	got = report(&b, (struct pm_report_options){.format = PM_FORMAT_TEXT});
	/* It is no reason to do anything, and has no sign: JSON has the mark. */
	has(got, "30000     20000           7  1.50");
	free(got);
	got = report(&b, (struct pm_report_options){.format = PM_FORMAT_CSV});
	has(got, ",migrated,migrated,migrated,");
	free(got);
	builder_end(&b);
}

/* Of 10^9 instructions 150 in one visit are its own: too few against a bias of 40, and
 * more than one cycle can hold. */
Test(sanity, exclusive_values_have_marks_of_their_own)
{
	struct pm_machine machine = {.cpus = 1};
	struct pm_report_options options = {.machine = &machine,
					    .format = PM_FORMAT_JSON};
	struct perfmon_profile_thread *thread;
	struct profile_builder b;
	char *got;

	thread = begin(&b, 40);
	path(&b, thread, 1, "outer", 1, 1000000000, 500000001)->migrations = 1;
	path(&b, thread, 2, "inner", 1, 999999850, 500000000);
	pm_cpu_kinds_read(&machine.kinds, cortex_a72);
	got = report(&b, options);
	has(got,
	    "\"marks\":[\"migrated\"],"
	    "\"exclusive_marks\":[\"too_short\",\"migrated\"],\"bias_error\":8e-08,");
	has(got, "\"marks\":[\"migrated\"],\"exclusive_marks\":[\"too_short\","
		 "\"implausible\",\"migrated\"],\"limit\":6}");
	has(got, "\"marks\":[],\"exclusive_marks\":[],\"bias_error\":");
	free(got);
	/* In CSV at the end of each row. */
	options.format = PM_FORMAT_CSV;
	got = report(&b, options);
	has(got, ",time_ns.marks,exclusive_ns.marks,instructions:u.marks,"
		 "instructions:u.exclusive_marks,cycles:u.marks,cycles:u.exclusive_marks,"
		 "branches:u.marks,branches:u.exclusive_marks,ipc.marks");
	has(got, ",,,migrated,too_short migrated,migrated,migrated,migrated,migrated,"
		 "migrated");
	has(got, ",,,,,,,,,");
	free(got);
	builder_end(&b);
}

/* Every mark has a name of its own, and there are no more. */
Test(sanity, marks_have_names)
{
	for (uint32_t i = 0; i < PM_MARKS; i++)
		for (uint32_t k = 0; k < i; k++)
			cr_assert_str_neq(pm_report_mark_name(1u << i),
					  pm_report_mark_name(1u << k));
}
