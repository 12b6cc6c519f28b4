/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rows of tables: all commands print theirs through these. */
#ifndef PM_REPORT_ROW_H
#define PM_REPORT_ROW_H

#include "core/report/output/out.h"

/* A row that is being written. Blanks are written before the next text, so that no row ends in
 * blanks. */
struct pm_row {
	struct pm_out *out;
	size_t blanks;	      /* before the next text */
	const char *on, *off; /* around each text, such as a colour; NULL: nothing */
};

/* Write TEXT as pm_out_plain() does, in at most MOST columns (0: any number), at the left or the
 * right of a field of WIDTH. A text at the right may reach into the blanks before its field. */
void pm_row_left(struct pm_row *row, const char *text, size_t most, size_t width);
void pm_row_right(struct pm_row *row, const char *text, size_t most, size_t width);
void pm_row_end(struct pm_row *row);

/* Widens *WIDTH to TEXT, of which at most MOST columns are shown. */
void pm_row_measure(size_t *width, const char *text, size_t most);

#endif
