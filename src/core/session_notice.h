/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What overflows lead to: resets, messages, signals, stopped threads. */
#ifndef PM_CORE_SESSION_NOTICE_H
#define PM_CORE_SESSION_NOTICE_H

#include "core/session.h"

#define PM_QUEUE_MESSAGES 1024

/* The messages that wait, first come first served. */
struct pm_overflow_queue {
	uint32_t first;
	uint32_t count;
	bool lost;	/* the next one says that some before it were */
	int descriptor; /* eventfd: readable while count > 0; -1: not asked for */
	struct perfmon_message messages[PM_QUEUE_MESSAGES];
};

/* What EVENT needs in a plan to overflow. */
void pm_overflow_plan(struct pm_event *event);

/* How the records of all rings of sessions are laid out. */
const struct perf_event_attr *pm_overflow_attr(void);

/* Sets REG back to RESET after its overflow on TARGET. */
void pm_overflow_reset(struct perfmon_session *session, struct pm_target *target,
		       struct pm_register *reg, uint64_t reset);

/* Sets the counters back that go with an overflow of OF. */
void pm_overflow_reset_others(struct perfmon_session *session, struct pm_target *target,
			      const struct pm_register *of, bool long_reset);

/* (Re-)arms the signals of TARGET's notifying counters. */
int pm_overflow_arm_signals(struct perfmon_session *session, struct pm_target *target);

/* Overflows of event FD stop their thread for SESSION; those of TARGET do no more. */
int pm_notice_block_on(struct perfmon_session *session, int fd);
void pm_notice_unblock(const struct pm_plan *plan, struct pm_target *target);

#endif
