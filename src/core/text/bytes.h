/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A buffer that grows. A failed allocation is remembered, and later additions are
 * dropped, so that one check at the end is enough. */
#ifndef PM_TEXT_BYTES_H
#define PM_TEXT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct pm_bytes {
	unsigned char *data;
	size_t used, room;
	bool failed;
};

/* Appends SIZE zero bytes and returns their address, or NULL. */
static inline void *pm_bytes_grow(struct pm_bytes *bytes, size_t size)
{
	if (!bytes->failed && size > bytes->room - bytes->used) {
		size_t room = (bytes->room + size) * 2 + 256;
		unsigned char *larger = realloc(bytes->data, room);

		if (larger) {
			bytes->data = larger;
			bytes->room = room;
		} else {
			bytes->failed = true;
		}
	}
	/* Without data there is no address to return. */
	if (bytes->failed || !size)
		return bytes->failed ? NULL : bytes->data;
	bytes->used += size;
	return memset(bytes->data + bytes->used - size, 0, size);
}

static inline void pm_bytes_add(struct pm_bytes *bytes, const void *data, size_t size)
{
	void *to = pm_bytes_grow(bytes, size);

	if (to && size)
		memcpy(to, data, size);
}

static inline void pm_bytes_add_u32(struct pm_bytes *bytes, uint32_t value)
{
	pm_bytes_add(bytes, &value, sizeof(value));
}

static inline void pm_bytes_add_u64(struct pm_bytes *bytes, uint64_t value)
{
	pm_bytes_add(bytes, &value, sizeof(value));
}

/* Appends zeros up to the next multiple of 8. */
static inline void pm_bytes_align(struct pm_bytes *bytes)
{
	pm_bytes_grow(bytes, (8 - bytes->used % 8) % 8);
}

static inline void pm_bytes_free(struct pm_bytes *bytes)
{
	free(bytes->data);
	memset(bytes, 0, sizeof(*bytes));
}

#endif
