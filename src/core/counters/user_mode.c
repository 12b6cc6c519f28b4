/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/counters/user_mode.h"

#if defined(__riscv)
#include <errno.h>

#include "core/kernel/kernel.h"

/* The number of system calls in a row, and the limit of instructions in user mode for
 * each. The kernel needs hundreds. */
#define CALLS	   32
#define USER_LIMIT 64

struct count {
	uint64_t value, enabled_ns, running_ns;
};

/* 1: only user mode is counted; -1: it is not; 0: not known. */
static int look(void)
{
	struct perf_event_attr attr =
		pm_user_mode_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	struct count first, last;
	uint64_t count;
	bool known;
	int fd;

	attr.read_format =
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	do
		fd = pm_kernel_perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	while (fd == -EINTR);
	if (fd < 0)
		return 0;
	known = pm_kernel_read(fd, &first, sizeof(first)) == sizeof(first);
	for (int i = 0; i < CALLS; i++)
		pm_kernel_gettid();
	known = known && pm_kernel_read(fd, &last, sizeof(last)) == sizeof(last);
	pm_kernel_close(fd);
	if (!known || last.running_ns == first.running_ns ||
	    last.running_ns - first.running_ns != last.enabled_ns - first.enabled_ns)
		return 0;
	count = last.value - first.value;
	return count >= CALLS && count <= CALLS * USER_LIMIT ? 1 : -1;
}

bool pm_event_mode_is_ignored(const struct pm_event *event)
{
	static int known;
	int is;

	if (!event->hardware || event->uncore || !event->attr.exclude_kernel)
		return false;
	is = __atomic_load_n(&known, __ATOMIC_RELAXED);
	if (!is) {
		is = look();
		__atomic_store_n(&known, is, __ATOMIC_RELAXED);
	}
	return is < 0;
}
#else
bool pm_event_mode_is_ignored(const struct pm_event *event)
{
	(void)event;
	return false;
}
#endif
