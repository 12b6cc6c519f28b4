/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Targets that a plan is opened on once more. */
#include "core/session/targets/targets.h"

int pm_targets_open_again(struct perfmon_session *session, struct pm_session_plan *plan,
			  const struct pm_session_plan *old)
{
	pid_t self = pm_kernel_gettid(), asked_before = 0;
	uint32_t t;
	int refused = 0;

	for (t = 0; t < old->target_count; t++) {
		struct pm_target asked = old->targets[t];
		int n = 0;

		if (asked.active >= plan->set_count)
			asked.active = 0;
		if (!asked.awaits_exec)
			asked.flags &= ~PM_OPEN_ON_EXEC;
		if (asked.lost || (asked.pid && t && asked.pid == asked_before))
			continue;
		asked_before = asked.pid;
		n = asked.pid ? pm_process_reopen(session, plan, asked.pid, self)
			      : pm_target_open(session, plan, &asked, self);
		if (n < 0) {
			pm_targets_close(session, plan, 0);
			return n;
		}
		refused += n;
	}
	return refused;
}
