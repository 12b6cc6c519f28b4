/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The size-led structures of the API. Each begins with its size in the compiled program.
 * The program may know an earlier or a later version than the library.
 */
#ifndef PM_API_EXPORT_STRUCT_H
#define PM_API_EXPORT_STRUCT_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Returns whether the SIZE bytes of FIELDS are 0. */
static inline bool pm_is_zero(const void *fields, size_t size)
{
	const unsigned char *bytes = fields;

	for (size_t i = 0; i < size; i++)
		if (bytes[i])
			return false;
	return true;
}

/* No version will be larger. A size above this was never set. */
#define PM_STRUCT_MOST ((size_t)4096)

/* Returns FIRST, the size of the first version. It is a number because it never changes.
 * The numbers hold on machines of 64 bits; elsewhere sizeof is used. */
#define PM_STRUCT_FIRST(type, first)                                                     \
	__extension__({                                                                  \
		_Static_assert(sizeof(void *) != 8 || (first) <= sizeof(struct type),    \
			       "no version is smaller than the first");                  \
		sizeof(void *) == 8 ? (size_t)(first) : sizeof(size_t);                  \
	})

/*
 * Checks GIVEN, a struct TYPE whose first version had FIRST bytes. Returns
 *
 *  - 0: it is valid
 *  - -EINVAL: it is NULL, or smaller than the first version
 *  - -E2BIG: bytes that this library does not know are not zero
 */
#define PM_STRUCT_CHECK(given, type, first)                                              \
	pm_struct_check(given, PM_STRUCT_FIRST(type, first), sizeof(struct type))

static inline int pm_struct_check(const void *given, size_t first, size_t known)
{
	size_t size;

	if (!given)
		return -EINVAL;
	memcpy(&size, given, sizeof(size));
	if (size < first)
		return -EINVAL;
	if (size > PM_STRUCT_MOST)
		return -E2BIG;
	return size > known && !pm_is_zero((const char *)given + known, size - known)
		       ? -E2BIG
		       : 0;
}

/* The direction of a vector: the call reads the elements, writes to them, or both. */
#define PM_VECTOR_IN	 1u
#define PM_VECTOR_OUT	 2u
#define PM_VECTOR_IN_OUT (PM_VECTOR_IN | PM_VECTOR_OUT)

/* Checks a vector as pm_vector_check() does. */
#define PM_VECTOR_CHECK(given, count, element_size, way, type, first)                    \
	pm_vector_check(given, count, element_size, way, PM_STRUCT_FIRST(type, first),   \
			sizeof(struct type))

/*
 * Checks a vector of the API, which comes with the number of its elements and the
 * program's size of one. GIVEN has COUNT elements of ELEMENT_SIZE bytes. The first
 * version had FIRST bytes; this library knows KNOWN. WAY is PM_VECTOR_IN, _OUT or both.
 * Returns
 *
 *  - 0: it is valid
 *  - -EINVAL: the elements are smaller than in the first version, or not made of whole
 *    words; or GIVEN is NULL with a COUNT; or the elements are written to and twice as long
 *    as KNOWN, so that the size must be that of an array
 *  - -E2BIG: the elements are larger than in any version, or they are read and bytes that
 *    this library does not know are not zero
 */
static inline int pm_vector_check(const void *given, size_t count, size_t element_size,
				  unsigned int way, size_t first, size_t known)
{
	const char *at = given;

	if (element_size < first || element_size % sizeof(uint64_t) || (!given && count))
		return -EINVAL;
	if (way & PM_VECTOR_OUT && element_size >= 2 * known)
		return -EINVAL;
	if (element_size > PM_STRUCT_MOST)
		return -E2BIG;
	if (!(way & PM_VECTOR_IN))
		return 0;
	for (size_t n = 0; element_size > known && n < count; n++, at += element_size)
		if (!pm_is_zero(at + known, element_size - known))
			return -E2BIG;
	return 0;
}

/* Returns element I of a vector. */
static inline void *pm_vector_at(const void *vector, size_t i, size_t element_size)
{
	return (char *)(uintptr_t)vector + i * element_size;
}

/* Copies FROM, of KNOWN bytes, to element I. Bytes that only the program knows become
 * 0. */
static inline void pm_vector_fill(void *vector, size_t i, size_t element_size,
				  const void *from, size_t known)
{
	char *to = pm_vector_at(vector, i, element_size);

	memcpy(to, from, known < element_size ? known : element_size);
	if (element_size > known)
		memset(to + known, 0, element_size - known);
}

/* Packs the COUNT elements of a writable vector to the size that this library knows, and
 * back. It needs no memory, whatever the size of an element. */
static inline void pm_vector_pack(void *vector, size_t count, size_t element_size,
				  size_t known)
{
	char *at = vector;

	for (size_t i = 1; element_size > known && i < count; i++)
		memmove(at + i * known, at + i * element_size, known);
}

static inline void pm_vector_unpack(void *vector, size_t count, size_t element_size,
				    size_t known)
{
	char *at = vector;

	for (size_t i = count; element_size > known && i-- > 0;) {
		memmove(at + i * element_size, at + i * known, known);
		memset(at + i * element_size + known, 0, element_size - known);
	}
}

/* Copies GIVEN, which was checked, to the structure of KNOWN bytes at TO. The first field
 * becomes KNOWN. Fields that GIVEN does not have become zero. */
static inline void pm_struct_take(void *to, const void *given, size_t known)
{
	size_t size;

	memcpy(&size, given, sizeof(size));
	memset(to, 0, known);
	memcpy(to, given, size < known ? size : known);
	memcpy(to, &known, sizeof(known));
}

/* Copies FROM, a structure of KNOWN bytes, to the checked structure at TO, as far as it
 * has room. The first field of TO stays. */
static inline void pm_struct_fill(void *to, const void *from, size_t known)
{
	size_t size;

	memcpy(&size, to, sizeof(size));
	memcpy((char *)to + sizeof(size), (const char *)from + sizeof(size),
	       (size < known ? size : known) - sizeof(size));
}

#endif
