/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The effects of PMDs' overflows. */
#include <errno.h>
#include <string.h>

#include "compat/compat.h"

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

/* Returns REG's overflows in a session's terms; size 0: they have no effect. */
static struct pm2_applied overflow_of(struct pm2_context *context,
				      const struct pm2_register *reg)
{
	static const struct pm2_overflow nothing;
	const struct pm2_overflow *from = &reg->overflow;
	struct pm2_applied to;

	/* It is compared as memory. */
	memset(&to, 0, sizeof(to));
	if (!memcmp(from, &nothing, sizeof(nothing)))
		return to;
	to.how.size = sizeof(to.how);
	/* perfmon2 accepts every reset value. */
	to.how.flags = PERFMON_OVERFLOW_ONCE;
	if (from->flags & PFM_PMDFL_OVFL_NOTIFY)
		to.how.flags |= PERFMON_OVERFLOW_NOTIFY;
	if (from->flags & PFM_PMDFL_RANDOM)
		to.how.flags |= PERFMON_OVERFLOW_RANDOM;
	if (from->flags & PFM_PMDFL_SWITCH)
		to.how.flags |= PERFMON_OVERFLOW_SWITCH;
	if (from->flags & PFM_PMDFL_SMPL)
		to.how.flags |= PERFMON_OVERFLOW_SAMPLE;
	to.how.event_id = from->event_id;
	to.how.long_reset = from->long_reset;
	to.how.short_reset = from->short_reset;
	to.how.random_mask = from->random_mask;
	to.how.switch_count = from->switch_count;
	pm2_registers_counters(context, reg->set, from->reset_pmds, to.reset_counters);
	pm2_registers_counters(context, reg->set, from->sample_pmds, to.sample_counters);
	return to;
}

/* Lists the counters of MASK in INDICES and returns how many there are. */
static uint32_t indices_of(const uint64_t mask[PM2_COUNTER_WORDS],
			   uint32_t indices[PERFMON_SESSION_COUNTERS_MAX])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < PERFMON_SESSION_COUNTERS_MAX; i++) {
		if (mask[i / 64] >> (i % 64) & 1)
			indices[n++] = i;
	}
	return n;
}

static int program(struct pm2_context *context, uint32_t counter,
		   const struct pm2_applied *overflow)
{
	uint32_t resets[PERFMON_SESSION_COUNTERS_MAX];
	uint32_t samples[PERFMON_SESSION_COUNTERS_MAX];
	struct perfmon_overflow how = overflow->how;

	if (!how.size)
		return perfmon_overflow_program(context->session, counter, NULL);
	how.reset_counters = resets;
	how.reset_count = indices_of(overflow->reset_counters, resets);
	how.sample_counters = samples;
	how.sample_count = indices_of(overflow->sample_counters, samples);
	return perfmon_overflow_program(context->session, counter, &how);
}

int pm2_overflow_apply(struct pm2_context *context, struct pm2_register *reg)
{
	struct pm2_applied overflow;
	int err = 0;

	if (reg->counter < 0)
		return 0;
	overflow = overflow_of(context, reg);
	if (!memcmp(&overflow, &reg->applied, sizeof(overflow)))
		return 0;
	if (overflow.how.flags & (PERFMON_OVERFLOW_NOTIFY | PERFMON_OVERFLOW_SAMPLE))
		err = pm2_context_watch_messages(context);
	err = err
		      ?: pm2_session_said(
				 context,
				 program(context, (uint32_t)reg->counter, &overflow));
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
