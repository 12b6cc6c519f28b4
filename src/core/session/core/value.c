/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values of a session's counters. */
#include "core/session/core/readings.h"

#include <errno.h>
#include <stdlib.h>

#include "core/api/export.h"

/* --- one counter -------------------------------------------------------------------- */

/* Whether this is the thread, and pages may say it all: there are no other targets, nor
 * time slices of sets or events, so the sum over all is the page's reading. */
static inline bool has_pages(const struct perfmon_session *session)
{
	return session->state == PERFMON_STATE_RUNNING && session->plan->set_count == 1 &&
	       pm_session_is_own(session);
}

static inline bool read_page(struct perfmon_session *session, uint32_t i)
{
	struct pm_register *reg = &session->registers[i];
	const struct pm_part *part = &session->plan->targets[0].parts[0];
	struct pm_reading reading;

	if (reg->count != 1 || !part->instance->counters[reg->planned].user_read ||
	    pm_view_read_times(&session->reader->views[i], &reading.value,
			       &reading.enabled_ns, &reading.running_ns))
		return false;
	reading.value -= reg->base.value;
	part->readings[reg->planned] = reading;
	reg->now = reading;
	return true;
}

static inline int collect(struct perfmon_session *session, uint32_t i, bool pages,
			  bool *syscall)
{
	*syscall = false;
	return pages && read_page(session, i)
		       ? 0
		       : pm_register_read(session, &session->registers[i], syscall);
}

int pm_session_collect(struct perfmon_session *session, uint32_t i, bool *syscall)
{
	return collect(session, i, has_pages(session), syscall);
}

/* --- vectors ------------------------------------------------------------------------ */

int pm_session_check_vector(struct perfmon_session *session, const void *vector,
			    size_t count, size_t element_size, unsigned int way,
			    size_t first, size_t known)
{
	int err;

	if (!vector || !count)
		return pm_diag_set(&session->diag, -EINVAL,
				   "the vector is %s; pass one element "
				   "or more",
				   vector ? "empty" : "NULL");
	err = pm_vector_check(vector, 0, element_size, way, first, known);
	if (err == -EINVAL)
		return pm_diag_set(&session->diag, err,
				   "elements cannot have %zu bytes; pass "
				   "sizeof(elements[0]), or PERFMON_VECTOR(elements) "
				   "for all three arguments",
				   element_size);
	if (count > PERFMON_SESSION_VECTOR_MAX)
		return pm_diag_set(&session->diag, -E2BIG,
				   "a vector of %zu elements is longer than %d", count,
				   PERFMON_SESSION_VECTOR_MAX);
	if (!err)
		err = pm_vector_check(vector, count, element_size, way, first, known);
	return err ? pm_diag_set(&session->diag, err,
				 "the elements have fields that this version of the "
				 "library does not know; leave them zero")
		   : 0;
}

int pm_session_check_index(struct perfmon_session *session, size_t i, uint32_t index,
			   uint64_t reserved)
{
	if (reserved)
		return pm_diag_set(&session->diag, -EINVAL,
				   "element %zu: a reserved field is not 0", i);
	if (index >= session->count && index != PERFMON_COUNTER_VIRTUAL_TIME)
		return pm_diag_set(
			&session->diag, -EINVAL,
			"element %zu: there is no counter %u: the session has %u", i,
			index, session->count);
	return 0;
}

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

/* What register REG, which has just been collected, has by FLAGS of a read. */
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

/* PAGES is has_pages(). Then no process is attached to, of which a thread may be lost.
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
	err = collect(session, index, pages, &syscall);
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
	reg->found.status |= reg->doubts;
	if (!pages && pm_session_is_uncertain(session))
		reg->found.status |= PERFMON_VALUE_UNCERTAIN;
	return 0;
}

int pm_session_find(struct perfmon_session *session, uint32_t index, uint32_t flags)
{
	return find(session, index, flags, has_pages(session));
}

int pm_session_explain(struct perfmon_session *session, int err)
{
	if (err == -ENODATA)
		return pm_diag_set(
			&session->diag, err,
			"unknown virtual time: no event is open on the target");
	return pm_diag_set(&session->diag, err,
			   "cannot read a counter (error %d); the program may have "
			   "closed file descriptors of the session",
			   -err);
}

/* Reads N counters, the I-th being VALUES[i].index, or I itself by FLAGS. */
static int read_values(struct perfmon_session *session, struct perfmon_value *values,
		       size_t n, uint32_t flags)
{
	bool pages = has_pages(session), in_order = flags & PERFMON_READ_ALL;
	size_t i;
	int err;

	if (session->state == PERFMON_STATE_RUNNING)
		session->stamp++;
	/* All is read before anything is handed out: a failure leaves VALUES as it
	 * was. */
	for (i = 0; i < n; i++) {
		err = find(session, in_order ? (uint32_t)i : values[i].index, flags,
			   pages);
		if (err)
			return pm_session_explain(session, err);
	}
	for (i = 0; i < n; i++) {
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
	size_t i;
	int err = 0;

	if (all && n < session->count)
		return pm_diag_set(&session->diag, -ENOSPC,
				   "%zu elements do not hold the session's %u counters",
				   n, session->count);
	for (i = 0; !all && !err && i < n; i++) {
		err = pm_session_check_index(session, i, values[i].index,
					     values[i].reserved);
		if (!err && own && values[i].index == PERFMON_COUNTER_VIRTUAL_TIME)
			err = pm_diag_set(&session->diag, -EINVAL,
					  "element %zu: the virtual time is not kept "
					  "apart",
					  i);
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

void pm_session_rebase(struct perfmon_session *session, uint32_t i)
{
	pm_view_rebase(&session->reader->views[i], session->registers[i].base.value);
}

static void write_one(struct perfmon_session *session, const struct perfmon_write *write)
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
	reg->doubts = pm_register_is_partial(session, reg) ? PERFMON_VALUE_PARTIAL : 0;
	own = pm_register_sum(session, reg, PM_ROLE_OWN);
	reg->own_base = (struct pm_reading){write->value - own.value, -own.enabled_ns,
					    -own.running_ns};
	reg->total_base = -reg->now.value;
	reg->own_total_base = -own.value;
	pm_session_rebase(session, write->index);
}

int pm_session_write_one(struct perfmon_session *session,
			 const struct perfmon_write *write)
{
	write_one(session, write);
	return write->index == PERFMON_COUNTER_VIRTUAL_TIME
		       ? 0
		       : session->hooks->written(session, write->index, write->value);
}

static int check_period(struct perfmon_session *session,
			const struct perfmon_write *write)
{
	return write->index == PERFMON_COUNTER_VIRTUAL_TIME
		       ? 0
		       : session->hooks->check_period(session,
						      &session->registers[write->index],
						      write->value);
}

static int write_vector(struct perfmon_session *session,
			const struct perfmon_write *writes, size_t n, uint32_t flags)
{
	int err = 0, failed;
	bool syscall;
	size_t i;

	for (i = 0; !err && i < n; i++)
		err = pm_session_check_index(session, i, PERFMON_COUNTER_VIRTUAL_TIME,
					     writes[i].reserved);
	err = err ?: pm_session_check_stopped(session, flags);
	for (i = 0; !err && i < n; i++)
		err = pm_session_check_index(session, i, writes[i].index, 0)
			      ?: check_period(session, &writes[i]);
	if (err)
		return err;
	if (session->state == PERFMON_STATE_RUNNING)
		session->stamp++;
	/* All is read before anything is written. */
	for (i = 0; i < n; i++) {
		if (writes[i].index == PERFMON_COUNTER_VIRTUAL_TIME)
			continue;
		err = pm_session_collect(session, writes[i].index, &syscall);
		if (err && err != -ENODATA)
			return pm_session_explain(session, err);
	}
	for (i = 0, err = 0; i < n; i++) {
		failed = pm_session_write_one(session, &writes[i]);
		err = err ?: failed;
	}
	return err ? pm_session_explain(session, err) : (int)n;
}

PM_EXPORT int perfmon_session_write(struct perfmon_session *session,
				    const struct perfmon_write *writes, size_t count,
				    size_t element_size, uint32_t flags)
{
	int err = pm_session_enter(session);
	struct perfmon_write *packed;

	if (err)
		return err;
	pm_session_catch_up(session);
	err = PM_SESSION_CHECK_VECTOR(session, writes, count, element_size, PM_VECTOR_IN,
				      perfmon_write, 16);
	if (!err && flags & ~PERFMON_WRITE_STOPPED)
		err = pm_diag_set(&session->diag, -EINVAL, "unknown flags 0x%x", flags);
	if (err)
		return pm_session_leave(session, err);
	packed = pm_vector_packed(writes, count, element_size, sizeof(writes[0]));
	err = packed ? write_vector(session, packed, count, flags)
		     : pm_diag_set(&session->diag, -ENOMEM, "out of memory");
	if (packed != writes)
		free(packed);
	return pm_session_leave(session, err);
}
