/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Information on a session and its counters. */
#include <errno.h>

#include "core/api/export.h"
#include "core/api/message.h"
#include "core/session/calls.h"
#include "core/session/targets/targets.h"
#include "perfmon/control.h"

PM_EXPORT int perfmon_session_message(const struct perfmon_session *session, char *buffer,
				      size_t size)
{
	/* For the lock alone. */
	struct perfmon_session *own = (struct perfmon_session *)(uintptr_t)session;
	int result;

	if (!session || session->magic != PM_SESSION_MAGIC)
		return -EINVAL;
	/* No other thread writes it: it is not in the child, or this one holds the lock. */
	if (pm_session_is_child(session) || pm_busy_with(session))
		return pm_message_copy(session->diag.text, buffer, size);
	result = pm_session_enter_aside(own);
	if (result)
		return result;
	return pm_session_leave(own, pm_message_copy(session->diag.text, buffer, size));
}

PM_EXPORT int perfmon_session_state(struct perfmon_session *session)
{
	int err = pm_session_enter_aside(session);

	if (err)
		return err;
	pm_session_catch_up(session);
	pm_session_notice_loss(session);
	return pm_session_leave(session, (int)session->state);
}

PM_EXPORT int perfmon_session_counters(struct perfmon_session *session)
{
	int err = pm_session_enter_aside(session);

	return err ?: pm_session_leave(session, (int)session->count);
}

PM_EXPORT int perfmon_session_get_counter(struct perfmon_session *session, uint32_t index,
					  struct perfmon_counter_info *info)
{
	struct perfmon_counter_info found = {.size = sizeof(found),
					     .hardware_counter = -1};
	const struct pm_register *reg;
	const struct pm_event *event;
	int err = pm_session_enter(session);

	if (err)
		return err;
	err = PM_STRUCT_CHECK(info, perfmon_counter_info, 96);
	if (err)
		return pm_session_leave(
			session, pm_session_explain_struct(session, err,
							   "information on a counter",
							   "perfmon_counter_info"));
	if (index >= session->count)
		return pm_session_leave(session,
					pm_diag_set(&session->diag, -EINVAL,
						    "there is no counter %u", index));
	reg = &session->registers[index];
	event = pm_register_event(reg, 0);
	found.name = reg->count > 1 ? event->label : event->name;
	found.unit = event->unit;
	found.scale = event->scale;
	found.type = event->attr.type;
	found.config = event->attr.config;
	found.config1 = event->attr.config1;
	found.config2 = event->attr.config2;
	found.events = reg->count;
	found.leader = index;
	found.error = reg->error;
	if (session->plan->target_count) {
		const struct pm_instance *instance =
			session->plan->targets[0].parts[reg->set].instance;
		const struct pm_counter *counter = &instance->counters[reg->planned];
		uint32_t i;

		found.page_error = counter->page_error;
		found.user_read = counter->user_read &&
				  pm_session_owner(session).pointer &&
				  (counter->is_exact || pm_instance_user_access());
		if (counter->page) {
			const volatile struct perf_event_mmap_page *page = counter->page;
			uint32_t hardware = page->index;

			found.width_bits = page->pmc_width;
			found.hardware_counter = hardware ? (int64_t)hardware - 1 : -1;
		}
		for (i = 0; i < session->count; i++) {
			if (session->registers[i].set == reg->set &&
			    session->registers[i].planned <= counter->leader)
				found.leader = i;
		}
	}
	pm_struct_fill(info, &found, sizeof(found));
	return pm_session_leave(session, 0);
}

PM_EXPORT int perfmon_session_of_thread(pid_t tid, struct perfmon_session **session)
{
	struct perfmon_session *found;

	if (!session || tid < 0)
		return -EINVAL;
	if (!tid)
		tid = pm_kernel_gettid();
	found = pm_exclusive_of(tid);
	/* One that has ended is noticed by the next call on its session. */
	if (!found || pm_kernel_kill(tid, 0) == -ESRCH)
		return -ENOENT;
	*session = found;
	return 0;
}
