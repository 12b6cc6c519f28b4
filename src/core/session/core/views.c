/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Views: what the attached thread reads of its counters by itself. */
#include "core/session/core/core.h"

void pm_session_make_views(struct perfmon_session *session)
{
	struct perfmon_reader *reader = session->reader;
	const struct pm_session_plan *plan = session->plan;
	uint32_t i;

	reader->count = session->count;
	for (i = 0; i < session->count; i++) {
		const struct pm_register *reg = &session->registers[i];

		/* Only one of several core PMUs has the counter on the hardware: no
		 * single page has their sum. */
		if (plan->target_count == 1 && reg->count == 1)
			pm_instance_view(plan->targets[0].parts[reg->set].instance,
					 reg->planned, reg->base.value,
					 &reader->views[i]);
		else
			pm_view_init_none(&reader->views[i]);
	}
}
