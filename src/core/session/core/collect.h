/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a counter is read: from its page if that says all. For the files that read. */
#ifndef PM_SESSION_CORE_COLLECT_H
#define PM_SESSION_CORE_COLLECT_H

#include "core/session/core/readings.h"

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
