/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/kernel/poller.h"

#include <errno.h>

#include "core/kernel/kernel.h"

static int control(const struct pm_poller *poller, int operation, int fd, uint32_t events,
		   uint64_t key)
{
	struct epoll_event event = {.events = events, .data.u64 = key};

	return pm_kernel_epoll_ctl(poller->epoll_fd, operation, fd, &event);
}

static int control_pipe(const struct pm_poller *poller, int operation)
{
	return control(poller, operation, poller->pipe.fd, EPOLLONESHOT, PM_POLLER_WAKE);
}

int pm_poller_create(struct pm_poller *poller)
{
	int end = pm_kernel_pipe_end(), err;

	*poller = (struct pm_poller){.pipe = PM_OWNED_NONE, .epoll_fd = -1};
	if (end < 0)
		return end;
	err = pm_owned_learn(&poller->pipe, end);
	if (err) {
		pm_kernel_close(end);
		return err;
	}
	poller->epoll_fd = pm_kernel_epoll_create();
	err = poller->epoll_fd < 0 ? poller->epoll_fd
				   : control_pipe(poller, EPOLL_CTL_ADD);
	if (err) {
		if (poller->epoll_fd >= 0)
			pm_kernel_close(poller->epoll_fd);
		pm_owned_close(&poller->pipe);
	}
	return err;
}

/* Returns whether the set itself is ours. Wakes its waiter. */
static bool is_proven(const struct pm_poller *poller)
{
	return !pm_owned_is_foreign(&poller->pipe) &&
	       !control_pipe(poller, EPOLL_CTL_MOD);
}

void pm_poller_close(struct pm_poller *poller)
{
	if (is_proven(poller))
		pm_kernel_close(poller->epoll_fd);
	poller->epoll_fd = -1;
	pm_owned_close(&poller->pipe);
}

int pm_poller_control(const struct pm_poller *poller, int operation, int fd,
		      uint32_t events, uint64_t key)
{
	return is_proven(poller) ? control(poller, operation, fd, events, key) : -EBADF;
}

bool pm_poller_has(const struct pm_poller *poller, int fd, uint32_t events, uint64_t key)
{
	return !pm_owned_is_foreign(&poller->pipe) &&
	       !control(poller, EPOLL_CTL_MOD, fd, events, key);
}

void pm_poller_wake(const struct pm_poller *poller)
{
	is_proven(poller);
}

int pm_poller_wait(const struct pm_poller *poller, struct epoll_event *events, int room)
{
	return pm_kernel_epoll_wait(poller->epoll_fd, events, room, PM_POLLER_TICK_MS);
}
