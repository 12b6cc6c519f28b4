/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The threads of a process, or of a family of processes, as /proc lists them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/files.h"
#include "core/kernel/kernel.h"
#include "core/kernel/life.h"
#include "core/session/threads/parts.h"
#include "core/text/grow.h"

static int read_thread(pid_t process, pid_t tid, struct pm_life *life)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", process, tid);
	return pm_life_read_at(path, life);
}

bool pm_threads_is_idle(const struct scan_thread *thread)
{
	struct pm_life life;

	/*
	 * Between the copy of the events and the moment the new thread can be listed,
	 * clone(2) may sleep, but uninterruptibly (D); a stop waits for the way back to
	 * user mode, and that of a tracer for the new thread to be there.
	 */
	return read_thread(thread->process, thread->tid, &life) ||
	       strchr("StTZXx", life.state) != NULL ||
	       life.start_ticks != thread->start_ticks;
}

/* --- what /proc is ------------------------------------------------------------------ */

static int hidden(const struct scan *scan, int error)
{
	return pm_diag_set(
		scan->diag, error,
		"cannot list the threads of process %d: /proc hides processes of other "
		"users (mount option hidepid); you need CAP_SYS_PTRACE",
		scan->request->pid);
}

static int refuse_listing(const struct scan *scan, int error)
{
	pid_t pid = scan->request->pid;

	switch (error) {
	case -ENOENT:
	case -ESRCH:
		if (pm_kernel_kill(pid, 0) != -ESRCH)
			return hidden(scan, -EPERM);
		return pm_diag_set(scan->diag, -ESRCH,
				   scan->scans ? "process %d has ended"
					       : "there is no process %d",
				   pid);
	case -EPERM:
	case -EACCES:
		return hidden(scan, error);
	default:
		return pm_diag_set(scan->diag, error,
				   "cannot list the threads of process %d: %s", pid,
				   strerror(-error));
	}
}

int pm_threads_find(struct scan *scan)
{
	char self[32], *end;
	pid_t pid = scan->request->pid;
	ssize_t n = pm_kernel_readlink("/proc/self", self, sizeof(self));

	if (pid <= 0)
		return pm_diag_set(scan->diag, -EINVAL, "%d is not a process", pid);
	if (n < 0)
		return pm_diag_set(
			scan->diag, (int)n,
			"cannot list the threads of process %d: /proc cannot be read: %s",
			pid, strerror((int)-n));
	if (strtol(self, &end, 10) != pm_kernel_getpid() || *end)
		return pm_diag_set(scan->diag, -EXDEV,
				   "cannot list the threads of process %d: /proc belongs "
				   "to another pid namespace, which calls this process "
				   "%s; mount this namespace's own",
				   pid, self);
	return 0;
}

/* --- processes ---------------------------------------------------------------------- */

static int compare_processes(const void *a, const void *b)
{
	const struct scan_process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static const struct scan_process *find_process(const struct scan_process *processes,
					       size_t count, pid_t pid)
{
	const struct scan_process wanted = {.pid = pid};

	return count ? bsearch(&wanted, processes, count, sizeof(wanted),
			       compare_processes)
		     : NULL;
}

static bool same_process(const struct scan_process *a, const struct scan_process *b)
{
	return a && b && a->start_ticks == b->start_ticks;
}

/* Returns whether the first scan saw that PID is a forefather of the process:
 * orphans become children of one of these. */
static bool is_forefather(const struct scan *scan, pid_t pid)
{
	const struct scan_process *process =
		find_process(scan->first, scan->first_count, scan->request->pid);

	for (size_t steps = 0; process && steps < scan->first_count; steps++) {
		if (process->parent == pid)
			return true;
		process = find_process(scan->first, scan->first_count, process->parent);
	}
	return false;
}

/* Returns whether PROCESS may have lost a member for its parent before it was first
 * listed: it is new, has become a child of a forefather, and is in the process group of a
 * member. */
static bool is_orphan(const struct scan *scan, const struct scan_process *list,
		      size_t count, const struct scan_process *process)
{
	const struct scan_process *first =
		find_process(scan->first, scan->first_count, process->pid);

	if (process->member || same_process(first, process) ||
	    !is_forefather(scan, process->parent))
		return false;
	for (size_t i = 0; i < count; i++)
		if (list[i].member && list[i].group == process->group)
			return true;
	return false;
}

/* The members of LIST[0..COUNT): who is the process, was a member before, or has
 * a member for its parent. */
static void find_members(struct scan *scan, struct scan_process *list, size_t count)
{
	bool lost = false, more = true;

	for (size_t i = 0; i < count; i++) {
		const struct scan_process *before =
			find_process(scan->processes, scan->process_count, list[i].pid);

		list[i].member = list[i].pid == scan->request->pid ||
				 (same_process(before, &list[i]) && before->member);
	}
	while (more) {
		more = false;
		for (size_t i = 0; i < count; i++) {
			const struct scan_process *parent =
				list[i].member
					? NULL
					: find_process(list, count, list[i].parent);

			if (parent && parent->member)
				list[i].member = more = true;
		}
	}
	/* A member's end makes orphans of children that no scan has seen yet. */
	for (size_t i = 0; i < scan->process_count; i++)
		lost |= scan->processes[i].member &&
			!same_process(find_process(list, count, scan->processes[i].pid),
				      &scan->processes[i]);
	for (size_t i = 0; lost && i < count; i++)
		scan->orphans += is_orphan(scan, list, count, &list[i]);
}

static int list_processes(struct scan *scan)
{
	struct scan_process *list;
	char **names;
	size_t count, used = 0;
	int err = pm_dir_list("/proc", &names, &count);

	if (err)
		return err;
	list = calloc(count + 1, sizeof(list[0]));
	for (size_t i = 0; list && i < count; i++) {
		struct pm_life life;
		pid_t pid = atoi(names[i]);

		if (pid <= 0 || pm_life_read(pid, &life))
			continue;
		/* Names come in the order of their numbers. */
		list[used++] = (struct scan_process){.pid = pid,
						     .parent = life.parent,
						     .group = life.group,
						     .start_ticks = life.start_ticks};
	}
	free(names);
	if (!list)
		return -ENOMEM;
	find_members(scan, list, used);
	if (scan->first != scan->processes)
		free(scan->processes);
	scan->processes = list;
	scan->process_count = used;
	if (!scan->first) {
		scan->first = list;
		scan->first_count = used;
	}
	return 0;
}

/* --- threads ------------------------------------------------------------------------ */

/* By number, and by start. */
static int compare_threads(const void *a, const void *b)
{
	const struct scan_thread *x = a, *y = b;

	if (x->tid == y->tid)
		return (x->start_ticks > y->start_ticks) -
		       (x->start_ticks < y->start_ticks);
	return x->tid > y->tid ? 1 : -1;
}

/* Marks a thread that lives: one of the first KNOWN, which are sorted, or another. */
static int note_thread(struct scan *scan, size_t known, pid_t process, pid_t tid,
		       uint64_t start_ticks)
{
	const struct scan_thread one = {
		.tid = tid,
		.process = process,
		.start_ticks = start_ticks,
		.alive = true,
		.markers = {-1, -1, -1, -1, -1},
	};
	struct scan_thread *have = NULL;

	if (known)
		have = bsearch(&one, scan->threads, known, sizeof(one), compare_threads);
	if (have) {
		have->alive = true;
		return 0;
	}
	if (!PM_GROW(scan->threads, scan->count))
		return -ENOMEM;
	scan->threads[scan->count++] = one;
	return 0;
}

/* The threads of PROCESS; the first KNOWN are sorted. -ENOENT if it has gone. */
static int list_threads(struct scan *scan, pid_t process, size_t known)
{
	char path[64], **names;
	size_t count;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/task", process);
	err = pm_dir_list(path, &names, &count);
	if (err)
		return err;
	for (size_t i = 0; !err && i < count; i++) {
		struct pm_life life;
		pid_t tid = atoi(names[i]);

		if (!read_thread(process, tid, &life) && !life.is_dead)
			err = note_thread(scan, known, process, tid, life.start_ticks);
	}
	free(names);
	return err;
}

/* Drops the ended, except those whose events others may count through. */
static int tidy(struct scan *scan, size_t known)
{
	size_t used = 0, alive = 0, added = 0;

	for (size_t i = 0; i < scan->count; i++) {
		struct scan_thread *thread = &scan->threads[i];

		if (!thread->alive && thread->status != SCAN_DIRECT) {
			pm_threads_unmark(thread);
			continue;
		}
		alive += thread->alive;
		added += i >= known;
		scan->threads[used++] = *thread;
	}
	scan->count = used;
	if (used)
		qsort(scan->threads, used, sizeof(scan->threads[0]), compare_threads);
	if (!alive)
		return pm_diag_set(scan->diag, -ESRCH, "process %d has ended",
				   scan->request->pid);
	return (int)added;
}

int pm_threads_scan(struct scan *scan)
{
	size_t known = scan->count;
	int err = 0;

	for (size_t i = 0; i < known; i++)
		scan->threads[i].alive = false;
	if (scan->request->descendants)
		err = list_processes(scan);
	if (!err)
		err = list_threads(scan, scan->request->pid, known);
	for (size_t i = 0; !err && i < scan->process_count; i++) {
		const struct scan_process *process = &scan->processes[i];

		if (!process->member || process->pid == scan->request->pid)
			continue;
		err = list_threads(scan, process->pid, known);
		/* A child may end, and one of another user's may be hidden. */
		if (err == -ENOENT || err == -ESRCH || err == -EPERM || err == -EACCES)
			err = 0;
	}
	if (err)
		return refuse_listing(scan, err);
	scan->scans++;
	return tidy(scan, known);
}

void pm_threads_free(struct scan *scan)
{
	if (scan->first != scan->processes)
		free(scan->first);
	free(scan->processes);
	free(scan->threads);
}
