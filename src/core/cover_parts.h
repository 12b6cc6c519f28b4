/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of covering share. */
#ifndef PM_CORE_COVER_PARTS_H
#define PM_CORE_COVER_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/cover.h"

enum cover_status {
	COVER_UNKNOWN,	 /* whether it has inherited the events */
	COVER_DIRECT,	 /* opened here */
	COVER_INHERITED, /* its creator had all events when it was created */
	COVER_REFUSED,	 /* of a child process that may not be observed */
	COVER_FOREIGN,	 /* others' breakpoints keep the witness from telling */
};

/* Where they stand in cover_thread.markers. */
enum cover_marker {
	MARKER_ANCHOR,
	MARKER_FIRST,
	MARKER_LEADER,
	MARKER_SECOND, /* two */
	COVER_MARKERS = MARKER_SECOND + 2
};

struct cover_thread {
	pid_t tid, process;
	uint64_t start_ticks; /* tells a thread from another that got its number */
	enum cover_status status;
	bool alive;   /* in the latest scan */
	bool whole;   /* was seen to have inherited all; since then it may have lost it */
	bool settled; /* DIRECT: in no clone(2) that began before its events were open */
	void *opened; /* DIRECT: the caller's */
	int left;     /* its free slots, while it is asked where it got the others */
	int markers[COVER_MARKERS];
};

struct cover_process {
	pid_t pid, parent, group;
	uint64_t start_ticks;
	bool member; /* of the family that is covered */
};

struct cover {
	const struct pm_cover_request *request;
	struct pm_diag *diag;
	pid_t pid; /* of the process, where the request may name one of its threads */
	/* By number; of an ended thread only what was opened on it is kept. */
	struct cover_thread *threads;
	size_t count, room;
	/* All processes, by number, as the latest and as the first scan found them; only
	 * looked at for descendants. */
	struct cover_process *processes, *first;
	size_t process_count, first_count;
	unsigned int orphans; /* new processes whose parent may have been a member */
	unsigned int scans;
	unsigned int patience_ms;

	/* The witness: see cover_witness.c. */
	bool witnessed; /* markers are set around what is opened */
	bool learned;
	bool swaps; /* the kernel would exchange the events of threads: see there */
	int slots_before,
		slots_after; /* free ones on a thread without, with all events */
};

/* --- cover_threads.c ------------------------------------------------------------------
 */

/*
 * Lists the family's living threads: marks those that are known, adds new ones as
 * unknown, and drops those that ended. The number of new ones, or a negative errno with a
 * sentence: -ESRCH if no thread lives.
 *
 * One listing of a process whose threads end meanwhile can pass over a thread that lives
 * (the kernel continues by position), so two have to agree.
 */
int pm_cover_scan(struct cover *cover);

/* Whether THREAD is seen to be outside of clone(2): asleep, stopped, or ended. */
bool pm_cover_is_idle(const struct cover_thread *thread);

/* Which process it is, and whether /proc can show its threads: 0, or a negative errno
 * with a sentence. */
int pm_cover_find(struct cover *cover);

void pm_cover_free(struct cover *cover);

/* --- cover_settle.c -------------------------------------------------------------------
 */

/* Waits for the threads that were opened and are not settled: false if some are left and
 * the patience is at its end. */
bool pm_cover_settle(struct cover *cover);

/* --- cover_witness.c ------------------------------------------------------------------
 */

enum cover_verdict {
	VERDICT_NONE,	 /* it has inherited nothing */
	VERDICT_FULL,	 /* it has inherited all events */
	VERDICT_PARTIAL, /* perhaps some */
	VERDICT_ENDED,
	VERDICT_FOREIGN, /* it holds breakpoints of others */
	VERDICT_BLIND,	 /* the kernel refused to say */
};

/* Opens the caller's events on THREAD, between markers if there is a witness. 0, or
 * -ESRCH: it has ended; -EUNATCH: the events would open, the markers do not; what open()
 * gave. Nothing stays open after a failure. */
int pm_cover_open(struct cover *cover, struct cover_thread *thread);

/* Closes what pm_cover_open() opened; the thread is unknown then. */
void pm_cover_close(struct cover *cover, struct cover_thread *thread);

/* Closes the markers alone, or the second only. */
void pm_cover_unmark(struct cover_thread *thread);
void pm_cover_unmark_second(struct cover_thread *thread);

/* Keeps what THREAD creates from exchanging events with it, or with each other. */
int pm_cover_anchor(struct cover_thread *thread);

enum cover_verdict pm_cover_judge(const struct cover *cover, pid_t tid);

/* What a thread holds that was judged PARTIAL comes from one that was opened: closes that
 * one, so that both can be opened again. Only for settled threads, and after a scan has
 * judged all there are. How many were closed, or -EUNATCH. */
int pm_cover_part(struct cover *cover);

/* After the second markers are closed: how many threads that were judged by them still
 * hold as many slots, so that they were somebody else's. */
unsigned int pm_cover_misjudged(const struct cover *cover);

#endif
