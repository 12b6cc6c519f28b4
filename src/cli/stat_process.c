/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The end of processes that perfmon stat -p counts. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/stat.h"

int stat_process_watch(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

bool stat_process_has_ended(pid_t pid, int watch)
{
	struct pollfd poll_for = {.fd = watch, .events = POLLIN};

	if (watch < 0)
		return kill(pid, 0) && errno == ESRCH;
	return poll(&poll_for, 1, 0) > 0;
}
