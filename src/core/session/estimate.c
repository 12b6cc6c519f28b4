/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Estimates of what counters would have counted. */
#include <errno.h>

#include "core/api/export.h"
#include "core/session/calls.h"
#include "core/session/sets/sets.h"

static int estimate_vector(struct perfmon_session *session,
			   struct perfmon_estimate *estimates, size_t n)
{
	struct pm_slice_lost lost;
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		err = pm_session_check_index(session, i, estimates[i].index,
					     estimates[i].reserved);
		if (!err && estimates[i].index == PERFMON_COUNTER_VIRTUAL_TIME)
			err = pm_diag_set(&session->diag, -EINVAL,
					  "element %zu: the virtual time is no estimate",
					  i);
	}
	if (err)
		return err;
	if (session->state == PERFMON_STATE_RUNNING)
		session->stamp++;
	for (i = 0; i < n; i++) {
		err = pm_session_find(session, estimates[i].index, PERFMON_READ_TOTAL);
		if (err)
			return pm_session_explain(session, err);
	}
	lost = pm_slice_lost(session);
	for (i = 0; i < n; i++)
		pm_estimate(&session->registers[estimates[i].index], lost, &estimates[i]);
	return (int)n;
}

PM_EXPORT int perfmon_set_estimate(struct perfmon_session *session,
				   struct perfmon_estimate *estimates, size_t count,
				   size_t element_size)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	pm_session_catch_up(session);
	err = PM_SESSION_CHECK_VECTOR(session, estimates, count, element_size,
				      PM_VECTOR_IN_OUT, perfmon_estimate, 48);
	if (err)
		return pm_session_leave(session, err);
	pm_vector_pack(estimates, count, element_size, sizeof(estimates[0]));
	err = estimate_vector(session, estimates, count);
	pm_vector_unpack(estimates, count, element_size, sizeof(estimates[0]));
	return pm_session_leave(session, err);
}
