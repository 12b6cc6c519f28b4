/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers as plain text, whatever the locale is. */
#ifndef PM_REPORT_NUMBER_H
#define PM_REPORT_NUMBER_H

#include <stdbool.h>

/* Cells, which are plain text. BUFFER of PM_CELL bytes; four significant digits and a
 * unit's prefix. */
#define PM_CELL 40
void pm_cell_fixed(char *buffer, double value, int decimals);
void pm_cell_time(char *buffer, double ns);
void pm_cell_count(char *buffer, double count);	  /* exact below 100,000 */
char *pm_cell_number(char *buffer, double value); /* small and negative ones, too */
void pm_cell_unit(char *buffer, double value, const char *unit);
/* Returns true if a number in UNIT may get a prefix. A unit that has a prefix (GB/s, ms) may not,
 * nor a ratio to anything but seconds (flop/B). */
bool pm_unit_takes_prefix(const char *unit);

#endif
