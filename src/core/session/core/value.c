/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values of a session's counters, and views of them; why they cannot be had. */
#include <errno.h>

#include "core/session/core/collect.h"

int pm_session_collect(struct perfmon_session *session, uint32_t i)
{
	bool syscall;

	return pm_collect(session, i, pm_has_pages(session), &syscall);
}

void pm_session_rebase(struct perfmon_session *session, uint32_t i)
{
	pm_view_rebase(&session->reader->views[i], session->registers[i].base.value);
}

void pm_session_set_value(struct perfmon_session *session,
			  const struct perfmon_write *write)
{
	struct pm_register *reg;
	struct pm_reading own;
	bool syscall;
	uint64_t now;

	if (write->index == PERFMON_COUNTER_VIRTUAL_TIME) {
		if (pm_session_time_of_targets(session, &now, &syscall))
			now = 0;
		session->time.base = write->value - now;
		session->time.floor = write->value;
		return;
	}
	reg = &session->registers[write->index];
	reg->written = true;
	reg->base = (struct pm_reading){write->value - reg->now.value,
					-reg->now.enabled_ns, -reg->now.running_ns};
	reg->slices = (struct pm_slices){0};
	reg->value_flags =
		pm_register_is_partial(session, reg) ? PERFMON_VALUE_PARTIAL : 0;
	own = pm_register_sum(session, reg, PM_ROLE_OWN);
	reg->own_base = (struct pm_reading){write->value - own.value, -own.enabled_ns,
					    -own.running_ns};
	reg->total_base = -reg->now.value;
	reg->own_total_base = -own.value;
	pm_session_rebase(session, write->index);
}

void pm_session_make_views(struct perfmon_session *session)
{
	struct perfmon_reader *reader = session->reader;
	const struct pm_session_plan *plan = session->plan;

	reader->count = session->count;
	for (uint32_t i = 0; i < session->count; i++) {
		const struct pm_register *reg = &session->registers[i];

		/* Only one of several core PMUs has the counter on the hardware: no
		 * single page has their sum. */
		if (plan->target_count == 1 && reg->count == 1)
			pm_instance_view(plan->targets[0].parts[reg->set].instance,
					 reg->planned, reg->base.value,
					 &reader->views[i]);
		else
			pm_view_init_none(&reader->views[i]);
	}
}

int pm_session_closed_by_program(struct perfmon_session *session, int err)
{
	if (err == -EBADF || err == -ENOTTY || err == -EINVAL)
		return pm_diag_set(&session->diag, err,
				   "the program has closed file descriptors that belong "
				   "to the session; detach and attach the session again");
	return pm_diag_set(&session->diag, err, "the kernel returned error %d", -err);
}
