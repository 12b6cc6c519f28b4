/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Overflows of PMDs: what they lead to. */
#include <errno.h>
#include <string.h>

#include "compat/compat.h"
#include "os/os.h"

void pm2_overflow_take(struct pm2_overflow *overflow, const struct pfarg_pmd *pmd)
{
	memset(overflow, 0, sizeof(*overflow));
	overflow->flags = pmd->reg_flags;
	overflow->long_reset = pmd->reg_long_reset;
	overflow->short_reset = pmd->reg_short_reset;
	if (pmd->reg_flags & PFM_PMDFL_SWITCH)
		overflow->switch_count = pmd->reg_ovfl_switch_cnt;
	if (pmd->reg_flags & PFM_PMDFL_RANDOM)
		overflow->random_mask = pmd->reg_random_mask;
	if (pmd->reg_flags & PFM_PMDFL_SMPL) {
		overflow->event_id = pmd->reg_smpl_eventid;
		memcpy(overflow->sample_pmds, pmd->reg_smpl_pmds,
		       sizeof(overflow->sample_pmds));
	}
	memcpy(overflow->reset_pmds, pmd->reg_reset_pmds, sizeof(overflow->reset_pmds));
}

/* REG's overflows as a session wants them; size 0: they lead to nothing. */
static struct perfmon_overflow overflow_of(struct pm2_context *context,
					   const struct pm2_register *reg)
{
	static const struct pm2_overflow nothing;
	const struct pm2_overflow *from = &reg->overflow;
	struct perfmon_overflow to = {.size = 0};

	if (!memcmp(from, &nothing, sizeof(nothing)))
		return to;
	to.size = sizeof(to);
	if (from->flags & PFM_PMDFL_OVFL_NOTIFY)
		to.flags |= PERFMON_OVERFLOW_NOTIFY;
	if (from->flags & PFM_PMDFL_RANDOM)
		to.flags |= PERFMON_OVERFLOW_RANDOM;
	if (from->flags & PFM_PMDFL_SWITCH)
		to.flags |= PERFMON_OVERFLOW_SWITCH;
	if (from->flags & PFM_PMDFL_SMPL)
		to.flags |= PERFMON_OVERFLOW_SAMPLE;
	to.event_id = from->event_id;
	to.long_reset = from->long_reset;
	to.short_reset = from->short_reset;
	to.random_mask = from->random_mask;
	to.switch_count = from->switch_count;
	pm2_registers_counters(context, reg->set, from->reset_pmds, to.reset_counters);
	pm2_registers_counters(context, reg->set, from->sample_pmds, to.sample_counters);
	return to;
}

int pm2_overflow_apply(struct pm2_context *context, struct pm2_register *reg)
{
	struct perfmon_overflow overflow;
	int err = 0;

	if (reg->counter < 0)
		return 0;
	overflow = overflow_of(context, reg);
	if (!memcmp(&overflow, &reg->applied, sizeof(overflow)))
		return 0;
	if (overflow.flags & (PERFMON_OVERFLOW_NOTIFY | PERFMON_OVERFLOW_SAMPLE))
		err = pm2_context_watch_messages(context);
	err = err
		      ?: pm2_session_said(context,
					  perfmon_overflow_program(
						  context->session,
						  (uint32_t)reg->counter,
						  overflow.size ? &overflow : NULL));
	if (!err)
		reg->applied = overflow;
	return err;
}

int pm2_overflow_apply_all(struct pm2_context *context)
{
	size_t i;
	int err = 0;

	for (i = 0; i < context->register_count && !err; i++)
		err = pm2_overflow_apply(context, &context->registers[i]);
	return err;
}
