/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing a log in the perf.data format. Records are copied into memory; a thread of the
 * log's own writes them out: when half of the memory is full, a second after the first at
 * the latest, and when it is asked to. What goes wrong there is kept, told once to the
 * owner, and given by every later call; the log is then readable up to the last record
 * that was written whole.
 *
 * A log to a path that is a regular file, or to a descriptor of an empty one, has the
 * form of a file, any other that of a stream (see log_format.h). Both are readable at any
 * time, as far as they are written.
 *
 * Any thread may make any call but pm_log_close(); none is for signal handlers. Who holds
 * what:
 *
 *   buffers, counts, error   the lock
 *   the descriptor           the log's thread, after it has started
 */
#ifndef PM_SAMPLES_LOG_WRITE_H
#define PM_SAMPLES_LOG_WRITE_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/samples/ring.h"
#include "core/text/diag.h"

struct pm_log;

/* An event whose records the log will hold. Several must have PERF_SAMPLE_IDENTIFIER. */
struct pm_log_event {
	const struct perf_event_attr *attr;
	const char *name;
	const uint64_t *ids; /* of its instances, as far as they are known */
	size_t id_count;
};

#define PM_LOG_BUFFER_DEFAULT ((size_t)1 << 20)
#define PM_LOG_BUFFER_MIN     ((size_t)1 << 17)
#define PM_LOG_BUFFER_MAX     ((size_t)1 << 30)

struct pm_log_options {
	size_t buffer_size; /* twice as much is taken; 0: the default */
	/* Called once, by the log's thread, when writing has failed. It may make no call
	 * on this log. NULL: nobody. */
	void (*failed)(void *argument, int error);
	/* Called by the log's thread when there is room again after pm_log_drain() had to
	 * leave records in a ring. It may make no call on this log. NULL: nobody. */
	void (*has_room)(void *argument);
	/* Called by the log's thread when SAMPLES that were appended could not be written.
	 * It may make no call on this log. NULL: nobody. */
	void (*lost)(void *argument, uint64_t samples);
	void *argument;
};

/*
 * pm_log_create() - begins a log for EVENTS[0..COUNT) at PATH, which is made anew with
 * mode 0600, or, with PATH NULL, on descriptor FD, which stays the caller's. OPTIONS may
 * be NULL. 0; -EINVAL: no event, events that cannot stand in one log, a size out of
 * bounds; -ENOMEM; what open(2), fstat(2), and pthread_create(3) give. DIAG may be NULL.
 * Allocates; what comes after allocates no more than pm_log_add_ids() says.
 */
int pm_log_create(struct pm_log **log, const char *path, int fd,
		  const struct pm_log_event *events, size_t count,
		  const struct pm_log_options *options, struct pm_diag *diag);

/* More ids of EVENT, for instances that were opened later; before their records.
 * Allocates. 0, -EINVAL, -ENOMEM, or the log's error. */
int pm_log_add_ids(struct pm_log *log, size_t event, const uint64_t *ids, size_t count);

/*
 * pm_log_append() - copies RECORD, as it came from a ring, into the log. 0; -ENOBUFS: no
 * room just now: the record is dropped, and the log will say so in a record of its own;
 * -EBADMSG: RECORD has no size that a record can have; or the log's error.
 */
int pm_log_append(struct pm_log *log, const struct perf_event_header *record);

/*
 * pm_log_drain() - moves what RING holds into the log and releases it. What the log has
 * no room for stays in the ring, where the kernel counts what it loses, and the owner is
 * told as soon as there is room. The number of records moved; -EBADMSG: the ring made no
 * sense; or the log's error. VISIT (may be NULL) sees each record that is moved; it may
 * make no call on the log.
 */
int pm_log_drain(struct pm_log *log, struct pm_ring *ring,
		 void (*visit)(void *argument, const struct perf_event_header *record),
		 void *argument);

/* Notes that all rings were drained since the last call, so that perf need not sort the
 * whole log in its memory. As pm_log_append(). */
int pm_log_round(struct pm_log *log);

/* A record of the program's own: SIZE bytes of DATA, at most PM_LOG_USER_MAX, with the
 * program's KIND and the time that goes with the samples' (0: none). As pm_log_append();
 * -E2BIG. */
#define PM_LOG_USER_MAX 65000
int pm_log_user(struct pm_log *log, uint64_t time_ns, uint32_t kind, const void *data,
		size_t size);

/*
 * pm_log_process() - notes the threads of process PID, their names, and the files that it
 * executes, as /proc has them now: what perf needs to find the names of functions.
 * 0; -ESRCH: no such process; -EACCES: its maps are not for this user; else as
 * pm_log_append(). Allocates. DIAG may be NULL.
 */
int pm_log_process(struct pm_log *log, pid_t pid, struct pm_diag *diag);

/* Waits until all that was appended is in the kernel's hands. 0; the log's error;
 * -ETIMEDOUT: nobody has read the stream for a second: nothing is lost so far. */
int pm_log_flush(struct pm_log *log);

/* Flushes, ends the thread, completes the file and frees LOG (NULL: nothing). 0, or the
 * log's error: -ETIMEDOUT: nobody has read the stream for a second, and what was still to
 * be written is lost. */
int pm_log_close(struct pm_log *log);

/* In a forked child: frees its copy of LOG, without a word to the file. */
void pm_log_forget(struct pm_log *log);

#endif
