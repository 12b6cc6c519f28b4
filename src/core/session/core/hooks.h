/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the core of a session needs of the rooms above it. The core and these rooms call
 * through this table what stands above them; a call below goes directly. There is one
 * table, constant, in session.c.
 */
#ifndef PM_SESSION_CORE_HOOKS_H
#define PM_SESSION_CORE_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_attr;
struct perfmon_session;
struct pm_asked;
struct pm_event;
struct pm_register;
struct pm_session_plan;

/* All but plan_event, wants_side_records and plan_side may change the session, and have
 * its lock. What returns an int gives 0, or a negative errno with a sentence. */
struct pm_session_hooks {
	/* --- plans ----------------------------------------------------------------- */

	/* What EVENT of REG, which overflows, has to record. */
	void (*plan_event)(const struct perfmon_session *session,
			   const struct pm_register *reg, struct pm_event *event);

	/* Whether a log wants what goes on around samples, and an event that records it. */
	bool (*wants_side_records)(const struct perfmon_session *session);
	void (*plan_side)(struct perf_event_attr *attr);

	/* Whether the session can count other events. */
	int (*may_change)(struct perfmon_session *session);

	/* Writes the periods that REGISTERS' values ask for into PLAN's events, before they
	 * are opened. PLAN and REGISTERS may be those that the session will have; its own
	 * first ones are the same counters. */
	void (*prepare)(const struct perfmon_session *session,
			struct pm_session_plan *plan, struct pm_register *registers,
			uint32_t count);

	/* Opens all targets of OLD in PLAN. Refused counters, or a negative errno with
	 * nothing of PLAN open. */
	int (*open_again)(struct perfmon_session *session, struct pm_session_plan *plan,
			  const struct pm_session_plan *old);

	/* Closes what PLAN has open from its target number FIRST on. */
	void (*close_targets)(struct perfmon_session *session,
			      struct pm_session_plan *plan, uint32_t first);

	/* --- calls ----------------------------------------------------------------- */

	/* Takes what waits in rings, and does what overflows and clocks ask for. */
	void (*catch_up)(struct perfmon_session *session);

	/* Does what handlers have ASKED for that interrupted a call, which has ended.
	 * Without the lock. */
	void (*leave)(struct perfmon_session *session, struct pm_asked asked);

	/* Detaches a session whose targets are all gone. */
	void (*notice_loss)(struct perfmon_session *session);

	/* Attaches a detached session to the calling thread. */
	int (*attach_self)(struct perfmon_session *session);

	/* Of a stopped session, before its targets are enabled. */
	int (*before_start)(struct perfmon_session *session);

	/* Of a session that has just stopped: takes the last records. */
	void (*after_stop)(struct perfmon_session *session);

	/* Whether register REG may have VALUE; register I has been written to it. */
	int (*check_period)(struct perfmon_session *session,
			    const struct pm_register *reg, uint64_t value);
	int (*written)(struct perfmon_session *session, uint32_t i, uint64_t value);

	/* --- messages and the helper thread ---------------------------------------- */

	/* Makes the queue of messages, unless it is there; whether somebody may wait for
	 * messages. */
	int (*need_queue)(struct perfmon_session *session);
	bool (*has_listener)(const struct perfmon_session *session);

	/* Makes the helper thread, unless it is there. */
	int (*need_helper)(struct perfmon_session *session);

	/* Takes it from a detached session that has no use for it, or NULL: to be stopped
	 * and forgotten when the caller has given back the lock. */
	struct pm_helper *(*idle_helper)(struct perfmon_session *session);
};

#endif
