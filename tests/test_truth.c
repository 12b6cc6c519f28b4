/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of perfmon truth: its decision, on counts with planted errors, and its
 * verdicts on events whose counts this program falsifies on their way from the kernel.
 * Row: QU-07
 */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bounds.h"
#include "cli/truth/checks.h"
#include "helpers.h"

/* --- the decision ---------------------------------------------------------------------- */

#define TURNS	    100
#define REPETITIONS 15

/* A turn of a block, and what a PMU counts of it. */
struct planted {
	double least, most, instructions;
	double counted; /* of each turn */
	bool misleads;
	int interrupts; /* repetitions that have many events more, or fewer */
};

static struct truth_judgement decide(const struct planted *planted, size_t count)
{
	static struct truth_row rows[8];

	cr_assert_leq(count, 8);
	for (size_t i = 0; i < count; i++) {
		const struct planted *p = &planted[i];
		int64_t differences[REPETITIONS];

		rows[i] = (struct truth_row){.block = "block",
					     .least = p->least,
					     .most = p->most,
					     .instructions = p->instructions,
					     .misleads = p->misleads};
		for (int r = 0; r < REPETITIONS; r++)
			differences[r] = lrint(p->counted * TURNS) +
					 (r < p->interrupts ? r % 2 ? 50000 : -30000 : 0);
		truth_row_fill(&rows[i], differences, REPETITIONS, TURNS);
	}
	return truth_decide(rows, count);
}

#define SIMPLE(truth, counted_)                                                          \
	{                                                                                \
		.least = (truth), .most = (truth), .instructions = 102,                  \
		.counted = (counted_)                                                    \
	}
#define DECIDE(...)                                                                      \
	decide((const struct planted[]){__VA_ARGS__},                                    \
	       sizeof((const struct planted[]){__VA_ARGS__}) / sizeof(struct planted))

static const char *verdict(struct truth_judgement judgement)
{
	return truth_verdict_name(judgement.verdict);
}

Test(truth_decide, true_counts_are_exact)
{
	cr_assert_str_eq(verdict(DECIDE(SIMPLE(100, 100), SIMPLE(1, 1), SIMPLE(0, 0))),
			 "exact");
	/* One event in a whole repetition. */
	cr_assert_str_eq(verdict(DECIDE(SIMPLE(100, 100.01), SIMPLE(0, 0.01))), "exact");
}

Test(truth_decide, interrupts_change_nothing)
{
	struct planted planted[] = {SIMPLE(100, 100), SIMPLE(0, 0)};

	for (int interrupts = 0; interrupts <= 7; interrupts++) {
		struct truth_judgement judgement;

		planted[0].interrupts = planted[1].interrupts = interrupts;
		planted[0].counted = 100;
		cr_assert_str_eq(verdict(decide(planted, 2)), "exact", "%d", interrupts);
		if (interrupts > 3)
			continue;
		planted[0].counted = 101;
		judgement = decide(planted, 2);
		cr_assert_str_eq(verdict(judgement), "off", "%d", interrupts);
		cr_assert_float_eq(judgement.error, 0.01, 1e-9);
	}
}

Test(truth_decide, one_percent_is_found_up_and_down)
{
	static const double errors[] = {0.01, -0.01, 0.02, -0.02, 0.1, -0.1, 0.4};

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		double factor = 1 + errors[i];
		struct truth_judgement judgement =
			DECIDE(SIMPLE(100, 100 * factor), SIMPLE(50, 50 * factor),
			       SIMPLE(1, factor), SIMPLE(0, 0));

		cr_assert_str_eq(verdict(judgement), "off", "%g", errors[i]);
		cr_assert_float_eq(judgement.error, errors[i], 1e-9);
		cr_assert(truth_is_bad(judgement.verdict));
	}
}

Test(truth_decide, cycles_have_bounds)
{
	struct planted cycles = {.least = 1000, .most = 1002, .instructions = 1002};

	for (cycles.counted = 1000; cycles.counted <= 1002; cycles.counted++)
		cr_assert_str_eq(verdict(decide(&cycles, 1)), "exact");
	cycles.counted = 1000 * 1.01; /* the least error, of the least count */
	cr_assert_str_eq(verdict(decide(&cycles, 1)), "off");
	cycles.counted = 1002 * 0.99; /* and of the largest */
	cr_assert_str_eq(verdict(decide(&cycles, 1)), "off");
}

Test(truth_decide, errors_of_one_block_are_wrong)
{
	/* A load that counts twice; stores that count as loads. */
	cr_assert_str_eq(verdict(DECIDE(SIMPLE(100, 200), SIMPLE(0, 0))), "wrong");
	cr_assert_str_eq(verdict(DECIDE(SIMPLE(100, 100), SIMPLE(0, 100))), "wrong");
	cr_assert_str_eq(verdict(DECIDE(SIMPLE(100, 100), SIMPLE(100, 103))), "wrong");
	/* A constant for each turn is no part of it. */
	cr_assert_str_eq(verdict(DECIDE(SIMPLE(100, 101), SIMPLE(0, 1))), "wrong");
}

Test(truth_decide, nothing_is_not_zero)
{
	cr_assert_str_eq(verdict(DECIDE(SIMPLE(100, 0), SIMPLE(0, 0))), "counts nothing");
	/* No block does what is counted: 0 is right, and says nothing. */
	cr_assert_str_eq(verdict(DECIDE(SIMPLE(0, 0), SIMPLE(0, 0))), "not judged");
}

Test(truth_decide, work_that_is_thrown_away_is_speculation)
{
	struct planted planted[] = {SIMPLE(100, 100),
				    {.least = 4,
				     .most = 4,
				     .instructions = 22,
				     .counted = 5.3,
				     .misleads = true}};

	cr_assert_str_eq(verdict(decide(planted, 2)), "counts speculation");
	cr_assert_not(truth_is_bad(TRUTH_SPECULATION));
	planted[1].counted = 3.9;
	cr_assert_str_eq(verdict(decide(planted, 2)), "wrong");
	planted[1].counted = 5.3;
	planted[0].counted = 102;
	cr_assert_str_eq(verdict(decide(planted, 2)), "off");
}

Test(truth_decide, what_differs_between_repetitions_is_not_decided)
{
	struct truth_row row = {
		.block = "block", .least = 500, .most = 502, .instructions = 502};
	int64_t differences[REPETITIONS];

	for (int i = 0; i < REPETITIONS; i++)
		differences[i] = 90000 + 1000 * i;
	truth_row_fill(&row, differences, REPETITIONS, TURNS);
	cr_assert_str_eq(verdict(truth_decide(&row, 1)), "unsteady");
	/* Cycles that an emulator makes of its time: 0.4 % apart. */
	for (int i = 0; i < REPETITIONS; i++)
		differences[i] = 20000 + 20 * i;
	truth_row_fill(&row, differences, REPETITIONS, TURNS);
	cr_assert_str_eq(verdict(truth_decide(&row, 1)), "unsteady");
	row.least = row.most;
	cr_assert_str_eq(verdict(truth_decide(&row, 1)), "wrong");
}

Test(truth_decide, mispredictions_have_bounds)
{
	struct truth_row rows[] = {
		{.block = "loads", .instructions = 102},
		{.block = "random", .instructions = 22, .misleads = true},
	};

	rows[1].median = 0.5;
	cr_assert_str_eq(verdict(truth_decide_mispredicted(rows, 2)), "plausible");
	rows[1].median = 0;
	cr_assert_str_eq(verdict(truth_decide_mispredicted(rows, 2)), "counts nothing");
	rows[1].median = 1.5;
	cr_assert_str_eq(verdict(truth_decide_mispredicted(rows, 2)), "wrong");
	rows[1].median = 0.5;
	rows[0].median = 1;
	cr_assert_str_eq(verdict(truth_decide_mispredicted(rows, 2)), "wrong");
}

/* --- a kernel that counts an event wrongly --------------------------------------------- */

#define FDS 1024

static struct {
	uint32_t type;
	uint64_t config;
	double factor; /* 0: nothing is falsified */
} wrong;
static bool falsified[FDS];

static void falsify(uint64_t *buffer, bool group)
{
	uint64_t *value = group ? &buffer[3] : &buffer[0];

	*value = (uint64_t)((double)*value * wrong.factor);
}

static bool is_group[FDS];

/* The library's system calls go through it. */
__attribute__((visibility("default"))) long syscall(long number, ...)
{
	static long (*next)(long, ...);
	const struct perf_event_attr *attr;
	long argument[6], result;
	va_list args;

	if (!next)
		next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	va_start(args, number);
	for (int i = 0; i < 6; i++)
		argument[i] = va_arg(args, long);
	va_end(args);
	result = next(number, argument[0], argument[1], argument[2], argument[3],
		      argument[4], argument[5]);
	attr = (const void *)argument[0];
	if (number == SYS_perf_event_open && result >= 0 && result < FDS) {
		falsified[result] =
			attr->type == wrong.type && attr->config == wrong.config;
		is_group[result] = attr->read_format & PERF_FORMAT_GROUP;
	}
	if (number == SYS_read && result > 0 && argument[0] >= 0 && argument[0] < FDS &&
	    falsified[argument[0]] && wrong.factor > 0)
		falsify((uint64_t *)argument[1], is_group[argument[0]]);
	return result;
}

static struct truth_report report;

static void forget(void)
{
	truth_free(&report);
	memset(&wrong, 0, sizeof(wrong));
	memset(falsified, 0, sizeof(falsified));
}

TestSuite(truth_events, .fini = forget, .timeout = 120);

/* Judges EVENTS while those of TYPE and CONFIG are counted FACTOR times. */
static void judge(const char *events, uint32_t type, uint64_t config, double factor)
{
	struct pm_event_list *list;

	forget();
	wrong.type = type;
	wrong.config = config;
	wrong.factor = factor;
	cr_assert_eq(pm_events_parse(events, PM_EVENTS_USER_ONLY, &list, NULL), 0);
	cr_assert_eq(truth_events(&report, list), 0);
	cr_assert_eq(truth_software(&report, list), 0);
	pm_events_free(list);
}

/* Checks that finding WANTED alone is wrong, by ERROR, or none if that is 0. A whole page of
 * 256 is 0.004. */
static void only_wrong(size_t wanted, double error)
{
	char text[32];

	for (size_t i = 0; i < report.count; i++) {
		const struct truth_finding *finding = &report.findings[i];

		cr_assert_str_eq(truth_verdict_name(finding->verdict),
				 i == wanted && error != 0 ? "off" : "exact",
				 "%s with %+g: %s, %s", finding->name, error,
				 truth_verdict_text(finding, text), finding->why);
		if (i == wanted)
			cr_assert_float_eq(finding->error, error, 0.004);
	}
	cr_assert_eq(truth_report_is_bad(&report), error != 0);
}

static const double errors[] = {0, 0.01, -0.01, 0.02, -0.05};

Test(truth_events, software_events_that_err_are_found)
{
	NOT_SANITIZED("the sanitizer adds page faults of its own");
	judge("page-faults,task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1);
	cr_assert_eq(report.count, 2);
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		judge("page-faults,task-clock", PERF_TYPE_SOFTWARE,
		      PERF_COUNT_SW_PAGE_FAULTS, 1 + errors[i]);
		only_wrong(0, errors[i]);
	}
	judge("page-faults,task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS,
	      1e-9);
	cr_assert_str_eq(truth_verdict_name(report.findings[0].verdict),
			 "counts nothing");
	cr_assert(truth_report_is_bad(&report));
}

/* Whatever other processes and a hypervisor take away from the thread. */
Test(truth_events, a_clock_that_errs_is_found)
{
	static const double factors[] = {0.4, 0.999, 20};

	NOT_SANITIZED("the sanitizer adds page faults of its own");
	for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++) {
		judge("page-faults,task-clock", PERF_TYPE_SOFTWARE,
		      PERF_COUNT_SW_TASK_CLOCK, factors[i]);
		cr_assert_eq(report.findings[0].verdict, TRUTH_EXACT);
		cr_assert_eq(truth_is_bad(report.findings[1].verdict), i != 1, "%g: %s",
			     factors[i], report.findings[1].why);
	}
}

static bool is_emulated_exactly(void)
{
	judge("instructions,cycles", 0, 0, 0);
	if (report.findings[0].verdict != TRUTH_ABSENT)
		return true;
	printf("# %s\n", report.findings[0].why);
	return false;
}

Test(truth_events, hardware_events_that_err_are_found)
{
	if (!is_emulated_exactly())
		cr_skip_test("this machine has no counter of instructions");
	only_wrong(0, 0);
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		judge("instructions,cycles", PERF_TYPE_HARDWARE,
		      PERF_COUNT_HW_INSTRUCTIONS, 1 + errors[i]);
		only_wrong(0, errors[i]);
		judge("instructions,cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES,
		      1 + errors[i]);
		only_wrong(1, errors[i]);
	}
}
