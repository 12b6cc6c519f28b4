/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values are written. */
#include <errno.h>
#include <stdlib.h>

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

static int write_vector(struct perfmon_session *session,
			const struct perfmon_write *writes, size_t n, uint32_t flags)
{
	int err = 0, failed;
	size_t i;

	for (i = 0; !err && i < n; i++)
		err = pm_session_check_index(session, i, PERFMON_COUNTER_VIRTUAL_TIME,
					     writes[i].reserved);
	err = err ?: pm_session_check_stopped(session, flags);
	for (i = 0; !err && i < n; i++)
		err = pm_session_check_index(session, i, writes[i].index, 0)
			      ?: check_period(session, &writes[i]);
	if (err)
		return err;
	if (session->state == PERFMON_STATE_RUNNING)
		session->stamp++;
	/* All is read before anything is written. */
	for (i = 0; i < n; i++) {
		if (writes[i].index == PERFMON_COUNTER_VIRTUAL_TIME)
			continue;
		err = pm_session_collect(session, writes[i].index);
		if (err && err != -ENODATA)
			return pm_session_explain(session, err);
	}
	for (i = 0, err = 0; i < n; i++) {
		failed = pm_session_write_one(session, &writes[i]);
		err = err ?: failed;
	}
	return err ? pm_session_explain(session, err) : (int)n;
}

PM_EXPORT int perfmon_session_write(struct perfmon_session *session,
				    const struct perfmon_write *writes, size_t count,
				    size_t element_size, uint32_t flags)
{
	int err = pm_session_enter(session);
	struct perfmon_write *packed;

	if (err)
		return err;
	pm_session_catch_up(session);
	err = PM_SESSION_CHECK_VECTOR(session, writes, count, element_size, PM_VECTOR_IN,
				      perfmon_write, 16);
	if (!err && flags & ~PERFMON_WRITE_STOPPED)
		err = pm_diag_set(&session->diag, -EINVAL, "unknown flags 0x%x", flags);
	if (err)
		return pm_session_leave(session, err);
	packed = pm_vector_packed(writes, count, element_size, sizeof(writes[0]));
	err = packed ? write_vector(session, packed, count, flags)
		     : pm_diag_set(&session->diag, -ENOMEM, "out of memory");
	if (packed != writes)
		free(packed);
	return pm_session_leave(session, err);
}
