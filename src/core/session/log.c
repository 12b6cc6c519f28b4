/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The log of a session's samples: begun, written to, closed. */
#include <errno.h>

#include "core/api/export.h"
#include "core/session/calls.h"
#include "core/session/sampling/sampling.h"

static int begin_log(struct perfmon_session *session, const char *path, int fd)
{
	struct pm_sampling *sampling = session->sampling;
	struct pm_diag said;
	int err;

	sampling->side_records = true;
	sampling->log_failed = sampling->log_reported = false;
	err = pm_session_replan(session);
	err = err ?: pm_sampling_log_begin(session, path, fd);
	if (err) {
		said = session->diag;
		pm_log_close(sampling->log);
		sampling->log = NULL;
		sampling->side_records = false;
		pm_session_replan(session);
		session->diag = said;
	}
	return err;
}

PM_EXPORT int perfmon_sampling_log(struct perfmon_session *session, const char *path,
				   int fd, uint32_t flags)
{
	uint32_t i, sampled = 0;
	int err = pm_session_enter(session);

	if (err)
		return err;
	if (flags)
		err = pm_diag_set(&session->diag, -EINVAL, "unknown flags 0x%x", flags);
	else
		err = session->sampling ? pm_session_must_stand(session, "the log")
					: pm_sampling_not_set_up(session);
	for (i = 0; i < session->count; i++)
		sampled += pm_is_sampled(&session->registers[i]);
	if (!err && !sampled)
		err = pm_diag_set(&session->diag, -EINVAL,
				  "no counter leaves samples: none has "
				  "PERFMON_OVERFLOW_SAMPLE");
	if (!err && session->sampling->log)
		err = pm_diag_set(&session->diag, -EEXIST,
				  "the session has a log; close the log first");
	return pm_session_leave(session, err ?: begin_log(session, path, fd));
}

PM_EXPORT int perfmon_sampling_log_flush(struct perfmon_session *session)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	pm_session_catch_up(session);
	err = session->sampling && session->sampling->log
		      ? pm_sampling_log_said(session,
					     pm_log_flush(session->sampling->log))
		      : pm_diag_set(&session->diag, -EINVAL, "the session has no log");
	return pm_session_leave(session, err);
}

PM_EXPORT int perfmon_sampling_log_user(struct perfmon_session *session, uint32_t kind,
					const void *data, size_t size)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	pm_session_catch_up(session);
	err = session->sampling && session->sampling->log
		      ? pm_sampling_log_said(session, pm_log_user(session->sampling->log,
								  0, kind, data, size))
		      : pm_diag_set(&session->diag, -EINVAL, "the session has no log");
	return pm_session_leave(session, err);
}

PM_EXPORT int perfmon_sampling_log_close(struct perfmon_session *session)
{
	struct pm_sampling *sampling;
	int saved = 0, err = pm_session_enter(session);

	if (err)
		return err;
	sampling = session->sampling;
	err = pm_session_must_stand(session, "the log");
	if (!err && sampling && sampling->log) {
		saved = pm_log_close(sampling->log);
		sampling->log = NULL;
		sampling->side_records = false;
		err = pm_session_replan(session);
		pm_sampling_log_said(session, saved);
	}
	return pm_session_leave(session, saved ?: err);
}
