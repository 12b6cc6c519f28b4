/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table as text for people, and as lines for scripts. */
#include <stdio.h>
#include <string.h>

#include "cli/common/common.h"
#include "cli/top/top.h"
#include "core/report/output/escape.h"

/* of a path in a line */
#define PATH_BYTES 1024

void top_text_head(const struct top_watch *watch, char *buffer, size_t size)
{
	const struct top_look *look = watch->look;
	struct pm_diag text = {0};

	pm_diag_add(&text, "%s: %u thread%s", watch->what, look->threads_live,
		    look->threads_live == 1 ? "" : "s");
	if (look->threads_ended)
		pm_diag_add(&text, ", %u ended", look->threads_ended);
	if (look->model.exact)
		pm_diag_add(&text, "; " PM_REPORT_EXACT);
	else if (look->seconds <= 0)
		pm_diag_add(&text, "; duration unknown");
	else
		pm_diag_add(&text, "; %s %.3f s",
			    look->whole ? "since it began," : "the last", look->seconds);
	if (look->groups[0].cpu_percent >= 0 && !look->model.exact)
		pm_diag_add(&text, ", %.1f %% CPU", look->groups[0].cpu_percent);
	snprintf(buffer, size, "%s", text.text);
}

void top_text_problem(const struct top_watch *watch, char *buffer, size_t size)
{
	const struct pm_snapshot *s = watch->look->snapshot;
	const char *end = "the process has ended: these are its last values";
	struct pm_out out = {0};

	if (s->writer == PM_WRITER_UNKNOWN)
		end = "unknown whether the process still runs";
	if (s->partial)
		pm_out_plain(&out, s->problem, 0);
	snprintf(buffer, size, "%s%s%.*s", watch->alive ? "" : end,
		 !watch->alive && s->partial ? "; " : "", (int)out.used, out.buffer);
}

void top_notes_print(const struct top_watch *watch)
{
	const struct pm_report_model *model = &watch->look->model;

	for (uint32_t i = 0; i < model->note_count; i++)
		cli_complain("top", "%s", model->notes[i]);
}

/* Prints ROW, or the headings (NULL). */
static void row_print(const struct top_table *table, const struct top_row *row,
		      struct pm_out *out)
{
	struct pm_row line = {.out = out};

	if (row)
		line.blanks = table->name_width - pm_cell_name(row->tree, row->node, out);
	else
		pm_row_left(&line, "region", 0, table->name_width);
	for (uint32_t c = 0; c < table->column_count; c++) {
		const struct top_column *column = &table->columns[c];

		line.blanks += 2;
		pm_row_right(&line, row ? row->cells[c].text : column->heading, 0,
			     column->width);
		pm_row_left(&line, row ? row->cells[c].marks : "", 0, column->marks);
	}
	pm_row_end(&line);
}

/* Prints TEXT and END, or nothing if TEXT is empty. Names of events and threads come from
 * the program. */
static void text_print(struct pm_out *out, const char *text, const char *end)
{
	if (pm_out_plain(out, text, 0))
		pm_out_text(out, end);
}

void top_text_print(const struct top_watch *watch, const struct top_table *table)
{
	struct pm_out out = {.sink = cli_print, .argument = stdout};
	char text[700];

	top_text_head(watch, text, sizeof(text));
	text_print(&out, text, "\n");
	top_text_problem(watch, text, sizeof(text));
	text_print(&out, text, "\n");
	top_table_common(table, text, sizeof(text));
	text_print(&out, text, "\n");
	pm_out_text(&out, "\n");
	row_print(table, NULL, &out);
	for (uint32_t r = 0; r < table->row_count; r++) {
		if (table->rows[r].node) {
			row_print(table, &table->rows[r], &out);
			continue;
		}
		top_group_title(table->look, table->rows[r].group, text, sizeof(text));
		if (r)
			pm_out_text(&out, "\n");
		text_print(&out, text, ":\n");
	}
	pm_report_text_legend(&out, table->marks, table->states);
	pm_out_end(&out);
	fflush(stdout);
}

/* Writes the names from the top down, as in the CSV of reports. */
static void path_print(const struct pm_report_tree *tree, uint32_t n, struct pm_out *out)
{
	uint32_t line[PM_PATH_NODES];
	uint32_t count = pm_report_path(tree, n, PATH_BYTES, line);

	for (uint32_t i = 0; i < count; i++) {
		const char *name = pm_path_name(tree, line[i]);
		size_t length;

		if (i)
			pm_out_text(out, ";");
		if (!line[i])
			pm_out_text(out, PM_PATH_LEFT);
		for (; *name; name += length) {
			if (*name == ';' || *name == '\\')
				pm_out_text(out, "\\");
			/* A tab or newline in a name would look like a separator. */
			length = cli_plain_part(out, name, 1 + strcspn(name + 1, ";\\"));
		}
	}
}

static void line_print(const struct top_table *table, const struct top_row *row,
		       struct pm_out *out)
{
	const struct top_group *group = row->group;
	struct pm_value all = {.state = PM_COUNTED};
	uint32_t marks = 0, states = 0;
	struct pm_cell cell;

	pm_out_double(out, table->look->seconds);
	if (group->kind == TOP_THREAD)
		pm_out_format(out, "\t%u\t", group->thread->tid);
	else
		pm_out_format(out, "\t%s\t", group->kind == TOP_ALL ? "all" : "ended");
	path_print(row->tree, row->node, out);
	pm_out_format(out, "\t%llu",
		      (unsigned long long)pm_path(row->tree, row->node)->visits.ended);
	for (uint32_t c = 0; c < table->column_count; c++) {
		struct pm_value value = top_table_value(table, row, &table->columns[c]);

		marks |= value.marks;
		pm_out_text(out, "\t");
		pm_cell_value(&cell, &value, &marks, &states);
		if (value.state == PM_COUNTED)
			pm_out_double(out, value.value);
		else
			pm_out_text(out, cell.text);
	}
	/* The table for people marks numbers that are estimates, partial or uncertain.
	 * Here a line only says that it has some. */
	all.marks = marks & ~(PM_MARK_MULTIPLEXED | PM_MARK_PART);
	pm_cell_value(&cell, &all, &marks, &states);
	pm_out_format(out, "\t%s%s%s\t", marks & PM_MARK_MULTIPLEXED ? "~" : "",
		      marks & PM_MARK_PART ? "<" : "", *cell.marks ? cell.marks + 1 : "");
	if (group->cpu_percent >= 0 && !table->look->model.exact)
		pm_out_double(out, group->cpu_percent);
	else
		pm_out_text(out, "-");
	pm_out_text(out, "\n");
}

void top_lines_print(const struct top_table *table, bool head)
{
	static const char *const names[] = {
		[TOP_OPEN] = "open",	     [TOP_VISITS] = "visits_per_s",
		[TOP_TIME] = "time_percent", [TOP_SELF] = "self_percent",
		[TOP_MEAN] = "mean_ns",	     [TOP_CPU] = "cpu_percent",
	};
	struct pm_out out = {.sink = cli_print, .argument = stdout};
	bool exact = table->look->model.exact;

	if (head) {
		pm_out_text(&out, "seconds\tthread\tpath\tvisits");
		for (uint32_t c = 0; c < table->column_count; c++) {
			const struct top_column *column = &table->columns[c];

			pm_out_text(&out, "\t");
			if (exact && column->kind == TOP_VISITS)
				pm_out_text(&out, "visits_since");
			else if (exact && column->kind == TOP_TIME)
				pm_out_text(&out, "inclusive_percent");
			else if (column->kind < TOP_EVENT)
				pm_out_text(&out, names[column->kind]);
			else
				pm_out_plain(&out, column->name, 0);
			if (column->kind == TOP_EVENT && !exact)
				pm_out_text(&out, "_per_s");
		}
		pm_out_text(&out, "\tmarks\tthread_cpu_percent\n");
	}
	for (uint32_t r = 0; r < table->row_count; r++)
		if (table->rows[r].node)
			line_print(table, &table->rows[r], &out);
	pm_out_end(&out);
	fflush(stdout);
}
