/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays that grow by one element at a time, from none. */
#ifndef PM_TEXT_GROW_H
#define PM_TEXT_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Makes room for one more element behind the COUNT elements of ARRAY. The memory
 * doubles where COUNT is a power of two, so all growth must use this macro. False
 * without memory. */
#define PM_GROW(array, count)                                                            \
	__extension__({                                                                  \
		void *grown_ = (array);                                                  \
		bool has_room_ = pm_grow(&grown_, (count), sizeof(*(array)));            \
		(array) = grown_;                                                        \
		has_room_;                                                               \
	})

static inline bool pm_grow(void **array, size_t count, size_t size)
{
	void *larger;

	if (count & (count - 1))
		return true;
	larger = reallocarray(*array, count ? 2 * count : 1, size);
	if (larger)
		*array = larger;
	return larger != NULL;
}

#endif
