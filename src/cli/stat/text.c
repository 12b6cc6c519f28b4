/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The text of perfmon stat: a table, times, notes. */
#include <stdio.h>
#include <string.h>

#include "cli/stat/inside.h"
#include "core/report/output/number.h"

/* The columns of the table. An empty column is not shown. */
enum column { TIME, PLACE, COUNT, CHILDREN, SPREAD, EVENT, COVERAGE, RATIO, COLUMNS };

#define CELL 128

struct row {
	char cell[COLUMNS][CELL];
	enum cli_style count_style;
};

static const struct {
	bool right; /* it stands at the right of its column */
	enum cli_style style;
} columns[COLUMNS] = {
	[TIME] = {true, CLI_FAINT},	   [COUNT] = {.right = true},
	[CHILDREN] = {.right = true},	   [SPREAD] = {true, CLI_FAINT},
	[COVERAGE] = {.style = CLI_FAINT}, [RATIO] = {.style = CLI_FAINT},
};

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
	static const char unknown[] = "not counted";
	const struct stat_event *event = what->event;
	const struct stat_cell *cell = what->cell;
	char number[PM_CELL];

	memset(row, 0, sizeof(*row));
	if (result->time_ns)
		pm_cell_fixed(row->cell[TIME], (double)result->time_ns / 1e9, 6);
	strcpy(row->cell[PLACE], what->group_name);
	snprintf(row->cell[EVENT], CELL, "%s", event->label);
	if (!what->known || (result->counting->apart && !what->apart))
		row->count_style = CLI_BAD;
	if (!what->known) {
		strcpy(row->cell[COUNT], what->status);
		return;
	}
	if (!result->counting->apart)
		put_count(row->cell[COUNT], event, cell->count.mean);
	else if (what->apart)
		put_count(row->cell[COUNT], event, cell->own.mean);
	else
		/* The sum in either column would be misleading. */
		strcpy(row->cell[COUNT], unknown);
	if (what->has_children)
		put_count(row->cell[CHILDREN], event, what->children);
	else if (result->counting->apart)
		strcpy(row->cell[CHILDREN], unknown);
	if (cell->count.runs > 1) {
		pm_cell_fixed(number, stat_sum_spread(&cell->count), 2);
		snprintf(row->cell[SPREAD], CELL, "+- %s%%", number);
	}
	if (cell->status == STAT_MULTIPLEXED) {
		pm_cell_fixed(number, 100 * what->coverage, 1);
		snprintf(row->cell[COVERAGE], CELL, "%s%% covered", number);
	}
	if (cell->status == STAT_PARTIAL)
		snprintf(row->cell[COVERAGE], CELL, "not on all %s",
			 result->counting->placement ? "CPUs" : "threads");
	if (what->ratio.key) {
		pm_cell_fixed(number, what->ratio.value, what->ratio.decimals);
		snprintf(row->cell[RATIO], CELL, "%s %s", number, what->ratio.text);
	}
}

static void widen(size_t *width, const struct row *row)
{
	for (int c = 0; c < COLUMNS; c++)
		pm_row_measure(&width[c], row->cell[c], 0);
}

static void put_row(struct pm_out *out, const struct row *row, const size_t *width)
{
	struct pm_row line = {.out = out, .blanks = 2};

	for (int c = 0; c < COLUMNS; c++) {
		if (!width[c])
			continue;
		cli_style_row(&line, c == COUNT ? row->count_style : columns[c].style);
		if (columns[c].right)
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
	struct stat_row what = {.next = 0};
	struct row row;

	while (stat_row_next(result, &what)) {
		make_row(result, &what, &row);
		if (out)
			put_row(out, &row, width);
		else
			widen(width, &row);
	}
}

/* Writes a line of a metric: its value, its place and name, and what is wrong with it. */
static void put_metric(const struct stat_metric *metric, struct pm_out *out)
{
	char number[PM_CELL] = "-", name[2 * CELL], why[2 * CELL] = "";
	struct pm_row line = {.out = out, .blanks = 2};

	if (metric->known)
		pm_cell_number(number, metric->value);
	else if (metric->missing)
		snprintf(number, sizeof(number), "%s", metric->status_name);
	snprintf(name, sizeof(name), *metric->unit ? "%s [%s]" : "%s", metric->name,
		 metric->unit);
	if (metric->missing)
		snprintf(why, sizeof(why), "without %s", metric->missing);
	else if (metric->known && metric->status != STAT_COUNTED)
		snprintf(why, sizeof(why), "%s", metric->status_name);
	cli_style_row(&line, metric->known ? CLI_PLAIN : CLI_BAD);
	pm_row_right(&line, number, 0, 17);
	cli_style_row(&line, CLI_PLAIN);
	line.blanks += 2;
	if (*metric->group_name) {
		pm_row_left(&line, metric->group_name, 0, 0);
		line.blanks += 2;
	}
	pm_row_left(&line, name, 0, 0);
	line.blanks += 2;
	cli_style_row(&line, CLI_FAINT);
	pm_row_left(&line, why, 0, 0);
	cli_style_row(&line, CLI_PLAIN);
	pm_row_end(&line);
}

/* The lines of metrics, below the events. */
static void put_metrics(const struct stat_result *result, struct pm_out *out)
{
	struct stat_metric metric = {.next = 0};

	while (stat_metric_next(result, &metric)) {
		if (metric.next == 1 && result->counting->events.count)
			pm_out_text(out, "\n");
		put_metric(&metric, out);
	}
}

void stat_text_interval(const struct stat_result *result, struct pm_out *out)
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
	put_metrics(result, out);
}

static void put_time(struct pm_out *out, const struct pm_sum *time, const char *what)
{
	char number[PM_CELL], spread[PM_CELL];

	if (!time->runs)
		return;
	pm_cell_fixed(number, time->mean / 1e9, 6);
	pm_cell_fixed(spread, stat_sum_spread(time), 2);
	pm_out_format(out, "  %15s s  %s", number, what);
	if (time->runs > 1)
		pm_out_format(out, ", +- %s%%", spread);
	pm_out_text(out, "\n");
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
	if (options->runs > 1 && result->runs < options->runs)
		pm_out_format(out, ", %u of %u runs", result->runs, options->runs);
	else if (options->runs > 1)
		pm_out_format(out, ", %u runs", options->runs);
	pm_out_text(out, cli_style(CLI_PLAIN));
	pm_out_text(out, result->counting->events.count ? "\n\n" : "\n");
}

void stat_text_end(const struct stat_result *result, struct pm_out *out)
{
	struct cli_note_list notes = {.out = out};
	const struct cli_notes to = {cli_note_put, &notes};

	if (!result->options->interval_ns)
		stat_text_interval(result, out);
	pm_out_text(out, "\n");
	put_time(out, &result->wall_ns, "elapsed");
	put_time(out, &result->user_ns, "user");
	put_time(out, &result->system_ns, "system");
	if (result->signal)
		pm_out_format(out, "  ended by signal %d (%s)\n", result->signal,
			      strsignal(result->signal));
	stat_notes(result, &to);
	pm_out_text(out, "\n");
}
