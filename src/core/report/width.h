/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How many columns of a terminal a character takes, whatever the locale is. */
#ifndef PM_REPORT_WIDTH_H
#define PM_REPORT_WIDTH_H

#include <stddef.h>
#include <stdint.h>

/* 0 (combining), 1 or 2 (Chinese, Japanese, Korean, emoji). C is printable. */
size_t pm_width(int32_t c);

#endif
