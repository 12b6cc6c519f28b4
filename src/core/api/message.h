/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies the message of an error to the caller's buffer, which no other thread can
 * change. */
#ifndef PM_API_MESSAGE_H
#define PM_API_MESSAGE_H

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* Copies TEXT to the SIZE bytes at BUFFER and cuts it if it is longer, as snprintf()
 * does. Returns the length of TEXT, or -EINVAL if BUFFER is NULL and SIZE is not 0. */
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

/* Copies TEXT for a call that creates a handle. MESSAGE may be NULL. */
static inline void pm_message_tell(const char *text, char *message, size_t message_size)
{
	if (message && message_size)
		pm_message_copy(text, message, message_size);
}

/* The same at the end of a call: TEXT is of its error. Returns RESULT. */
static inline int pm_message_end(int result, const char *text, char *message,
				 size_t message_size)
{
	pm_message_tell(result < 0 ? text : "", message, message_size);
	return result;
}

#endif
