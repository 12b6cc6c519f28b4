/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts that the public calls on a session share. */
#ifndef PM_SESSION_CALLS_H
#define PM_SESSION_CALLS_H

#include "core/session/overflow/overflow.h"
#include "core/session/run/run.h"

/* --- enter.c ------------------------------------------------------------------------ */

/*
 * Takes the lock for a call of the program's, of which the session's sentence is from here
 * on. Returns 0, or
 * -EINVAL: there is no session
 * -ECHILD: in a child of the process
 * -EAGAIN: in a handler that has interrupted too many others (busy.h)
 */
int pm_session_enter(struct perfmon_session *session);

/* The same for the library's own work, and for calls that ask for the sentence: it stays. */
int pm_session_enter_aside(struct perfmon_session *session);
int pm_session_leave(struct perfmon_session *session, int result); /* returns RESULT */

/*
 * Takes what waits in the rings of targets: resets, messages and a mask may follow. To be
 * called where the values or the state matter. Not before a stop, which drains the rings
 * when nothing counts any more: what the library does there is not the program's work.
 */
static inline void pm_session_catch_up(struct perfmon_session *session)
{
	if (__builtin_expect(session->rings, 0))
		pm_overflow_catch_up(session);
}

/* Does what handlers have asked for that interrupted a call, which has ended: RESTART, and stops.
 * Without the lock. */
void pm_session_do_asked(struct perfmon_session *session, bool restart);

static inline int pm_session_leave_inline(struct perfmon_session *session, int result)
{
	pm_lock_release(&session->lock);
	pm_busy_clear();
	if (__builtin_expect(pm_busy.rare, 0))
		pm_session_do_asked(session, pm_busy_end());
	return result;
}

/* The calling thread waits until SESSION is not masked any more; in a handler. */
void pm_wait_for_restart(struct perfmon_session *session);

/* --- check.c ------------------------------------------------------------------------ */

/* The sentence for WHAT, a struct TYPE, that PM_STRUCT_CHECK() refused with ERR, which it
 * returns. */
int pm_session_explain_struct(struct perfmon_session *session, int err, const char *what,
			      const char *type);

/* -EBUSY with a sentence about WHAT, unless the session is detached or stopped. */
int pm_session_must_stand(struct perfmon_session *session, const char *what);

/* -EBUSY if FLAGS have PERFMON_WRITE_STOPPED and the session is running. */
int pm_session_check_stopped(struct perfmon_session *session, uint32_t flags);

/* The checks of a vector of structs TYPE, whose first version had FIRST bytes, and of its
 * elements, which go the WAY of PM_VECTOR_IN and _OUT. A program of this version pays for
 * one test. */
#define PM_SESSION_CHECK_VECTOR(session, vector, count, element_size, way, type, first)  \
	((vector) && (count)-1 < PERFMON_SESSION_VECTOR_MAX &&                           \
			 (element_size) == sizeof(struct type)                           \
		 ? 0                                                                     \
		 : pm_session_check_vector(session, vector, count,                       \
					   PERFMON_SESSION_VECTOR_MAX, element_size,     \
					   way, PM_STRUCT_FIRST(type, first),            \
					   sizeof(struct type)))
/* The same for one of at MOST so many elements. */
int pm_session_check_vector(struct perfmon_session *session, const void *vector,
			    size_t count, size_t most, size_t element_size,
			    unsigned int way, size_t first, size_t known);
int pm_session_check_index(struct perfmon_session *session, size_t i, uint32_t index,
			   uint64_t reserved);

/* The sentence for a counter that cannot be read. Returns ERR. */
int pm_session_explain(struct perfmon_session *session, int err);

/* --- read.c ------------------------------------------------------------------------- */

/* Reads a counter into its scratch, by FLAGS of a read. */
int pm_session_find(struct perfmon_session *session, uint32_t index, uint32_t flags);

/* --- write.c ------------------------------------------------------------------------ */

/* Sets the value of a counter that has just been collected. 0, or what ioctl(2) gives. */
int pm_session_write_one(struct perfmon_session *session,
			 const struct perfmon_write *write);
/* --- helper.c ----------------------------------------------------------------------- */

/* Makes the helper thread, unless it is there. 0 or a negative errno with a sentence. */
int pm_helper_need(struct perfmon_session *session);

/* Returns whether an attached session needs a helper thread even if nobody listens. */
bool pm_helper_has_work(const struct perfmon_session *session);

/* Leaves, and ends a helper thread that the session has no more use for. */
int pm_session_leave_idle(struct perfmon_session *session, int result);

/* --- attach.c ----------------------------------------------------------------------- */

/* Attaches a detached session to the calling thread. */
int pm_session_attach_self(struct perfmon_session *session);

/* --- start.c ------------------------------------------------------------------------ */

/* Attaches a detached session that may attach itself. 0 if it is attached then. */
int pm_session_attach_to_start(struct perfmon_session *session);

/* perfmon_session_start() and _stop() with the lock. A stop drains the rings when nothing
 * counts any more. */
int pm_session_start(struct perfmon_session *session);
int pm_session_stop(struct perfmon_session *session);

/* --- program.c ---------------------------------------------------------------------- */

/* Makes a stopped session of one set count what TEXT says; sums stay with their index. Opens
 * nothing if that is what it counts. On failure nothing has changed. */
int pm_session_replace(struct perfmon_session *session, const char *text);

#endif
