/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/report/table.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/cells.h"
#include "core/report/output/escape.h"
#include "core/report/output/row.h"

/* A table is laid out for this width where it goes to no terminal. */
#define WIDTH 80
/* Names of regions get so much of it, if they need it, before columns go elsewhere. */
#define NAMES_FIRST 20
/* So much of the title of an event is shown on a terminal. */
#define TITLE_MOST 24

/* A part of a table: the columns from FIRST on, before END. */
struct layout {
	const struct pm_table *table;
	struct pm_field *fields;
	size_t names; /* the width of the widest name */
	size_t name_width;
	size_t title_most;
	uint32_t first, end;
};

/* Where the rows of a table begin. */
#define BEFORE_ROWS UINT32_MAX

/* Goes on to the row behind that of node *N, whose fields it fills in. The last row is that of the sum, 0, if
 * there is one. */
static bool next_row(const struct layout *layout, uint32_t *n)
{
	const struct pm_table *table = layout->table;
	const struct pm_report_tree *tree = table->tree;

	if (!*n)
		return false;
	*n = pm_path_next(tree, *n == BEFORE_ROWS ? 0 : *n);
	while (*n && !table->fill(table->argument, *n, layout->fields)) {
		/* Not what is below it, either. */
		while (*n && !pm_path(tree, *n)->next)
			*n = pm_path(tree, *n)->parent;
		*n = pm_path(tree, *n)->next;
	}
	return *n || (table->total && table->fill(table->argument, 0, layout->fields));
}

void pm_field_value(struct pm_field *field, const struct pm_value *value, double shown,
		    struct pm_legend *legend)
{
	struct pm_value marked = *value;
	struct pm_cell cell;

	*field = (struct pm_field){.known = value->state == PM_COUNTED, .value = shown};
	/* A field without a number needs no marks. */
	marked.marks &= field->known ? ~(uint32_t)PM_MARK_IN_FLIGHT : 0;
	pm_cell_value(&cell, &marked, &legend->marks, &legend->states);
	if (!field->known)
		strcpy(field->text, cell.text);
	memcpy(field->marks, cell.marks, sizeof(field->marks));
}

static size_t name_write(const struct pm_table *table, uint32_t n, size_t most,
			 struct pm_out *out)
{
	return table->name ? table->name(table->argument, n, most, out)
			   : pm_cell_name_within(table->tree, n, most, out);
}

static const char *rows_title(const struct pm_table *table)
{
	return table->rows ?: "region";
}

static void field_text(const struct pm_column *column, const struct pm_field *field,
		       char text[sizeof(field->text)])
{
	char number[PM_CELL];

	if (field->known) {
		pm_scale_text(&column->scale, field->value, number);
		strcpy(text, field->at_least ? ">=" : "");
		strcat(text, number);
	} else {
		strcpy(text, field->text);
	}
}

static void measure_values(struct layout *layout)
{
	const struct pm_table *table = layout->table;

	for (uint32_t c = 0; c < table->count; c++) {
		table->columns[c].least = DBL_MAX;
		table->columns[c].most = 0;
	}
	for (uint32_t n = BEFORE_ROWS; next_row(layout, &n);) {
		for (uint32_t c = 0; c < table->count; c++) {
			const struct pm_field *field = &layout->fields[c];
			struct pm_column *column = &table->columns[c];
			double size = fabs(field->value);

			if (!field->known || !isfinite(size) || size == 0)
				continue;
			if (column->like)
				column = &table->columns[column->like - table->columns];
			column->least = fmin(column->least, size);
			column->most = fmax(column->most, size);
		}
	}
	for (uint32_t c = 0; c < table->count; c++) {
		struct pm_column *column = &table->columns[c];

		if (column->least > column->most)
			column->least = column->most;
		if (!column->like)
			pm_scale_choose(&column->scale, column->kind,
					column->unit ? column->unit : "", column->least,
					column->most);
	}
	for (uint32_t c = 0; c < table->count; c++)
		if (table->columns[c].like)
			table->columns[c].scale = table->columns[c].like->scale;
}

static void measure_widths(struct layout *layout)
{
	const struct pm_table *table = layout->table;
	size_t wide;

	for (uint32_t c = 0; c < table->count; c++) {
		struct pm_column *column = &table->columns[c];

		column->marks = 0;
		column->width = pm_out_plain(NULL, column->scale.unit, 0);
		if (column->title && (!c || table->columns[c - 1].title))
			pm_row_measure(&column->width, column->title, layout->title_most);
	}
	layout->names = strlen(rows_title(table));
	for (uint32_t n = BEFORE_ROWS; next_row(layout, &n);) {
		wide = n ? name_write(table, n, 0, NULL) : 0;
		if (wide > layout->names)
			layout->names = wide;
		for (uint32_t c = 0; c < table->count; c++) {
			const struct pm_field *field = &layout->fields[c];
			char text[sizeof(field->text)];

			field_text(&table->columns[c], field, text);
			pm_row_measure(&table->columns[c].width, text, 0);
			pm_row_measure(&table->columns[c].marks, field->marks, 0);
		}
	}
	/* A title above two columns. */
	for (uint32_t c = 0; c + 1 < table->count; c++) {
		struct pm_column *column = &table->columns[c];

		if (column->title)
			continue;
		wide = pm_out_plain(NULL, column[1].title, 0);
		if (wide > column->width + column->marks + 2 + column[1].width)
			column->width = wide - column->marks - 2 - column[1].width;
	}
}

static size_t width_of(const struct layout *layout, uint32_t first, uint32_t end)
{
	size_t width = 0;

	for (uint32_t c = first; c < end; c++)
		width += 2 + layout->table->columns[c].width +
			 layout->table->columns[c].marks;
	return width;
}

/* The end of the columns from FIRST on that stay together: of a group, or of one title. */
static uint32_t end_of(const struct layout *layout, uint32_t first, bool group)
{
	const struct pm_table *table = layout->table;
	uint32_t c = first;

	do
		c++;
	while (c < table->count &&
	       (group ? !table->columns[c].begins : !table->columns[c - 1].title));
	return c;
}

/* Takes as many columns as fit beside the names, one title's at least. */
static void take_columns(struct layout *layout, size_t width)
{
	const struct pm_table *table = layout->table;
	size_t names = layout->names < NAMES_FIRST ? layout->names : NAMES_FIRST;
	uint32_t c = end_of(layout, layout->first, false), next;

	while (c < table->count) {
		bool group = table->columns[c].begins;

		next = end_of(layout, c, group);
		if (names + width_of(layout, layout->first, next) > width)
			break;
		c = next;
	}
	layout->end = c;
}

static void print_titles(const struct layout *layout, struct pm_out *out)
{
	const struct pm_table *table = layout->table;
	struct pm_row row = {.out = out};
	bool units = false;

	pm_row_left(&row, rows_title(table), 0, layout->name_width);
	for (uint32_t c = layout->first; c < layout->end; c++) {
		const struct pm_column *column = &table->columns[c];

		units |= column->scale.unit[0] != '\0';
		row.blanks += 2;
		pm_row_right(&row, column->title ? column->title : "", layout->title_most,
			     column->width);
		row.blanks += column->marks;
	}
	pm_row_end(&row);
	row.blanks = layout->name_width;
	for (uint32_t c = layout->first; units && c < layout->end; c++) {
		const struct pm_column *column = &table->columns[c];

		row.blanks += 2;
		pm_row_right(&row, column->scale.unit, 0, column->width);
		row.blanks += column->marks;
	}
	if (units)
		pm_row_end(&row);
}

/* Writes the fields, BLANKS after the name. */
static void print_fields(const struct layout *layout, size_t blanks, struct pm_out *out)
{
	struct pm_row row = {.out = out, .blanks = blanks};

	for (uint32_t c = layout->first; c < layout->end; c++) {
		const struct pm_column *column = &layout->table->columns[c];
		const struct pm_field *field = &layout->fields[c];
		char text[sizeof(field->text)];

		row.blanks += 2;
		field_text(column, field, text);
		pm_row_right(&row, text, 0, column->width);
		pm_row_left(&row, *text ? field->marks : "", 0, column->marks);
	}
	pm_row_end(&row);
}

/* Returns whether the row has any text in this part of the table. */
static bool has_fields(const struct layout *layout)
{
	for (uint32_t c = layout->first; c < layout->end; c++)
		if (layout->fields[c].known || layout->fields[c].text[0])
			return true;
	return false;
}

static void print_rows(const struct layout *layout, size_t most, struct pm_out *out)
{
	const struct pm_table *table = layout->table;

	for (uint32_t n = BEFORE_ROWS; next_row(layout, &n);) {
		size_t taken = strlen(PM_CELL_TOTAL);

		if (n)
			taken = name_write(table, n, most, out);
		else if (has_fields(layout))
			pm_out_text(out, PM_CELL_TOTAL);
		else
			break;
		print_fields(layout, layout->name_width - taken, out);
	}
}

int pm_table_write(const struct pm_table *table, struct pm_out *out)
{
	size_t width = out->columns	    ? out->columns
		       : out->table_columns ? out->table_columns
					    : WIDTH;
	struct layout layout = {
		.table = table,
		.fields = calloc(table->count, sizeof(*layout.fields)),
		.title_most = out->columns ? TITLE_MOST : 0,
	};

	if (!layout.fields)
		return -ENOMEM;
	measure_values(&layout);
	measure_widths(&layout);
	while (layout.first < table->count) {
		size_t used;

		take_columns(&layout, width);
		used = width_of(&layout, layout.first, layout.end);
		layout.name_width = layout.names;
		/* Names are whole where lines may be long. */
		if (out->columns && layout.names + used > width)
			layout.name_width =
				width > used + NAMES_FIRST ? width - used : NAMES_FIRST;
		if (layout.first)
			pm_out_text(out, "\n");
		print_titles(&layout, out);
		print_rows(&layout, out->columns ? layout.name_width : 0, out);
		layout.first = layout.end;
	}
	free(layout.fields);
	return 0;
}
