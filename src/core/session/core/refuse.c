/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "core/session/core/core.h"

int pm_session_closed_by_program(struct perfmon_session *session, int err)
{
	if (err == -EBADF || err == -ENOTTY || err == -EINVAL)
		return pm_diag_set(
			&session->diag, err,
			"the program has closed file descriptors that belong to the "
			"session; detach and attach the session again");
	return pm_diag_set(&session->diag, err, "the kernel returned error %d", -err);
}
