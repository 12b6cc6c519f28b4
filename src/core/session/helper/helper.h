/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session's helper thread: it waits for the events of the session's targets and has
 * their rings drained, so that overflows and clocks are noticed while the program does
 * something else. Where the program has closed its descriptors, or has ended but for the
 * library's threads, it ends by itself. It blocks all signals, and holds the session's lock
 * while it works.
 */
#ifndef PM_HELPER_HELPER_H
#define PM_HELPER_HELPER_H

#include <stdbool.h>
#include <stdint.h>

struct perfmon_session;
struct pm_helper;

/* Makes one, whose thread is not there yet and will call WORK with SESSION whenever an
 * event that is watched wakes it, with its KEY, HAS_ENDED if its task has, and KEY 0 for
 * pm_helper_wake(). 0, or what pm_poller_create() gives.
 */
int pm_helper_create(struct pm_helper **helper,
		     void (*work)(struct perfmon_session *session, uint64_t key,
				  bool has_ended),
		     struct perfmon_session *session);

/* Starts its thread: 0, or what pthread_create(3) gives. */
int pm_helper_start(struct pm_helper *helper);

/* Ends the thread and waits for it; not to be called with the session's lock. It can be
 * woken still, which has no effect. NULL is accepted. */
void pm_helper_stop(struct pm_helper *helper);

/* Where there is no such thread, after that or before its start or in a forked child:
 * closes its descriptors. NULL is accepted. */
void pm_helper_forget(struct pm_helper *helper);

/* Watches FD, an event's with a page mapped or a process's, until it is told not to, or
 * the task has ended. WORK may be called for KEY, which is not 0, once more after that:
 * FD may be another by then, so it takes a new KEY each time. */
int pm_helper_watch(struct pm_helper *helper, int fd, uint64_t key);
void pm_helper_unwatch(struct pm_helper *helper, int fd);

/* The same, and closes FD, if it is still what was watched with KEY. */
void pm_helper_close(struct pm_helper *helper, int fd, uint64_t key);

/* Has FD known, which nothing is waited for on; and whether it is still what was known. */
int pm_helper_keep(struct pm_helper *helper, int fd);
bool pm_helper_keeps(const struct pm_helper *helper, int fd);

/* Has WORK called soon. Async-signal-safe. */
void pm_helper_wake(struct pm_helper *helper);

#endif
