/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads of a session's counters compiled into the program: for harnesses that measure
 * stretches so short that a call would show. Opt-in: perfmon/perfmon.h leaves it out.
 *
 *	const struct perfmon_reader *reader;
 *	uint64_t before, after;
 *
 *	perfmon_session_reader(session, &reader);
 *	perfmon_reader_read(reader, 0, &before);
 *	...
 *	perfmon_reader_read(reader, 0, &after);
 *
 * A warm read is one check of the thread, two of the counter's page, and one instruction
 * that reads the counter; no system call, no lock, no allocation. All else goes out of
 * line to the library: a counter that is not on the hardware now, another thread, a
 * stopped or detached session (its values stay available), a forked child (refused).
 */
#ifndef PERFMON_INLINE_H
#define PERFMON_INLINE_H

#include <perfmon/session.h>

#include "fastpath/read.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Changes when programs compiled with this header need another library. */
#define PERFMON_READER_LAYOUT 1

/*
 * The state that a reader needs. A child of the process finds this memory filled with zeros
 * (MADV_WIPEONFORK), and only the used part of it is ever touched. It is read-only for
 * programs, and the session owns it.
 */
struct perfmon_reader {
	struct perfmon_session *session; /* NULL: this is a child's copy */
	uint32_t count;			 /* counters of the session */
	uint32_t owner_number;		 /* of the owner, for the library; 0: none */
	/* Thread pointer of the thread attached to, 0 if it isn't ours. A later thread
	 * may get the same: by then no view is valid, and the library knows better. */
	uintptr_t owner;
	/* `count` of them. How many there is room for is no part of the layout. */
	struct perfmon_counter_view views[PERFMON_SESSION_COUNTERS_MAX];
};

/* perfmon_session_reader() with the layout that the program was compiled for. */
int perfmon_session_reader_layout(struct perfmon_session *session, uint32_t layout,
				  const struct perfmon_reader **reader);

/**
 * perfmon_session_reader() - the SESSION's reader in *READER. It stays valid, through
 * detaching, attaching and adding of counters, until the session is closed. While one
 * thread uses it, no other may attach, detach, program, write to or close the session;
 * start and stop are no harm. Any thread, any state; no system call.
 *
 * Return: 0, or
 * -EINVAL: no session
 * -ECHILD: a forked child's copy of one
 * -EOPNOTSUPP: the library is too different from this header
 */
static inline int perfmon_session_reader(struct perfmon_session *session,
					 const struct perfmon_reader **reader)
{
	return perfmon_session_reader_layout(session, PERFMON_READER_LAYOUT, reader);
}

/* The rare halves, out of line. */
int perfmon_reader_read_slow(const struct perfmon_reader *reader, uint32_t i,
			     uint64_t *value);
int perfmon_reader_read_all_slow(const struct perfmon_reader *reader, uint64_t *values);

/**
 * perfmon_reader_read() - counter I of the session (in the order of adding; it must
 * exist, which is not checked) into *VALUE: 64 bits, what perfmon_session_read() gives.
 *
 * On the thread that the session is attached to: no system call while the counter is on
 * the hardware and may be read from user space, else one or two. On other threads of the
 * process: right, by system calls and under the session's lock. In a signal handler: only
 * on the thread that the session is attached to. No allocation.
 *
 * Return: 0, or
 * -ECHILD: in a forked child
 * -ENODATA: the counter has been enabled but was never on the hardware
 * -EBADF: the program closed the session's descriptors
 * - the errno with which the kernel refused to open it
 *
 * *VALUE is untouched on failure.
 */
static inline int perfmon_reader_read(const struct perfmon_reader *reader, uint32_t i,
				      uint64_t *value)
{
	/* Loaded with its neighbour, the owner, in one instruction. */
	const struct perf_event_mmap_page *page = reader->views[i].page;

	if (__builtin_expect(reader->owner == perfmon_arch_thread_pointer(), 1) &&
	    __builtin_expect(!perfmon_view_value_on(&reader->views[i], page, value), 1))
		return 0;
	return perfmon_reader_read_slow(reader, i, value);
}

/**
 * perfmon_reader_read_all() - all counters of the session, reader->count of them, into
 * VALUES. Each by itself as perfmon_reader_read(). 0, or the first error; then the value
 * of each counter that failed is untouched.
 */
static inline int perfmon_reader_read_all(const struct perfmon_reader *reader,
					  uint64_t *values)
{
	const struct perfmon_counter_view *view = reader->views;
	uint32_t left;

	if (__builtin_expect(reader->owner != perfmon_arch_thread_pointer(), 0))
		return perfmon_reader_read_all_slow(reader, values);
	for (left = reader->count; left; left--, view++, values++) {
		/* Hidden from compilers that would rather compute where it ends. */
		__asm__("" : "+r"(view));
		/* All of them anew: a call in the loop would cost it registers. */
		if (__builtin_expect(perfmon_view_value(view, values), 0))
			return perfmon_reader_read_all_slow(
				reader, values - (reader->count - left));
	}
	return 0;
}

/**
 * perfmon_reader_read_call(), perfmon_reader_read_all_call() - the same as functions of
 * the library, compiled from the same source.
 */
int perfmon_reader_read_call(const struct perfmon_reader *reader, uint32_t i,
			     uint64_t *value);
int perfmon_reader_read_all_call(const struct perfmon_reader *reader, uint64_t *values);

#ifdef __cplusplus
}
#endif
#endif
