/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An instance: the events of one set, open on one target (a thread, or a CPU). It is
 * what a session opens when it attaches, and what a thread opens at its first region.
 *
 * The events stand in as few kernel groups as the kernel accepts, so that one ioctl on
 * each leader starts or stops them and one read(2) reads a group:
 *
 *   hardware events of one PMU   together; where the kernel refuses a member (EINVAL: the
 *                                hardware cannot take it with the others) a new group
 *                                begins, and the events after it join that one. What the
 *                                kernel accepts but would never run is found out, too
 *   software events              together, apart from the hardware's, so that a page
 *                                fault counter never decides when a group is scheduled
 *   explicit {groups}            kept whole as written, software members included, and
 *                                never joined by others
 *   pinned, exclusive events     alone: the kernel takes these marks on leaders only
 *   exact events                 none: they are counted by translation, without a
 *                                descriptor and a system call (exact.h)
 *
 * Memory is the caller's, so that a thread's set-up allocates nothing: an instance of N
 * counters needs pm_instance_size(N) bytes.
 */
#ifndef PM_COUNTERS_INSTANCE_H
#define PM_COUNTERS_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/events/events.h"
#include "core/text/diag.h"
#include "fastpath/fastpath.h"

/* What one read(2) of a group may return; also keeps its buffer small on any stack. */
#define PM_GROUP_MAX 64

struct pm_counter {
	const struct pm_event *event;
	int fd;		   /* -1: not open, or exact */
	bool is_exact;	   /* open, and counted by translation */
	int error;	   /* negative errno of the open that refused it, else 0 */
	uint32_t leader;   /* index of its group's leader in the instance */
	uint32_t position; /* its place in its group's read(2) */
	uint32_t members;  /* of a leader: counters in its group, itself included */
	unsigned int config1_bits; /* added to the event's, to ask for user reads */
	uint64_t id;		   /* PERF_EVENT_IOC_ID: the descriptor is still ours */
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	int page_error; /* why not, negative errno; 0 if not asked for */
	bool user_read; /* the page grants reads by the opening thread */
};

struct pm_reading {
	uint64_t value;
	uint64_t enabled_ns;
	uint64_t running_ns; /* 0 while enabled: the value is "not counted", not zero */
};

struct pm_instance {
	pid_t tid; /* -1: a CPU */
	int cpu;   /* -1: wherever the thread runs */
	unsigned int flags;
	uint32_t count;
	uint32_t open;		/* how many of them are open */
	void *exact;		/* of exact events: their pages; else NULL */
	uintptr_t exact_thread; /* which alone can read them */
	struct pm_counter counters[];
};

static inline size_t pm_instance_size(size_t count)
{
	return sizeof(struct pm_instance) + count * sizeof(struct pm_counter);
}

static inline bool pm_counter_is_open(const struct pm_counter *counter)
{
	return counter->fd >= 0 || counter->is_exact;
}

/* Flags of pm_instance_open(). */
#define PM_OPEN_USER_READ 1u   /* ask for and map pages that this thread can read */
#define PM_OPEN_PARTIAL	  2u   /* go on without the events that are refused */
#define PM_OPEN_INHERIT	  4u   /* count children that the target creates, too */
#define PM_OPEN_SPLIT	  8u   /* every event on its own (see pm_instance_starved()) */
#define PM_OPEN_TIME	  16u  /* map one page for its clock if no other is mapped */
#define PM_OPEN_ON_EXEC	  32u  /* the target's next exec enables it, too */
#define PM_OPEN_THREADS	  64u  /* with INHERIT: threads alone, Linux 5.13 */
#define PM_OPEN_SPARING	  128u /* leave a quarter of all descriptors to the program */

/*
 * pm_instance_open() - opens EVENTS[0..COUNT) (of one set) on thread TID (0: the
 * caller) or, with TID -1, on CPU, stopped. Without PM_OPEN_PARTIAL any error closes
 * everything again and is returned; with it, each refused counter keeps its error and
 * the call returns how many are open (0 is no error). DIAG gets one sentence about the
 * first error: the event, the errno in words, the setting that refused it with its
 * value (kernel.perf_event_paranoid, seccomp, no such PMU, RLIMIT_NOFILE, the mlock
 * limits), and what would help. An event whose page is refused stays open and
 * is then read by read(2): page_error says why, and DIAG if it has no other news.
 * PM_OPEN_USER_READ is for the calling thread; for other targets it does nothing.
 * Allocates nothing.
 */
int pm_instance_open(struct pm_instance *instance, const struct pm_event *events,
		     uint32_t count, pid_t tid, int cpu, unsigned int flags,
		     struct pm_diag *diag);

/* Whether pages of the kernel that grant user reads mean it: arm64's do while
 * kernel.perf_user_access is 0, too, and keep their index at 0; and where the program is
 * translated, no instruction reads the CPU's counters. */
bool pm_instance_user_access(void);

/* One ioctl per group. 0 or the first negative errno (the others are still asked). */
int pm_instance_enable(struct pm_instance *instance);
int pm_instance_disable(struct pm_instance *instance);

/*
 * One read(2) per group into READINGS[0..count), after one ioctl that proves that the
 * descriptor is still ours: the program may have closed it and opened something else
 * under its number. That the values carry ids does not make up for the ioctl, since a
 * read(2) of a pipe or socket takes away what the program would have read, or waits for
 * ever. No one call reads events and refuses all else: events know neither pread(2) nor a
 * flag of preadv2(2) that other files refuse, and no ioctl gives a value; and nothing but
 * a call tells that a descriptor was closed. What remains is the moment between the two
 * calls, if another thread closes and opens in it. Counters that are not open are left
 * untouched, as are those of a group that cannot be read. 0 or the first negative errno
 * (-EBADF: the program closed our descriptor; -ENODATA: a pinned group does not fit the
 * hardware). Any thread; async-signal-safe.
 */
int pm_instance_read(const struct pm_instance *instance, struct pm_reading *readings);

/* The same for the group of counter I alone. */
int pm_instance_read_group(const struct pm_instance *instance, uint32_t i,
			   struct pm_reading *readings);

/* The same for counter I alone. */
int pm_instance_read_counter(const struct pm_instance *instance, uint32_t i,
			     struct pm_reading *reading);

/*
 * Whether a group of several counters was enabled but never on the hardware, as READINGS
 * of a running instance tell it. The kernel accepts a group that would fit an empty PMU;
 * where something else holds a counter (the NMI watchdog), such a group waits for ever.
 * Opening again with PM_OPEN_SPLIT lets its events rotate. Returns the index of the
 * group's leader, or -1.
 */
int pm_instance_starved(const struct pm_instance *instance,
			const struct pm_reading *readings);

/* Prepares VIEW for counter I of an instance opened with PM_OPEN_USER_READ by this
 * thread; a view that always refuses if that counter has no readable page. */
void pm_instance_view(const struct pm_instance *instance, uint32_t i, uint64_t base,
		      struct perfmon_counter_view *view);

/* Disables, unmaps, closes. Descriptors that are no longer ours are left alone. */
void pm_instance_close(struct pm_instance *instance);

/* In a forked child: closes the inherited descriptors without touching the pages, which
 * the child does not have, nor the events, which are the parent's. */
void pm_instance_forget(struct pm_instance *instance);

#endif
