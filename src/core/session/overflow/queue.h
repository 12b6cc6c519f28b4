/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The messages of a session that wait for the program. */
#ifndef PM_SESSION_OVERFLOW_QUEUE_H
#define PM_SESSION_OVERFLOW_QUEUE_H

#include "core/session/core/core.h"

#define PM_QUEUE_MESSAGES 1024

/* First come, first served. */
struct pm_overflow_queue {
	uint32_t first;
	uint32_t count;
	bool lost;	/* the next one says that some before it were */
	int descriptor; /* eventfd: readable while count > 0; -1: not asked for */
	struct perfmon_message messages[PM_QUEUE_MESSAGES];
};

/* Puts MESSAGE at the end. Where there is no room, the next one says that it is lost. */
void pm_queue_push(struct perfmon_session *session,
		   const struct perfmon_message *message);

#endif
