/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which set is active on a target. */

#include <string.h>

#include "core/session/core/armed.h"
#include "core/session/sets/sets.h"

/* A set without events was on from the end of one time slice to the end of the next, as
 * the clock of the whole has it. */
static void read_whole(struct perfmon_session *session, struct pm_target *target,
		       uint32_t last)
{
	const struct pm_session_plan *plan = session->plan;
	struct pm_part *whole = &target->parts[plan->set_count];
	uint64_t now, ns, on = 0;

	if (pm_instance_read(whole->instance, whole->readings))
		return;
	now = pm_whole_ns(plan, target);
	ns = now - target->since_ns;
	target->since_ns = now;
	if (pm_set_clock(plan, target, last) == PM_NO_CLOCK)
		target->parts[last].active_ns += ns;
	else
		on = pm_slice_ns(session, target, last);
	pm_slice_gap(session, target, on ? (double)ns - (double)on : 0);
}

/* Takes notice of the time slice of set LAST on TARGET, which is disabled. */
static void end_slice(struct perfmon_session *session, struct pm_target *target,
		      uint32_t last)
{
	struct pm_part *from = &target->parts[last];

	/* Its counts stand still until its next time slice. */
	from->settled = !pm_instance_read(from->instance, from->readings);
	read_whole(session, target, last);
	if (from->settled)
		pm_slice_end(session, target, last);
}

/* The set at NEXT is the active one of TARGET from now on. */
static void make_active(struct perfmon_session *session, struct pm_target *target,
			uint32_t next)
{
	target->active = next;
	session->stamp++;
	memset(session->sets[next].overflowed, 0, sizeof(session->sets[next].overflowed));
}

int pm_target_switch(struct perfmon_session *session, struct pm_target *target,
		     uint32_t next)
{
	uint32_t last = target->active;
	bool reads_first, is_off = target->records->paused;
	int err = 0;

	if (next == last || target->lost || !session->plan->has_slices)
		return 0;
	if (!is_off)
		err = pm_instance_disable(target->parts[last].instance);
	if (err)
		return err;
	/* Nobody counts until the next one is on. A set without events knows its time by
	 * the clock of the whole alone. */
	reads_first = pm_set_clock(session->plan, target, last) == PM_NO_CLOCK ||
		      pm_set_clock(session->plan, target, next) == PM_NO_CLOCK;
	if (reads_first)
		end_slice(session, target, last);
	make_active(session, target, next);
	session->sets[next].runs++;
	/* Where all is off, the clock of the whole is so, too: what goes on has the set. */
	if (!is_off)
		err = pm_target_enable_set(session, target, next);
	if (!reads_first)
		end_slice(session, target, last);
	return err;
}

void pm_target_choose(struct perfmon_session *session, struct pm_target *target,
		      uint32_t next)
{
	uint32_t last = target->active;

	if (next == last)
		return;
	target->chosen = true;
	if (session->plan->has_slices && !target->lost) {
		end_slice(session, target, last);
		make_active(session, target, next);
	}
	target->active = next;
}

void pm_target_next_set(struct perfmon_session *session, struct pm_target *target,
			uint32_t s)
{
	uint32_t next = (s + 1) % session->set_count;

	/* Another switch, or a mask, has overtaken a late tick. */
	if (target->active != s)
		return;
	if (session->state == PERFMON_STATE_RUNNING)
		pm_target_switch(session, target, next);
	else if (session->state == PERFMON_STATE_STOPPED)
		pm_target_choose(session, target, next);
}
