/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts that the files of this room share. */
#ifndef PM_SESSION_THREADS_PARTS_H
#define PM_SESSION_THREADS_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/session/threads/threads.h"

enum scan_status {
	SCAN_UNKNOWN,	/* whether it has inherited the events */
	SCAN_DIRECT,	/* opened here */
	SCAN_INHERITED, /* its creator had all events when it was created */
	SCAN_REFUSED,	/* of a child process that may not be observed */
	SCAN_FOREIGN,	/* others' breakpoints keep the probe from telling */
};

/* Where they stand in scan_thread.markers. */
enum marker {
	MARKER_UNINHERITED,
	MARKER_FIRST,
	MARKER_LEADER,
	MARKER_SECOND, /* two */
	SCAN_MARKERS = MARKER_SECOND + 2
};

struct scan_thread {
	pid_t tid, process;
	uint64_t start_ticks; /* tells a thread from another that got its number */
	enum scan_status status;
	bool alive;   /* in the latest scan */
	bool whole;   /* was seen to have inherited all; since then it may have lost it */
	bool outside; /* DIRECT: in no clone(2) that began before its events were open */
	void *opened; /* DIRECT: the caller's */
	int left;     /* its free slots, while it is asked where it got the others */
	int markers[SCAN_MARKERS];
};

struct scan_process {
	pid_t pid, parent, group;
	uint64_t start_ticks;
	bool member; /* of the process, or of its children if they count */
};

struct scan {
	const struct pm_threads_request *request;
	struct pm_diag *diag;
	/* By number; of an ended thread only what was opened on it is kept. */
	struct scan_thread *threads;
	size_t count;
	/* All processes, by number, as the latest and as the first scan found them; only
	 * looked at for descendants. */
	struct scan_process *processes, *first;
	size_t process_count, first_count;
	unsigned int orphans; /* new processes whose parent may have been a member */
	unsigned int scans;
	unsigned int patience_ms;

	/* The probe: see probe.c. */
	bool probed; /* markers are set around what is opened */
	bool learned;
	bool closed; /* events have been open before, and closed */
	bool swaps;  /* the kernel would exchange the events of threads: see there */
	int slots_before,
		slots_after; /* free ones on a thread without, with all events */
};

/* --- scan.c ------------------------------------------------------------------ */

/*
 * Lists the family's living threads: marks those that are known, adds new ones as
 * unknown, and drops those that ended. The number of new ones, or a negative errno with a
 * sentence: -ESRCH if no thread lives.
 *
 * One listing of a process whose threads end meanwhile can pass over a thread that lives
 * (the kernel continues by position), so two have to agree.
 */
int pm_threads_scan(struct scan *scan);

/* Returns whether THREAD is seen to be outside of clone(2): asleep, stopped, or ended. */
bool pm_threads_is_idle(const struct scan_thread *thread);

/* Returns 0 if /proc can show the threads of processes, or a negative errno with a sentence. */
int pm_threads_find(struct scan *scan);

void pm_threads_free(struct scan *scan);

/* --- wait.c ------------------------------------------------------------------- */

/* Waits until the threads that were opened have been seen outside of clone(2). Returns false
 * if some have not, and the patience is at its end. */
bool pm_threads_wait(struct scan *scan);

/* --- probe.c ------------------------------------------------------------------ */

enum scan_verdict {
	VERDICT_NONE,	 /* it has inherited nothing */
	VERDICT_FULL,	 /* it has inherited all events */
	VERDICT_PARTIAL, /* perhaps some */
	VERDICT_ENDED,
	VERDICT_FOREIGN, /* it holds breakpoints of others */
	VERDICT_BLIND,	 /* the kernel refused to say */
};

/* Opens the caller's events on THREAD, between markers if there is a probe. 0, or
 * -ESRCH: it has ended; -EUNATCH: the events would open, the markers do not; what open()
 * gave. Nothing stays open after a failure. */
int pm_threads_open(struct scan *scan, struct scan_thread *thread);

/* Closes what pm_threads_open() opened; the thread is unknown then. */
void pm_threads_close(struct scan *scan, struct scan_thread *thread);

/* Closes the markers alone, or the second only. */
void pm_threads_unmark(struct scan_thread *thread);
void pm_threads_unmark_second(struct scan_thread *thread);

/* Keeps what THREAD creates from exchanging events with it, or with each other. */
int pm_threads_keep_apart(struct scan_thread *thread);

enum scan_verdict pm_threads_probe(const struct scan *scan, pid_t tid);

/* A thread that was found PARTIAL holds events of one that was opened: closes that
 * one, so that both can be opened again. Only when
 * all threads have been seen outside of clone(2), and after a scan has probed all there are. How many were closed, or -EUNATCH. */
int pm_threads_part(struct scan *scan);

/* After the second markers are closed: how many threads that were found by them still
 * hold as many slots, so that they were somebody else's. */
unsigned int pm_threads_mistaken(const struct scan *scan);

#endif
