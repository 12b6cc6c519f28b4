/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The work of calls, with the session's lock: its plan is built and opened, its targets are
 * started, stopped, restarted, detached.
 */
#ifndef PM_SESSION_RUN_RUN_H
#define PM_SESSION_RUN_RUN_H

#include "core/session/core/core.h"

/* --- build.c ------------------------------------------------------------------------ */

/* Builds a plan of COUNT REGISTERS in SET_COUNT SETS, with nothing open. 0 or -ENOMEM. */
int pm_plan_build(const struct perfmon_session *session, struct pm_register *registers,
		  uint32_t count, const struct pm_set *sets, uint32_t set_count,
		  struct pm_session_plan **plan);

/* --- install.c ---------------------------------------------------------------------- */

/*
 * Puts REGISTERS and SETS in the place of the session's. An attached session opens them
 * before it lets go of the old ones, so that an error changes nothing. Takes both over in
 * any case; SETS may be the session's own. The first registers of both are the same,
 * unless the session is detached. 0, or a negative errno with a sentence: -ENOMEM if one
 * of both is NULL.
 */
int pm_session_install(struct perfmon_session *session, struct pm_register *registers,
		       uint32_t count, struct pm_set *sets, uint32_t set_count);

/* The same with a copy of its own registers. */
int pm_session_reinstall(struct perfmon_session *session, struct pm_register *registers);

/* Makes PLAN that of the session, and the reader's views those of its targets. */
void pm_session_adopt_plan(struct perfmon_session *session, struct pm_session_plan *plan);

/* Adds what all targets have counted to the registers' bases, and closes them. 0, or the first
 * error of the reading. */
int pm_session_gather(struct perfmon_session *session);

/* Opens the events of a stopped session anew with what they have to record now. */
int pm_session_replan(struct perfmon_session *session);

/* --- breakpoint.c ------------------------------------------------------------------- */

/* To be called before events are enabled: opens those of a session anew that breakpoints
 * have stopped for good. 0 or a negative errno with a sentence, and nothing has changed.
 */
int pm_breakpoints_renew(struct perfmon_session *session);

/* --- run.c -------------------------------------------------------------------------- */

/* Starts a stopped session; stops a running or masked one. */
int pm_session_start_all(struct perfmon_session *session);
int pm_session_stop_all(struct perfmon_session *session);

/* Restarts a masked session. -EBUSY if it is not. */
int pm_session_restart(struct perfmon_session *session);

/* Stops, adds up, closes: the state is detached afterwards. */
int pm_session_detach_all(struct perfmon_session *session);

/* --- loss.c ------------------------------------------------------------------------- */

/* Detaches a session whose targets are all gone. To be called by what depends on the
 * state; nothing is asked for the calling thread's own session. */
void pm_session_notice_loss(struct perfmon_session *session);

#endif
