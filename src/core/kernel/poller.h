/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An epoll(7) set that the program may close. All sets share one inode, so each set holds
 * the end of a pipe. If the pipe is ours, and the set holds it, the set is ours. An entry
 * of a set goes with its file. So a descriptor in our set is ours, too.
 *
 * The pipe also wakes the waiter of the set. Its other end is closed, which the set
 * reports once for each request.
 */
#ifndef PM_KERNEL_POLLER_H
#define PM_KERNEL_POLLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "core/kernel/owned.h"

struct pm_poller {
	struct pm_owned pipe;
	int epoll_fd;
};

/* The key of the pipe's event. */
#define PM_POLLER_WAKE 0

/* The longest wait. After it a waiter finds that the program has closed the set, or has
 * ended (life.h). */
#define PM_POLLER_TICK_MS 1000

/* Returns 0, or an error of pipe(2) or epoll_create(2). */
int pm_poller_create(struct pm_poller *poller);
/* Closes those of its descriptors that are ours. */
void pm_poller_close(struct pm_poller *poller);

/* Checks the pipe, since a program that closes the set closes the pipe, too. */
static inline int pm_poller_check(const struct pm_poller *poller)
{
	return pm_owned_check(&poller->pipe);
}

/* Calls epoll_ctl(2) with OPERATION, and wakes the waiter. -EBADF: the set is not
 * ours. */
int pm_poller_control(const struct pm_poller *poller, int operation, int fd,
		      uint32_t events, uint64_t key);

/* Returns whether FD is in the set, with EVENTS and KEY, and so is ours. */
bool pm_poller_has(const struct pm_poller *poller, int fd, uint32_t events, uint64_t key);

/* Wakes the waiter. Async-signal-safe. */
void pm_poller_wake(const struct pm_poller *poller);

/* Calls epoll_wait(2), for a tick. */
int pm_poller_wait(const struct pm_poller *poller, struct epoll_event *events, int room);

#endif
