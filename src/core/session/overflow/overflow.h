/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Overflows of a session's counters: resets, messages, signals, stopped threads. */
#ifndef PM_SESSION_OVERFLOW_OVERFLOW_H
#define PM_SESSION_OVERFLOW_OVERFLOW_H

#include "core/session/core/armed.h"

/* Sets what EVENT of REG has to record at an overflow. */
void pm_overflow_plan(const struct perfmon_session *session,
		      const struct pm_register *reg, struct pm_event *event);

/* --- queue.c ------------------------------------------------------------------------ */

/* Makes the queue of messages, unless it is there. 0 or -ENOMEM. */
int pm_queue_need(struct perfmon_session *session);

/* Returns whether somebody may wait for messages. */
bool pm_queue_has_listener(const struct perfmon_session *session);

/* Takes up to ROOM messages, and lets the descriptor follow: how many. */
uint32_t pm_queue_pop(const struct perfmon_session *session,
		      struct perfmon_message *messages, size_t room);

/* The queue's descriptor; -1: not asked for, or the program has closed it. */
int pm_queue_descriptor(const struct perfmon_session *session);

/* Makes it, for a session that has a helper thread. The descriptor, or a negative errno with a
 * sentence. */
int pm_queue_open_descriptor(struct perfmon_session *session);

/* Makes it readable if messages wait. */
void pm_queue_tell(const struct perfmon_session *session);

/* The last target has gone: a message says so. */
void pm_overflow_end(struct perfmon_session *session);

/* Closes the descriptor for messages, which the session's helper knows. */
void pm_overflow_close_descriptor(struct perfmon_session *session);

/* --- drain.c ------------------------------------------------------------------------ */

/* Tells, once, that the log cannot be written. */
void pm_overflow_report_log(struct perfmon_session *session);

/* Writes the periods that REGISTERS' values ask for into PLAN's events, before they are
 * opened. PLAN and REGISTERS may be those that the session will have; its own first ones
 * are the same counters. */
void pm_overflow_prepare(const struct perfmon_session *session,
			 struct pm_session_plan *plan, struct pm_register *registers,
			 uint32_t count);

/* Arms TARGET, just opened: its ring, its signals. 0 or a negative errno. */
int pm_overflow_arm(struct perfmon_session *session, struct pm_session_plan *plan,
		    struct pm_target *target);
void pm_overflow_disarm(struct perfmon_session *session,
			const struct pm_session_plan *plan, struct pm_target *target);

/* Takes all that is in the ring of a target, or of all, and does what overflows and clocks
 * ask for. The last one leaves there what a log has no room for just now, if it can
 * wait. */
void pm_overflow_drain_target(struct perfmon_session *session, struct pm_target *target);
void pm_overflow_catch_up(struct perfmon_session *session);

/* Takes the last records of a session that has just stopped, and lets stopped threads
 * go. */
void pm_overflow_after_stop(struct perfmon_session *session);

/* Counters that wait for it take their long reset values. */
void pm_overflow_reset_due(struct perfmon_session *session);

/* -EINVAL with a sentence if VALUE would have register REG sample more often than
 * PERFMON_MIN_PERIOD allows. */
int pm_overflow_check_period(struct perfmon_session *session,
			     const struct pm_register *reg, uint64_t value);

/* Register I has been written to VALUE. */
int pm_overflow_written(struct perfmon_session *session, uint32_t i, uint64_t value);

/* Counter I waits for its long reset no more. */
void pm_overflow_forget_due(struct perfmon_session *session, uint32_t i);

/* --- stopped.c ---------------------------------------------------------------------- */

/* Threads that wait for a restart may go. */
void pm_overflow_release(struct perfmon_session *session);

/* SESSION, counted in its `blocked`, may be closed. */
void pm_wait_let_go(struct perfmon_session *session);
void pm_overflow_close(struct perfmon_session *session); /* waits for handlers */

#endif
