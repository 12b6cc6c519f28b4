/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A profile that is read again and again, and the end of its writer. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/common/common.h"
#include "cli/top/top.h"
#include "core/kernel/clock.h"
#include "core/kernel/files.h"
#include "core/kernel/kernel.h"
#include "core/profile/profile.h"

int top_watch_open(struct top_watch *watch, pid_t pid, const char *path,
		   struct pm_diag *diag)
{
	const struct perfmon_profile_header *header;
	struct pm_out out = {0};
	const char *name;
	int err;

	memset(watch, 0, sizeof(*watch));
	watch->pidfd = -1;
	err = path ? pm_profile_file_open(path, &watch->file, diag)
		   : pm_profile_file_open_pid(pid, &watch->file, diag);
	if (err)
		return err;
	pm_clock_init();
	header = pm_profile_file_header(watch->file);
	watch->pid = path ? (pid_t)header->pid : pid;
	/* The name without its folders, which may contain anything. */
	name = strrchr(header->program, '/');
	pm_out_plain(&out, name && name[1] ? name + 1 : header->program, 0);
	pm_out_format(&out, ", pid %d", (int)watch->pid);
	snprintf(watch->what, sizeof(watch->what), "%.*s", (int)out.used, out.buffer);
	watch->alive = watch->lived = pm_profile_file_is_alive(watch->file);
	/* Linux 5.3. Without a pidfd the end is noticed at the next look. */
	if (watch->alive)
		watch->pidfd = pm_kernel_pidfd_open(watch->pid, 0);
	return 0;
}

/* Sets what only watching finds out: the length of a tick, and the time of the end. */
static void clock_improve(struct top_watch *watch, struct pm_snapshot *snapshot)
{
	const struct perfmon_profile_header *header = &snapshot->header;
	bool by_ns = header->clock == PERFMON_PROFILE_CLOCK_MONOTONIC;
	uint64_t ticks, ns;

	if (!watch->lived || (!by_ns && pm_clock.monotonic))
		return;
	pm_clock_both(&ticks, &ns);
	/* It was there at the last look, and its end was not recorded. */
	if (snapshot->writer == PM_WRITER_GONE)
		snapshot->taken_ticks = by_ns ? ns : ticks;
	if (by_ns || header->ticks_hz)
		return;
	/* The times in its header may be close together. A longer time gives a better
	 * rate. */
	if (watch->alive && ticks > header->begin_ticks && ns > header->begin_ns)
		watch->tick_ns = (double)(ns - header->begin_ns) /
				 (double)(ticks - header->begin_ticks);
	/* A program that ended well has measured its rate up to its end. */
	if (watch->tick_ns > 0 && snapshot->writer != PM_WRITER_ENDED)
		snapshot->tick_ns = watch->tick_ns;
}

/*
 * The CPU time of the process comes from its CPU clock, which includes ended threads; a
 * thread's comes from /proc/PID/task/TID/schedstat, which may be a tick old for a running
 * thread. (The CPU clock of another process's thread cannot be read.)
 */

/* Returns the CPU time of a thread, or 0 if it has ended or the time is unknown. */
static uint64_t thread_ns(pid_t pid, uint32_t tid)
{
	char path[64], *text = NULL;
	uint64_t ns = 0, waited, slices = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%u/schedstat", (int)pid, tid);
	if (pm_file_read(path, &text) > 0)
		sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &ns, &waited, &slices);
	free(text);
	/* A kernel without these statistics writes zeros. */
	return slices ? ns : 0;
}

/* Reads the CPU times of LOOK's groups, and computes their percentages since the last
 * look. */
static void cpu_read(const struct top_watch *watch, struct top_look *look)
{
	/* Numbers from another PID namespace are useless here. */
	bool known = look->snapshot->header.pid == (uint32_t)watch->pid;
	/* The CPU clock of the process, as clock_getcpuclockid(3) makes it. */
	clockid_t clock = (clockid_t)((~(unsigned int)watch->pid << 3) | 2);
	uint64_t ns, before = watch->look ? watch->look->cpu_at_ns : 0;

	if (pm_kernel_clock_ns(CLOCK_MONOTONIC, &look->cpu_at_ns) ||
	    pm_kernel_clock_ns(clock, &look->groups[0].cpu_ns)) {
		look->cpu_at_ns = look->groups[0].cpu_ns = 0;
		return;
	}
	ns = before ? pm_less(look->cpu_at_ns, before) : 0;
	for (uint32_t g = 0; g < look->group_count; g++) {
		struct top_group *group = &look->groups[g];

		if (known && group->kind == TOP_THREAD &&
		    group->thread->state == PERFMON_PROFILE_THREAD_STATE_LIVE)
			group->cpu_ns = thread_ns(watch->pid, group->thread->tid);
		if (ns && group->cpu_before_ns && group->cpu_ns >= group->cpu_before_ns)
			group->cpu_percent =
				100 * (double)(group->cpu_ns - group->cpu_before_ns) /
				(double)ns;
	}
}

static int no_memory(const struct top_watch *watch, struct pm_diag *diag)
{
	return pm_diag_set(diag, -ENOMEM, "no memory for the profile of %s", watch->what);
}

int top_watch_threads(struct top_watch *watch, struct pm_diag *diag)
{
	if ((watch->before && top_look_threads(watch->before, NULL)) ||
	    (watch->look && top_look_threads(watch->look, watch->before)))
		return no_memory(watch, diag);
	watch->threads = true;
	return 0;
}

int top_watch_look(struct top_watch *watch, bool join, struct pm_diag *diag)
{
	struct top_look *look = NULL;
	const struct top_look *since;
	struct pm_snapshot *snapshot;
	int err;

	/* Checked first: a dead process has written all its data. */
	watch->alive = watch->alive && pm_profile_file_is_alive(watch->file);
	join = join && !watch->alive;
	since = join ? watch->before : watch->look;
	err = pm_profile_file_snapshot(watch->file, &snapshot, diag);
	if (err)
		return err;
	clock_improve(watch, snapshot);
	err = top_look_make(&look, snapshot, since, watch->metrics,
			    cli_machine_of(snapshot));
	if (!err && watch->threads)
		err = top_look_threads(look, since);
	if (err) {
		top_look_free(look);
		return no_memory(watch, diag);
	}
	if (watch->alive)
		cpu_read(watch, look);
	/* If it did not end its profile, the time of its end is known only if it was
	 * watched. */
	if (!watch->lived && look->snapshot->writer != PM_WRITER_ENDED)
		look->seconds = 0;
	if (!join) {
		top_look_free(watch->before);
		watch->before = watch->look;
		if (watch->before)
			top_look_trim(watch->before);
	} else {
		top_look_free(watch->look);
	}
	watch->look = look;
	return 0;
}

void top_watch_close(struct top_watch *watch)
{
	top_look_free(watch->look);
	top_look_free(watch->before);
	pm_profile_file_close(watch->file);
	if (watch->pidfd >= 0)
		pm_kernel_close(watch->pidfd);
}

enum top_wake top_wait(const struct top_watch *watch, int stop_fd, uint64_t deadline_ns)
{
	struct pollfd fds[3] = {
		{.fd = stop_fd < 0 ? -1 : STDIN_FILENO, .events = POLLIN},
		{.fd = stop_fd, .events = POLLIN},
		{.fd = watch->alive ? watch->pidfd : -1, .events = POLLIN},
	};
	int timeout = -1, n;

	if (deadline_ns) {
		uint64_t now = cli_now_ns();
		/* Not before the deadline, and not so long that it overflows. */
		uint64_t left =
			pm_less(deadline_ns, now) / 1000000 + (deadline_ns > now ? 1 : 0);

		timeout = left > 3600000 ? 3600000 : (int)left;
	}
	n = pm_kernel_poll_many(fds, 3, timeout);
	if (n > 0 && fds[1].revents)
		return TOP_STOP;
	if (n > 0 && fds[0].revents)
		return TOP_KEY;
	if (n > 0 && fds[2].revents)
		return TOP_END;
	return deadline_ns && cli_now_ns() >= deadline_ns ? TOP_TIME_IS_UP : TOP_NOTHING;
}
