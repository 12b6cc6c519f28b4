/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values that are set back, after an overflow of their own or of another counter. */
#include "core/session/overflow/reset.h"

#include "core/session/sampling/sampling.h"

uint64_t pm_reset_next(struct pm_register *reg, uint64_t reset)
{
	struct pm_overflow *overflow = &reg->overflow;

	if (pm_reset_is_random(reg)) {
		/* xorshift64: enough to be out of step with loops. */
		overflow->seed ^= overflow->seed << 13;
		overflow->seed ^= overflow->seed >> 7;
		overflow->seed ^= overflow->seed << 17;
		reset -= overflow->seed & overflow->how.random_mask;
	}
	overflow->last_reset = reset;
	return reset;
}

void pm_reset_move_value(struct perfmon_session *session, struct pm_register *reg,
			 uint64_t more)
{
	reg->base.value += more;
	reg->own_base.value += more;
	pm_session_rebase(session, (uint32_t)(reg - session->registers));
}

void pm_reset_event(struct pm_target *target, const struct pm_register *reg,
		    enum pm_period_event event)
{
	struct pm_arm *its = pm_arm_of(target, reg);

	pm_period_move(&its->fit, event);
	target->records->late |=
		pm_period_is_stale(its->fit) && !(target->flags & PM_OPEN_INHERIT);
}

void pm_reset_settled(struct pm_target *target, const struct pm_register *reg)
{
	const struct pm_arm *its = pm_arm_of(target, reg);

	pm_reset_event(target, reg,
		       its->at + its->period == its->next || !pm_arm_is_open(target, reg)
			       ? PM_PERIOD_RESET_FITS
			       : PM_PERIOD_RESET_STALE);
}

void pm_reset_to(struct perfmon_session *session, struct pm_target *target,
		 struct pm_register *reg, uint64_t value, const uint64_t *count)
{
	uint32_t i = (uint32_t)(reg - session->registers);
	uint64_t since = 0, now;
	struct pm_reading own;
	struct pm_arm *its;

	if (session->state == PERFMON_STATE_RUNNING)
		session->stamp++;
	if (pm_session_collect(session, i))
		return;
	now = target->parts[reg->set].readings[reg->planned].value;
	if (count)
		since = now - *count;
	own = pm_register_sum(session, reg, PM_ROLE_OWN);
	reg->base.value = value - reg->now.value + since;
	reg->own_base.value = value - own.value + since;
	pm_session_rebase(session, i);
	if (!reg->overflow.on)
		return;
	its = pm_arm_of(target, reg);
	its->next = now - since + pm_period_for(value);
}

void pm_overflow_reset(struct perfmon_session *session, struct pm_target *target,
		       struct pm_register *reg, uint64_t reset)
{
	struct pm_arm *its = pm_arm_of(target, reg);
	uint64_t value = pm_reset_next(reg, reset);

	reg->overflow.reset_due = false;
	/* It has not overflowed since it was set back, or it is another target by now. */
	if (pm_period_is_moved(its->fit)) {
		pm_reset_to(session, target, reg, value, NULL);
		pm_reset_event(target, reg,
			       pm_arm_is_open(target, reg) ? PM_PERIOD_RESET_STALE
							   : PM_PERIOD_RESET_FITS);
		return;
	}
	pm_reset_move_value(session, reg, value);
	its->next += pm_period_for(value);
	pm_reset_settled(target, reg);
}

void pm_overflow_reset_others(struct perfmon_session *session, struct pm_target *target,
			      const struct pm_register *of,
			      const struct perfmon_sample *sample,
			      const struct pm_place *place)
{
	bool is_long = !sample;

	for (uint32_t i = 0; i < session->count; i++) {
		struct pm_register *reg = &session->registers[i];
		const struct perfmon_overflow *how = &reg->overflow.how;
		uint64_t value = 0, count;
		bool known;

		if (reg == of || !pm_counter_in(of->overflow.resets, i))
			continue;
		if (reg->overflow.on)
			value = pm_reset_next(reg, is_long ? how->long_reset
							   : how->short_reset);
		known = sample && pm_sampling_count_in(target, reg, sample, &count);
		pm_reset_to(session, target, reg, value, known ? &count : NULL);
		if (reg->overflow.on && pm_arm_is_open(target, reg))
			pm_reset_event(target, reg, PM_PERIOD_SET_BACK);
		if (place)
			pm_arm_of(target, reg)->moved_by = *place;
	}
}
