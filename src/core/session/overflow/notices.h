/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The recipients of a session's overflows. */
#ifndef PM_SESSION_OVERFLOW_NOTICES_H
#define PM_SESSION_OVERFLOW_NOTICES_H

#include <signal.h>

#include "core/session/core/core.h"

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

#endif
