/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages about overflows: which PMDs a message names, and its way from the session to the
 * program's socket. */
#include <errno.h>
#include <string.h>

#include "compat/compat.h"
#include "core/kernel/kernel.h"

void pm2_registers_pmds(const struct pm2_context *context, uint16_t id,
			const uint64_t *counters, __u64 *pmds)
{
	memset(pmds, 0, PFM_PMD_BV * sizeof(pmds[0]));
	for (size_t i = 0; i < context->register_count; i++) {
		const struct pm2_register *reg = &context->registers[i];

		if (reg->set == id && reg->number != PM2_SPARE && reg->counter >= 0 &&
		    counters[reg->counter / 64] >> reg->counter % 64 & 1)
			pmds[reg->number / 64] |= UINT64_C(1) << reg->number % 64;
	}
}

/* Adds the PMD of FROM to a message that may name others. */
static void add_pmd(struct pm2_context *context, const struct perfmon_message *from)
{
	uint64_t counters[PM2_MASK_WORDS] = {0};
	__u64 pmds[PFM_PMD_BV];

	counters[from->index / 64] = UINT64_C(1) << (from->index % 64);
	pm2_registers_pmds(context, from->set, counters, pmds);
	for (size_t i = 0; i < PFM_PMD_BV; i++)
		context->pending.pfm_ovfl_msg.msg_ovfl_pmds[i] |= pmds[i];
}

static void convert(struct pm2_context *context, const struct perfmon_message *from)
{
	struct pfarg_ovfl_msg *to = &context->pending.pfm_ovfl_msg;

	memset(to, 0, sizeof(*to));
	if (from->type == PERFMON_MESSAGE_TYPE_END) {
		to->msg_type = PFM_MSG_END;
		return;
	}
	to->msg_type = PFM_MSG_OVFL;
	to->msg_ovfl_pid = from->pid;
	to->msg_ovfl_tid = from->tid;
	to->msg_ovfl_cpu = (__u16)from->cpu;
	to->msg_active_set = from->set;
	to->msg_ovfl_ip = from->ip;
	add_pmd(context, from);
}

/* Returns whether MESSAGE is about a counter that overflowed together with those of the
 * pending message, before all had stopped. */
static bool is_same_overflow(const struct pm2_context *context,
			     const struct perfmon_message *message)
{
	const struct pfarg_ovfl_msg *pending = &context->pending.pfm_ovfl_msg;

	return message->type == PERFMON_MESSAGE_TYPE_OVERFLOW &&
	       message->flags & PERFMON_MESSAGE_OVERRUN &&
	       pending->msg_type == PFM_MSG_OVFL &&
	       pending->msg_ovfl_tid == (uint32_t)message->tid &&
	       pending->msg_active_set == message->set;
}

/* Reads the session's next message into `ahead`. */
static bool look_ahead(struct pm2_context *context)
{
	context->has_ahead = context->has_ahead ||
			     perfmon_overflow_read(context->session, &context->ahead, 1,
						   sizeof(context->ahead)) > 0;
	return context->has_ahead;
}

/* Makes the next perfmon2 message in `pending`: one for all PMDs that overflowed
 * together. */
static bool take_message(struct pm2_context *context)
{
	while (!context->is_pending && look_ahead(context)) {
		context->has_ahead = false;
		/* perfmon2 has no other messages. */
		if (context->is_silent ||
		    (context->ahead.type != PERFMON_MESSAGE_TYPE_OVERFLOW &&
		     context->ahead.type != PERFMON_MESSAGE_TYPE_END))
			continue;
		convert(context, &context->ahead);
		context->is_pending = true;
		while (look_ahead(context) &&
		       is_same_overflow(context, &context->ahead)) {
			add_pmd(context, &context->ahead);
			context->has_ahead = false;
		}
	}
	return context->is_pending;
}

/* The socket takes a message completely or not at all. */
void pm2_messages_forward(struct pm2_context *context)
{
	bool is_full = false;

	while (!is_full && take_message(context)) {
		is_full = !pm_owned_is_foreign(&context->end) &&
			  pm_kernel_send(context->end.fd, &context->pending,
					 sizeof(context->pending)) == -EAGAIN;
		context->is_pending = is_full;
	}
	context->is_full = is_full;
}
