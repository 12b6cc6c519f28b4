/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names, units and other text of strangers, escaped for a format. */
#ifndef PM_REPORT_ESCAPE_H
#define PM_REPORT_ESCAPE_H

#include "core/report/output/out.h"

/*
 * Foreign text, such as a name or a unit, goes through one of these three, by format.
 * Nothing in it reaches a terminal as a control character, a mark of direction or a byte
 * that is no UTF-8. The suite "format" fails on a name that goes another way.
 */
/* A JSON string, quotes included; bytes that are no UTF-8 become U+FFFD. */
void pm_out_json(struct pm_out *out, const char *text);
/* A field of RFC 4180, quoted if it must be; control characters as \xNN, bytes that are
 * no UTF-8 as U+FFFD. Before one of = + - @ ' at its start stands another ', so that no
 * spreadsheet takes it for a formula. */
void pm_out_csv(struct pm_out *out, const char *text);
/* Plain text: control characters and bytes that are no UTF-8 as \xNN. Wider than WIDTH
 * (0: any width) it is cut in its middle, with "...". Returns the columns it took; OUT
 * may be NULL, to measure only. */
size_t pm_out_plain(struct pm_out *out, const char *text, size_t width);
/* The same of a region's name, in quotes if it is empty or begins or ends with a blank, or
 * if it has to be told from another thing (QUOTE). */
size_t pm_out_name(struct pm_out *out, const char *name, size_t width, bool quote);

#endif
