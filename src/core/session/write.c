/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values are written. */
#include <errno.h>

#include "core/api/export.h"
#include "core/session/calls.h"

int pm_session_write_one(struct perfmon_session *session,
			 const struct perfmon_write *write)
{
	pm_session_set_value(session, write);
	return write->index == PERFMON_COUNTER_VIRTUAL_TIME
		       ? 0
		       : pm_overflow_written(session, write->index, write->value);
}

static int check_period(struct perfmon_session *session,
			const struct perfmon_write *write)
{
	return write->index == PERFMON_COUNTER_VIRTUAL_TIME
		       ? 0
		       : pm_overflow_check_period(session,
						  &session->registers[write->index],
						  write->value);
}

static int write_vector(struct perfmon_session *session, const void *writes, size_t n,
			size_t element_size, uint32_t flags)
{
	const struct perfmon_write *write;
	int err = 0, failed;
	size_t i;

	for (i = 0; !err && i < n; i++) {
		write = pm_vector_at(writes, i, element_size);
		err = pm_session_check_index(session, i, PERFMON_COUNTER_VIRTUAL_TIME,
					     write->reserved);
	}
	err = err ?: pm_session_check_stopped(session, flags);
	for (i = 0; !err && i < n; i++) {
		write = pm_vector_at(writes, i, element_size);
		err = pm_session_check_index(session, i, write->index, 0)
			      ?: check_period(session, write);
	}
	if (err)
		return err;
	if (session->state == PERFMON_STATE_RUNNING)
		session->stamp++;
	/* All is read before anything is written. */
	for (i = 0; i < n; i++) {
		write = pm_vector_at(writes, i, element_size);
		if (write->index == PERFMON_COUNTER_VIRTUAL_TIME)
			continue;
		err = pm_session_collect(session, write->index);
		if (err && err != -ENODATA)
			return pm_session_explain(session, err);
	}
	for (i = 0, err = 0; i < n; i++) {
		failed = pm_session_write_one(session,
					      pm_vector_at(writes, i, element_size));
		err = err ?: failed;
	}
	return err ? pm_session_explain(session, err) : (int)n;
}

PM_EXPORT int perfmon_session_write(struct perfmon_session *session,
				    const struct perfmon_write *writes, size_t count,
				    size_t element_size, uint32_t flags)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	pm_session_catch_up(session);
	err = PM_SESSION_CHECK_VECTOR(session, writes, count, element_size, PM_VECTOR_IN,
				      perfmon_write, 16);
	if (!err && flags & ~PERFMON_WRITE_STOPPED)
		err = pm_diag_set(&session->diag, -EINVAL, "unknown flags 0x%x", flags);
	err = err ?: write_vector(session, writes, count, element_size, flags);
	return pm_session_leave(session, err);
}
