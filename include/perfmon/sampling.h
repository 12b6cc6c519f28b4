/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sampling: each overflow of a counter with PERFMON_OVERFLOW_SAMPLE leaves a sample. A
 * format (perfmon/format.h) is given them one by one, and a log (perfmon/log.h) keeps
 * them for perf and others. Sampling is set up and torn down at any time while the
 * session does not run, attached or not; values are kept. (perfmon2 binds it to the
 * creation of a session; that this be so is P. Mucci's wish, in his reply of 2008.)
 *
 *	struct perfmon_sampling sampling = {.size = sizeof(sampling),
 *					    .format = PERFMON_FORMAT_DEFAULT,
 *					    .fields = PERFMON_SAMPLE_CALL_CHAIN};
 *
 *	perfmon_overflow_period(session, 0, 100000, PERFMON_OVERFLOW_SAMPLE);
 *	perfmon_sampling_set_up(session, &sampling);
 *	...attach, start, work, stop...
 *	buffer = perfmon_sampling_buffer(session, &size);
 *
 * The kernel writes samples into a ring for each target; the session's helper thread, and
 * every call on the session, empties it. What the ring had no room for is counted as
 * lost. The helper thread does so when half a ring is full, or at every sample where a
 * format's messages are waited for: perfmon_overflow_descriptor() was called before the
 * session was started, and there is no log.
 *
 * Threads and processes that a thread creates are sampled along with it
 * (PERFMON_TARGET_CHILDREN): its events are then opened once for each CPU that is online, since the kernel has no other ring
 * for them. Such samples hold no other counters' values, such overflows do not notify or
 * set other counters back, and event sets do not switch by themselves (-EOPNOTSUPP from
 * attaching).
 *
 * Common to all calls: what perfmon/session.h says of threads, forked children, errors
 * and the order of checks.
 */
#ifndef PERFMON_SAMPLING_H
#define PERFMON_SAMPLING_H

#include <perfmon/format.h>
#include <perfmon/overflow.h>
#include <perfmon/region.h>
#include <perfmon/sample.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of sampling. */
#define PERFMON_SAMPLING_BEST 1u /* go on without the fields that are refused here */

struct perfmon_sampling {
	size_t size; /* sizeof(struct perfmon_sampling) */
	uint32_t flags;
	uint32_t call_depth; /* most addresses in a call chain; 0: PERFMON_CALL_DEPTH, or
				what the kernel has */
	uint32_t
		ring_pages; /* for each target, a power of two; 0: PERFMON_SAMPLE_PAGES */
	uint32_t reserved;
	uint64_t fields; /* PERFMON_SAMPLE_ bits to ask for; IP, TID, TIME, CPU and ID
			       are always there */
	/* Its name; NULL: none, for a log alone, without which a session that leaves
	 * samples does not start. */
	const char *format;
	const void *data; /* handed to the format */
	size_t data_size;
};

/**
 * perfmon_sampling_set_up() - has SESSION's samples taken as SAMPLING says. An attached
 * session opens its events anew, keeping its values. Each field that is asked for is
 * tried on the calling thread, with the events to be sampled. Allocates; makes the
 * session's helper thread (see perfmon_overflow_descriptor()).
 *
 * Return: 0, or
 * -EINVAL: a size below the first version's, unknown flags or fields, ring pages that
 *	are no power of two or above 4096, a reserved field that is not 0
 * -E2BIG: SAMPLING is longer than this library's, with something in its tail
 * -EBUSY: the session runs or is masked
 * -EEXIST: it is set up already
 * -ENOENT: no such format
 * -EOPNOTSUPP: a field that the kernel or this machine does not have, which the
 *	sentence names (with PERFMON_SAMPLING_BEST it is left out)
 * - what the format's init gives
 * - for an attached session what attaching gives
 */
int perfmon_sampling_set_up(struct perfmon_session *session,
			    const struct perfmon_sampling *sampling);

/**
 * perfmon_sampling_tear_down() - ends sampling: the format's buffer and the log are
 * closed, counters go on to count.
 *
 * Return: 0, also when none is set up; or
 * -EBUSY: the session runs or is masked
 * - the log's saved error
 * - for an attached session what attaching gives: then sampling is still set up, without a
 *   log, whose error comes with the next call
 */
int perfmon_sampling_tear_down(struct perfmon_session *session);

/** perfmon_sampling_fields() - the PERFMON_SAMPLE_ fields that samples will have, in
 * *FIELDS. 0; -EINVAL: sampling is not set up. No system call. */
int perfmon_sampling_fields(struct perfmon_session *session, uint64_t *fields);

/**
 * perfmon_sampling_buffer() - the format's memory, and its size in *SIZE (may be NULL).
 * It belongs to the format, for `default` a struct perfmon_buffer; NULL if there is none.
 * Takes what waits in the rings first. Valid until sampling is torn down.
 */
const void *perfmon_sampling_buffer(struct perfmon_session *session, size_t *size);

/** perfmon_sampling_counts() - how many samples were taken, and how many lost, by the
 * kernel, by the format, and by a log that was too slow or could not be written, since the
 * set-up (either may be NULL). Overflows that left no sample are lost ones, too. What a log lost that a
 * format took is in both. 0; -EINVAL. */
int perfmon_sampling_counts(struct perfmon_session *session, uint64_t *taken,
			    uint64_t *lost);

/** perfmon_sampling_throttled() - how often the kernel has held one of the session's
 * events back since the set-up, in *TIMES: it overflowed more often than
 * kernel.perf_event_max_sample_rate allows, and leaves no sample until the next tick.
 * Overflows of software events meanwhile are among the lost ones; hardware events stand
 * still (PERFMON_VALUE_THROTTLED). 0; -EINVAL. */
int perfmon_sampling_throttled(struct perfmon_session *session, uint64_t *times);

/**
 * perfmon_sampling_enter(), perfmon_sampling_leave() - let an attached session run for as
 * long as at least one of them is entered: put them around a region, and samples are
 * taken only inside it. As perfmon_session_start() and _stop(), but calls nest. -EINVAL
 * also where sampling is not set up, or leave has no enter.
 */
int perfmon_sampling_enter(struct perfmon_session *session);
int perfmon_sampling_leave(struct perfmon_session *session);

/* A region that is sampled by SESSION, which is attached to this thread and stopped. */
#define PERFMON_SAMPLING_REGION_BEGIN(session, name)                                     \
	do {                                                                             \
		PERFMON_REGION_BEGIN(name);                                              \
		perfmon_sampling_enter(session);                                         \
	} while (0)
#define PERFMON_SAMPLING_REGION_END(session, name)                                       \
	do {                                                                             \
		perfmon_sampling_leave(session);                                         \
		PERFMON_REGION_END(name);                                                \
	} while (0)

/**
 * perfmon_sampling_log() - keeps samples, and the mmap, comm, fork, exit and switch
 * records that go with them, in a log at PATH, or with PATH NULL on descriptor FD, which
 * stays the caller's: the perf.data format, which perf report and perf script read
 * (perfmon/log.h). A thread of the log's own writes in the background. While there is a
 * log, the session's events cannot be changed (-EBUSY). FLAGS must be 0.
 *
 * Attached with PERFMON_TARGET_CHILDREN, it also has what each created thread has
 * counted of the sampled events when that ends (PERFMON_LOG_TYPE_READ, one for each CPU,
 * to be added up), where the kernel leaves such records: Linux 6.18 does for each
 * thread, 6.1 for none. To log counts at each context switch, sample every
 * "context-switches:uk" (a short reset of -1) with the values of the counters.
 *
 * Return: 0, or
 * -EINVAL: FLAGS are not 0, sampling is not set up, or no counter has
 *	PERFMON_OVERFLOW_SAMPLE
 * -EEXIST: there is a log
 * -EBUSY: the session runs or is masked
 * -EBADF: FD cannot be written
 * - what open(2) and fstat(2) give
 * - for an attached session what attaching gives
 */
int perfmon_sampling_log(struct perfmon_session *session, const char *path, int fd,
			 uint32_t flags);

/**
 * perfmon_sampling_log_flush() - waits until all that was taken is in the kernel's hands.
 * An error of writing is also a message, of type PERFMON_MESSAGE_TYPE_LOG
 * (perfmon/overflow.h).
 *
 * Return: 0, or
 * -EINVAL: no log
 * -ETIMEDOUT: nobody has read the log's pipe for a second: what waits is kept, flush again
 * - the error that writing has met (-ENOSPC, -EPIPE...), however long ago
 */
int perfmon_sampling_log_flush(struct perfmon_session *session);

/**
 * perfmon_sampling_log_user() - writes a record of the program's own, of its KIND, with
 * SIZE bytes of DATA (at most 65,000).
 *
 * Return: 0, or
 * -EINVAL: no log
 * -E2BIG: SIZE is above that
 * -ENOBUFS: there is no room just now: the record is dropped, and the log says so
 * - the log's saved error
 */
int perfmon_sampling_log_user(struct perfmon_session *session, uint32_t kind,
			      const void *data, size_t size);

/**
 * perfmon_sampling_log_close() - flushes and completes the log. perfmon_session_close()
 * waits no longer, either.
 *
 * Return: 0, also when there is none; or
 * -EBUSY: the session runs or is masked
 * -ETIMEDOUT: nobody has read the log's pipe for a second: the samples that it had no room
 *	for are lost, and perfmon_sampling_counts() has them
 * - the log's saved error
 */
int perfmon_sampling_log_close(struct perfmon_session *session);

#ifdef __cplusplus
}
#endif
#endif
