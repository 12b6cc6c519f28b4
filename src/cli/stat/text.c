/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The text of perfmon stat: a table, times, notes. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/common.h"
#include "cli/stat/formats.h"
#include "core/report/output/number.h"

/* The columns of the table. An empty column is not shown. */
enum column { TIME, PLACE, COUNT, CHILDREN, SPREAD, EVENT, COVERAGE, RATIO, COLUMNS };

#define CELL 128

struct row {
	char cell[COLUMNS][CELL];
	enum cli_style count_style;
};

static const bool to_the_right[COLUMNS] = {
	[TIME] = true, [COUNT] = true, [CHILDREN] = true, [SPREAD] = true};

/* Formats "1,234,567.89". */
static void grouped(char *buffer, double value, int decimals)
{
	char plain[PM_CELL];
	size_t digits, out = 0;

	if (decimals)
		pm_cell_fixed(plain, value, decimals);
	else
		snprintf(plain, sizeof(plain), "%.0f", value);
	digits = strspn(plain, "0123456789");
	for (size_t i = 0; plain[i]; i++) {
		if (i && i < digits && (digits - i) % 3 == 0)
			buffer[out++] = ',';
		buffer[out++] = plain[i];
	}
	buffer[out] = '\0';
}

/* Prints microseconds at most. */
static void seconds(char *buffer, double ns)
{
	unsigned long long us = (unsigned long long)(ns / 1e3 + 0.5);

	snprintf(buffer, PM_CELL, "%llu.%06llu", us / 1000000, us % 1000000);
}

static void put_count(char *cell, const struct stat_event *event, double value)
{
	const char *unit = event->event->unit;
	char number[2 * PM_CELL];

	if (!strcmp(unit, "ns")) {
		value /= 1e6;
		unit = "ms";
	}
	grouped(number, value, *unit ? 3 : 0);
	snprintf(cell, CELL, "%s%s%s", number, *unit ? " " : "", unit);
}

static void make_row(const struct stat_result *result, const struct stat_row *what,
		     struct row *row)
{
	const struct stat_event *event = what->event;
	const struct stat_cell *cell = what->cell;
	char number[PM_CELL];
	struct stat_ratio ratio;
	double children;

	memset(row, 0, sizeof(*row));
	if (result->time_ns)
		seconds(row->cell[TIME], (double)result->time_ns);
	snprintf(row->cell[PLACE], CELL, "%s", what->group_name);
	snprintf(row->cell[EVENT], CELL, "%s", event->label);
	if (!stat_is_known(cell)) {
		snprintf(row->cell[COUNT], CELL, "%s", stat_status_name(cell->status));
		row->count_style = CLI_BAD;
		return;
	}
	if (stat_is_apart(result, cell)) {
		put_count(row->cell[COUNT], event, cell->own.mean);
		if (stat_children(result, cell, &children))
			put_count(row->cell[CHILDREN], event, children);
		else
			snprintf(row->cell[CHILDREN], CELL, "%s",
				 stat_status_name(STAT_NOT_COUNTED));
	} else if (result->counting->apart) {
		/* The sum in either column would be misleading. */
		for (int c = COUNT; c <= CHILDREN; c++)
			snprintf(row->cell[c], CELL, "%s",
				 stat_status_name(STAT_NOT_COUNTED));
		row->count_style = CLI_BAD;
	} else {
		put_count(row->cell[COUNT], event, cell->count.mean);
	}
	if (cell->count.runs > 1) {
		pm_cell_fixed(number, stat_sum_spread(&cell->count), 2);
		snprintf(row->cell[SPREAD], CELL, "+- %s%%", number);
	}
	if (cell->status == STAT_MULTIPLEXED) {
		pm_cell_fixed(number, 100 * stat_coverage(cell), 1);
		snprintf(row->cell[COVERAGE], CELL, "%s%% covered", number);
	}
	if (cell->status == STAT_PARTIAL)
		snprintf(row->cell[COVERAGE], CELL, "not on all %s",
			 result->counting->place ? "CPUs" : "threads");
	if (stat_derive(result, what->group, what->index, &ratio)) {
		pm_cell_fixed(number, ratio.value, ratio.decimals);
		snprintf(row->cell[RATIO], CELL, "%s %s", number, ratio.text);
	}
}

static void widen(size_t *width, const struct row *row)
{
	for (int c = 0; c < COLUMNS; c++)
		pm_row_measure(&width[c], row->cell[c], 0);
}

static enum cli_style style_of(const struct row *row, int column)
{
	return column == COUNT					      ? row->count_style
	       : column == TIME || column == SPREAD || column > EVENT ? CLI_FAINT
								      : CLI_PLAIN;
}

static void put_row(struct pm_out *out, const struct row *row, const size_t *width)
{
	struct pm_row line = {.out = out, .blanks = 2};

	for (int c = 0; c < COLUMNS; c++) {
		if (!width[c])
			continue;
		cli_style_row(&line, style_of(row, c));
		if (to_the_right[c])
			pm_row_right(&line, row->cell[c], 0, width[c]);
		else
			pm_row_left(&line, row->cell[c], 0, width[c]);
		line.blanks += 2;
	}
	pm_row_end(&line);
}

/* Makes each row that is shown, and measures or prints it. */
static void each_row(const struct stat_result *result, struct pm_out *out, size_t *width)
{
	const struct stat_counting *counting = result->counting;
	struct stat_row what;
	struct row row;

	for (uint32_t g = 0; g < stat_counting_groups(counting); g++) {
		for (uint32_t i = 0; i < counting->events.count; i++) {
			if (!stat_row(result, g, i, &what))
				continue;
			make_row(result, &what, &row);
			if (out)
				put_row(out, &row, width);
			else
				widen(width, &row);
		}
	}
}

static void put_table(const struct stat_result *result, struct pm_out *out)
{
	/* Values of consecutive intervals are aligned. */
	size_t width[COLUMNS] = {[TIME] = result->time_ns ? 11 : 0, [COUNT] = 17};
	struct row head = {.cell = {[COUNT] = "own", [CHILDREN] = "children"}};

	each_row(result, NULL, width);
	if (result->counting->apart && !result->time_ns) {
		widen(width, &head);
		put_row(out, &head, width);
	}
	each_row(result, out, width);
}

static void put_time(struct pm_out *out, const struct stat_sum *time, const char *what)
{
	char number[PM_CELL], spread[PM_CELL];

	if (!time->runs)
		return;
	seconds(number, time->mean);
	pm_cell_fixed(spread, stat_sum_spread(time), 2);
	pm_out_format(out, "  %15s s  %s", number, what);
	if (time->runs > 1)
		pm_out_format(out, ", +- %s%%", spread);
	pm_out_text(out, "\n");
}

/* Breaks the text between words, where a terminal would break it anywhere. */
static void put_note(struct pm_out *out, const char *text)
{
	static const char mark[] = "  note: ";

	pm_out_text(out, cli_style(CLI_FAINT));
	pm_out_fold(out, cli_columns(), strlen(mark));
	pm_out_text(out, mark);
	pm_out_plain(out, text, 0);
	pm_out_fold_end(out);
	pm_out_text(out, cli_style(CLI_PLAIN));
	pm_out_text(out, "\n");
}

static void put_notes(const struct stat_result *result, struct pm_out *out)
{
	struct pm_diag note;

	for (uint32_t i = 0; stat_note(result, i, &note); i++) {
		if (!i)
			pm_out_text(out, "\n");
		put_note(out, note.text);
	}
}

void stat_text_begin(const struct stat_result *result, struct pm_out *out)
{
	const struct stat_options *options = result->options;

	pm_out_text(out, "\n");
	pm_out_text(out, cli_style(CLI_STRONG));
	pm_out_text(out, "perfmon stat:");
	for (uint32_t i = 0; i < options->target_count; i++)
		pm_out_format(out, "%s %d",
			      i			   ? ","
			      : options->processes ? " process"
						   : " thread",
			      options->targets[i].id);
	if (options->place) {
		pm_out_text(out, " CPUs ");
		pm_out_plain(out, options->place, 0);
	}
	for (char **word = options->command;
	     word && *word && !options->targets && !options->place; word++) {
		pm_out_text(out, " ");
		pm_out_plain(out, *word, 0);
	}
	if (options->runs > 1)
		pm_out_format(out, ", %u runs", options->runs);
	pm_out_text(out, cli_style(CLI_PLAIN));
	pm_out_text(out, result->counting->events.count ? "\n\n" : "\n");
}

void stat_text_interval(const struct stat_result *result, struct pm_out *out)
{
	put_table(result, out);
}

void stat_text_end(const struct stat_result *result, struct pm_out *out)
{
	if (!result->options->interval_ns)
		put_table(result, out);
	pm_out_text(out, "\n");
	put_time(out, &result->wall_ns, "elapsed");
	put_time(out, &result->user_ns, "user");
	put_time(out, &result->system_ns, "system");
	if (result->signal)
		pm_out_format(out, "  ended by signal %d (%s)\n", result->signal,
			      strsignal(result->signal));
	put_notes(result, out);
	pm_out_text(out, "\n");
}
