/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/report/cells.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/report/output/escape.h"

/* A region's name may take this many columns, or MOST where lines may be long; paths deeper
 * than this are indented no further and numbered. */
#define NAME_WIDTH   48
#define NAME_MOST    200
#define NAME_LEAST   18
#define INDENT_DEPTH 24

/*
 * The marks that tables show, in the order in which they stand and are explained. No sign
 * is a letter, which would read as a unit. What is no reason to do anything else has no
 * sign: JSON and CSV have all marks.
 */
static const struct pm_mark {
	uint32_t bits;
	const char *sign, *words; /* the remedy, too */
} mark_table[] = {
	{PM_MARK_MULTIPLEXED, "~N%",
	 "estimated: counters were shared, and it was counted for N % of the time. For "
	 "exact numbers count fewer events."},
	{PM_MARK_PART, "<N%",
	 "too low: counted for N % of the time, on some kinds of core. Bind the threads "
	 "to one kind."},
	{PM_MARK_SAMPLED, "+-N%",
	 "estimated from visits measured at random: off by at most N %, with 99 % "
	 "confidence (? if unknown). A smaller PERFMON_STRIDE is more exact."},
	{PM_MARK_FRACTION, "+-N",
	 "counted by the CPU's 8-bit fractions of slots: off by at most N % of the "
	 "number, or of a column in % by N points (? if unknown: count all four topdown "
	 "events of level 1 in one group)."},
	{PM_MARK_BELOW, "~0", "no more than it may be off: may as well be 0."},
	{PM_CELL_AT_LEAST, ">=",
	 "at least: a visit has no END so far. Its values are those of the regions "
	 "inside it. If the program has ended, add the END."},
	{PM_MARK_LEFT_OUT, "/",
	 "the first visits alone: they were shorter than PERFMON_MIN_MEAN, and later "
	 "ones were left out."},
	{PM_MARK_MISMATCHED, "!",
	 "too low: the END of an outer region closed some visits here or around here. "
	 "Add the missing END."},
	{PM_MARK_DROPPED, "@",
	 "too low: a counter could not be read in some visits, or the events had "
	 "changed. Count fewer events."},
	{PM_MARK_THREADS, "&",
	 "too low: the event could not be opened in some threads. If the notes say so, "
	 "raise 'ulimit -n'."},
	{PM_MARK_RUNS, "<>",
	 "counted in another run, which was not alike here, or inside of here. The notes "
	 "say by how much."},
	{PM_MARK_DEFECT, "$",
	 "too low: the counter went backwards in some visits, which are left out. Do not "
	 "rely on this event here."},
	{PM_MARK_SHORT, "*",
	 "too short: over 1 % of the count, or 10 % of the time, is measuring. Do more "
	 "work in a visit."},
	{PM_MARK_COARSE, "|",
	 "coarse: the counter moves about once a millisecond, and a visit took less than "
	 "10 ms. The value has a part of what ran before. Do more work in a visit."},
	{PM_MARK_AT_MOST, "<=",
	 "at most: threads may have been in several paths of the region at once, and "
	 "each of these has what was counted then."},
	{PM_MARK_ERRATUM, "#",
	 "this CPU is known to miscount the event. Use another event."},
	{PM_MARK_IMPLAUSIBLE, "^",
	 "more than this CPU can do. Count the events in one group: '{A,B}'."},
	{PM_MARK_IN_FLIGHT, "?",
	 "without visits that have begun and not ended. Wait until they have."},
	{PM_CELL_HISTOGRAM, "~95 %",
	 "what 95 % of the visits took at most, and ~median half of them: estimated from "
	 "a histogram, off by less than a factor of 2."},
	{PM_MARK_TORN, "?",
	 "read while it changed: may contain part of one more visit. Report again "
	 "later."},
};
#define MARK_COUNT (sizeof(mark_table) / sizeof(mark_table[0]))

#define LEGEND_WIDTH 80
#define LEGEND_AT    8

static void legend_line(struct pm_out *out, const char *sign, const char *words)
{
	size_t width = out->columns ? out->columns : LEGEND_WIDTH;

	pm_out_fold(out, width, LEGEND_AT);
	pm_out_text(out, "  ");
	pm_out_text(out, sign);
	pm_out_repeat(out, ' ', LEGEND_AT - 2 - strlen(sign));
	pm_out_text(out, words);
	pm_out_text(out, "\n");
	pm_out_fold_end(out);
}

void pm_report_text_legend(struct pm_out *out, uint32_t marks, uint32_t states)
{
	const char *head = "\n";

	for (size_t i = 0; i < MARK_COUNT; i++) {
		if (!(marks & mark_table[i].bits))
			continue;
		pm_out_text(out, head);
		head = "";
		legend_line(out, mark_table[i].sign, mark_table[i].words);
	}
	if (states & (1u << PM_NOT_COUNTED | 1u << PM_NEVER_OPENED))
		pm_out_text(out, head);
	if (states & 1u << PM_NOT_COUNTED)
		legend_line(out, "-",
			    "not counted: no visit has ended, or no counter was free. If "
			    "none was free, count fewer events.");
	if (states & 1u << PM_NEVER_OPENED)
		legend_line(out, "n/a",
			    "never opened in these threads. The notes say why.");
}

/* Writes how far VALUE may be off, and returns how many characters that takes. */
static size_t error_write(char *to, size_t size, const struct pm_value *value)
{
	bool points = value->percent && !(value->marks & PM_MARK_SAMPLED);
	double off = points ? value->error : 100 * value->error / fabs(value->value);
	bool known = off < 1000;
	char number[PM_CELL];

	pm_cell_fixed(number, known ? off : NAN, points ? 2 : off < 10 ? 1 : 0);
	return (size_t)snprintf(to, size, "+-%.4s%s", number,
				known && !points ? "%" : "");
}

static void marks_write(char *to, size_t size, const struct pm_value *value)
{
	size_t used = 1;

	to[0] = ' ';
	if (value->marks & (PM_MARK_MULTIPLEXED | PM_MARK_PART)) {
		int percent = (int)(100 * value->coverage + 0.5);

		/* Not "100" for what is not all, nor "0" for what is something. */
		percent = percent > 99 ? 99 : percent < 1 ? 1 : percent;
		used += (size_t)snprintf(to + used, size - used, "%c%d%%",
					 value->marks & PM_MARK_PART ? '<' : '~',
					 percent);
	}
	/* A multiple of the number says no more than that it may be 0. */
	if (value->marks & (PM_MARK_SAMPLED | PM_MARK_FRACTION) &&
	    !(value->marks & PM_MARK_BELOW && !value->percent) &&
	    value->state == PM_COUNTED)
		used += error_write(to + used, size - used, value);
	for (size_t i = 0; i < MARK_COUNT; i++) {
		const char *sign = mark_table[i].sign;

		if (value->marks & mark_table[i].bits && !strchr(sign, 'N') &&
		    used + strlen(sign) < size) {
			memcpy(to + used, sign, strlen(sign));
			used += strlen(sign);
		}
	}
	to[used > 1 ? used : 0] = '\0';
}

void pm_cell_value(struct pm_cell *cell, const struct pm_value *value, uint32_t *marks,
		   uint32_t *states)
{
	*states |= 1u << value->state;
	cell->marks[0] = '\0';
	if (value->state == PM_NOT_SAID) {
		cell->text[0] = '\0';
		return;
	}
	if (value->state == PM_NEVER_OPENED) {
		strcpy(cell->text, "n/a");
		return;
	}
	*marks |= value->marks;
	marks_write(cell->marks, sizeof(cell->marks), value);
	if (value->state == PM_NOT_COUNTED)
		strcpy(cell->text, "-");
}

void pm_cell_event(struct pm_cell *cell, const struct pm_value *value,
		   const struct perfmon_profile_counter *counter)
{
	double scaled = value->value * counter->scale;

	if (!strcmp(counter->unit, "ns"))
		pm_cell_time(cell->text, scaled);
	else if (counter->unit[0])
		pm_cell_unit(cell->text, scaled, counter->unit);
	else
		pm_cell_count(cell->text, scaled);
}

void pm_cell_metric(struct pm_cell *cell, const struct pm_value *value,
		    const struct pm_metric *metric)
{
	/* The headings of built-in ones say what they are. */
	if (metric->heading)
		pm_cell_fixed(cell->text, value->value, 2);
	else if (!strcmp(metric->unit, "ns") && value->value >= 0)
		pm_cell_time(cell->text, value->value);
	else if (!strcmp(metric->unit, "%"))
		strcat(pm_cell_number(cell->text, value->value), " %");
	else if (*metric->unit)
		pm_cell_unit(cell->text, value->value, metric->unit);
	else
		pm_cell_number(cell->text, value->value);
}

uint32_t pm_report_path(const struct pm_report_tree *tree, uint32_t n, size_t most,
			uint32_t line[PM_PATH_NODES])
{
	uint32_t depth = pm_path(tree, n)->depth, low, high;
	size_t bytes[PM_PATH_NODES], all = 0;

	for (uint32_t d = depth; d-- > 0; n = pm_path(tree, n)->parent) {
		line[d] = n;
		bytes[d] = strlen(pm_path_name(tree, n)) + 1;
		all += bytes[d];
	}
	if (all <= most || depth < 3)
		return depth;
	/* The first and the last, whatever they take; then from both ends. */
	most -= most < bytes[0] + bytes[depth - 1] ? most : bytes[0] + bytes[depth - 1];
	for (low = 1, high = depth - 1; low < high; low++) {
		if (bytes[high - 1] > most)
			break;
		most -= bytes[--high];
		if (low == high || bytes[low] > most)
			break;
		most -= bytes[low];
	}
	line[low] = 0;
	memmove(line + low + 1, line + high, (depth - high) * sizeof(*line));
	return low + 1 + depth - high;
}

size_t pm_cell_name_within(const struct pm_report_tree *tree, uint32_t n, size_t width,
			   struct pm_out *out)
{
	const char *name = pm_path_name(tree, n);
	uint32_t depth = pm_path(tree, n)->depth - 1, levels = INDENT_DEPTH;
	bool quote = !depth && !strcmp(name, PM_CELL_TOTAL);
	size_t indent, used;
	char number[16] = "";

	/* Where it does not fit, the name needs a part of the column. */
	if (width && 2 * (size_t)levels + NAME_LEAST > width &&
	    2 * (size_t)depth + pm_out_name(NULL, name, 0, quote) > width)
		levels = width > NAME_LEAST ? (uint32_t)(width - NAME_LEAST) / 2 : 0;
	if (depth > levels)
		snprintf(number, sizeof(number), "[%u] ", depth);
	indent = 2 * (size_t)(depth < levels ? depth : levels);
	used = indent + strlen(number);
	if (out) {
		pm_out_repeat(out, ' ', indent);
		pm_out_text(out, number);
	}
	return used + pm_out_name(out, name,
				  !width	 ? NAME_MOST
				  : width > used ? width - used
						 : 1,
				  quote);
}

size_t pm_cell_name(const struct pm_report_tree *tree, uint32_t n, struct pm_out *out)
{
	uint32_t depth = pm_path(tree, n)->depth - 1;
	size_t before = depth > INDENT_DEPTH ? 2 * INDENT_DEPTH + sizeof("[100]")
					     : 2 * (size_t)depth;

	return pm_cell_name_within(tree, n, before + NAME_WIDTH, out);
}
