/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by tests that make kernel calls fail: the errors of each call, from its manual
 * page, and checks for leaks. */
#ifndef TESTS_FAULTS_H
#define TESTS_FAULTS_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bounds.h"
#include "core/kernel/kernel.h"

static const struct {
	const char *name;
	int errors[20];
} kinds[PM_CALLS] = {
	[PM_CALL_PERF_EVENT_OPEN] = {"perf_event_open",
				     {E2BIG, EACCES, EBADF, EBUSY, EFAULT, EINTR, EINVAL,
				      EMFILE, ENODEV, ENOENT, ENOMEM, ENOSPC, ENOSYS,
				      EOPNOTSUPP, EOVERFLOW, EPERM, ESRCH}},
	[PM_CALL_IOCTL] = {"ioctl", {EBADF, EFAULT, EINVAL, ENOTTY, ENOSPC}},
	[PM_CALL_MMAP] = {"mmap",
			  {EACCES, EAGAIN, EBADF, EINVAL, ENFILE, ENODEV, ENOMEM,
			   EOVERFLOW, EPERM, ETXTBSY}},
	[PM_CALL_MUNMAP] = {"munmap", {EINVAL, ENOMEM}},
	[PM_CALL_MADVISE] = {"madvise",
			     {EACCES, EAGAIN, EBADF, EINVAL, EIO, ENOMEM, EPERM}},
	[PM_CALL_READ] = {"read",
			  {EAGAIN, EBADF, EFAULT, EINTR, EINVAL, EIO, EISDIR, ENOSPC}},
	[PM_CALL_POLL] = {"poll", {EFAULT, EINTR, EINVAL, ENOMEM}},
	[PM_CALL_OPEN] = {"open",
			  {EACCES, EFAULT, EINTR, EINVAL, ELOOP, EMFILE, ENAMETOOLONG,
			   ENFILE, ENODEV, ENOENT, ENOMEM, ENOTDIR, ENXIO, EOVERFLOW,
			   EPERM}},
	[PM_CALL_GETDENTS] = {"getdents64", {EBADF, EFAULT, EINVAL, ENOENT, ENOTDIR}},
	[PM_CALL_CLOSE] = {"close", {EBADF, EINTR, EIO, ENOSPC, EDQUOT}},
	[PM_CALL_CLOCK_GETTIME] = {"clock_gettime",
				   {EFAULT, EINVAL, ENODEV, EOPNOTSUPP, EPERM}},
	[PM_CALL_GETRLIMIT] = {"getrlimit", {EFAULT, EINVAL, EPERM}},
	[PM_CALL_FCNTL] = {"fcntl", {EACCES, EAGAIN, EBADF, EINVAL, EPERM}},
	[PM_CALL_KILL] = {"kill", {EINVAL, EPERM}},
	[PM_CALL_PIPE] = {"pipe", {EMFILE, ENFILE}},
	[PM_CALL_EVENTFD] = {"eventfd", {EINVAL, EMFILE, ENFILE, ENODEV, ENOMEM}},
	[PM_CALL_EPOLL_CREATE] = {"epoll_create", {EINVAL, EMFILE, ENFILE, ENOMEM}},
	[PM_CALL_EPOLL_CTL] = {"epoll_ctl",
			       {EBADF, EEXIST, EINVAL, ELOOP, ENOENT, ENOMEM, ENOSPC,
				EPERM}},
	[PM_CALL_THREAD_START] = {"pthread_create", {EAGAIN, EPERM}},
	[PM_CALL_SIGACTION] = {"sigaction", {EFAULT, EINVAL}},
	[PM_CALL_WRITE] = {"write",
			   {EAGAIN, EBADF, EDQUOT, EFAULT, EFBIG, EINTR, EINVAL, EIO,
			    ENOSPC, EPERM, EPIPE}},
	[PM_CALL_PREAD] = {"pread", {EBADF, EFAULT, EINTR, EINVAL, EIO, ESPIPE}},
	[PM_CALL_PWRITE] = {"pwrite",
			    {EBADF, EDQUOT, EFAULT, EFBIG, EINTR, EINVAL, EIO, ENOSPC,
			     EPERM, ESPIPE}},
	[PM_CALL_FSTAT] = {"fstat", {EBADF, EFAULT, ENOMEM, EOVERFLOW}},
	[PM_CALL_FTRUNCATE] = {"ftruncate", {EBADF, EFBIG, EINTR, EINVAL, EIO, EPERM}},
	[PM_CALL_FALLOCATE] = {"fallocate",
			       {EBADF, EFBIG, EINTR, EINVAL, EIO, ENODEV, ENOSPC, ENOSYS,
				EOPNOTSUPP, EPERM}},
	[PM_CALL_MEMFD_CREATE] = {"memfd_create",
				  {EFAULT, EINVAL, EMFILE, ENFILE, ENOMEM}},
	[PM_CALL_READLINK] = {"readlink",
			      {EACCES, EINVAL, EIO, ELOOP, ENOENT, ENOMEM, ENOTDIR}},
	[PM_CALL_GETCWD] = {"getcwd", {EACCES, ENOENT, ENOMEM, ERANGE}},
	[PM_CALL_PRCTL] = {"prctl", {EFAULT, EINVAL}},
	[PM_CALL_SCHED_SETAFFINITY] = {"sched_setaffinity",
				       {EFAULT, EINVAL, EPERM, ESRCH}},
	[PM_CALL_EPOLL_WAIT] = {"epoll_wait", {EINTR, EBADF, EFAULT, EINVAL}},
	[PM_CALL_FUTEX] = {"futex", {EAGAIN, EINTR, EFAULT, EINVAL}},
	/* It cannot fail for an existing word, and nothing could be done. */
	[PM_CALL_FUTEX_WAKE] = {"futex", {0}},
	[PM_CALL_SOCKETPAIR] = {"socketpair", {EMFILE, ENFILE, EAFNOSUPPORT}},
	[PM_CALL_BIND] = {"bind", {EADDRINUSE, ENOMEM, EPERM}},
	[PM_CALL_GETSOCKNAME] = {"getsockname", {EBADF, ENOBUFS}},
	[PM_CALL_SHUTDOWN] = {"shutdown", {EBADF, EINVAL, ENOTCONN}},
	[PM_CALL_UNLINK] = {"unlink",
			    {EACCES, EBUSY, EIO, ENOENT, ENOMEM, ENOTDIR, EPERM, EROFS}},
	[PM_CALL_MKDIR] = {"mkdir",
			   {EACCES, EDQUOT, EEXIST, ELOOP, ENAMETOOLONG, ENOENT, ENOMEM,
			    ENOSPC, ENOTDIR, EPERM, EROFS}},
	[PM_CALL_FSTATFS] = {"fstatfs",
			     {EBADF, EFAULT, EINTR, EIO, ENOMEM, ENOSYS, EOVERFLOW}},
	[PM_CALL_RECV] = {"recv", {EAGAIN, EBADF, EFAULT, EINTR, ENOMEM, ENOTSOCK}},
	[PM_CALL_SEND] = {"send",
			  {EAGAIN, EBADF, ECONNRESET, EINTR, ENOBUFS, ENOMEM, EPIPE}},
};

/* The mappings of events that are not in OLD: how many, and where. */
struct mappings {
	int count;
	uintptr_t at[64], end[64];
};

static inline struct mappings mappings_beside(const struct mappings *old)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	struct mappings found = {0};
	char line[512];

	while (fgets(line, sizeof(line), maps)) {
		char *dash;
		uintptr_t at = strtoul(line, &dash, 16);
		int i;

		if (!strstr(line, "perf_event"))
			continue;
		for (i = 0; old && i < old->count && old->at[i] != at; i++)
			;
		if ((!old || i == old->count) && found.count < 64) {
			found.end[found.count] = strtoul(dash + 1, NULL, 16);
			found.at[found.count++] = at;
		}
	}
	fclose(maps);
	return found;
}

#define DESCRIPTORS 256
static bool was_open[DESCRIPTORS];

static inline void learn_descriptors(void)
{
	for (int fd = 0; fd < DESCRIPTORS; fd++)
		was_open[fd] = fcntl(fd, F_GETFD) >= 0;
}

static inline int new_descriptors(bool close_them)
{
	int n = 0;

	for (int fd = 0; fd < DESCRIPTORS; fd++) {
		if (was_open[fd] || fcntl(fd, F_GETFD) < 0)
			continue;
		n++;
		if (close_them)
			close(fd);
	}
	return n;
}

/*
 * One of this many errors is tried. The code that fails is the same in all builds, so
 * only the plain build tries all errors: not a sanitizer's or clang's, not one for other
 * architectures, which are mostly emulated, and none with PERFMON_TEST_SHORT.
 */
#if defined(__x86_64__) && !defined(TESTS_SANITIZED) && !defined(__clang__)
#define ONE_IN	 (getenv("PERFMON_TEST_SHORT") ? 7 : 1)
#define ALIKE_IN 5
#else
#define ONE_IN	 7
#define ALIKE_IN 29
#endif

#endif
