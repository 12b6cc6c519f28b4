/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages of overflows, and the restart that they wait for. */
#include <errno.h>

#include "core/api/export.h"
#include "core/session/calls.h"
#include "core/session/overflow/notices.h"
#include "core/session/sampling/sampling.h"

/* --- messages ----------------------------------------------------------------------- */

PM_EXPORT int perfmon_overflow_read(struct perfmon_session *session,
				    struct perfmon_message *messages, size_t count,
				    size_t element_size)
{
	uint32_t n;
	int err;

	/* A signal handler that interrupted a call on this very session. */
	if (pm_busy_with(session))
		return -EAGAIN;
	err = pm_session_enter(session);
	if (err)
		return err;
	pm_session_catch_up(session);
	if (!messages || !count ||
	    PM_VECTOR_CHECK(messages, 0, element_size, PM_VECTOR_OUT, perfmon_message,
			    56))
		return pm_session_leave(
			session, pm_diag_set(&session->diag, -EINVAL,
					     "%zu messages of %zu bytes: pass room for "
					     "one or more, and sizeof(messages[0]), or "
					     "PERFMON_VECTOR(messages) for all three "
					     "arguments",
					     count, element_size));
	n = session->overflows->queue ? pm_queue_pop(session, messages, count) : 0;
	pm_vector_unpack(messages, n, element_size, sizeof(messages[0]));
	return pm_session_leave(session, n ? (int)n : -EAGAIN);
}

/* --- the descriptor ----------------------------------------------------------------- */

/* A format's messages come as they happen from now on, unless the session runs or has a
 * log. */
static int listen(struct perfmon_session *session)
{
	const struct pm_sampling *sampling = session->sampling;

	if (!sampling || !sampling->use || sampling->log ||
	    session->state == PERFMON_STATE_RUNNING ||
	    session->state == PERFMON_STATE_MASKED)
		return 0;
	return pm_session_replan(session);
}

/* The session has a helper thread. */
static int open_descriptor(struct perfmon_session *session)
{
	int fd = pm_queue_open_descriptor(session), err;

	if (fd < 0)
		return fd;
	err = listen(session);
	if (err) {
		pm_overflow_close_descriptor(session);
		return err;
	}
	pm_queue_tell(session);
	return fd;
}

static int make_descriptor(struct perfmon_session *session)
{
	int err = pm_queue_need(session);

	if (err)
		return err;
	if (!pm_queue_has_listener(session)) {
		err = pm_helper_need(session);
		return err ?: open_descriptor(session);
	}
	return pm_queue_descriptor(session) >= 0
		       ? pm_queue_descriptor(session)
		       : pm_session_closed_by_program(session, -EBADF);
}

PM_EXPORT int perfmon_overflow_descriptor(struct perfmon_session *session)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	/* Nobody would be woken for what waits already. */
	pm_session_catch_up(session);
	return pm_session_leave_idle(session, make_descriptor(session));
}

/* --- the restart -------------------------------------------------------------------- */

PM_EXPORT int perfmon_overflow_restart(struct perfmon_session *session)
{
	struct pm_asked *asked = pm_busy_with(session);
	int err;

	if (asked) {
		asked->restart = true;
		return 0;
	}
	err = pm_session_enter(session);
	if (err)
		return err;
	pm_session_catch_up(session);
	return pm_session_leave(session, pm_session_restart(session));
}
