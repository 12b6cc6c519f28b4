/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The queue of messages, and the descriptor that is readable while some wait. */
#include <errno.h>
#include <stdlib.h>

#include "core/session/overflow/notices.h"
#include "core/session/overflow/overflow.h"

int pm_queue_descriptor(const struct perfmon_session *session)
{
	int fd = session->overflows->queue->descriptor;

	return fd >= 0 && pm_helper_keeps(session->helper, fd) ? fd : -1;
}

void pm_queue_tell(const struct perfmon_session *session)
{
	static const uint64_t one = 1;
	int fd = session->overflows->queue->count ? pm_queue_descriptor(session) : -1;

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
		pm_queue_tell(session);
}

uint32_t pm_queue_pop(const struct perfmon_session *session,
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
	fd = n && !queue->count ? pm_queue_descriptor(session) : -1;
	if (fd >= 0)
		pm_kernel_read(fd, &count, sizeof(count));
	return n;
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

void pm_overflow_close_descriptor(struct perfmon_session *session)
{
	struct pm_overflow_queue *queue = session->overflows->queue;
	int fd = queue ? pm_queue_descriptor(session) : -1;

	if (fd >= 0) {
		pm_helper_unwatch(session->helper, fd);
		pm_kernel_close(fd);
	}
	if (queue)
		queue->descriptor = -1;
}

/* --- the descriptor ----------------------------------------------------------------- */

int pm_queue_open_descriptor(struct perfmon_session *session)
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
	return fd;
}

/* --- the end of a session's targets ------------------------------------------------- */

void pm_overflow_end(struct perfmon_session *session)
{
	const struct perfmon_message message = {.type = PERFMON_MESSAGE_TYPE_END};

	if (session->overflows->queue)
		pm_queue_push(session, &message);
}
