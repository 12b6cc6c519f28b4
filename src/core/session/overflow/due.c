/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counters that wait for their long reset. */
#include "core/session/overflow/overflow.h"
#include "core/session/overflow/period.h"
#include "core/session/overflow/reset.h"

void pm_overflow_reset_due(struct perfmon_session *session)
{
	struct pm_session_plan *plan = session->plan;
	uint32_t t, i;

	for (t = 0; t < plan->target_count; t++) {
		for (i = 0; i < session->count; i++) {
			struct pm_register *reg = &session->registers[i];
			struct pm_target *target = &plan->targets[t];

			if (!reg->overflow.on ||
			    !pm_period_is_due(pm_arm_of(target, reg)->fit))
				continue;
			pm_overflow_reset(session, target, reg,
					  reg->overflow.how.long_reset);
			pm_overflow_reset_others(session, target, reg, NULL, NULL);
		}
		pm_period_finish(session, &plan->targets[t]);
	}
}
