/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads that stop at an overflow until the session is restarted. */
#ifndef PM_SESSION_OVERFLOW_WAIT_H
#define PM_SESSION_OVERFLOW_WAIT_H

#include "core/session/core/core.h"

/* The calling thread waits until SESSION is not masked any more; in a handler. */
void pm_wait_for_restart(struct perfmon_session *session);

/* SESSION, counted in its `blocked`, may be closed. */
void pm_wait_let_go(struct perfmon_session *session);

#endif
