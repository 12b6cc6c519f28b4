/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table as text for people, and as lines for scripts. */
#include <errno.h>
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
	char ended[32] = "", since[96], cpu[32] = "";

	if (look->threads_ended)
		snprintf(ended, sizeof(ended), ", %u ended", look->threads_ended);
	if (look->seconds <= 0)
		snprintf(since, sizeof(since), "duration unknown");
	else
		snprintf(since, sizeof(since), "%s %.3f s",
			 look->whole ? "since it began," : "the last", look->seconds);
	if (look->cpu.percent >= 0)
		snprintf(cpu, sizeof(cpu), ", %.1f %% CPU", look->cpu.percent);
	if (look->model.exact)
		snprintf(buffer, size, "%s: %u thread%s%s; " PM_REPORT_EXACT, watch->what,
			 look->threads_live, look->threads_live == 1 ? "" : "s", ended);
	else
		snprintf(buffer, size, "%s: %u thread%s%s; %s%s", watch->what,
			 look->threads_live, look->threads_live == 1 ? "" : "s", ended,
			 since, cpu);
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

static void headings_print(const struct top_table *table, struct pm_out *out)
{
	struct pm_row line = {.out = out};

	pm_row_left(&line, "region", 0, table->name_width);
	for (uint32_t c = 0; c < table->column_count; c++) {
		const struct top_column *column = &table->columns[c];

		line.blanks += 2;
		pm_row_right(&line, column->heading, 0, column->width);
		line.blanks += column->marks;
	}
	pm_row_end(&line);
}

static void row_print(const struct top_table *table, const struct top_row *row,
		      struct pm_out *out)
{
	size_t name = pm_cell_name(row->tree, row->node, out);
	struct pm_row line = {.out = out, .blanks = table->name_width - name};

	for (uint32_t c = 0; c < table->column_count; c++) {
		line.blanks += 2;
		pm_row_right(&line, row->cells[c].text, 0, table->columns[c].width);
		pm_row_left(&line, row->cells[c].marks, 0, table->columns[c].marks);
	}
	pm_row_end(&line);
}

void top_text_print(const struct top_watch *watch, const struct top_table *table)
{
	struct pm_out out = {.sink = cli_print, .argument = stdout};
	char text[700], common[700];

	top_text_head(watch, text, sizeof(text));
	pm_out_format(&out, "%s\n", text);
	top_text_problem(watch, text, sizeof(text));
	if (*text)
		pm_out_format(&out, "%s\n", text);
	top_table_common(table, common, sizeof(common));
	/* The names of events come from the program. */
	if (pm_out_plain(&out, common, 0))
		pm_out_text(&out, "\n");
	pm_out_text(&out, "\n");
	headings_print(table, &out);
	for (uint32_t r = 0; r < table->row_count; r++) {
		if (table->rows[r].node) {
			row_print(table, &table->rows[r], &out);
			continue;
		}
		top_group_title(table->look, table->rows[r].group, text, sizeof(text));
		pm_out_format(&out, "%s%s:\n", r ? "\n" : "", text);
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
		const char *name = pm_report_name(tree, line[i]);
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
	uint32_t marks = 0, states = 0;

	pm_out_double(out, table->look->seconds);
	if (group->kind == TOP_THREAD)
		pm_out_format(out, "\t%u\t", group->thread->tid);
	else
		pm_out_format(out, "\t%s\t", group->kind == TOP_ALL ? "all" : "ended");
	path_print(row->tree, row->node, out);
	pm_out_format(out, "\t%llu",
		      (unsigned long long)row->tree->nodes[row->node].visits);
	for (uint32_t c = 0; c < table->column_count; c++) {
		struct pm_value value = top_table_value(table, row, &table->columns[c]);
		struct pm_cell cell;

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
	{
		struct pm_value all = {.state = PM_COUNTED, .marks = marks};
		struct pm_cell cell;

		all.marks &= ~(PM_MARK_MULTIPLEXED | PM_MARK_PART);
		pm_cell_value(&cell, &all, &marks, &states);
		pm_out_format(out, "\t%s%s%s\t", marks & PM_MARK_MULTIPLEXED ? "~" : "",
			      marks & PM_MARK_PART ? "<" : "",
			      *cell.marks ? cell.marks + 1 : "");
	}
	if (top_cpu_percent(table->look, group) >= 0 && !table->look->model.exact)
		pm_out_double(out, top_cpu_percent(table->look, group));
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
