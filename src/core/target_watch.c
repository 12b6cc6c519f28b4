/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/target_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "core/kernel.h"

/* Linux 6.9; headers may be older. */
#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif

static int refuse(struct pm_diag *diag, int error, const char *what, pid_t id)
{
	switch (error) {
	case -ESRCH:
		return pm_diag_set(diag, error, "there is no %s %d", what, id);
	case -ENOSYS:
		return pm_diag_set(
			diag, error,
			"the end of %s %d cannot be watched: pidfd_open(2) needs Linux "
			"5.3 and to be let through by seccomp",
			what, id);
	default:
		return pm_diag_set(diag, error, "the end of %s %d cannot be watched: %s",
				   what, id, strerror(-error));
	}
}

int pm_target_watch_process(struct pm_target_watch *watch, pid_t pid,
			    struct pm_diag *diag)
{
	int fd = pm_kernel_pidfd_open(pid, 0);

	/* Kernels differ in the errno for a thread that is not the first of its process.
	 */
	if ((fd == -ENOENT || fd == -EINVAL) && pid > 0)
		return pm_diag_set(diag, -EINVAL,
				   "%d is no process, but a thread of one",
				   pid);
	if (fd < 0)
		return refuse(diag, fd, "process", pid);
	*watch = (struct pm_target_watch){.fd = fd};
	return 0;
}

static int watch_event(struct pm_target_watch *watch, pid_t tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = pm_kernel_perf_event_open(&attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC), err;
	void *page;

	if (fd < 0)
		return fd;
	err = pm_kernel_mmap(&page, pm_kernel_page_size(), PROT_READ, MAP_SHARED, fd, 0);
	if (err) {
		pm_kernel_close(fd);
		return err;
	}
	*watch = (struct pm_target_watch){.fd = fd, .page = page};
	return 0;
}

/* A descriptor, or a negative errno where an event has to stand in. */
static int open_thread(pid_t tid)
{
	int fd = pm_kernel_pidfd_open(tid, 0);

	/* That of a first thread, Linux from 6.15 on holds back until all have ended. */
	if (fd >= 0) {
		pm_kernel_close(fd);
		return -EINVAL;
	}
	return fd == -ENOENT || fd == -EINVAL ? pm_kernel_pidfd_open(tid, PIDFD_THREAD)
					      : fd;
}

int pm_target_watch_thread(struct pm_target_watch *watch, pid_t tid, struct pm_diag *diag)
{
	int fd = open_thread(tid), err;

	if (fd >= 0) {
		*watch = (struct pm_target_watch){.fd = fd};
		return 0;
	}
	if (fd == -ESRCH || fd == -EMFILE || fd == -ENFILE || tid <= 0)
		return refuse(diag, fd, "thread", tid);
	err = watch_event(watch, tid);
	return err ? refuse(diag, err, "thread", tid) : 0;
}

bool pm_target_watch_ended(const struct pm_target_watch *watch)
{
	short events = POLLIN;

	return watch->fd >= 0 && pm_kernel_poll(watch->fd, &events) > 0;
}

void pm_target_watch_close(struct pm_target_watch *watch)
{
	if (watch->page)
		pm_kernel_munmap(watch->page, pm_kernel_page_size());
	if (watch->fd >= 0)
		pm_kernel_close(watch->fd);
	*watch = PM_TARGET_WATCH_NONE;
}
