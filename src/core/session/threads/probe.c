/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The probe: what a thread has inherited, asked from outside.
 *
 * A thread can hold a few breakpoint events only (4 on x86, 6 on most arm64), and a
 * disabled or inherited one takes its slot like any other. So the number of further ones
 * that the kernel lets us open on a thread (before ENOSPC) tells how many it holds. The
 * events of a directly opened thread are set between markers, which are such breakpoints,
 * disabled and to be inherited:
 *
 *	first marker: 1 slot;  the caller's events;  second marker: 2 slots
 *
 * The kernel copies a creator's events under one lock, so its new thread holds what was
 * there at one moment, in the order of opening:
 *
 *	slots	events
 *	0	none: it was created before, and is opened directly
 *	1	none, some or all: it was created while they were being opened
 *	2, 3	all
 *
 * The middle case is mended by closing what the creator has, and opening creator and new
 * thread one by one. Nothing says who the creator is, but closing a first marker takes it
 * from all who inherited it: where the new thread's goes, there it came from. A first
 * marker that is opened again afterwards stands behind the events, and those who then
 * inherit hold at least 2 slots, as they should.
 *
 * The kernel spares itself work when it switches between threads whose events were all
 * inherited from one another: it exchanges them. Slots stay on the account of the thread
 * they were opened for, so that such a thread loses its own when one with which it has
 * exchanged ends. From Linux 6.12 on, an event with PERF_SAMPLE_READ keeps a thread from
 * that; before, an event that is not inherited keeps what the thread creates
 * from counting as its likeness.
 *
 * Before Linux 6.2 a thread has two lists of events, of which that of hardware events is
 * copied before that of all others, under another lock. There the first marker has to
 * stand in the latter and the second in the former: then 0 still proves none and 2 still
 * proves all. A breakpoint gets into the hardware's list as a member of a hardware event's
 * group.
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>

#include "core/kernel/kernel.h"
#include "core/session/threads/parts.h"

#define FIRST  1 /* slots of the first marker */
#define SECOND 2
#define SLOTS  20 /* more than any machine has */

bool pm_threads_as_before_6_12;

/* --- markers ------------------------------------------------------------------------ */

static int open_breakpoint(pid_t tid, int group, bool inherit, bool swaps)
{
	/* Never enabled; any address of user space would do. */
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_X,
		.bp_addr = 0x1000,
		.bp_len = sizeof(long),
		.sample_type = inherit && !swaps ? PERF_SAMPLE_READ | PERF_SAMPLE_TID : 0,
		.disabled = group < 0,
		.inherit = inherit,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return pm_kernel_perf_event_open(&attr, tid, -1, group, PERF_FLAG_FD_CLOEXEC);
}

/* Leads the second marker in the hardware's list. */
static int open_leader(const struct perf_event_attr *hardware, pid_t tid)
{
	struct perf_event_attr attr = {
		.type = hardware->type,
		.size = sizeof(attr),
		.config = hardware->config,
		.config1 = hardware->config1,
		.config2 = hardware->config2,
		.disabled = 1,
		.inherit = 1,
		.exclude_user = hardware->exclude_user,
		.exclude_kernel = hardware->exclude_kernel,
		.exclude_hv = hardware->exclude_hv,
	};

	return pm_kernel_perf_event_open(&attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int keep(int fd, int *marker)
{
	if (fd < 0)
		return fd == -ESRCH ? -ESRCH : -EUNATCH;
	*marker = fd;
	return 0;
}

int pm_threads_keep_apart(struct scan_thread *thread)
{
	int *marker = &thread->markers[MARKER_UNINHERITED];
	struct perf_event_attr attr =
		pm_user_mode_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);

	attr.disabled = 1;
	return *marker >= 0 ? 0
			    : keep(pm_kernel_perf_event_open(&attr, thread->tid, -1, -1,
							     PERF_FLAG_FD_CLOEXEC),
				   marker);
}

static int mark_first(struct scan *scan, struct scan_thread *thread)
{
	int err, fd = -EINVAL;

	if (!scan->swaps && !pm_threads_as_before_6_12)
		fd = open_breakpoint(thread->tid, -1, true, false);
	if (fd == -EINVAL) {
		/* Before Linux 6.12. */
		scan->swaps = true;
		err = pm_threads_keep_apart(thread);
		if (err)
			return err;
		fd = open_breakpoint(thread->tid, -1, true, true);
	}
	return keep(fd, &thread->markers[MARKER_FIRST]);
}

static int mark_second(const struct scan *scan, struct scan_thread *thread)
{
	int *leader = &thread->markers[MARKER_LEADER], err = 0;

	if (scan->request->hardware)
		err = keep(open_leader(scan->request->hardware, thread->tid), leader);
	for (int i = 0; !err && i < SECOND; i++)
		err = keep(open_breakpoint(thread->tid, *leader, true, scan->swaps),
			   &thread->markers[MARKER_SECOND + i]);
	return err;
}

static void close_marker(int *marker)
{
	if (*marker >= 0)
		pm_kernel_close(*marker);
	*marker = -1;
}

void pm_threads_unmark_second(struct scan_thread *thread)
{
	/* The leader after its members, which would else lead themselves. */
	for (int i = SCAN_MARKERS; i-- > MARKER_LEADER;)
		close_marker(&thread->markers[i]);
}

void pm_threads_unmark(struct scan_thread *thread)
{
	pm_threads_unmark_second(thread);
	close_marker(&thread->markers[MARKER_FIRST]);
	close_marker(&thread->markers[MARKER_UNINHERITED]);
}

/* --- slots -------------------------------------------------------------------------- */

/* How many breakpoints thread TID could still hold, or a negative errno. */
static int free_slots(pid_t tid)
{
	int fds[SLOTS], count = 0, fd = -ENOSPC;

	while (count < SLOTS) {
		fd = open_breakpoint(tid, -1, false, false);
		if (fd < 0)
			break;
		fds[count++] = fd;
	}
	for (int i = 0; i < count; i++)
		pm_kernel_close(fds[i]);
	return fd == -ENOSPC ? count : fd < 0 ? fd : -ENOSPC;
}

enum scan_verdict pm_threads_probe(const struct scan *scan, pid_t tid)
{
	int all = scan->slots_before - scan->slots_after, left = free_slots(tid), held;

	if (left == -ESRCH)
		return VERDICT_ENDED;
	if (left < 0)
		return VERDICT_BLIND;
	held = scan->slots_before - left;
	if (held < 0 || held > all)
		return VERDICT_FOREIGN;
	if (held == 0)
		return VERDICT_NONE;
	/* A part of the second marker proves the events as well as the whole. */
	return held >= all - FIRST ? VERDICT_FULL : VERDICT_PARTIAL;
}

unsigned int pm_threads_mistaken(const struct scan *scan)
{
	unsigned int count = 0;

	for (size_t i = 0; scan->learned && i < scan->count; i++) {
		const struct scan_thread *thread = &scan->threads[i];
		int left;

		if (thread->status != SCAN_INHERITED)
			continue;
		left = free_slots(thread->tid);
		/* It may also have lost slots to others: see above. */
		count += left >= 0 && left < scan->slots_after + SECOND;
	}
	return count;
}

/* --- the events of a thread --------------------------------------------------------- */

/* The library learns once what the events and their markers take together, on a thread
 * that cannot have inherited any: the caller's events may be breakpoints, too. */
static int learn(struct scan *scan, pid_t tid, int before)
{
	int after = free_slots(tid);

	if (after < 0)
		return after == -ESRCH ? -ESRCH : -EUNATCH;
	if (before - after < FIRST + SECOND)
		return -EUNATCH;
	scan->slots_before = before;
	scan->slots_after = after;
	scan->learned = true;
	return 0;
}

int pm_threads_open(struct scan *scan, struct scan_thread *thread)
{
	const struct pm_threads_request *request = scan->request;
	bool probed = scan->probed;
	int before = 0, err = 0;

	if (probed && !scan->learned) {
		before = free_slots(thread->tid);
		if (before < FIRST + SECOND)
			return before == -ESRCH ? -ESRCH : -EUNATCH;
	}
	if (probed)
		err = mark_first(scan, thread);
	if (!err)
		err = request->open(request->argument, thread->tid, &thread->opened,
				    scan->diag);
	if (err) {
		pm_threads_unmark(thread);
		/* The caller's breakpoints need the slots that markers took. */
		return probed && err == -ENOSPC ? -EUNATCH : err;
	}
	thread->status = SCAN_DIRECT;
	thread->outside = false;
	if (probed)
		err = mark_second(scan, thread);
	if (!err && probed && !scan->learned)
		err = learn(scan, thread->tid, before);
	if (err)
		pm_threads_close(scan, thread);
	return err;
}

void pm_threads_close(struct scan *scan, struct scan_thread *thread)
{
	if (thread->status == SCAN_DIRECT)
		scan->request->close(scan->request->argument, thread->opened);
	thread->status = SCAN_UNKNOWN;
	thread->whole = false;
	thread->opened = NULL;
	pm_threads_unmark(thread);
}

/* --- mending ------------------------------------------------------------------------ */

/* Returns whether an unknown thread holds fewer slots than before. One that has ended
 * just now leaves no proof: better close too much than miss it. */
static bool is_origin(const struct scan *scan)
{
	for (size_t i = 0; i < scan->count; i++) {
		const struct scan_thread *thread = &scan->threads[i];

		if (thread->status == SCAN_UNKNOWN &&
		    free_slots(thread->tid) != thread->left)
			return true;
	}
	return false;
}

int pm_threads_part(struct scan *scan)
{
	int parted = 0;

	for (size_t i = 0; i < scan->count; i++) {
		struct scan_thread *thread = &scan->threads[i];

		if (thread->status == SCAN_UNKNOWN)
			thread->left = free_slots(thread->tid);
	}
	/* Newest first: it is they who were opened while something was created. */
	for (size_t i = scan->count; i-- > 0 && !parted;) {
		struct scan_thread *thread = &scan->threads[i];
		int err;

		if (thread->status != SCAN_DIRECT || thread->markers[MARKER_FIRST] < 0)
			continue;
		close_marker(&thread->markers[MARKER_FIRST]);
		if (is_origin(scan)) {
			pm_threads_close(scan, thread);
			parted++;
			continue;
		}
		err = mark_first(scan, thread);
		if (err == -EUNATCH)
			return err;
	}
	/* Events that others have from it are gone, too. */
	for (size_t i = 0; parted && i < scan->count; i++)
		if (scan->threads[i].status == SCAN_INHERITED)
			scan->threads[i].status = SCAN_UNKNOWN;
	return parted;
}
