/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sentence about an error, in the caller's buffer: no other thread can change it. */
#ifndef PM_API_MESSAGE_H
#define PM_API_MESSAGE_H

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* Copies TEXT to the SIZE bytes at BUFFER, cut if it is longer, as snprintf() does. The
 * length of TEXT; -EINVAL: BUFFER is NULL and SIZE is not 0. */
static inline int pm_message_copy(const char *text, char *buffer, size_t size)
{
	size_t length = strlen(text), copied = length < size ? length : size - 1;

	if (!size)
		return (int)length;
	if (!buffer)
		return -EINVAL;
	memcpy(buffer, text, copied);
	buffer[copied] = '\0';
	return (int)length;
}

/* The same for a call that makes a handle: nothing where the caller wants no sentence. */
static inline void pm_message_tell(const char *text, char *message, size_t message_size)
{
	if (message && message_size)
		pm_message_copy(text, message, message_size);
}

#endif
