/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rules of perfctr and hwpmc for a session, where they differ from perfmon2's, which are
 * the default (perfmon/session.h):
 *
 *	rule						who	here
 *	a counter's value is swapped in one		hwpmc	perfmon_session_swap()
 *	values are not written while running		hwpmc	PERFMON_WRITE_STOPPED
 *	started unattached it counts its own thread	hwpmc	PERFMON_SESSION_SELF
 *	a thread has one state				perfctr	PERFMON_SESSION_EXCLUSIVE
 *	it is opened without being created		perfctr	perfmon_session_of_thread()
 *	a control replaces all counters, zeroes		perfctr	perfmon_session_control()
 *	the sums and starts
 *	an empty control stops				perfctr	the same, without a text
 *	unlink stops, samples and detaches		perfctr	perfmon_session_detach()
 *
 * Common to all calls: what perfmon/session.h says of threads, forked children, errors
 * and the order of checks.
 */
#ifndef PERFMON_CONTROL_H
#define PERFMON_CONTROL_H

#include <perfmon/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * perfmon_session_swap() - reads the counters that the COUNT elements of VALUES name and
 * sets them to the `value` that stands there, at one moment: what is counted belongs to
 * the value read or to the new one, and to no other. VALUES are then as
 * perfmon_session_read() would have filled them. FLAGS: 0 or PERFMON_WRITE_STOPPED. A
 * counter that is named twice gives the same reading twice, and the last value is set.
 *
 * The number of elements; errors as perfmon_session_write(), whose system calls it makes;
 * -EINVAL also for unknown FLAGS.
 */
int perfmon_session_swap(struct perfmon_session *session, struct perfmon_value *values,
			 size_t count, size_t element_size, uint32_t flags);

/**
 * perfmon_session_control() - stops an attached session, makes it count the events that
 * TEXT names and no others (counter 0 the first of them), sets its sums to 0 and starts
 * it. The KEEP_COUNT counters of which the indices stand in KEEP (NULL with KEEP_COUNT 0)
 * go on from their sums, whatever they counted before. The virtual time goes on always. A
 * TEXT that says what is counted already opens nothing anew.
 *
 * TEXT NULL or "": stops, and keeps counters and sums.
 *
 * Where the new events are refused, the old ones count on with their sums; where they
 * cannot be started, the session is stopped.
 *
 * Return: 0, or
 * -EINVAL: the session is detached, it has several event sets, TEXT names some, or KEEP is
 *	NULL with a count
 * - what perfmon_session_add_events() and perfmon_session_start() give
 */
int perfmon_session_control(struct perfmon_session *session, const char *text,
			    const uint32_t *keep, size_t keep_count);

/**
 * perfmon_session_of_thread() - the exclusive session (PERFMON_SESSION_EXCLUSIVE) that
 * thread TID of this process is attached to, in *SESSION; 0: the calling thread. It is
 * the one handle: it belongs to whoever created it, and once that one has closed it, it
 * must not be used. Sessions of other processes on the thread are not known. Any thread;
 * two system calls at most.
 *
 * Return: 0, or
 * -EINVAL: SESSION is NULL, or TID negative
 * -ENOENT: the thread has none, has ended, or there is no such thread
 */
int perfmon_session_of_thread(pid_t tid, struct perfmon_session **session);

#ifdef __cplusplus
}
#endif
#endif
