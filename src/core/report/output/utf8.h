/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The characters of UTF-8, whatever the locale is. */
#ifndef PM_REPORT_UTF8_H
#define PM_REPORT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the character at TEXT and its length in bytes; -1 (length 1) if it is no UTF-8. */
int32_t pm_utf8_next(const char *text, size_t *length);

/* Returns the columns of a terminal that C, which is printable, takes: 0 (combining), 1 or 2
 * (Chinese, Japanese, Korean, emoji). */
size_t pm_width(int32_t c);

/* Returns true for characters that terminals obey or that make text look like other text:
 * control characters, ends of lines, marks of direction. */
bool pm_utf8_is_control(int32_t c);

#endif
