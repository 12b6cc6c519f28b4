/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Waiting: a thread that was inside clone(2) while its events were opened may bring
 * forth a thread without them (or with some), which cannot be listed before clone(2) is
 * nearly done. The scheduler may leave it there for as long as it likes. When the thread
 * has been seen outside of clone(2) since, what it created without the events can be
 * listed.
 *
 * Asleep or stopped is outside: /proc tells. A thread that runs is asked by a sampling
 * clock that ticks on it alone and in user mode only: its first tick is the proof.
 */
#include <sys/mman.h>

#include "core/kernel/kernel.h"
#include "core/session/threads/parts.h"

/* So many threads at a time: each takes a descriptor and two pages of locked memory. */
#define CLOCKS	 16
#define TICK_NS	 20000
#define LOOK_MS	 1
#define NO_CLOCK (-1)

struct clock {
	struct scan_thread *thread;
	void *ring;
};

static int open_clock(struct clock *clock)
{
	struct perf_event_attr attr =
		pm_user_mode_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	int fd;

	attr.sample_period = TICK_NS;
	attr.wakeup_events = 1;
	attr.disabled = 1;
	fd = pm_kernel_perf_event_open(&attr, clock->thread->tid, -1, -1,
				       PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return NO_CLOCK;
	if (pm_kernel_mmap(&clock->ring, 2 * pm_kernel_page_size(),
			   PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) {
		pm_kernel_close(fd);
		return NO_CLOCK;
	}
	pm_kernel_ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	return fd;
}

static void close_clock(const struct clock *clock, int fd)
{
	if (fd == NO_CLOCK)
		return;
	pm_kernel_munmap(clock->ring, 2 * pm_kernel_page_size());
	pm_kernel_close(fd);
}

/* Fills CLOCKS with threads that are awake, and waits for the others. */
static size_t find_awake(struct scan *scan, struct clock *clocks)
{
	pid_t self = pm_kernel_gettid();
	size_t count = 0;

	for (size_t i = 0; i < scan->count && count < CLOCKS; i++) {
		struct scan_thread *thread = &scan->threads[i];

		if (thread->status != SCAN_DIRECT || thread->outside)
			continue;
		thread->outside = thread->tid == self || pm_threads_is_idle(thread);
		if (!thread->outside)
			clocks[count++].thread = thread;
	}
	return count;
}

/* One look at COUNT threads: how many are still unsettled. */
static size_t look(const struct clock *clocks, struct pollfd *polls, size_t count)
{
	int ready = pm_kernel_poll_many(polls, count, LOOK_MS);
	size_t left = 0;

	for (size_t i = 0; i < count; i++) {
		struct scan_thread *thread = clocks[i].thread;

		if (thread->outside)
			continue;
		/* It ticked, or hung up because its thread ended. */
		if (ready > 0 && polls[i].revents) {
			thread->outside = true;
			close_clock(&clocks[i], polls[i].fd);
			polls[i].fd = NO_CLOCK;
		} else {
			thread->outside = pm_threads_is_idle(thread);
		}
		left += !thread->outside;
	}
	return left;
}

bool pm_threads_wait(struct scan *scan)
{
	struct clock clocks[CLOCKS];
	struct pollfd polls[CLOCKS];
	size_t count, left = 0;

	while (!left && (count = find_awake(scan, clocks))) {
		for (size_t i = 0; i < count; i++)
			polls[i] = (struct pollfd){.fd = open_clock(&clocks[i]),
						   .events = POLLIN};
		do {
			left = look(clocks, polls, count);
			if (scan->patience_ms)
				scan->patience_ms--;
		} while (left && scan->patience_ms);
		for (size_t i = 0; i < count; i++)
			close_clock(&clocks[i], polls[i].fd);
	}
	return !left;
}
