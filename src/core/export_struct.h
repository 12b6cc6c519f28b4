/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Filling in the size-led structures of the API. */
#ifndef PM_CORE_EXPORT_STRUCT_H
#define PM_CORE_EXPORT_STRUCT_H

#include <stddef.h>
#include <string.h>

/* Copies FROM, the structure as this library knows it, of SIZE bytes, to the one at TO,
 * whose first field says that it has GIVEN bytes, at least SIZE: the rest becomes zero
 * and the first field stays. */
static inline void pm_struct_fill(void *to, const void *from, size_t size, size_t given)
{
	memcpy((char *)to + sizeof(size_t), (const char *)from + sizeof(size_t),
	       size - sizeof(size_t));
	memset((char *)to + size, 0, given - size);
}

#endif
