/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/report/output/row.h"

#include "core/report/output/escape.h"

static void put(struct pm_row *row, const char *text, size_t most)
{
	if (!*text)
		return;
	pm_out_repeat(row->out, ' ', row->blanks);
	row->blanks = 0;
	pm_out_text(row->out, row->on ? row->on : "");
	pm_out_plain(row->out, text, most);
	pm_out_text(row->out, row->off ? row->off : "");
}

void pm_row_left(struct pm_row *row, const char *text, size_t most, size_t width)
{
	size_t columns = pm_out_plain(NULL, text, most);

	put(row, text, most);
	row->blanks += width > columns ? width - columns : 0;
}

void pm_row_right(struct pm_row *row, const char *text, size_t most, size_t width)
{
	size_t columns = pm_out_plain(NULL, text, most), room = row->blanks + width;

	row->blanks = room > columns ? room - columns : 0;
	put(row, text, most);
}

void pm_row_end(struct pm_row *row)
{
	pm_out_text(row->out, "\n");
	row->blanks = 0;
}

void pm_row_measure(size_t *width, const char *text, size_t most)
{
	size_t columns = pm_out_plain(NULL, text, most);

	if (columns > *width)
		*width = columns;
}
