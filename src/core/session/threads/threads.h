/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Covering: events on all threads of a running process, each thread exactly once.
 *
 * An event with attr.inherit counts its thread and every thread which that creates from
 * then on. A process creates threads while its events are being opened, and a thread that
 * a look into /proc/PID/task finds afterwards may have inherited them or not: the kernel
 * copies a creator's events early in clone(2), before the new thread can be seen, and
 * nothing tells whether that was before or after they were opened. Counted directly as
 * well as by inheritance it counts twice; left out, not at all. So:
 *
 *   the calm way    opens the events on every thread listed, waits until none of these
 *                   can still be inside a clone(2) that began earlier, and looks again.
 *                   Nobody new: nobody was missed, and each has its events once.
 *   the probed way  where threads were created meanwhile: closes everything, and opens it
 *                   again between markers that a probe from outside can tell on a thread,
 *                   until nobody is left whose creator had half of its events.
 *
 * See probe.c for the markers and wait.c for the waiting.
 */
#ifndef PM_SESSION_THREADS_THREADS_H
#define PM_SESSION_THREADS_THREADS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/text/diag.h"

struct pm_threads_request {
	pid_t pid;
	bool descendants; /* its child processes, too, and theirs */
	/* How many descriptors one open() takes, for the sentence about their limit. */
	unsigned int descriptors;
	/* One of the events, if any counts hardware, else NULL. Before Linux 6.2 a thread
	 * inherits these apart from all others, so that they need a marker of their own.
	 */
	const struct perf_event_attr *hardware;
	void *argument;
	/*
	 * Opens the caller's events on thread TID: disabled, with attr.inherit (and with
	 * inherit_thread, where the kernel has it and child processes are not asked for).
	 * 0 with *OPENED for close(), or a negative errno with nothing left open; -ESRCH
	 * says that the thread is gone. Any other ends the walk: DIAG, which may be
	 * NULL, is the caller's own and should say why.
	 */
	int (*open)(void *argument, pid_t tid, void **opened, struct pm_diag *diag);
	/* Closes what open() gave. A thread may be opened again later. */
	void (*close)(void *argument, void *opened);
};

struct pm_threads_result {
	uint32_t direct;    /* threads opened and not closed again, ended ones included */
	uint32_t inherited; /* other living threads: they count through their creator */
	uint32_t refused;   /* threads of child processes that may not be observed */
	uint32_t uncertain; /* threads that may count not at all, in part or twice: 0 is
			     * exact
			     */
	uint32_t scans;	    /* looks at the process that it took */
	const char *reason; /* if anything is uncertain: a sentence that says why */
};

/* Test hook: do as is done on kernels before 6.12 (see probe.c). */
extern bool pm_threads_as_before_6_12;

/*
 * pm_threads_process() - covers all threads of the process REQUEST->pid. When it returns 0,
 * every living thread was either opened by open() or has inherited from one that was, never
 * both, and so will those that are created later; nothing counts yet, since all events are
 * disabled. RESULT says where this could not be made certain. Events on threads that end
 * meanwhile stay open: others may count through them.
 *
 * While it runs, threads of the process hold up to three disabled breakpoints that nobody
 * enables; none is left behind. It sleeps (a second in all, at most) for threads that
 * neither sleep nor come back to user mode.
 *
 * Any thread may call it; it allocates. Errors leave nothing open, and a sentence in DIAG:
 * -ESRCH: there is no such process, or it ended meanwhile
 * -EACCES, -EPERM: not permitted, or /proc hides it (hidepid)
 * -EXDEV: /proc is of another pid namespace
 * -EMFILE: too few file descriptors
 * -ENOMEM
 * - what open() gave
 */
int pm_threads_process(const struct pm_threads_request *request,
		       struct pm_threads_result *result, struct pm_diag *diag);

#endif
