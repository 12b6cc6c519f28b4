/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whole processes for perfmon stat -p: a session on all of their threads, and the wait
 * for their end. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/stat.h"
#include "core/cover.h"

/* --- threads -------------------------------------------------------------------------
 */

struct covering {
	struct perfmon_session *session;
	uint32_t count; /* of counters */
	uint32_t refused;
};

static struct perfmon_target target_of(pid_t tid)
{
	return (struct perfmon_target){.kind = PERFMON_TARGET_THREAD,
				       .flags = PERFMON_TARGET_CHILDREN,
				       .id = tid};
}

static void close_thread(void *argument, void *opened)
{
	struct covering *covering = argument;
	struct perfmon_target target = target_of((pid_t)(intptr_t)opened);

	perfmon_session_detach_target(covering->session, &target);
}

static int open_thread(void *argument, pid_t tid, void **opened, struct pm_diag *diag)
{
	struct covering *covering = argument;
	struct perfmon_target target = target_of(tid);
	int n = perfmon_session_attach_more(covering->session, &target, sizeof(target));

	if (n < 0)
		return pm_diag_set(diag, n, "%s",
				   perfmon_session_message(covering->session));
	/* That it is gone is the refusal of each event alone. */
	if (n && (uint32_t)n >= covering->count && kill(tid, 0) && errno == ESRCH) {
		close_thread(argument, (void *)(intptr_t)tid);
		return -ESRCH;
	}
	covering->refused = (uint32_t)n;
	*opened = (void *)(intptr_t)tid;
	return 0;
}

int stat_process_attach(struct perfmon_session *session, pid_t pid,
			const struct pm_event_list *list, const char **doubt,
			struct pm_diag *diag)
{
	struct covering covering = {.session = session, .count = (uint32_t)list->count};
	struct pm_cover_request request = {.pid = pid,
					   .descriptors = (unsigned int)list->count,
					   .argument = &covering,
					   .open = open_thread,
					   .close = close_thread};
	struct pm_cover_result result = {.direct = 0};
	int err;

	for (size_t e = 0; e < list->count && !request.hardware; e++)
		if (list->events[e].hardware)
			request.hardware = &list->events[e].attr;
	err = pm_cover_process(&request, &result, diag);
	if (result.uncertain && !err)
		*doubt = result.doubt;
	return err ?: (int)covering.refused;
}

/* --- end -----------------------------------------------------------------------------
 */

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
