/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes a log in the perf.data format. Records are copied into memory, and a thread of
 * the log's own writes them: when half of the memory is full, one second after the first
 * record, or on request. The first error is kept, reported to the owner once, and
 * returned by every later call. The log can then be read up to the last complete record.
 *
 * A log to the path of a regular file, or to a descriptor of an empty one, has the form
 * of a file. Any other log is a stream (see log_format.h). Both can be read at any time,
 * as far as they are written.
 *
 * Any thread may make any call except pm_log_close(). No call is for signal handlers.
 *
 * - The lock guards the buffers, the counts and the error.
 * - Only the log's thread uses the descriptor, after it has started.
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

/*
 * An event whose records are in the log. Several events must have PERF_SAMPLE_IDENTIFIER.
 */
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
	size_t buffer_size; /* the log has two buffers of this size; 0: the default */
	/* The log's thread calls it once, when writing has failed. It must not call this
	 * log. May be NULL. */
	void (*failed)(void *argument, int error);
	/* The log's thread calls it when there is room again after pm_log_drain() left
	 * records in a ring. It must not call this log. May be NULL. */
	void (*has_room)(void *argument);
	/* The log's thread calls it when SAMPLES that were appended could not be written.
	 * It must not call this log. May be NULL. */
	void (*lost)(void *argument, uint64_t samples);
	void *argument;
};

/*
 * pm_log_create() - begins a log for EVENTS[0..COUNT). The log is at PATH, which is
 * created anew with mode 0600; or, if PATH is NULL, on descriptor FD, which stays the
 * caller's. OPTIONS and DIAG may be NULL. Later calls allocate only as they say. Returns
 * 0 or
 *
 * - -EINVAL: there are no events, they do not fit into one log, or a size is out of
 *   bounds
 * - -ENOMEM
 * - an error of open(2), fstat(2) or pthread_create(3)
 */
int pm_log_create(struct pm_log **log, const char *path, int fd,
		  const struct pm_log_event *events, size_t count,
		  const struct pm_log_options *options, struct pm_diag *diag);

/* Adds IDs of EVENT for instances that were opened later; call it before their records
 * come. Allocates. Returns 0, -EINVAL, -ENOMEM, or the log's error. */
int pm_log_add_ids(struct pm_log *log, size_t event, const uint64_t *ids, size_t count);

/*
 * pm_log_append() - copies RECORD from a ring into the log. Returns 0 or
 *
 * - -ENOBUFS: there is no room now; the record is dropped, and a record in the log will
 *   count it
 * - -EBADMSG: RECORD's size is not possible
 * - the log's error
 */
int pm_log_append(struct pm_log *log, const struct perf_event_header *record);

/*
 * pm_log_drain() - moves the records of RING into the log and releases them. Records for
 * which the log has no room stay in the ring, where the kernel counts its losses; the
 * owner gets a call when there is room. VISIT (may be NULL) sees each record and returns
 * whether it is to be in the log, which it must not call. Returns the number of records moved, -EBADMSG if the
 * ring is corrupt, or the log's error.
 */
int pm_log_drain(struct pm_log *log, struct pm_ring *ring,
		 bool (*visit)(void *argument, const struct perf_event_header *record),
		 void *argument);

/* Notes that all rings have been drained since the last call, so that perf need not sort
 * the whole log in its memory. Returns as pm_log_append(). */
int pm_log_round(struct pm_log *log);

/*
 * Adds a record of the program's own: SIZE bytes of DATA, at most PM_LOG_USER_MAX, the
 * program's KIND, and a time by the samples' clock (0: none). Returns as pm_log_append(),
 * or -E2BIG.
 */
#define PM_LOG_USER_MAX 65000
int pm_log_user(struct pm_log *log, uint64_t time_ns, uint32_t kind, const void *data,
		size_t size);

/*
 * pm_log_process() - adds the threads of process PID, their names, and the files that it
 * executes, as /proc has them now. perf needs them to find the names of functions. PID 0 is
 * the calling process, and that of a thread stands for its process.
 * Allocates. Returns as pm_log_append(), or
 *
 * - -ESRCH: there is no such process
 * - -EACCES: this user may not read its maps
 */
int pm_log_process(struct pm_log *log, pid_t pid);

/* Waits until everything that was appended has been written. Returns 0, the log's error,
 * or -ETIMEDOUT if no process has read the stream for a second; nothing is lost then. */
int pm_log_flush(struct pm_log *log);

/*
 * Flushes, ends the thread, completes the file and frees LOG (NULL is accepted). Returns
 * 0 or the log's error. -ETIMEDOUT: no process has read the stream for a second, and the
 * unwritten records are lost.
 */
int pm_log_close(struct pm_log *log);

/* Frees a forked child's copy of LOG, and writes nothing to the file. */
void pm_log_forget(struct pm_log *log);

#endif
