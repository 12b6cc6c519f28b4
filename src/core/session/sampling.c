/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sampling: set up, torn down, asked for; its log. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "core/api/export.h"
#include "core/session/calls.h"
#include "core/session/sampling/sampling.h"
#include "core/settings/options.h"

#define RING_PAGES_MAX 4096

static int check(struct perfmon_session *session, const struct perfmon_sampling *asked)
{
	int err = PM_STRUCT_CHECK(asked, perfmon_sampling, 56);
	uint64_t known = pm_fields_known();

	if (err)
		return pm_session_explain_struct(session, err, "the sampling",
						 "perfmon_sampling");
	if (asked->flags & ~PERFMON_SAMPLING_BEST || asked->reserved ||
	    asked->fields & ~known)
		return pm_diag_set(&session->diag, -EINVAL,
				   "sampling has unknown flags 0x%x or fields 0x%" PRIx64
				   ", or a reserved field that is not 0",
				   asked->flags, asked->fields & ~known);
	if (asked->ring_pages & (asked->ring_pages - 1) ||
	    asked->ring_pages > RING_PAGES_MAX)
		return pm_diag_set(&session->diag, -EINVAL,
				   "%u ring pages: expects a power of two up to %d",
				   asked->ring_pages, RING_PAGES_MAX);
	return 0;
}

static int set_up(struct perfmon_session *session, const struct perfmon_sampling *asked)
{
	struct pm_sampling *sampling = calloc(1, sizeof(*sampling));
	struct pm_options options;
	int err;

	if (!sampling)
		return pm_diag_set(&session->diag, -ENOMEM, "out of memory");
	session->sampling = sampling;
	sampling->fields = asked->fields;
	pm_options_read(&options, NULL);
	sampling->pages = asked->ring_pages ?: options.sample_pages;
	sampling->depth = asked->call_depth ?: options.call_depth;
	pm_options_free(&options);
	err = pm_fields_grant(session, sampling, asked->flags);
	if (!err && asked->format)
		err = pm_format_begin(&sampling->use, asked->format, asked->data,
				      asked->data_size, &session->diag);
	err = err ?: pm_queue_need(session);
	err = err ?: pm_helper_need(session);
	err = err ?: pm_session_replan(session);
	if (err)
		pm_sampling_close(session);
	return err;
}

PM_EXPORT int perfmon_sampling_set_up(struct perfmon_session *session,
				      const struct perfmon_sampling *sampling)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	err = check(session, sampling);
	err = err ?: pm_session_must_stand(session, "the sampling");
	if (!err && session->sampling)
		err = pm_diag_set(&session->diag, -EEXIST,
				  "sampling is already set up; tear sampling down first");
	return pm_session_leave_idle(session, err ?: set_up(session, sampling));
}

/* Closes the log, if there is one. 0, or what could not be written. */
static int close_log(struct pm_sampling *sampling)
{
	int err = pm_log_close(sampling->log);

	sampling->log = NULL;
	sampling->side_records = false;
	return err;
}

static int tear_down(struct perfmon_session *session)
{
	struct pm_sampling *sampling = session->sampling;
	int saved, err;

	if (!sampling)
		return 0;
	saved = close_log(sampling);
	sampling->log_error = sampling->log_error ?: saved;
	session->sampling = NULL;
	err = pm_session_replan(session);
	if (err) {
		session->sampling = sampling;
		return err;
	}
	saved = sampling->log_error;
	pm_format_end(sampling->use);
	free(sampling);
	return saved ? pm_diag_set(&session->diag, saved,
				   "the log could not be written in full (error %d)",
				   -saved)
		     : 0;
}

PM_EXPORT int perfmon_sampling_tear_down(struct perfmon_session *session)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	err = pm_session_must_stand(session, "the sampling");
	return pm_session_leave_idle(session, err ?: tear_down(session));
}

/* --- information -------------------------------------------------------------------- */

static int not_set_up(struct perfmon_session *session)
{
	return pm_diag_set(&session->diag, -EINVAL, "sampling is not set up");
}

/* Takes the lock of a session that samples, and what waits in its rings. */
static int enter_sampling(struct perfmon_session *session)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	pm_session_catch_up(session);
	return session->sampling ? 0 : pm_session_leave(session, not_set_up(session));
}

PM_EXPORT int perfmon_sampling_fields(struct perfmon_session *session, uint64_t *granted)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	if (!session->sampling || !granted)
		return pm_session_leave(session, not_set_up(session));
	*granted = session->sampling->fields;
	return pm_session_leave(session, 0);
}

PM_EXPORT const void *perfmon_sampling_buffer(struct perfmon_session *session,
					      size_t *size)
{
	const void *buffer = NULL;
	size_t found = 0;

	if (pm_session_enter(session))
		return NULL;
	pm_session_catch_up(session);
	if (session->sampling && session->sampling->use)
		buffer = pm_format_buffer(session->sampling->use, &found);
	if (buffer && size)
		*size = found;
	if (!buffer)
		pm_diag_set(&session->diag, -EINVAL,
			    "no format keeps a buffer of samples");
	pm_session_leave(session, 0);
	return buffer;
}

PM_EXPORT int perfmon_sampling_counts(struct perfmon_session *session, uint64_t *taken,
				      uint64_t *lost)
{
	const struct pm_sampling *sampling;
	uint64_t given = 0, dropped = 0, unlogged;
	int err = enter_sampling(session);

	if (err)
		return err;
	sampling = session->sampling;
	if (sampling->use)
		pm_format_counts(sampling->use, &given, &dropped);
	unlogged = sampling->unlogged +
		   __atomic_load_n(&sampling->log_lost, __ATOMIC_RELAXED);
	if (taken)
		*taken = sampling->taken - (sampling->use ? dropped : unlogged);
	if (lost)
		*lost = sampling->lost + dropped + unlogged;
	return pm_session_leave(session, 0);
}

PM_EXPORT int perfmon_sampling_throttled(struct perfmon_session *session, uint64_t *times)
{
	int err = enter_sampling(session);

	if (err)
		return err;
	if (!times)
		return pm_session_leave(session, not_set_up(session));
	*times = session->sampling->throttled;
	return pm_session_leave(session, 0);
}

/* --- a part of the program ---------------------------------------------------------- */

PM_EXPORT int perfmon_sampling_enter(struct perfmon_session *session)
{
	int err = enter_sampling(session);

	if (err)
		return err;
	err = session->sampling->entered++ ? 0 : pm_session_start(session);
	if (err)
		session->sampling->entered--;
	return pm_session_leave(session, err);
}

PM_EXPORT int perfmon_sampling_leave(struct perfmon_session *session)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	if (!session->sampling || !session->sampling->entered)
		return pm_session_leave(session,
					pm_diag_set(&session->diag, -EINVAL,
						    "sampling has not been entered"));
	err = --session->sampling->entered ? 0 : pm_session_stop(session);
	return pm_session_leave(session, err);
}

/* --- the log --------------------------------------------------------------------- */

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
		close_log(sampling);
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
					: not_set_up(session);
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

/* Takes the lock of a session with a log, and what waits in its rings. */
static int enter_log(struct perfmon_session *session)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	pm_session_catch_up(session);
	if (session->sampling && session->sampling->log)
		return 0;
	return pm_session_leave(
		session, pm_diag_set(&session->diag, -EINVAL, "the session has no log"));
}

PM_EXPORT int perfmon_sampling_log_flush(struct perfmon_session *session)
{
	int err = enter_log(session);

	if (err)
		return err;
	err = pm_log_flush(session->sampling->log);
	return pm_session_leave(session, pm_sampling_log_said(session, err));
}

PM_EXPORT int perfmon_sampling_log_user(struct perfmon_session *session, uint32_t kind,
					const void *data, size_t size)
{
	int err = enter_log(session);

	if (err)
		return err;
	err = pm_log_user(session->sampling->log, 0, kind, data, size);
	return pm_session_leave(session, pm_sampling_log_said(session, err));
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
		saved = close_log(sampling);
		err = pm_session_replan(session);
		pm_sampling_log_said(session, saved);
	}
	return pm_session_leave(session, saved ?: err);
}
