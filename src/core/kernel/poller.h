/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An epoll(7) set that knows itself. All sets share one inode, so each has a pipe's end
 * for its anchor: where the anchor is ours, and the set has it, the set is ours. An entry of
 * a set goes with its file. So what a set of ours has is ours, too, under its number.
 *
 * The anchor also wakes who waits for the set: its other end is closed, which is told once
 * each time that it is asked for.
 */
#ifndef PM_KERNEL_POLLER_H
#define PM_KERNEL_POLLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "core/kernel/owned.h"

struct pm_poller {
	struct pm_owned anchor;
	int epoll_fd;
};

/* The key of the anchor's event. */
#define PM_POLLER_WAKE 0

/* How long a wait lasts at most: who waits for a set that the program has closed learns of
 * it, and that the program has ended (life.h). */
#define PM_POLLER_TICK_MS 1000

/* 0, or what pipe(2) and epoll_create(2) give. */
int pm_poller_create(struct pm_poller *poller);
/* Closes those of its descriptors that are ours. */
void pm_poller_close(struct pm_poller *poller);

/* pm_owned_check() of its anchor: no program closes the set and not the anchor. */
static inline int pm_poller_check(const struct pm_poller *poller)
{
	return pm_owned_check(&poller->anchor);
}

/* epoll_ctl(2) with OPERATION; -EBADF: the set is not ours. Wakes who waits. */
int pm_poller_control(const struct pm_poller *poller, int operation, int fd,
		      uint32_t events, uint64_t key);

/* Whether FD is in the set, with EVENTS and KEY, and so is ours. */
bool pm_poller_has(const struct pm_poller *poller, int fd, uint32_t events, uint64_t key);

/* Wakes who waits. Async-signal-safe. */
void pm_poller_wake(const struct pm_poller *poller);

/* epoll_wait(2), for a tick. */
int pm_poller_wait(const struct pm_poller *poller, struct epoll_event *events, int room);

#endif
