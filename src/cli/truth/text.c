/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "cli/truth/data.h"
#include "core/report/output/escape.h"
#include "core/report/output/number.h"
#include "core/report/output/row.h"

#define INDENT 2
/* Between columns. */
#define GAP 2

struct widths {
	size_t name, verdict;
};

static struct widths measure(const struct truth_report *report)
{
	struct widths widths = {0, 0};
	char text[32];

	for (size_t i = 0; i < report->count; i++) {
		pm_row_measure(&widths.name, report->findings[i].name, 0);
		pm_row_measure(&widths.verdict,
			       truth_verdict_text(&report->findings[i], text), 0);
	}
	return widths;
}

static void print_line(struct pm_out *out, const struct truth_finding *finding,
		       const char *why, const struct widths *widths)
{
	char value[32];
	size_t why_at = INDENT + widths->name + GAP + widths->verdict + GAP;
	struct pm_row row = {.out = out};

	if (out->columns > why_at + 20)
		pm_out_fold(out, out->columns, why_at);
	pm_out_repeat(out, ' ', INDENT);
	pm_row_left(&row, finding->name, 0, widths->name + GAP);
	pm_row_left(&row, truth_verdict_text(finding, value), 0, widths->verdict + GAP);
	pm_row_left(&row, why, 0, 0);
	pm_row_end(&row);
	pm_out_fold_end(out);
}

static void print_cost(struct pm_out *out, const struct truth_finding *finding,
		       const struct widths *widths)
{
	struct pm_row row = {.out = out};
	char cell[PM_CELL];

	pm_out_repeat(out, ' ', INDENT);
	pm_row_left(&row, finding->name, 0, widths->name + GAP);
	for (size_t i = 0; i < finding->figure_count; i++) {
		const struct truth_figure *figure = &finding->figures[i];

		pm_cell_fixed(cell, figure->value, figure->unit[0] ? 1 : 0);
		pm_row_left(&row, figure->name, 0, strlen(figure->name) + 1);
		pm_row_left(&row, cell, 0, strlen(cell) + (figure->unit[0] ? 1 : GAP));
		pm_row_left(&row, figure->unit, 0,
			    figure->unit[0] ? strlen(figure->unit) + GAP : 0);
	}
	pm_row_left(&row, finding->why, 0, 0);
	pm_row_end(&row);
}

static void print_kind(const struct truth_report *report, struct pm_out *out,
		       enum truth_kind kind, const char *heading)
{
	struct widths widths = measure(report);
	const char *above = NULL;

	for (size_t i = 0; i < report->count; i++) {
		const struct truth_finding *finding = &report->findings[i];

		if (finding->kind != kind)
			continue;
		if (!above)
			pm_out_format(out, "%s%s\n", kind == TRUTH_EVENT ? "" : "\n",
				      heading);
		if (kind == TRUTH_COST)
			print_cost(out, finding, &widths);
		else
			print_line(out, finding,
				   above && finding->verdict == TRUTH_ABSENT &&
						   !strcmp(above, finding->why)
					   ? "the same"
					   : finding->why,
				   &widths);
		above = finding->why;
	}
}

/* Prints the names of the findings with one of the verdicts. Returns how many there are. */
static size_t print_names(const struct truth_report *report, struct pm_out *out,
			  const char *label, enum truth_verdict one,
			  enum truth_verdict other)
{
	size_t count = 0;

	for (size_t i = 0; i < report->count; i++) {
		const struct truth_finding *finding = &report->findings[i];

		if (finding->verdict != one && finding->verdict != other)
			continue;
		pm_out_text(out, count++ ? ", " : label);
		pm_out_plain(out, finding->name, 0);
	}
	if (count)
		pm_out_text(out, ".\n");
	return count;
}

/* Says what is wrong, or that nothing is. */
static void print_result(const struct truth_report *report, struct pm_out *out)
{
	size_t there = 0;

	for (size_t i = 0; i < report->count; i++)
		there += report->findings[i].kind == TRUTH_EVENT &&
			 report->findings[i].verdict != TRUTH_ABSENT;
	pm_out_text(out, "\n");
	print_names(report, out, "Wrong: ", TRUTH_OFF, TRUTH_WRONG);
	print_names(report, out, "Count nothing: ", TRUTH_NOTHING, TRUTH_NOTHING);
	if (!truth_report_is_bad(report))
		pm_out_text(out, there ? "Nothing is wrong.\n"
				       : "Nothing is wrong. No event of a CPU's counters "
					 "could be judged.\n");
}

void truth_print_text(const struct truth_report *report, struct pm_out *out)
{
	print_kind(report, out, TRUTH_EVENT, "events of the CPU");
	print_kind(report, out, TRUTH_SOFTWARE, "other events");
	print_kind(report, out, TRUTH_CHECK, "counters");
	print_kind(report, out, TRUTH_COST, "costs");
	print_result(report, out);
}
