/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages about overflows: from the session to the program's socket. */
#include <errno.h>
#include <string.h>

#include "compat/compat.h"

static void convert(struct pm2_context *context, const struct perfmon_message *from)
{
	struct pfarg_ovfl_msg *to = &context->pending.pfm_ovfl_msg;
	uint64_t counters[PM2_COUNTER_WORDS] = {0};

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
	counters[from->index / 64] = UINT64_C(1) << (from->index % 64);
	pm2_registers_pmds(context, from->set, counters, to->msg_ovfl_pmds);
}

/* Of what the text knows. */
static bool is_known(const struct perfmon_message *message)
{
	return message->type == PERFMON_MESSAGE_TYPE_OVERFLOW ||
	       message->type == PERFMON_MESSAGE_TYPE_END;
}

/* Has the next message in `pending`. */
static bool take_message(struct pm2_context *context)
{
	struct perfmon_message message;

	while (!context->is_pending) {
		if (perfmon_overflow_read(context->session, &message, 1,
					  sizeof(message)) <= 0)
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
		is_full = !pm_owned_is_foreign(&context->end) &&
			  pm_kernel_send(context->end.fd, &context->pending,
					 sizeof(context->pending)) == -EAGAIN;
		context->is_pending = is_full;
	}
	context->is_full = is_full;
}
