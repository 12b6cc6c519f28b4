/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values are read. */
#include <errno.h>

#include "core/api/export.h"
#include "core/session/calls.h"
#include "core/session/core/collect.h"

/* --- one counter -------------------------------------------------------------------- */

static uint32_t status_of(const struct pm_register *reg, struct pm_reading sum,
			  bool starved)
{
	if (!reg->opened)
		return PERFMON_VALUE_NEVER_OPENED;
	if (starved)
		return PERFMON_VALUE_NOT_COUNTED;
	if (!sum.enabled_ns)
		return 0;
	if (!sum.running_ns)
		return PERFMON_VALUE_NOT_COUNTED;
	return sum.running_ns < sum.enabled_ns ? PERFMON_VALUE_MULTIPLEXED
					       : PERFMON_VALUE_COUNTED;
}

static int find_time(struct perfmon_session *session)
{
	struct perfmon_value *found = &session->time.found;
	uint64_t ns;
	bool syscall;
	int err = pm_session_time_now(session, &ns, &syscall);

	if (err)
		return err;
	*found = (struct perfmon_value){.index = PERFMON_COUNTER_VIRTUAL_TIME,
					.value = ns,
					.enabled_ns = ns,
					.running_ns = ns};
	found->status =
		(ns ? PERFMON_VALUE_COUNTED : 0) | (syscall ? PERFMON_VALUE_SYSCALL : 0);
	return 0;
}

/* Returns the reading of REG, which has just been collected, by FLAGS of a read. */
static inline struct pm_reading sum_of(const struct perfmon_session *session,
				       const struct pm_register *reg, uint32_t flags)
{
	bool own = flags & PERFMON_READ_OWN;
	struct pm_reading now =
		own ? pm_register_sum(session, reg, PM_ROLE_OWN) : reg->now;
	struct pm_reading sum = pm_reading_add(own ? reg->own_base : reg->base, now);

	if (flags & PERFMON_READ_TOTAL)
		sum.value = (own ? reg->own_total_base : reg->total_base) + now.value;
	return sum;
}

/* PAGES is pm_has_pages(). Then no process is attached to, of which a thread may be lost.
 * FLAGS: of a read. */
static inline __attribute__((always_inline)) int
find(struct perfmon_session *session, uint32_t index, uint32_t flags, bool pages)
{
	struct pm_reading sum;
	struct pm_register *reg;
	bool syscall;
	int err;

	if (index == PERFMON_COUNTER_VIRTUAL_TIME)
		return find_time(session);
	reg = &session->registers[index];
	err = pm_collect(session, index, pages, &syscall);
	if (err && err != -ENODATA)
		return err;
	sum = sum_of(session, reg, flags);
	reg->found = (struct perfmon_value){.index = index,
					    .value = sum.value,
					    .enabled_ns = sum.enabled_ns,
					    .running_ns = sum.running_ns};
	reg->found.status = status_of(reg, sum, err == -ENODATA) |
			    (syscall ? PERFMON_VALUE_SYSCALL : 0);
	if (!sum.enabled_ns)
		return 0;
	reg->found.status |= reg->value_flags;
	if (!pages && pm_session_is_uncertain(session))
		reg->found.status |= PERFMON_VALUE_UNCERTAIN;
	return 0;
}

int pm_session_find(struct perfmon_session *session, uint32_t index, uint32_t flags)
{
	return find(session, index, flags, pm_has_pages(session));
}

/* --- the call ----------------------------------------------------------------------- */

/* Reads N counters, the I-th being VALUES[i].index, or I itself by FLAGS. */
static int read_values(struct perfmon_session *session, struct perfmon_value *values,
		       size_t n, uint32_t flags)
{
	bool pages = pm_has_pages(session), in_order = flags & PERFMON_READ_ALL;
	int err;

	if (session->state == PERFMON_STATE_RUNNING)
		session->stamp++;
	/* All is read before anything is handed out: a failure leaves VALUES as it
	 * was. */
	for (size_t i = 0; i < n; i++) {
		err = find(session, in_order ? (uint32_t)i : values[i].index, flags,
			   pages);
		if (err)
			return pm_session_explain(session, err);
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t index = in_order ? (uint32_t)i : values[i].index;

		values[i] = index == PERFMON_COUNTER_VIRTUAL_TIME
				    ? session->time.found
				    : session->registers[index].found;
	}
	return (int)n;
}

static int read_vector(struct perfmon_session *session, struct perfmon_value *values,
		       size_t n, uint32_t flags)
{
	bool all = flags & PERFMON_READ_ALL, own = flags & PERFMON_READ_OWN;
	int err = 0;

	if (all && n < session->count)
		return pm_diag_set(&session->diag, -ENOSPC,
				   "%zu elements do not hold the session's %u counters",
				   n, session->count);
	for (size_t i = 0; !all && !err && i < n; i++) {
		err = pm_session_check_index(session, i, values[i].index,
					     values[i].reserved);
		if (!err && own && values[i].index == PERFMON_COUNTER_VIRTUAL_TIME)
			err = pm_diag_set(
				&session->diag, -EINVAL,
				"element %zu: the virtual time is not kept apart", i);
	}
	return err ?: read_values(session, values, all ? session->count : n, flags);
}

PM_EXPORT int perfmon_session_read(struct perfmon_session *session,
				   struct perfmon_value *values, size_t count,
				   size_t element_size, uint32_t flags)
{
	bool all = flags & PERFMON_READ_ALL;
	int n = pm_session_enter(session);

	if (n)
		return n;
	pm_session_catch_up(session);
	n = PM_SESSION_CHECK_VECTOR(session, values, count, element_size,
				    all ? PM_VECTOR_OUT : PM_VECTOR_IN_OUT, perfmon_value,
				    40);
	if (!n && flags & ~(PERFMON_READ_ALL | PERFMON_READ_OWN | PERFMON_READ_TOTAL))
		n = pm_diag_set(&session->diag, -EINVAL, "unknown flags 0x%x", flags);
	if (n)
		return pm_session_leave(session, n);
	if (!all)
		pm_vector_pack(values, count, element_size, sizeof(values[0]));
	n = read_vector(session, values, count, flags);
	if (!all || n > 0)
		pm_vector_unpack(values, all ? (size_t)n : count, element_size,
				 sizeof(values[0]));
	return pm_session_leave(session, n);
}
