/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The message about an error, for the text of an assertion. */
#ifndef PM_TESTS_MESSAGES_H
#define PM_TESTS_MESSAGES_H

#include <stddef.h>

#include "perfmon/log.h"
#include "perfmon/session.h"

/* Returns memory for one message, valid until the eighth call after this one in this
 * thread. */
static inline char *message_buffer(size_t *size)
{
	static __thread char texts[8][1000];
	static __thread unsigned int next;

	*size = sizeof(texts[0]);
	texts[next % 8][0] = '\0';
	return texts[next++ % 8];
}

/* Defines NAME_of(handle), which returns the message of perfmon_NAME(). */
#define MESSAGE_OF(name, type)                                                           \
	static inline const char *name##_of(const struct type *handle)                   \
	{                                                                                \
		size_t size;                                                             \
		char *text = message_buffer(&size);                                      \
                                                                                         \
		perfmon_##name(handle, text, size);                                      \
		return text;                                                             \
	}

MESSAGE_OF(log_message, perfmon_log)
MESSAGE_OF(session_message, perfmon_session)

#endif
