/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Periods: where the value of a counter passes 2^64, by the records that the kernel
 * leaves.
 *
 * The kernel knows periods, not values. For each event that overflows an arm keeps two
 * places, as counts of its target since the event was opened:
 *
 *	at	of the kernel's last record, or of the beginning of its period
 *	next	where the value passes 2^64
 *
 * A record moves `at` on by the period. It is an overflow where that reaches `next`,
 * however long the record has waited. A reset to r moves `next` on by 2^64 - r, and the
 * value back by as much. While at + period is `next`, the kernel goes on by itself. Else
 * the arm is stale (state.h): once the ring is empty the kernel gets the period that is
 * left. What comes from the ring before `from` is of an older period. Where a record of
 * the period that the kernel has may come later than the value passes 2^64, the arm is
 * late: calls look at what has been counted.
 *
 * Threads that a thread creates have periods of their own on each CPU: their records
 * count as one event's, whose period stays as it was opened.
 */
#include <errno.h>

#include "core/session/overflow/overflow.h"
#include "core/session/overflow/period.h"
#include "core/session/overflow/reset.h"
#include "core/session/sampling/sampling.h"
#include "core/session/sets/sets.h"

/* The kernel has no period shorter than a part of the one that is wanted: it would write records
 * at that rate until somebody looks. But what would overflow before that part is over overflows
 * later, so that the beginning of what follows a look gets too few samples. So the part is a 128th,
 * or up to an eighth where so many records come until somebody looks. */
#define SHORTEST_LOG2 7
#define COARSER_MOST  4
#define RECORDS_MANY  32
#define RECORDS_FEW   8
/* A fixed period that is this part of itself late goes on by itself. */
#define LATE_PART 8

static bool is_reached(uint64_t place, uint64_t goal)
{
	return (int64_t)(place - goal) >= 0;
}

/* Returns whether overflows of REG and of other counters meet: those that it sets back,
 * or that set it back. It has to be known where they were. */
static bool meets_others(const struct perfmon_session *session,
			 const struct pm_register *reg)
{
	uint32_t own = (uint32_t)(reg - session->registers), i;

	for (i = 0; i < session->count; i++) {
		const struct pm_register *other = &session->registers[i];

		if (other == reg)
			continue;
		if (pm_counter_in(reg->overflow.resets, i) ||
		    (other->overflow.on && pm_counter_in(other->overflow.resets, own)))
			return true;
	}
	return false;
}

/* Returns whether the kernel counts EVENT in software or by debug registers. */
static bool is_software(const struct pm_event *event)
{
	return event->attr.type == PERF_TYPE_SOFTWARE ||
	       event->attr.type == PERF_TYPE_TRACEPOINT ||
	       event->attr.type == PERF_TYPE_BREAKPOINT;
}

static const struct pm_event *event_on(const struct pm_target *target,
				       const struct pm_register *reg)
{
	return target->parts[reg->set].instance->counters[reg->planned].event;
}

/* Reads what REG's event has counted on TARGET by now. */
static int count_on(const struct pm_target *target, const struct pm_register *reg,
		    uint64_t *count)
{
	struct pm_part *part = &target->parts[reg->set];
	struct pm_reading *reading = &part->readings[reg->planned];
	int err = part->settled ? 0
				: pm_instance_read_counter(part->instance, reg->planned,
							   reading);

	*count = reading->value;
	return err;
}

/* The group of counter C in set S of TARGET was off for NS. With time slices its enabled
 * time is that of the whole. */
static void note_gap(struct perfmon_session *session, const struct pm_target *target,
		     uint32_t s, uint32_t c, uint64_t ns)
{
	const struct pm_counter *counters = target->parts[s].instance->counters;

	for (uint32_t i = 0; i < session->count && !session->plan->has_slices; i++) {
		struct pm_register *reg = &session->registers[i];

		if (reg->set == s && counters[reg->planned].leader == counters[c].leader)
			pm_register_gap(reg, target, ns);
	}
}

/* Has the kernel count PERIOD for REG from now on. */
static int arm(struct perfmon_session *session, struct pm_target *target,
	       const struct pm_register *reg, uint64_t period)
{
	struct pm_part *part = &target->parts[reg->set];
	struct pm_arm *arm = pm_arm_of(target, reg);
	const struct pm_counter *counter = &part->instance->counters[reg->planned];
	bool is_on =
		session->state == PERFMON_STATE_RUNNING && !target->lost &&
		!target->records->paused &&
		(reg->set == target->active || session->flags & PERFMON_SESSION_ROTATE);
	bool pause = is_on && is_software(counter->event);
	uint64_t began =
		pause && !pm_session_is_own(session) ? pm_target_time(target) : 0;
	int err = 0;

	if (counter->fd >= 0)
		err = pm_arm_begin_period(part, reg->planned, pause, period);
	if (began)
		note_gap(session, target, reg->set, reg->planned,
			 pm_target_time(target) - began);
	if (err)
		return err;
	arm->period = period;
	arm->records = 0;
	arm->from = pm_ring_head(&target->records->ring);
	return 0;
}

/* Returns the shortest period for one of WANT, by the records that have come with the last. */
static uint64_t shortest(struct pm_arm *its, uint64_t want)
{
	if (its->records > RECORDS_MANY && its->coarser < COARSER_MOST)
		its->coarser++;
	else if (its->records < RECORDS_FEW && its->coarser)
		its->coarser--;
	return want >> (SHORTEST_LOG2 - its->coarser);
}

int pm_overflow_written(struct perfmon_session *session, uint32_t i, uint64_t value)
{
	struct pm_register *reg = &session->registers[i];
	struct pm_session_plan *plan = session->plan;
	int first = 0;

	if (!reg->overflow.on)
		return 0;
	reg->overflow.reset_due = false;
	reg->overflow.last_reset = value;
	for (uint32_t t = 0; t < plan->target_count; t++) {
		struct pm_target *target = &plan->targets[t];
		struct pm_arm *its = pm_arm_of(target, reg);
		int err = arm(session, target, reg, pm_period_for(value));

		pm_period_move(&its->fit, PM_PERIOD_WRITTEN);
		its->at = target->parts[reg->set].readings[reg->planned].value;
		its->next = its->at + pm_period_for(value);
		first = first ?: err;
	}
	return first;
}

/* --- records ------------------------------------------------------------------------ */

bool pm_period_record(struct perfmon_session *session, struct pm_target *target,
		      struct pm_register *reg, const struct pm_place *place)
{
	struct pm_arm *its = pm_arm_of(target, reg);

	/* It has stopped itself: that has to lead to something in any case. */
	if (pm_notifies(reg)) {
		its->at = pm_period_is_moved(its->fit) ? its->at : its->next;
		return true;
	}
	if (!is_reached(place->start, its->from))
		return false;
	its->at += its->period;
	its->records++;
	/* Set back by an overflow at the very same instruction: both have overflowed. */
	if (pm_period_is_moved(its->fit) && its->moved_by.end == place->start &&
	    its->moved_by.ip == place->ip) {
		pm_reset_move_value(session, reg, its->next - its->at);
		its->next = its->at;
		pm_period_move(&its->fit, PM_PERIOD_MET);
	}
	return pm_period_is_due(its->fit) || is_reached(its->at, its->next);
}

void pm_overflow_count(struct perfmon_session *session, struct pm_target *target,
		       struct pm_register *reg, uint64_t n)
{
	struct pm_arm *arm = pm_arm_of(target, reg);

	reg->overflow.count += n;
	session->sets[reg->set].overflowed[(reg - session->registers) / 64] |=
		UINT64_C(1) << ((reg - session->registers) % 64);
	if (!(reg->overflow.how.flags & PERFMON_OVERFLOW_SWITCH) || !arm->until_switch)
		return;
	arm->until_switch -= n < arm->until_switch ? n : arm->until_switch;
	if (!arm->until_switch &&
	    session->sets[reg->set].flags & PERFMON_SET_OVERFLOW_SWITCH)
		pm_target_next_set(session, target, reg->set);
}

/* Overflows of REG up to COUNT that have left no record, or none of their own: whether
 * there were any. */
static bool pass(struct perfmon_session *session, struct pm_target *target,
		 struct pm_register *reg, uint64_t count)
{
	struct pm_arm *its = pm_arm_of(target, reg);
	uint64_t passed = 0;

	while (is_reached(count, its->next)) {
		uint64_t value = pm_reset_next(reg, reg->overflow.how.short_reset);
		uint64_t n = 1, period = pm_period_for(value);

		if (!pm_reset_is_random(reg))
			n += (count - its->next) / period;
		passed += n;
		pm_reset_move_value(session, reg, n * value);
		its->next += n * period;
	}
	if (!passed)
		return false;
	pm_sampling_missed(session, reg, passed, &target->records->reported_lost);
	pm_overflow_count(session, target, reg, passed);
	return true;
}

void pm_period_pass(struct perfmon_session *session, struct pm_target *target,
		    struct pm_register *reg)
{
	if (!pm_notifies(reg) && pass(session, target, reg, pm_arm_of(target, reg)->at))
		pm_reset_settled(target, reg);
}

/* --- when the ring is empty --------------------------------------------------------- */

/* Returns whether REG's overflows cost little beside what it counts. */
static bool is_cheap(const struct pm_target *target, const struct pm_register *reg)
{
	return is_software(event_on(target, reg));
}

/* Returns whether the kernel's next record comes after the value passes 2^64. */
static bool is_coarse(const struct pm_arm *its)
{
	return its->at + its->period != its->next &&
	       is_reached(its->at + its->period, its->next);
}

static bool needs_care(const struct perfmon_session *session,
		       const struct pm_target *target, const struct pm_register *reg)
{
	const struct pm_arm *its = pm_arm_of(target, reg);

	if (!reg->overflow.on || pm_period_is_due(its->fit) ||
	    !pm_arm_is_open(target, reg))
		return false;
	if (session->state != PERFMON_STATE_RUNNING || pm_session_is_own(session))
		return pm_period_is_stale(its->fit) || its->late ||
		       target->records->unsure;
	/* Records that come too often are better than counts that an event misses while
	 * it is off. */
	return target->records->unsure || (pm_period_is_stale(its->fit) &&
					   (!is_cheap(target, reg) || is_coarse(its)));
}

bool pm_period_needs_pause(const struct perfmon_session *session,
			   const struct pm_target *target)
{
	for (uint32_t i = 0; i < session->count; i++) {
		const struct pm_register *reg = &session->registers[i];

		if (reg->overflow.on && is_cheap(target, reg) &&
		    pm_period_is_stale(pm_arm_of(target, reg)->fit) &&
		    is_coarse(pm_arm_of(target, reg)))
			return true;
	}
	return false;
}

bool pm_period_needs_care(const struct perfmon_session *session,
			  const struct pm_target *target)
{
	if (target->flags & PM_OPEN_INHERIT)
		return false;
	for (uint32_t i = 0; i < session->count; i++)
		if (needs_care(session, target, &session->registers[i]))
			return true;
	return false;
}

void pm_period_throttled(struct perfmon_session *session, const struct pm_target *target,
			 uint32_t set, uint32_t counter)
{
	const struct pm_counter *counters = target->parts[set].instance->counters;

	for (uint32_t i = 0; i < session->count; i++) {
		struct pm_register *reg = &session->registers[i];

		if (reg->set == set &&
		    counters[reg->planned].leader == counters[counter].leader &&
		    !is_software(counters[reg->planned].event)) {
			reg->value_flags |= PERFMON_VALUE_THROTTLED;
			pm_arm_of(target, reg)->coarser = COARSER_MOST;
		}
	}
}

static int finish(struct perfmon_session *session, struct pm_target *target,
		  struct pm_register *reg)
{
	struct pm_arm *its = pm_arm_of(target, reg);
	uint64_t count, left, period, want, least;
	int err = count_on(target, reg, &count);

	if (err)
		return err;
	if (its->late && !pm_notifies(reg)) {
		if (is_reached(count, its->next))
			pm_reset_event(target, reg, PM_PERIOD_RESET_STALE);
	} else if (target->records->unsure && !pm_period_is_stale(its->fit) &&
		   !pm_notifies(reg) && is_reached(count, its->at + its->period)) {
		/* A record that has come since says no more than what has been read. */
		if (pm_ring_pending(&target->records->ring))
			return -EAGAIN;
		/* Among the lost records may be one of the kernel holding the group back. */
		pm_period_throttled(session, target, reg->set, reg->planned);
		/* Lost records came one period after the other. */
		its->at += (count - its->at) / its->period * its->period;
		if (pass(session, target, reg, its->at))
			pm_reset_settled(target, reg);
	}
	if (!pm_period_is_stale(its->fit))
		return 0;
	if (pm_notifies(reg) && is_reached(count, its->next))
		pm_reset_to(session, target, reg, reg->overflow.last_reset, NULL);
	else
		pass(session, target, reg, count);
	pm_period_move(&its->fit, PM_PERIOD_SETTLED);
	/* A clock's timer skips periods that it is late for, and has none below 10 us. */
	its->late = pm_attr_is_clock(&event_on(target, reg)->attr);
	if (target->lost)
		return 0;
	period = left = its->next - count;
	want = pm_period_for(reg->overflow.last_reset);
	least = shortest(its, want);
	its->at = count;
	if (!pm_notifies(reg) && left < want) {
		its->late = true;
		if (!pm_reset_is_random(reg) && !meets_others(session, reg) &&
		    want - left <= want / LATE_PART) {
			/* It goes on by itself from here, a little late. */
			period = want;
			its->at = its->next - want;
		} else if (left < least && !is_cheap(target, reg)) {
			period = least;
		}
	}
	return arm(session, target, reg, period);
}

int pm_period_finish(struct perfmon_session *session, struct pm_target *target)
{
	bool late = false, again = false;
	int first = 0;

	if (target->flags & PM_OPEN_INHERIT)
		return 0;
	for (uint32_t i = 0; i < session->count; i++) {
		struct pm_register *reg = &session->registers[i];
		int err = needs_care(session, target, reg) ? finish(session, target, reg)
							   : 0;

		first = first ?: err;
		again |= err == -EAGAIN;
		late |= reg->overflow.on &&
			(pm_arm_of(target, reg)->late ||
			 pm_period_is_stale(pm_arm_of(target, reg)->fit));
	}
	target->records->late = late;
	target->records->unsure = again;
	if (!again)
		target->records->reported_lost = 0;
	return first;
}

/* --- opening ------------------------------------------------------------------------ */

bool pm_period_is_due_on(const struct pm_session_plan *plan,
			 const struct pm_register *reg)
{
	for (uint32_t t = 0; t < plan->target_count; t++)
		if (pm_period_is_due(pm_arm_of(&plan->targets[t], reg)->fit))
			return true;
	return false;
}

void pm_overflow_forget_due(struct perfmon_session *session, uint32_t i)
{
	struct pm_register *reg = &session->registers[i];
	struct pm_session_plan *plan = session->plan;

	reg->overflow.reset_due = false;
	for (uint32_t t = 0; t < plan->target_count; t++)
		pm_period_move(&pm_arm_of(&plan->targets[t], reg)->fit,
			       PM_PERIOD_WRITTEN);
}

void pm_overflow_prepare(const struct perfmon_session *session,
			 struct pm_session_plan *plan, struct pm_register *registers,
			 uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct pm_register *reg = &registers[i];
		uint64_t value = reg->base.value;

		if (!reg->overflow.on)
			continue;
		/* The base does not yet have what the targets have counted, as last read.
		 * Their arms know of resets that are due. */
		if (i < session->count) {
			const struct pm_register *own = &session->registers[i];

			value += pm_register_sum(session, own, PM_ROLE_ALL).value;
			reg->overflow.reset_due |=
				own->overflow.on &&
				pm_period_is_due_on(session->plan, own);
		}
		plan->sets[reg->set].events[reg->planned].attr.sample_period =
			pm_period_for(value);
	}
}
