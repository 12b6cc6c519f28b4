/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The end of processes that perfmon stat -p counts. */
#include "config.h"

#include <errno.h>
#include <poll.h>

#include "cli/stat/stat.h"
#include "os/os.h"

int stat_process_watch(pid_t pid)
{
	return pm_kernel_pidfd_open(pid, 0);
}

bool stat_process_has_ended(pid_t pid, int watch)
{
	short events = POLLIN;

	if (watch < 0)
		return pm_kernel_kill(pid, 0) == -ESRCH;
	return pm_kernel_poll(watch, &events) > 0;
}
