/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks that calls begin with, and the sentences for what they refuse. */
#include <errno.h>

#include "core/session/calls.h"

int pm_session_explain_struct(struct perfmon_session *session, int err, const char *what,
			      const char *type)
{
	if (err == -EINVAL)
		return pm_diag_set(&session->diag, err,
				   "%s: missing, or .size is too small; set .size = "
				   "sizeof(struct %s)",
				   what, type);
	return pm_diag_set(&session->diag, err,
			   "%s: fields unknown to this version of the library are not "
			   "zero; leave those fields zero",
			   what);
}

int pm_session_must_stand(struct perfmon_session *session, const char *what)
{
	pm_session_notice_loss(session);
	if (session->state != PERFMON_STATE_RUNNING &&
	    session->state != PERFMON_STATE_MASKED)
		return 0;
	return pm_diag_set(
		&session->diag, -EBUSY,
		"cannot change %s of a running session; stop the session first", what);
}

int pm_session_check_stopped(struct perfmon_session *session, uint32_t flags)
{
	if (!(flags & PERFMON_WRITE_STOPPED))
		return 0;
	pm_session_notice_loss(session);
	if (session->state != PERFMON_STATE_RUNNING &&
	    session->state != PERFMON_STATE_MASKED)
		return 0;
	return pm_diag_set(&session->diag, -EBUSY,
			   "cannot write the values of a running session "
			   "(PERFMON_WRITE_STOPPED); stop the session first");
}

int pm_session_check_vector(struct perfmon_session *session, const void *vector,
			    size_t count, size_t most, size_t element_size,
			    unsigned int way, size_t first, size_t known)
{
	int err;

	if (!vector || !count)
		return pm_diag_set(&session->diag, -EINVAL,
				   "the vector is %s; pass one element or more",
				   vector ? "empty" : "NULL");
	err = pm_vector_check(vector, 0, element_size, way, first, known);
	if (err == -EINVAL)
		return pm_diag_set(
			&session->diag, err,
			"elements cannot have %zu bytes; pass sizeof(elements[0]), or "
			"PERFMON_VECTOR(elements) for all three arguments",
			element_size);
	if (count > most)
		return pm_diag_set(&session->diag, -E2BIG,
				   "a vector of %zu elements is longer than %zu", count,
				   most);
	if (!err)
		err = pm_vector_check(vector, count, element_size, way, first, known);
	return err ? pm_diag_set(&session->diag, err,
				 "the elements have fields that this version of the "
				 "library does not know; leave them zero")
		   : 0;
}

int pm_session_check_index(struct perfmon_session *session, size_t i, uint32_t index,
			   uint64_t reserved)
{
	if (reserved)
		return pm_diag_set(&session->diag, -EINVAL,
				   "element %zu: a reserved field is not 0", i);
	if (index >= session->count && index != PERFMON_COUNTER_VIRTUAL_TIME)
		return pm_diag_set(
			&session->diag, -EINVAL,
			"element %zu: there is no counter %u: the session has %u", i,
			index, session->count);
	return 0;
}

int pm_session_explain(struct perfmon_session *session, int err)
{
	if (err == -ENODATA)
		return pm_diag_set(
			&session->diag, err,
			"unknown virtual time: no event is open on the target");
	return pm_diag_set(&session->diag, err,
			   "cannot read a counter (error %d); the program may have "
			   "closed file descriptors of the session",
			   -err);
}
