/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The recipients of a session's overflows, and the messages that wait for the program. */
#ifndef PM_SESSION_OVERFLOW_NOTICES_H
#define PM_SESSION_OVERFLOW_NOTICES_H

#include <signal.h>

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

/* Guarded by the session's lock, but for what is atomic. */
struct pm_overflows {
	struct pm_overflow_queue *queue; /* NULL until a counter may notify */
	int signal;			 /* to the thread that overflowed, 0: none */
	int block_signal; /* the library's own, 0: threads are not stopped */
	/* Called for `signal` by the library's own handler; NULL: by none. */
	void (*handler)(int signo, siginfo_t *info, void *context);
	bool in_table;	     /* events are, or were, in the handlers' table */
	uint32_t block_word; /* futex of stopped threads: moves on when they may go */
	uint32_t blocked;    /* how many there are; atomic */
	bool closing;
};

/* Puts MESSAGE at the end. Where there is no room, the next one says that it is lost. */
void pm_queue_push(struct perfmon_session *session,
		   const struct perfmon_message *message);

#endif
