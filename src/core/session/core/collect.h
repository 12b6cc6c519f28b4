/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Readings of targets, and how a counter is read: from its page if that says all. For the
 * files that read. */
#ifndef PM_SESSION_CORE_COLLECT_H
#define PM_SESSION_CORE_COLLECT_H

#include "core/session/core/core.h"

/*
 * The time of a thread that is open on several CPUs at once, as what it creates is
 * sampled: its enabled time on one of them stands for all as far as the kernel keeps it
 * up, but it cannot be less than what its events ran on all of them.
 */
struct pm_span {
	uint64_t sum; /* of the threads that are done */
	uint64_t enabled_ns, running_ns;
};

/* The sum so far; TARGET's times go to it. */
uint64_t pm_span_end(struct pm_span *span);
void pm_span_add(struct pm_span *span, const struct pm_target *target,
		 uint64_t enabled_ns, uint64_t running_ns);

/* Makes the reading of counter C in set S of TARGET as good as now: one read(2) for its
 * group answers for all its members. */
int pm_part_refresh(struct perfmon_session *session, struct pm_target *target, uint32_t s,
		    uint32_t c, bool *syscall);

/* Reads REG on all targets, by read(2) where the last readings are not good. */
int pm_register_read(struct perfmon_session *session, struct pm_register *reg,
		     bool *syscall);

/* Returns whether a target has refused an event of REG. */
bool pm_register_is_partial(const struct perfmon_session *session,
			    const struct pm_register *reg);

/* The counter of TARGET's part *S whose enabled time is the session's, or PM_NO_CLOCK. */
uint32_t pm_clock_of(const struct pm_session_plan *plan, const struct pm_target *target,
		     uint32_t *s);

/* Finds how long the targets ran since the attach. */
int pm_session_time_of_targets(struct perfmon_session *session, uint64_t *ns,
			       bool *syscall);

/* Returns whether the calling thread may read pages instead of events: it is the only
 * target, and neither sets nor events share time, so the page's reading is the sum over
 * all. */
static inline bool pm_has_pages(const struct perfmon_session *session)
{
	return session->state == PERFMON_STATE_RUNNING && session->plan->set_count == 1 &&
	       pm_session_is_own(session);
}

static inline bool pm_page_read(struct perfmon_session *session, uint32_t i)
{
	struct pm_register *reg = &session->registers[i];
	const struct pm_part *part = &session->plan->targets[0].parts[0];
	struct pm_reading reading;

	if (reg->count != 1 || !part->instance->counters[reg->planned].user_read ||
	    pm_view_read_times(&session->reader->views[i], &reading.value,
			       &reading.enabled_ns, &reading.running_ns))
		return false;
	reading.value -= reg->base.value;
	part->readings[reg->planned] = reading;
	reg->now = reading;
	return true;
}

static inline int pm_collect(struct perfmon_session *session, uint32_t i, bool pages,
			     bool *syscall)
{
	*syscall = false;
	return pages && pm_page_read(session, i)
		       ? 0
		       : pm_register_read(session, &session->registers[i], syscall);
}

#endif
