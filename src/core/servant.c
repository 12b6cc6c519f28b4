/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/servant.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "core/kernel.h"

#define EVENTS_AT_ONCE 64
#define WAKE_KEY       0

struct pm_servant {
	struct perfmon_session *session;
	void (*work)(struct perfmon_session *session, uint64_t key, bool has_ended);
	pthread_t thread;
	int epoll_fd;
	int wake_fd; /* an eventfd */
	bool quit;   /* set before the wake-up that it explains */
};

static void *serve(void *argument)
{
	struct pm_servant *servant = argument;
	struct epoll_event events[EVENTS_AT_ONCE];
	unsigned int failures = 0;
	uint64_t wakes;

	while (!__atomic_load_n(&servant->quit, __ATOMIC_ACQUIRE)) {
		int i, n = pm_kernel_epoll_wait(servant->epoll_fd, events,
						EVENTS_AT_ONCE);

		/* The program has closed what is ours: there is nothing to wait for. */
		failures = n < 0 && n != -EINTR ? failures + 1 : 0;
		if (failures > 1)
			break;
		for (i = 0; i < n; i++) {
			if (events[i].data.u64 == WAKE_KEY)
				pm_kernel_read(servant->wake_fd, &wakes, sizeof(wakes));
			if (__atomic_load_n(&servant->quit, __ATOMIC_ACQUIRE))
				break;
			servant->work(servant->session, events[i].data.u64,
				      events[i].events & EPOLLHUP);
		}
	}
	return NULL;
}

int pm_servant_create(struct pm_servant **out,
		      void (*work)(struct perfmon_session *session, uint64_t key,
				   bool has_ended),
		      struct perfmon_session *session)
{
	struct pm_servant *servant = calloc(1, sizeof(*servant));
	int err;

	if (!servant)
		return -ENOMEM;
	servant->session = session;
	servant->work = work;
	servant->wake_fd = -1;
	servant->epoll_fd = err = pm_kernel_epoll_create();
	if (err >= 0)
		servant->wake_fd = err = pm_kernel_eventfd();
	if (err >= 0)
		err = pm_servant_watch(servant, servant->wake_fd, WAKE_KEY);
	if (err < 0) {
		pm_servant_forget(servant);
		return err;
	}
	*out = servant;
	return 0;
}

int pm_servant_start(struct pm_servant *servant)
{
	return pm_kernel_thread_start(&servant->thread, serve, servant);
}

void pm_servant_forget(struct pm_servant *servant)
{
	if (!servant)
		return;
	if (servant->wake_fd >= 0)
		pm_kernel_close(servant->wake_fd);
	if (servant->epoll_fd >= 0)
		pm_kernel_close(servant->epoll_fd);
	free(servant);
}

void pm_servant_stop(struct pm_servant *servant)
{
	if (!servant)
		return;
	__atomic_store_n(&servant->quit, true, __ATOMIC_RELEASE);
	pm_servant_wake(servant);
	pthread_join(servant->thread, NULL);
}

int pm_servant_watch(struct pm_servant *servant, int fd, uint64_t key)
{
	/* Edges: an event whose task has ended is ready for ever. */
	struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = key};

	return pm_kernel_epoll_ctl(servant->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

void pm_servant_unwatch(struct pm_servant *servant, int fd)
{
	struct epoll_event event = {.events = 0};

	/* A child may hold the descriptor, which would keep it in the set. */
	pm_kernel_epoll_ctl(servant->epoll_fd, EPOLL_CTL_DEL, fd, &event);
}

void pm_servant_wake(struct pm_servant *servant)
{
	const uint64_t one = 1;

	pm_kernel_write(servant->wake_fd, &one, sizeof(one));
}
