/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Vectors: many calls take an array by three arguments: the array, the number of its
 * elements, and the size of one in the program. PERFMON_VECTOR() gives all three:
 *
 *	struct perfmon_value values[2];
 *
 *	perfmon_session_read(session, PERFMON_VECTOR(values), PERFMON_READ_ALL);
 *
 * The size is that of one element. A call that writes to a vector refuses elements of
 * twice this library's size or more (-EINVAL): an array of two has that size, and the
 * call would write behind it. So a later version's elements stay below twice the size
 * that they had in the version before.
 */
#ifndef PERFMON_VECTOR_H
#define PERFMON_VECTOR_H

#include <stddef.h>

/**
 * PERFMON_VECTOR() - the three arguments for ARRAY, all of it: `ARRAY, number of
 * elements, sizeof(ARRAY[0])`. A pointer does not compile, as its number of elements is
 * not known: pass the three arguments for it, or for a part of an array. ARRAY is
 * evaluated once.
 */
#define PERFMON_VECTOR(array) (array), PERFMON_VECTOR_COUNT_(array), sizeof((array)[0])

/* The library's: how many elements ARRAY has. Compilers that refuse a pointer show a name
 * that says why. */
#ifdef __cplusplus
extern "C++" {
template <typename element, size_t count>
char (&perfmon_vector_takes_an_array_not_a_pointer(element (&array)[count]))[count];
}
#define PERFMON_VECTOR_COUNT_(array)                                                     \
	sizeof(perfmon_vector_takes_an_array_not_a_pointer(array))
#else
#define PERFMON_VECTOR_COUNT_(array)                                                     \
	(sizeof(array) / sizeof((array)[0]) +                                            \
	 0 * sizeof(struct {                                                             \
		 unsigned int perfmon_vector_takes_an_array_not_a_pointer : 1 -          \
			 2 * __builtin_types_compatible_p(__typeof__(array),             \
							  __typeof__(&(array)[0]));      \
	 }))
#endif

#endif
