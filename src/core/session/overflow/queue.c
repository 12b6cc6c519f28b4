/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages: who reads them, and how the program hears of them. */
#include "core/session/overflow/queue.h"

#include <errno.h>
#include <stdlib.h>

#include "core/api/export.h"
#include "core/session/overflow/notices.h"
#include "core/session/overflow/overflow.h"
#include "core/session/sampling/sampling.h"

/* The queue's descriptor; -1: not asked for, or the program has closed it. */
static int own_descriptor(const struct perfmon_session *session)
{
	int fd = session->overflows->queue->descriptor;

	return fd >= 0 && pm_helper_keeps(session->helper, fd) ? fd : -1;
}

/* Has it readable while messages wait. */
static void tell_descriptor(const struct perfmon_session *session)
{
	static const uint64_t one = 1;
	int fd = own_descriptor(session);

	if (fd >= 0)
		pm_kernel_write(fd, &one, sizeof(one));
}

void pm_queue_push(struct perfmon_session *session, const struct perfmon_message *message)
{
	struct pm_overflow_queue *queue = session->overflows->queue;
	struct perfmon_message *place;

	if (queue->count == PM_QUEUE_MESSAGES) {
		queue->lost = true;
		return;
	}
	place = &queue->messages[(queue->first + queue->count) % PM_QUEUE_MESSAGES];
	*place = *message;
	if (queue->lost)
		place->flags |= PERFMON_MESSAGE_LOST;
	queue->lost = false;
	if (!queue->count++)
		tell_descriptor(session);
}

/* Takes up to ROOM messages, and lets the descriptor follow. */
static uint32_t pop(const struct perfmon_session *session,
		    struct perfmon_message *messages, size_t room)
{
	struct pm_overflow_queue *queue = session->overflows->queue;
	uint32_t n = 0;
	uint64_t count;
	int fd;

	while (queue->count && n < room) {
		messages[n++] = queue->messages[queue->first];
		queue->first = (queue->first + 1) % PM_QUEUE_MESSAGES;
		queue->count--;
	}
	fd = n && !queue->count ? own_descriptor(session) : -1;
	if (fd >= 0)
		pm_kernel_read(fd, &count, sizeof(count));
	return n;
}

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
	n = session->overflows->queue ? pop(session, messages, count) : 0;
	pm_vector_unpack(messages, n, element_size, sizeof(messages[0]));
	return pm_session_leave(session, n ? (int)n : -EAGAIN);
}

int pm_queue_need(struct perfmon_session *session)
{
	if (session->overflows->queue)
		return 0;
	session->overflows->queue = calloc(1, sizeof(*session->overflows->queue));
	if (!session->overflows->queue)
		return pm_diag_set(&session->diag, -ENOMEM, "out of memory");
	session->overflows->queue->descriptor = -1;
	return 0;
}

bool pm_queue_has_listener(const struct perfmon_session *session)
{
	return session->overflows->queue && session->overflows->queue->descriptor >= 0;
}

int pm_overflow_create(struct perfmon_session *session)
{
	session->overflows = calloc(1, sizeof(*session->overflows));
	return session->overflows ? 0 : -ENOMEM;
}

void pm_overflow_free(struct perfmon_session *session)
{
	if (!session->overflows)
		return;
	free(session->overflows->queue);
	free(session->overflows);
	session->overflows = NULL;
}

void pm_overflow_close_descriptor(struct perfmon_session *session)
{
	struct pm_overflow_queue *queue = session->overflows->queue;
	int fd = queue ? own_descriptor(session) : -1;

	if (fd >= 0) {
		pm_helper_unwatch(session->helper, fd);
		pm_kernel_close(fd);
	}
	if (queue)
		queue->descriptor = -1;
}

/* --- the descriptor ----------------------------------------------------------------- */

/* Of a session that has somebody who looks after it. */
static int open_descriptor(struct perfmon_session *session)
{
	struct pm_overflow_queue *queue = session->overflows->queue;
	int fd = pm_kernel_eventfd(), err;

	if (fd < 0)
		return pm_diag_set(&session->diag, fd,
				   "cannot create a descriptor for messages (error %d)",
				   -fd);
	err = pm_helper_keep(session->helper, fd);
	if (err) {
		pm_kernel_close(fd);
		return pm_session_closed_by_program(session, err);
	}
	queue->descriptor = fd;
	err = pm_sampling_listen(session);
	if (err) {
		pm_overflow_close_descriptor(session);
		return err;
	}
	if (queue->count)
		tell_descriptor(session);
	return fd;
}

static int make_descriptor(struct perfmon_session *session)
{
	int err = pm_queue_need(session);

	if (err)
		return err;
	if (session->overflows->queue->descriptor < 0) {
		err = session->hooks->need_helper(session);
		return err ?: open_descriptor(session);
	}
	return own_descriptor(session) >= 0
		       ? own_descriptor(session)
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
