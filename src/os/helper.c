/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "os/helper.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "os/kernel.h"

#define EVENTS_AT_ONCE 64
#define WAKE_KEY       0

struct pm_helper {
	struct perfmon_session *session;
	void (*work)(struct perfmon_session *session, uint64_t key, bool has_ended);
	pthread_t thread;
	int epoll_fd;
	int wake_fd; /* an eventfd */
	bool quit;   /* set before the wake-up that it explains */
};

static void *serve(void *argument)
{
	struct pm_helper *helper = argument;
	struct epoll_event events[EVENTS_AT_ONCE];
	unsigned int failures = 0;
	uint64_t wakes;

	while (!__atomic_load_n(&helper->quit, __ATOMIC_ACQUIRE)) {
		int i, n = pm_kernel_epoll_wait(helper->epoll_fd, events, EVENTS_AT_ONCE);

		/* The program has closed what is ours: there is nothing to wait for. */
		failures = n < 0 && n != -EINTR ? failures + 1 : 0;
		if (failures > 1)
			break;
		for (i = 0; i < n; i++) {
			if (events[i].data.u64 == WAKE_KEY)
				pm_kernel_read(helper->wake_fd, &wakes, sizeof(wakes));
			if (__atomic_load_n(&helper->quit, __ATOMIC_ACQUIRE))
				break;
			helper->work(helper->session, events[i].data.u64,
				     events[i].events & EPOLLHUP);
		}
	}
	return NULL;
}

int pm_helper_create(struct pm_helper **out,
		     void (*work)(struct perfmon_session *session, uint64_t key,
				  bool has_ended),
		     struct perfmon_session *session)
{
	struct pm_helper *helper = calloc(1, sizeof(*helper));
	int err;

	if (!helper)
		return -ENOMEM;
	helper->session = session;
	helper->work = work;
	helper->wake_fd = -1;
	helper->epoll_fd = err = pm_kernel_epoll_create();
	if (err >= 0)
		helper->wake_fd = err = pm_kernel_eventfd();
	if (err >= 0)
		err = pm_helper_watch(helper, helper->wake_fd, WAKE_KEY);
	if (err < 0) {
		pm_helper_forget(helper);
		return err;
	}
	*out = helper;
	return 0;
}

int pm_helper_start(struct pm_helper *helper)
{
	return pm_kernel_thread_start(&helper->thread, serve, helper);
}

void pm_helper_forget(struct pm_helper *helper)
{
	if (!helper)
		return;
	if (helper->wake_fd >= 0)
		pm_kernel_close(helper->wake_fd);
	if (helper->epoll_fd >= 0)
		pm_kernel_close(helper->epoll_fd);
	free(helper);
}

void pm_helper_stop(struct pm_helper *helper)
{
	if (!helper)
		return;
	__atomic_store_n(&helper->quit, true, __ATOMIC_RELEASE);
	pm_helper_wake(helper);
	pthread_join(helper->thread, NULL);
}

int pm_helper_watch(struct pm_helper *helper, int fd, uint64_t key)
{
	/* Edges: an event whose task has ended is ready for ever. */
	struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = key};

	return pm_kernel_epoll_ctl(helper->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

void pm_helper_unwatch(struct pm_helper *helper, int fd)
{
	struct epoll_event event = {.events = 0};

	/* A child may hold the descriptor, which would keep it in the set. */
	pm_kernel_epoll_ctl(helper->epoll_fd, EPOLL_CTL_DEL, fd, &event);
}

void pm_helper_wake(struct pm_helper *helper)
{
	const uint64_t one = 1;

	pm_kernel_write(helper->wake_fd, &one, sizeof(one));
}
