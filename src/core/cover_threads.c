/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The threads of a process, or of a family of processes, as /proc lists them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cover_parts.h"
#include "core/kernel.h"

/* What matters of /proc/PID/stat. */
struct stat_line {
	char state;
	pid_t parent, group;
	uint64_t start_ticks;
};

static int read_stat(const char *path, struct stat_line *line)
{
	/* The name in parentheses may hold anything; start time is the 22nd field. */
	char text[1024], *rest;
	ssize_t n = pm_kernel_file_text(path, text, sizeof(text));
	int parent, group;

	if (n < 0)
		return (int)n;
	rest = strrchr(text, ')');
	if (!rest || sscanf(rest,
			    ") %c %d %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			    "%*s %*s %*s %*s %" SCNu64,
			    &line->state, &parent, &group, &line->start_ticks) != 4)
		return -EIO;
	line->parent = (pid_t)parent;
	line->group = (pid_t)group;
	return 0;
}

static int read_thread(pid_t process, pid_t tid, struct stat_line *line)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", process, tid);
	return read_stat(path, line);
}

static bool has_ended(char state)
{
	return state == 'Z' || state == 'X' || state == 'x';
}

bool pm_cover_is_idle(const struct cover_thread *thread)
{
	struct stat_line line;

	/*
	 * Between the copy of the events and the moment the new thread can be listed,
	 * clone(2) may sleep, but uninterruptibly (D); a stop waits for the way back to
	 * user mode, and that of a tracer for the new thread to be there.
	 */
	return read_thread(thread->process, thread->tid, &line) ||
	       strchr("StTZXx", line.state) != NULL ||
	       line.start_ticks != thread->start_ticks;
}

/* --- what /proc is -------------------------------------------------------------------
 */

static int hidden(const struct cover *cover, int error)
{
	return pm_diag_set(
		cover->diag, error,
		"the threads of process %d cannot be listed: /proc hides processes "
		"of other users (its mount option hidepid); CAP_SYS_PTRACE would "
		"help",
		cover->pid);
}

static int refuse_listing(const struct cover *cover, int error)
{
	pid_t pid = cover->pid;

	switch (error) {
	case -ENOENT:
	case -ESRCH:
		if (pm_kernel_kill(pid, 0) != -ESRCH)
			return hidden(cover, -EPERM);
		return pm_diag_set(cover->diag, -ESRCH,
				   cover->scans ? "process %d has ended meanwhile"
						: "there is no process %d",
				   pid);
	case -EPERM:
	case -EACCES:
		return hidden(cover, error);
	default:
		return pm_diag_set(cover->diag, error,
				   "the threads of process %d cannot be listed: %s", pid,
				   strerror(-error));
	}
}

int pm_cover_find(struct cover *cover)
{
	char self[32], path[64], text[512], *end;
	pid_t pid = cover->request->pid;
	ssize_t n = pm_kernel_readlink("/proc/self", self, sizeof(self));
	const char *line;

	cover->pid = pid;
	if (pid <= 0)
		return pm_diag_set(cover->diag, -EINVAL, "%d is no process", pid);
	if (n < 0)
		return pm_diag_set(
			cover->diag, (int)n,
			"the threads of process %d cannot be listed: /proc cannot "
			"be read: %s",
			pid, strerror((int)-n));
	if (strtol(self, &end, 10) != pm_kernel_getpid() || *end)
		return pm_diag_set(
			cover->diag, -EXDEV,
			"the threads of process %d cannot be listed: /proc belongs "
			"to another pid namespace, which calls this process %s; "
			"mount this namespace's own",
			pid, self);
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	n = pm_kernel_file_text(path, text, sizeof(text));
	if (n < 0)
		return refuse_listing(cover, (int)n);
	/* A thread's number stands for its process. */
	line = strstr(text, "\nTgid:");
	if (line && atoi(line + 6) > 0)
		cover->pid = atoi(line + 6);
	return 0;
}

/* --- processes -----------------------------------------------------------------------
 */

static const struct cover_process *find_process(const struct cover_process *processes,
						size_t count, pid_t pid)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (processes[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && processes[low].pid == pid ? &processes[low] : NULL;
}

static bool is_number(const char *name)
{
	return name[0] >= '1' && name[0] <= '9';
}

static bool same_process(const struct cover_process *a, const struct cover_process *b)
{
	return a && b && a->start_ticks == b->start_ticks;
}

/* Whether the first scan saw that PID is a forefather of the covered process: orphans
 * become children of one of these. */
static bool is_forefather(const struct cover *cover, pid_t pid)
{
	const struct cover_process *process =
		find_process(cover->first, cover->first_count, cover->pid);

	for (size_t steps = 0; process && steps < cover->first_count; steps++) {
		if (process->parent == pid)
			return true;
		process = find_process(cover->first, cover->first_count, process->parent);
	}
	return false;
}

/* Whether PROCESS may have lost a member for its parent before it was first listed: it is
 * new, has become a child of a forefather, and is in the process group of a member. */
static bool is_orphan(const struct cover *cover, const struct cover_process *list,
		      size_t count, const struct cover_process *process)
{
	const struct cover_process *first =
		find_process(cover->first, cover->first_count, process->pid);

	if (process->member || same_process(first, process) ||
	    !is_forefather(cover, process->parent))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (list[i].member && list[i].group == process->group)
			return true;
	}
	return false;
}

/* The members of LIST[0..COUNT): who is the covered process, was a member before, or has
 * a member for its parent. */
static void find_members(struct cover *cover, struct cover_process *list, size_t count)
{
	bool lost = false, more = true;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct cover_process *before =
			find_process(cover->processes, cover->process_count, list[i].pid);

		list[i].member = list[i].pid == cover->pid ||
				 (same_process(before, &list[i]) && before->member);
	}
	while (more) {
		more = false;
		for (i = 0; i < count; i++) {
			const struct cover_process *parent =
				list[i].member
					? NULL
					: find_process(list, count, list[i].parent);

			if (parent && parent->member)
				list[i].member = more = true;
		}
	}
	/* A member's end makes orphans of children that no scan has seen yet. */
	for (i = 0; i < cover->process_count; i++)
		lost |= cover->processes[i].member &&
			!same_process(find_process(list, count, cover->processes[i].pid),
				      &cover->processes[i]);
	for (i = 0; lost && i < count; i++)
		cover->orphans += is_orphan(cover, list, count, &list[i]);
}

static int list_processes(struct cover *cover)
{
	struct cover_process *list;
	char **names, path[64];
	size_t count, used = 0;
	int err = pm_kernel_dir_list("/proc", &names, &count);

	if (err)
		return err;
	list = calloc(count + 1, sizeof(list[0]));
	for (size_t i = 0; list && i < count; i++) {
		struct stat_line line;

		if (!is_number(names[i]))
			continue;
		snprintf(path, sizeof(path), "/proc/%.16s/stat", names[i]);
		if (read_stat(path, &line))
			continue;
		/* Names come in the order of their numbers. */
		list[used++] = (struct cover_process){.pid = atoi(names[i]),
						      .parent = line.parent,
						      .group = line.group,
						      .start_ticks = line.start_ticks};
	}
	free(names);
	if (!list)
		return -ENOMEM;
	find_members(cover, list, used);
	if (cover->first != cover->processes)
		free(cover->processes);
	cover->processes = list;
	cover->process_count = used;
	if (!cover->first) {
		cover->first = list;
		cover->first_count = used;
	}
	return 0;
}

/* --- threads -------------------------------------------------------------------------
 */

static struct cover_thread *find_thread(struct cover *cover, size_t count, pid_t tid,
					uint64_t start_ticks)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (cover->threads[middle].tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < count && cover->threads[low].tid == tid; low++) {
		if (cover->threads[low].start_ticks == start_ticks)
			return &cover->threads[low];
	}
	return NULL;
}

static int add_thread(struct cover *cover, pid_t process, pid_t tid, uint64_t start_ticks)
{
	if (cover->count == cover->room) {
		size_t room = cover->room ? 2 * cover->room : 64;
		struct cover_thread *larger =
			realloc(cover->threads, room * sizeof(larger[0]));

		if (!larger)
			return -ENOMEM;
		cover->threads = larger;
		cover->room = room;
	}
	cover->threads[cover->count++] = (struct cover_thread){
		.tid = tid,
		.process = process,
		.start_ticks = start_ticks,
		.alive = true,
		.markers = {-1, -1, -1, -1, -1},
	};
	return 0;
}

/* The threads of PROCESS; the first KNOWN are sorted. -ENOENT if it has gone. */
static int list_threads(struct cover *cover, pid_t process, size_t known)
{
	char path[64], **names;
	size_t count;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/task", process);
	err = pm_kernel_dir_list(path, &names, &count);
	if (err)
		return err;
	for (size_t i = 0; !err && i < count; i++) {
		struct cover_thread *have;
		struct stat_line line;
		pid_t tid = atoi(names[i]);

		if (read_thread(process, tid, &line) || has_ended(line.state))
			continue;
		have = find_thread(cover, known, tid, line.start_ticks);
		if (have)
			have->alive = true;
		else
			err = add_thread(cover, process, tid, line.start_ticks);
	}
	free(names);
	return err;
}

static int compare_threads(const void *a, const void *b)
{
	const struct cover_thread *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* Drops the ended, except those whose events others may count through. */
static int tidy(struct cover *cover, size_t known)
{
	size_t used = 0, alive = 0, added = 0;

	for (size_t i = 0; i < cover->count; i++) {
		struct cover_thread *thread = &cover->threads[i];

		if (!thread->alive && thread->status != COVER_DIRECT) {
			pm_cover_unmark(thread);
			continue;
		}
		alive += thread->alive;
		added += i >= known;
		cover->threads[used++] = *thread;
	}
	cover->count = used;
	if (used)
		qsort(cover->threads, used, sizeof(cover->threads[0]), compare_threads);
	if (!alive)
		return pm_diag_set(cover->diag, -ESRCH, "process %d has ended",
				   cover->pid);
	return (int)added;
}

int pm_cover_scan(struct cover *cover)
{
	size_t known = cover->count;
	int err = 0;

	for (size_t i = 0; i < known; i++)
		cover->threads[i].alive = false;
	if (cover->request->flags & PM_COVER_DESCENDANTS)
		err = list_processes(cover);
	if (!err)
		err = list_threads(cover, cover->pid, known);
	for (size_t i = 0; !err && i < cover->process_count; i++) {
		const struct cover_process *process = &cover->processes[i];

		if (!process->member || process->pid == cover->pid)
			continue;
		err = list_threads(cover, process->pid, known);
		/* A child may end, and one of another user's may be hidden. */
		if (err == -ENOENT || err == -ESRCH || err == -EPERM || err == -EACCES)
			err = 0;
	}
	if (err)
		return refuse_listing(cover, err);
	cover->scans++;
	return tidy(cover, known);
}

void pm_cover_free(struct cover *cover)
{
	if (cover->first != cover->processes)
		free(cover->first);
	free(cover->processes);
	free(cover->threads);
}
