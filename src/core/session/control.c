/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rules of perfctr and hwpmc. */
#include <errno.h>

#include "core/api/export.h"
#include "core/session/calls.h"
#include "perfmon/control.h"

/* --- swap --------------------------------------------------------------------------- */

static int check_swap(struct perfmon_session *session, const struct perfmon_value *values,
		      size_t n, uint32_t flags)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = pm_session_check_index(session, i, PERFMON_COUNTER_VIRTUAL_TIME,
					     values[i].reserved);
	err = err ?: pm_session_check_stopped(session, flags);
	for (size_t i = 0; i < n && !err; i++)
		err = pm_session_check_index(session, i, values[i].index, 0);
	return err;
}

static int swap(struct perfmon_session *session, struct perfmon_value *values, size_t n)
{
	struct perfmon_write write;
	int err = 0;

	if (session->state == PERFMON_STATE_RUNNING)
		session->stamp++;
	for (size_t i = 0; i < n && !err; i++)
		err = pm_session_find(session, values[i].index, 0);
	/* Writing moves the base by what has just been read: not a count is lost. */
	for (size_t i = 0; i < n && !err; i++) {
		const struct perfmon_value *found =
			values[i].index == PERFMON_COUNTER_VIRTUAL_TIME
				? &session->time.found
				: &session->registers[values[i].index].found;

		write = (struct perfmon_write){.index = values[i].index,
					       .value = values[i].value};
		values[i] = *found;
		err = pm_session_write_one(session, &write);
	}
	return err ? pm_session_explain(session, err) : (int)n;
}

PM_EXPORT int perfmon_session_swap(struct perfmon_session *session,
				   struct perfmon_value *values, size_t count,
				   size_t element_size, uint32_t flags)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	pm_session_catch_up(session);
	err = PM_SESSION_CHECK_VECTOR(session, values, count, element_size,
				      PM_VECTOR_IN_OUT, perfmon_value, 40);
	if (!err && flags & ~PERFMON_WRITE_STOPPED)
		err = pm_diag_set(&session->diag, -EINVAL, "unknown flags 0x%x", flags);
	if (err)
		return pm_session_leave(session, err);
	pm_vector_pack(values, count, element_size, sizeof(values[0]));
	err = check_swap(session, values, count, flags) ?: swap(session, values, count);
	pm_vector_unpack(values, count, element_size, sizeof(values[0]));
	return pm_session_leave(session, err);
}

/* --- control ------------------------------------------------------------------------ */

/* Sets the sums to 0, but for those in KEEP. Of a stopped session. */
static int zero_sums(struct perfmon_session *session, const uint64_t *keep)
{
	struct perfmon_write write = {0};
	int err = 0;

	for (; write.index < session->count && !err; write.index++) {
		if (pm_counter_in(keep, write.index))
			continue;
		err = pm_session_collect(session, write.index);
		if (!err || err == -ENODATA)
			err = pm_session_write_one(session, &write);
	}
	return err ? pm_session_explain(session, err) : 0;
}

static int control(struct perfmon_session *session, const char *text,
		   const uint64_t *keep)
{
	enum perfmon_state before;
	int err, replaced;

	if (session->set_count > 1)
		return pm_diag_set(&session->diag, -EINVAL,
				   "a control has one event set, the session has %u",
				   session->set_count);
	pm_session_catch_up(session);
	before = session->state;
	pm_session_stop_all(session);
	replaced = pm_session_replace(session, text);
	err = replaced < 0 ? replaced : zero_sums(session, keep);
	if (err && before != PERFMON_STATE_RUNNING)
		return err;
	if (!err)
		return pm_session_start_all(session);
	/* As it was; the sentence stays that of the error. */
	struct pm_diag refused = session->diag;

	if (!pm_session_start_all(session))
		session->diag = refused;
	return err;
}

PM_EXPORT int perfmon_session_control(struct perfmon_session *session, const char *text,
				      const uint32_t *keep, size_t keep_count)
{
	uint64_t kept[PM_COUNTER_WORDS] = {0};
	int err = pm_session_enter(session);

	if (err)
		return err;
	if (!keep && keep_count)
		return pm_session_leave(
			session, pm_diag_set(&session->diag, -EINVAL,
					     "no counters to keep, but a number of "
					     "them"));
	pm_counter_mask(kept, keep, keep_count);
	pm_session_notice_loss(session);
	if (session->state == PERFMON_STATE_DETACHED)
		err = pm_diag_set(&session->diag, -EINVAL,
				  "the session is detached and takes no control; attach "
				  "the session first");
	else if (text && *text)
		err = control(session, text, kept);
	else if (session->state != PERFMON_STATE_STOPPED)
		err = pm_session_stop_all(session);
	return pm_session_leave(session, err);
}
