/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/session/helper/helper.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "core/kernel/kernel.h"
#include "core/kernel/life.h"
#include "core/kernel/poller.h"

#define EVENTS_AT_ONCE 64

/* The key of a descriptor that is only kept. */
#define KEPT_KEY UINT64_MAX

/* Edges: an event whose task has ended is ready for ever. */
#define WATCHED (EPOLLIN | EPOLLET)

struct pm_helper {
	struct perfmon_session *session;
	void (*work)(struct perfmon_session *session, uint64_t key, bool has_ended);
	pthread_t thread;
	pid_t pid; /* a child has the same set */
	struct pm_poller poller;
	bool quit;  /* set before the wake-up that it explains */
	bool woken; /* the same: others are none of ours */
};

/* Returns whether EVENT is a wake-up that nobody has asked for. */
static bool is_idle(struct pm_helper *helper, const struct epoll_event *event)
{
	/* Pairs with the release in pm_helper_wake(). */
	return event->data.u64 == PM_POLLER_WAKE &&
	       !__atomic_exchange_n(&helper->woken, false, __ATOMIC_ACQUIRE);
}

static void *serve(void *argument)
{
	struct pm_helper *helper = argument;
	struct epoll_event events[EVENTS_AT_ONCE];
	unsigned int failures = 0;

	/* Both loads of `quit` pair with the release in pm_helper_stop(). */
	while (!__atomic_load_n(&helper->quit, __ATOMIC_ACQUIRE)) {
		int i, n = pm_poller_wait(&helper->poller, events, EVENTS_AT_ONCE);
		int err = pm_poller_check(&helper->poller);

		/* The program has closed what is ours: there is nothing to wait for. */
		failures = err || (n < 0 && n != -EINTR) ? failures + 1 : 0;
		if (failures > 1 || err == -ESTALE || (!n && pm_life_program_has_ended()))
			break;
		for (i = 0; i < n; i++) {
			if (is_idle(helper, &events[i]))
				continue;
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
	helper->pid = pm_kernel_getpid();
	err = pm_poller_create(&helper->poller);
	if (err) {
		free(helper);
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
	pm_poller_close(&helper->poller);
	free(helper);
}

void pm_helper_stop(struct pm_helper *helper)
{
	if (!helper)
		return;
	/* Pairs with the acquires in serve(). */
	__atomic_store_n(&helper->quit, true, __ATOMIC_RELEASE);
	pm_helper_wake(helper);
	pthread_join(helper->thread, NULL);
}

int pm_helper_watch(struct pm_helper *helper, int fd, uint64_t key)
{
	return pm_poller_control(&helper->poller, EPOLL_CTL_ADD, fd, WATCHED, key);
}

void pm_helper_unwatch(struct pm_helper *helper, int fd)
{
	/* A child may hold the descriptor, which would keep it in the set. In the child, the
	 * set is its parent's, too. */
	if (helper->pid == pm_kernel_getpid())
		pm_poller_control(&helper->poller, EPOLL_CTL_DEL, fd, 0, 0);
}

void pm_helper_close(struct pm_helper *helper, int fd, uint64_t key)
{
	if (!pm_poller_has(&helper->poller, fd, WATCHED, key))
		return;
	pm_helper_unwatch(helper, fd);
	pm_kernel_close(fd);
}

int pm_helper_keep(struct pm_helper *helper, int fd)
{
	return pm_poller_control(&helper->poller, EPOLL_CTL_ADD, fd, 0, KEPT_KEY);
}

bool pm_helper_keeps(const struct pm_helper *helper, int fd)
{
	return pm_poller_has(&helper->poller, fd, 0, KEPT_KEY);
}

void pm_helper_wake(struct pm_helper *helper)
{
	/* Pairs with the acquire of is_idle(). */
	__atomic_store_n(&helper->woken, true, __ATOMIC_RELEASE);
	pm_poller_wake(&helper->poller);
}
