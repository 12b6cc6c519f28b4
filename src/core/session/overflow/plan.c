/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events that overflow: the fields that they record, and the shortest period. */
#include <errno.h>
#include <inttypes.h>

#include "core/session/overflow/overflow.h"
#include "core/session/sampling/sampling.h"

static bool names_any(const uint64_t *mask)
{
	uint32_t w;

	for (w = 0; w < PM_COUNTER_WORDS; w++) {
		if (mask[w])
			return true;
	}
	return false;
}

void pm_overflow_plan(const struct perfmon_session *session,
		      const struct pm_register *reg, struct pm_event *event)
{
	const struct pm_overflow_how *how = &reg->overflow.how;

	/* Its record says what these had counted then, however late it is taken. */
	pm_record_plan(event, names_any(how->reset_counters) ||
				      (how->flags & PERFMON_OVERFLOW_SAMPLE &&
				       names_any(how->sample_counters)));
	pm_sampling_plan(session, reg, &event->attr, pm_queue_has_listener(session));
}

int pm_overflow_check_period(struct perfmon_session *session,
			     const struct pm_register *reg, uint64_t value)
{
	const struct pm_overflow *overflow = &reg->overflow;
	uint64_t period = -value;

	if (!overflow->on || !(overflow->how.flags & PERFMON_OVERFLOW_SAMPLE) ||
	    !period || period >= overflow->least)
		return 0;
	return pm_diag_set(&session->diag, -EINVAL,
			   "a period of %" PRIu64
			   " events is below PERFMON_MIN_PERIOD=%" PRIu64,
			   period, overflow->least);
}
