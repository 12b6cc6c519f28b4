/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masked sessions and their restart. */
#ifndef PM_SESSION_OVERFLOW_RESTART_H
#define PM_SESSION_OVERFLOW_RESTART_H

#include "core/session/core/core.h"

/* Restarts a masked session. -EBUSY if it is not. */
int pm_overflow_restart(struct perfmon_session *session);

/* To be called before events are enabled: opens those of a session anew that breakpoints
 * have stopped for good. 0 or a negative errno with a sentence, and nothing has changed.
 */
int pm_breakpoints_renew(struct perfmon_session *session);

#endif
