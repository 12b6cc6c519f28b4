/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The line of an address, from a .debug_line section (DWARF 2 to 5). */
#ifndef PERFMON_HOOKS_OPENMP_LINES_H
#define PERFMON_HOOKS_OPENMP_LINES_H

#include <stddef.h>
#include <stdint.h>

/* Returns the line of the code that begins at ADDRESS, or 0. Files of any content are
 * safe. A section of more than 32 MB is not read: it would take too long. */
unsigned int lines_find(const void *section, size_t size, uint64_t address);

#endif
