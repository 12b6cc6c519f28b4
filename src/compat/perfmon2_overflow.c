/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Overflows of PMDs: what they lead to, and the messages about them. */
#include <errno.h>
#include <string.h>

#include "compat/perfmon2.h"
#include "os/os.h"

/* --- what an overflow leads to ---------------------------------------------------------
 */

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

/* The bits of counters for the bits of PMDS in event set ID; those that count nothing
 * have none. */
static void counters_of(struct pm2_context *context, uint16_t id, const uint64_t *pmds,
			uint64_t *counters)
{
	uint16_t i;

	for (i = 0; i < PM2_REGISTERS; i++) {
		const struct pm2_register *reg = NULL;

		if (pmds[i / 64] >> i % 64 & 1)
			reg = pm2_register_find(context, id, i);
		if (reg && reg->counter >= 0)
			counters[reg->counter / 64] |= UINT64_C(1) << reg->counter % 64;
	}
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
	counters_of(context, reg->set, from->reset_pmds, to.reset_counters);
	counters_of(context, reg->set, from->sample_pmds, to.sample_counters);
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

/* --- messages --------------------------------------------------------------------------
 */

void pm2_overflow_pmds(const struct pm2_context *context, uint16_t id,
		       const uint64_t *counters, __u64 *pmds)
{
	size_t i;

	memset(pmds, 0, PFM_PMD_BV * sizeof(pmds[0]));
	for (i = 0; i < context->register_count; i++) {
		const struct pm2_register *reg = &context->registers[i];

		if (reg->set == id && reg->number != PM2_SPARE && reg->counter >= 0 &&
		    counters[reg->counter / 64] >> reg->counter % 64 & 1)
			pmds[reg->number / 64] |= UINT64_C(1) << reg->number % 64;
	}
}

static void convert(struct pm2_context *context, const struct perfmon_message *from)
{
	struct pfarg_ovfl_msg *to = &context->pending.pfm_ovfl_msg;

	memset(to, 0, sizeof(*to));
	if (from->type == PERFMON_MESSAGE_END) {
		to->msg_type = PFM_MSG_END;
		return;
	}
	to->msg_type = PFM_MSG_OVFL;
	to->msg_ovfl_pid = from->pid;
	to->msg_ovfl_tid = from->tid;
	to->msg_ovfl_cpu = (__u16)from->cpu;
	to->msg_active_set = from->set;
	to->msg_ovfl_ip = from->ip;
	pm2_overflow_pmds(context, from->set, from->counters, to->msg_ovfl_pmds);
}

/* Of what the text knows. */
static bool is_known(const struct perfmon_message *message)
{
	return message->type == PERFMON_MESSAGE_OVERFLOW ||
	       message->type == PERFMON_MESSAGE_END;
}

/* Has the next message in `pending`. */
static bool take_message(struct pm2_context *context)
{
	struct perfmon_message message;

	while (!context->is_pending) {
		if (perfmon_overflow_read(context->session, &message, sizeof(message)) <=
		    0)
			return false;
		if (context->is_silent || !is_known(&message))
			continue;
		convert(context, &message);
		context->is_pending = true;
	}
	return true;
}

/* A message is written whole or not at all: it fits into one buffer of the socket. */
void pm2_messages_forward(struct pm2_context *context)
{
	bool is_full = false;

	while (!is_full && take_message(context)) {
		is_full = pm_kernel_send(context->fd, &context->pending,
					 sizeof(context->pending)) == -EAGAIN;
		context->is_pending = is_full;
	}
	if (is_full != context->is_full)
		pm2_context_watch_room(context, is_full);
	context->is_full = is_full;
}
