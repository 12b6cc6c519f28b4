/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Targets that go by themselves: threads and processes that end, CPUs that go offline. */

#include <stdio.h>

#include "core/kernel/files.h"
#include "core/session/overflow/overflow.h"
#include "core/session/run/run.h"
#include "core/session/targets/targets.h"

/* Returns whether the CPU of TARGET is offline now. */
static bool cpu_is_offline(const struct pm_target *target)
{
	char path[64];
	int64_t online;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", target->cpu);
	return !pm_file_number(path, &online) && !online;
}

/* How long the kernel may be in noticing that time goes on: a tick of the slowest
 * clock. */
#define TICK_NS 20000000

/*
 * Returns whether an event of TARGET stands still although it is on: its CPU went offline,
 * which takes events off it for good, and is back. Reads its enabled time until that
 * moves.
 */
static bool cpu_was_offline(const struct perfmon_session *session,
			    const struct pm_target *target)
{
	const struct pm_session_plan *plan = session->plan;
	uint32_t s = plan->has_slices ? plan->set_count : target->active;
	uint32_t c = pm_set_clock(plan, target, s);
	const struct pm_instance *instance = target->parts[s].instance;
	struct pm_reading first, now;
	uint64_t began, ns;

	/* One that overflows may have stopped by itself. */
	if (session->state != PERFMON_STATE_RUNNING ||
	    (s < plan->set_count && plan->sets[s].samples))
		return false;
	if (c == PM_NO_CLOCK || pm_instance_read_counter(instance, c, &first) ||
	    pm_kernel_clock_ns(CLOCK_MONOTONIC, &began))
		return false;
	do {
		if (pm_instance_read_counter(instance, c, &now) ||
		    now.enabled_ns != first.enabled_ns)
			return false;
	} while (!pm_kernel_clock_ns(CLOCK_MONOTONIC, &ns) && ns - began < TICK_NS);
	return true;
}

void pm_session_notice_loss(struct perfmon_session *session)
{
	struct pm_session_plan *plan = session->plan;

	if (session->state == PERFMON_STATE_DETACHED || pm_session_is_own(session))
		return;
	for (uint32_t t = 0; t < plan->target_count; t++) {
		struct pm_target *target = &plan->targets[t];

		if (!target->lost)
			target->lost =
				target->tid < 0 ? cpu_is_offline(target) ||
							  cpu_was_offline(session, target)
				: target->pid ? pm_process_has_ended(session, target)
					      : pm_target_has_ended(session, target);
		if (!target->lost)
			return;
	}
	pm_session_detach_all(session);
	session->target_lost = true;
	pm_overflow_end(session);
}
