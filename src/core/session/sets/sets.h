/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Event sets and their time slices. */
#ifndef PM_SESSION_SETS_SETS_H
#define PM_SESSION_SETS_SETS_H

#include "core/session/core/core.h"

/* Makes the set at NEXT the active one of TARGET, which is running. 0 or the first error. */
int pm_target_switch(struct perfmon_session *session, struct pm_target *target,
		     uint32_t next);

/* The same for TARGET whose counting stands still: a start or a restart begins there. */
void pm_target_choose(struct perfmon_session *session, struct pm_target *target,
		      uint32_t next);

/* The set after set S, which was on, has its time slice on TARGET. */
void pm_target_next_set(struct perfmon_session *session, struct pm_target *target,
			uint32_t s);

/* The time slice of set S on TARGET is over and its counters have been read: takes notice for
 * estimates; how long it was; and how long none was on since the last one. */
void pm_slice_end(struct perfmon_session *session, struct pm_target *target, uint32_t s);
uint64_t pm_slice_ns(const struct perfmon_session *session,
		     const struct pm_target *target, uint32_t s);
void pm_slice_gap(struct perfmon_session *session, const struct pm_target *target,
		  double ns);

/* How much of its time a slice loses to the switch, and how far off that may be. */
struct pm_slice_lost {
	double ns, error;
};
struct pm_slice_lost pm_slice_lost(const struct perfmon_session *session);

/* Estimates what REG would have counted with its set on all the time. pm_session_find()
 * has just read REG. */
void pm_estimate(const struct pm_register *reg, struct pm_slice_lost lost,
		 struct perfmon_estimate *out);

#endif
