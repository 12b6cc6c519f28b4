/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names that Fortran passes. */
#ifndef PERFMON_HOOKS_COMMON_FORTRAN_H
#define PERFMON_HOOKS_COMMON_FORTRAN_H

#include <string.h>

/* The longest name of a region, and the end. */
#define FORTRAN_NAME_SIZE 1001

/* Copies the LENGTH bytes at TEXT to NAME, without the blanks at their end: Fortran fills names up
 * with blanks, and they have no end of their own. Returns NAME. */
static inline const char *fortran_name(char name[FORTRAN_NAME_SIZE], const char *text,
				       int length)
{
	size_t size = length < 0 ? 0 : (size_t)length;

	if (size > FORTRAN_NAME_SIZE - 1)
		size = FORTRAN_NAME_SIZE - 1;
	size = strnlen(text, size);
	while (size && text[size - 1] == ' ')
		size--;
	memcpy(name, text, size);
	name[size] = 0;
	return name;
}

#endif
