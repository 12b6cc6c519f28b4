/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An instance: the events of one set, open on one target (a thread or a CPU). A session
 * opens one when it attaches, a thread at its first region.
 *
 * The events stand in as few kernel groups as the kernel accepts. One ioctl on each
 * leader starts or stops them, and one read(2) reads a group:
 *
 *   hardware events of one PMU   together; if the kernel refuses a member (EINVAL: the
 *                                hardware cannot take it with the others) a new group
 *                                begins, and later events join that one. Groups that the
 *                                kernel accepts but would never run are found, too
 *   software events              together, apart from the hardware's, so that a page
 *                                fault counter never decides when a group is scheduled
 *   explicit {groups}            kept as written, software members included; other
 *                                events never join them
 *   pinned, exclusive events     alone: the kernel accepts these marks on leaders only
 *   exact events                 none: the tool of exact/ counts them, without a
 *                                descriptor and a system call (exact.h)
 *
 * The caller provides the memory, so that a thread's set-up allocates nothing: an
 * instance of N counters needs pm_instance_size(N) bytes.
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

/* The largest group for one read(2). It keeps the buffer small enough for any stack. */
#define PM_GROUP_MAX 64

struct pm_counter {
	const struct pm_event *event;
	int fd;		   /* -1: not open, or exact */
	bool is_exact;	   /* open, and counted by translation */
	int error;	   /* negative errno of the open, else 0 */
	uint32_t leader;   /* index of its group's leader in the instance */
	uint32_t position; /* its place in its group's read(2) */
	uint32_t members;  /* of a leader: counters in its group, itself included */
	/* added to the event's config1, to request user reads */
	unsigned int config1_bits;
	uint64_t id; /* PERF_EVENT_IOC_ID: identifies our descriptor */
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	int page_error; /* negative errno, if it was requested and failed; else 0 */
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
	uintptr_t exact_thread; /* the only thread that can read them */
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

/* Flags of pm_instance_open(): */
#define PM_OPEN_USER_READ 1u   /* request and map pages that this thread can read */
#define PM_OPEN_PARTIAL	  2u   /* continue without the events that are refused */
#define PM_OPEN_INHERIT	  4u   /* count children that the target creates, too */
#define PM_OPEN_SPLIT	  8u   /* every event on its own (see pm_instance_starved()) */
#define PM_OPEN_TIME	  16u  /* map one page for its clock if no other is mapped */
#define PM_OPEN_ON_EXEC	  32u  /* the target's next exec enables it, too */
#define PM_OPEN_THREADS	  64u  /* with INHERIT: threads alone, Linux 5.13 */
#define PM_OPEN_SPARING	  128u /* leave a quarter of all descriptors to the program */

/*
 * pm_instance_open() - opens EVENTS[0..COUNT) (of one set) on thread TID (0: the caller)
 * or, with TID -1, on CPU, stopped. Allocates nothing.
 *
 * Without PM_OPEN_PARTIAL any error closes everything again and is returned. With it,
 * each refused counter keeps its error, and the call returns how many are open (0 is no
 * error). DIAG gets one sentence about the first error: the event, the errno in words,
 * the setting that refused it with its value (kernel.perf_event_paranoid, seccomp, no
 * such PMU, RLIMIT_NOFILE, the mlock limits), and a remedy.
 *
 * An event whose page is refused stays open and is read by read(2). page_error has the
 * reason, and DIAG if there is no other error. PM_OPEN_USER_READ applies to the calling
 * thread. It has no effect for other targets.
 */
int pm_instance_open(struct pm_instance *instance, const struct pm_event *events,
		     uint32_t count, pid_t tid, int cpu, unsigned int flags,
		     struct pm_diag *diag);

/* Allocates an instance and opens it. Returns as pm_instance_open(), or -ENOMEM. After an error
 * *INSTANCE is NULL. */
int pm_instance_new(struct pm_instance **instance, const struct pm_event *events,
		    uint32_t count, pid_t tid, int cpu, unsigned int flags,
		    struct pm_diag *diag);

/* Returns whether pages that grant user reads can really be read. arm64's pages grant
 * reads even while kernel.perf_user_access is 0, and keep their index at 0. Under
 * Valgrind no instruction reads the CPU's counters. */
bool pm_instance_user_access(void);

/* Make one ioctl per group. Return 0 or the first negative errno; all groups are
 * tried. */
int pm_instance_enable(struct pm_instance *instance);
int pm_instance_disable(struct pm_instance *instance);

/*
 * Reads every group into READINGS[0..count), by one read(2) each. Any thread;
 * async-signal-safe. Returns 0 or the first negative errno:
 *
 *  - -EBADF: the program closed our descriptor
 *  - -ENODATA: a pinned group does not fit the hardware
 *
 * Counters that are not open, and those of a group that cannot be read, are left
 * untouched.
 *
 * An ioctl before each read(2) proves that the descriptor is still ours: the program may
 * have closed it and opened another file under its number. Values with ids cannot replace
 * the ioctl, since a read(2) of a pipe or socket takes data from the program, or waits
 * forever. No single call reads only events: events support neither pread(2) nor a flag
 * of preadv2(2) that other files refuse, and no ioctl returns a value. Only a call can
 * show that a descriptor was closed. A race remains between the two calls, if another
 * thread closes and opens there.
 */
int pm_instance_read(const struct pm_instance *instance, struct pm_reading *readings);

/* Reads only the group of counter I. */
int pm_instance_read_group(const struct pm_instance *instance, uint32_t i,
			   struct pm_reading *readings);

/* Reads only counter I. */
int pm_instance_read_counter(const struct pm_instance *instance, uint32_t i,
			     struct pm_reading *reading);

/*
 * Returns the leader of a group of several counters that was enabled but never on the
 * hardware, by READINGS of a running instance, or -1. The kernel accepts a group that
 * would fit an empty PMU. If another user holds a counter (the NMI watchdog), such a
 * group waits forever. Opening again with PM_OPEN_SPLIT lets its events be multiplexed.
 */
int pm_instance_starved(const struct pm_instance *instance,
			const struct pm_reading *readings);

/* Prepares VIEW for counter I of an instance that this thread opened with
 * PM_OPEN_USER_READ. If that counter has no readable page, the view can never be
 * refreshed. */
void pm_instance_view(const struct pm_instance *instance, uint32_t i, uint64_t base,
		      struct perfmon_counter_view *view);

/* Disables, unmaps and closes the counters. Descriptors that are no longer ours are left
 * alone. */
void pm_instance_close(struct pm_instance *instance);

/* Closes what pm_instance_new() has made, and frees it. NULL is accepted. */
void pm_instance_free(struct pm_instance *instance);

/* Closes the inherited descriptors in a forked child. It does not touch the pages, which
 * the child does not have, nor the events, which are the parent's. */
void pm_instance_forget(struct pm_instance *instance);

#endif
