/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The out-of-line half of perfmon/inline.h. On the attached thread it takes no lock: it
 * may be a signal handler that interrupted a call on the same session.
 */
#include <errno.h>

#include "core/api/export.h"
#include "core/session/calls.h"

PM_EXPORT int perfmon_session_reader_layout(struct perfmon_session *session,
					    uint32_t layout,
					    const struct perfmon_reader **reader)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	if (!reader)
		err = pm_diag_set(&session->diag, -EINVAL, "no room for the reader");
	else if (layout != PERFMON_READER_LAYOUT)
		err = pm_diag_set(&session->diag, -EOPNOTSUPP,
				  "the program was compiled for layout %u of the reader, "
				  "the library has %u",
				  layout, PERFMON_READER_LAYOUT);
	else
		*reader = session->reader;
	return pm_session_leave(session, err);
}

/* The attached thread's counter I by read(2). */
static int read_by_syscall(const struct perfmon_session *session, uint32_t i,
			   uint64_t *value)
{
	const struct pm_register *reg = &session->registers[i];
	const struct pm_instance *instance =
		session->plan->targets[0].parts[reg->set].instance;
	struct pm_reading sum = reg->base;
	uint32_t e, open = 0;

	for (e = 0; e < reg->count; e++) {
		struct pm_reading one;
		int err;

		if (!pm_counter_is_open(&instance->counters[reg->planned + e]))
			continue;
		err = pm_instance_read_counter(instance, reg->planned + e, &one);
		if (err)
			return err;
		sum = pm_reading_add(sum, one);
		open++;
	}
	if (!open)
		return reg->error;
	if (sum.enabled_ns && !sum.running_ns)
		return -ENODATA;
	*value = sum.value;
	return 0;
}

static int read_locked(struct perfmon_session *session, uint32_t i, uint64_t *value)
{
	struct pm_register *reg;
	struct pm_reading sum;
	int err = pm_session_enter_aside(session);

	if (err)
		return err;
	pm_session_catch_up(session);
	if (i >= session->count)
		return pm_session_leave(session, -EINVAL);
	if (session->state == PERFMON_STATE_RUNNING)
		session->stamp++;
	reg = &session->registers[i];
	err = pm_session_collect(session, i);
	if (!err && reg->error && !reg->opened)
		err = reg->error;
	sum = pm_reading_add(reg->base, reg->now);
	if (!err && sum.enabled_ns && !sum.running_ns)
		err = -ENODATA;
	if (!err)
		*value = sum.value;
	return pm_session_leave(session, err);
}

PM_EXPORT int perfmon_reader_read_slow(const struct perfmon_reader *reader, uint32_t i,
				       uint64_t *value)
{
	struct perfmon_reader *own = (struct perfmon_reader *)reader;
	int err;

	if (!reader->session)
		return -ECHILD;
	if (!pm_session_is_own(reader->session))
		return read_locked(reader->session, i, value);
	err = pm_view_read(&own->views[i], value);
	return err ? read_by_syscall(reader->session, i, value) : 0;
}

PM_EXPORT int perfmon_reader_read_all_slow(const struct perfmon_reader *reader,
					   uint64_t *values)
{
	int err = 0;

	if (!reader->session)
		return -ECHILD;
	for (uint32_t i = 0; i < reader->count; i++) {
		int failed = perfmon_reader_read_slow(reader, i, &values[i]);

		err = err ?: failed;
	}
	return err;
}

PM_EXPORT int perfmon_reader_read_call(const struct perfmon_reader *reader, uint32_t i,
				       uint64_t *value)
{
	return perfmon_reader_read(reader, i, value);
}

PM_EXPORT int perfmon_reader_read_all_call(const struct perfmon_reader *reader,
					   uint64_t *values)
{
	return perfmon_reader_read_all(reader, values);
}
