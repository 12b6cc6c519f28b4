/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Watching a thread or process of others for its end, by a descriptor that becomes ready:
 * nothing has to ask now and then.
 *
 *   a process   a pidfd (Linux 5.3): ready when the last of its threads has ended
 *   a thread    a pidfd of the thread (Linux 6.9), else a disabled event on it. The
 * kernel calls that hung up when the thread ends, but an event of which no page is mapped
 * it calls so always: one page is mapped, which counts as locked memory
 */
#ifndef PM_CORE_TARGET_WATCH_H
#define PM_CORE_TARGET_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/diag.h"

struct pm_target_watch {
	int fd; /* wait for POLLIN (or EPOLLIN); it stays ready. -1: nothing is watched */
	void *page;
};

#define PM_TARGET_WATCH_NONE ((struct pm_target_watch){.fd = -1})

/*
 * pm_target_watch_process() - watches process PID; pm_target_watch_thread() - thread TID.
 * One descriptor each, closed by exec. 0, or a negative errno with a sentence in DIAG and
 * WATCH untouched: -ESRCH: there is none; -EINVAL: PID is not a process but one of its
 * threads; -ENOSYS: this kernel has no pidfd; -EACCES, -EPERM: where a thread is watched
 * by an event; -EMFILE; -ENOMEM. Any thread; async-signal-safe.
 */
int pm_target_watch_process(struct pm_target_watch *watch, pid_t pid,
			    struct pm_diag *diag);
int pm_target_watch_thread(struct pm_target_watch *watch, pid_t tid,
			   struct pm_diag *diag);

/* Whether what is watched has ended; at once, one system call. */
bool pm_target_watch_ended(const struct pm_target_watch *watch);

/* Harmless when repeated. */
void pm_target_watch_close(struct pm_target_watch *watch);

#endif
