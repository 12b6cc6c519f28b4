/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stands in front of libc as libfaketime does: with a clock that is ten times as fast,
 * and with calls that may not be made any more when its own destructor has run, which is
 * before that of a library that it does not know. One of them is a region.
 */
#include <fcntl.h>
#include <perfmon/perfmon.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SEEN __attribute__((visibility("default")))

static bool gone;

static void check(void)
{
	if (gone)
		abort();
}

SEEN int fstat(int fd, struct stat *st)
{
	check();
	return (int)syscall(SYS_fstat, fd, st);
}

SEEN int fstatat(int fd, const char *path, struct stat *st, int flags)
{
	check();
	return (int)syscall(SYS_newfstatat, fd, path, st, flags);
}

SEEN int stat(const char *path, struct stat *st)
{
	return fstatat(AT_FDCWD, path, st, 0);
}

SEEN int clock_gettime(clockid_t clock, struct timespec *t)
{
	unsigned long long ns;
	int result;

	check();
	result = (int)syscall(SYS_clock_gettime, clock, t);
	ns = 10 * ((unsigned long long)t->tv_sec * 1000000000u +
		   (unsigned long long)t->tv_nsec);
	t->tv_sec = (time_t)(ns / 1000000000u);
	t->tv_nsec = (long)(ns % 1000000000u);
	return result;
}

SEEN int madvise(void *address, size_t size, int advice)
{
	int result;

	PERFMON_REGION_BEGIN("madvise");
	result = (int)syscall(SYS_madvise, address, size, advice);
	PERFMON_REGION_END("madvise");
	return result;
}

__attribute__((destructor)) static void end(void)
{
	gone = true;
}

/* With an argument the profile stands in memory. */
int main(int argc, char **argv)
{
	if (argc > 1) {
		unsetenv("PERFMON_PROFILE");
		execl("/proc/self/exe", argv[0], (char *)NULL);
	}
	PERFMON_REGION_BEGIN("sleep");
	usleep(100000);
	PERFMON_REGION_END("sleep");
	return 0;
}
