/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report/cells.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A region's name may take this many columns; paths deeper than this are indented no
 * further and numbered. */
#define NAME_WIDTH   48
#define INDENT_DEPTH 24

static void marks_write(char *to, size_t size, const struct pm_value *value)
{
	static const struct {
		uint32_t bits;
		char letter;
	} letters[] = {
		{PM_MARK_RETRIED, 'r'},
		{PM_MARK_FALLBACK, 'f'},
		{PM_MARK_DROPPED, 'd'},
		{PM_MARK_THREADS, 'p'},
		{PM_MARK_DEFECT, 'x'},
		{PM_MARK_MIGRATED, 'm'},
		{PM_MARK_SHORT, 'b'},
		{PM_MARK_ERRATUM, 'e'},
		{PM_MARK_IMPLAUSIBLE, '^'},
		{PM_MARK_MISMATCHED, '!'},
		{PM_MARK_IN_FLIGHT | PM_MARK_TORN, '?'},
	};
	size_t used = 0;

	to[0] = '\0';
	if (!value->marks)
		return;
	to[used++] = ' ';
	if (value->marks & (PM_MARK_MULTIPLEXED | PM_MARK_PART)) {
		int percent = (int)(100 * value->coverage + 0.5);

		/* Not "100" for what is not all, nor "0" for what is something. */
		percent = percent > 99 ? 99 : percent < 1 ? 1 : percent;
		used += (size_t)snprintf(to + used, size - used, "%c%d%%",
					 value->marks & PM_MARK_PART ? '<' : '~',
					 percent);
	}
	if (value->marks & PM_MARK_SAMPLED && value->state == PM_COUNTED) {
		double percent = 100 * value->error / fabs(value->value);
		char number[PM_CELL];
		bool known = percent < 1000;

		pm_cell_fixed(number, known ? percent : NAN, percent < 10 ? 1 : 0);
		used += (size_t)snprintf(to + used, size - used, "+-%.4s%s", number,
					 known ? "%" : "");
	}
	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (value->marks & letters[i].bits && used + 1 < size)
			to[used++] = letters[i].letter;
	to[used] = '\0';
}

void pm_cell_value(struct pm_cell *cell, const struct pm_value *value, uint32_t *marks,
		   uint32_t *states)
{
	*states |= 1u << value->state;
	cell->marks[0] = '\0';
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
	uint32_t depth = tree->nodes[n].depth, low, high;
	size_t bytes[PM_PATH_NODES], all = 0;

	for (uint32_t d = depth; d-- > 0; n = tree->nodes[n].parent) {
		line[d] = n;
		bytes[d] = strlen(pm_report_name(tree, n)) + 1;
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

size_t pm_cell_name(const struct pm_report_tree *tree, uint32_t n, struct pm_out *out)
{
	uint32_t depth = tree->nodes[n].depth - 1;
	char number[16] = "";
	size_t width = 2 * (size_t)(depth < INDENT_DEPTH ? depth : INDENT_DEPTH);

	if (depth > INDENT_DEPTH)
		snprintf(number, sizeof(number), "[%u] ", depth);
	if (out) {
		pm_out_repeat(out, ' ', width);
		pm_out_text(out, number);
	}
	return width + strlen(number) +
	       pm_out_plain(out, pm_report_name(tree, n), NAME_WIDTH);
}
