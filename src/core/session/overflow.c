/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Overflows: which counters overflow, and to what they are set back; their messages, and
 * the restart that they wait for.
 *
 * A value v arms a period of 2^64 - v. At the overflow the value is 0, and a reset to r
 * makes it r: base moves by r. If r asks for the period that the kernel has, the kernel
 * goes on by itself and its next overflow is the value's. Else the period is set anew,
 * which begins it where the event stands: then the value is set to r there.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/api/export.h"
#include "core/session/calls.h"
#include "core/session/overflow/notices.h"
#include "core/session/sampling/sampling.h"
#include "core/settings/options.h"

#define KNOWN_FLAGS                                                                      \
	(PERFMON_OVERFLOW_NOTIFY | PERFMON_OVERFLOW_RANDOM | PERFMON_OVERFLOW_SWITCH |   \
	 PERFMON_OVERFLOW_SAMPLE | PERFMON_OVERFLOW_ONCE)

/* Returns whether an overflow may begin anew with RESET: perf_event_open(2) takes periods
 * below 2^63. */
static bool overflows(uint64_t reset)
{
	return reset > UINT64_C(1) << 63;
}

static const char *wrong_with(const struct perfmon_overflow *how)
{
	uint64_t next =
		how->flags & PERFMON_OVERFLOW_NOTIFY ? how->long_reset : how->short_reset;

	if (how->flags & ~KNOWN_FLAGS || how->reserved)
		return "unknown flags, or a reserved field that is not 0";
	if (!(how->flags & PERFMON_OVERFLOW_RANDOM) && how->random_mask)
		return "a random mask without its flag";
	if (!(how->flags & PERFMON_OVERFLOW_SWITCH) != !how->switch_count)
		return "the switch flag and a count of overflows go together";
	if ((!how->reset_counters && how->reset_count) ||
	    (!how->sample_counters && how->sample_count))
		return "no counters, but a number of them";
	if (!overflows(next) && !(how->flags & PERFMON_OVERFLOW_ONCE))
		return how->flags & PERFMON_OVERFLOW_NOTIFY
			       ? "long_reset is a value that cannot overflow: to "
				 "overflow after N events it is -N (or set "
				 "PERFMON_OVERFLOW_ONCE)"
			       : "short_reset is a value that cannot overflow: to "
				 "overflow after N events it is -N (or set "
				 "PERFMON_OVERFLOW_ONCE)";
	return NULL;
}

/* Checks GIVEN, and gives it as this library knows it in *HOW. */
static int check_overflow(struct perfmon_session *session, uint32_t index,
			  const struct perfmon_overflow *given,
			  struct perfmon_overflow *how)
{
	int err = PM_STRUCT_CHECK(given, perfmon_overflow, 80);
	const char *wrong;

	if (err)
		return pm_session_explain_struct(session, err, "the overflow",
						 "perfmon_overflow");
	pm_struct_take(how, given, sizeof(*how));
	wrong = wrong_with(how);
	if (wrong)
		return pm_diag_set(&session->diag, -EINVAL, "overflow of counter %u: %s",
				   index, wrong);
	return 0;
}

static bool names_missing(const struct perfmon_session *session, const uint32_t *indices,
			  uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (indices[i] >= session->count)
			return true;
	return false;
}

static uint64_t least_period(void)
{
	struct pm_options options;
	uint64_t least;

	pm_options_read(&options, NULL);
	least = options.min_period;
	pm_options_free(&options);
	return least;
}

/* Counter INDEX begins with its value; one that nobody has written, and that has not
 * counted since, with its reset value, as if it had just overflowed. */
static int begin(struct perfmon_session *session, uint32_t index)
{
	struct pm_register *reg = &session->registers[index];
	struct pm_overflow *overflow = &reg->overflow;
	struct perfmon_write first = {.index = index,
				      .value = overflow->how.flags &
							       PERFMON_OVERFLOW_NOTIFY
						       ? overflow->how.long_reset
						       : overflow->how.short_reset};
	bool written = reg->written;
	uint64_t value;
	int err = pm_session_collect(session, index);

	if (err && err != -ENODATA)
		return pm_session_explain(session, err);
	value = reg->base.value + reg->now.value;
	if (written || value != overflow->last_reset || overflow->count) {
		overflow->last_reset = value;
		return 0;
	}
	err = pm_session_write_one(session, &first);
	reg->written = false;
	return err;
}

static int program(struct perfmon_session *session, uint32_t index,
		   const struct perfmon_overflow *how)
{
	struct pm_register *registers;
	struct pm_overflow *overflow;
	int err;

	if (index >= session->count)
		return pm_diag_set(&session->diag, -EINVAL,
				   "there is no counter %u: the session has %u", index,
				   session->count);
	if (how && (names_missing(session, how->reset_counters, how->reset_count) ||
		    names_missing(session, how->sample_counters, how->sample_count)))
		return pm_diag_set(&session->diag, -EINVAL,
				   "overflow of counter %u: the session lacks a counter "
				   "to reset or to sample",
				   index);
	if (how && session->registers[index].count > 1)
		return pm_diag_set(&session->diag, -EOPNOTSUPP,
				   "counter %u is the sum of %u events, one for each "
				   "core PMU: the sum has no overflow; name one PMU",
				   index, session->registers[index].count);
	if (how && how->flags & PERFMON_OVERFLOW_NOTIFY) {
		err = pm_queue_need(session);
		if (err)
			return err;
	}
	registers = pm_registers_copy(session, 0);
	if (!registers)
		return pm_diag_set(&session->diag, -ENOMEM, "out of memory");
	overflow = &registers[index].overflow;
	overflow->on = how != NULL;
	overflow->reset_due = false;
	if (how) {
		overflow->how = *how;
		overflow->how.reset_counters = overflow->how.sample_counters = NULL;
		memset(overflow->resets, 0, sizeof(overflow->resets));
		memset(overflow->samples, 0, sizeof(overflow->samples));
		pm_counter_mask(overflow->resets, how->reset_counters, how->reset_count);
		pm_counter_mask(overflow->samples, how->sample_counters,
				how->sample_count);
		overflow->seed = UINT64_C(0x9e3779b97f4a7c15) * (index + 1);
		overflow->least = least_period();
		err = pm_overflow_check_period(session, &registers[index],
					       how->short_reset);
		err = err
			      ?: pm_overflow_check_period(session, &registers[index],
							  how->long_reset);
		if (err) {
			pm_registers_free(registers, session->count);
			return err;
		}
	}
	err = pm_session_reinstall(session, registers);
	if (err || !how)
		return err;
	pm_overflow_forget_due(session, index);
	return begin(session, index);
}

PM_EXPORT int perfmon_overflow_program(struct perfmon_session *session, uint32_t index,
				       const struct perfmon_overflow *overflow)
{
	int err = pm_session_enter(session);
	struct perfmon_overflow how;

	if (err)
		return err;
	if (overflow)
		err = check_overflow(session, index, overflow, &how);
	err = err ?: pm_session_must_stand(session, "the overflows");
	return pm_session_leave(session,
				err ?: program(session, index, overflow ? &how : NULL));
}

static int set_period(struct perfmon_session *session, uint32_t index, uint64_t period,
		      uint32_t flags)
{
	struct perfmon_overflow how = {.size = sizeof(how),
				       .flags = flags,
				       .short_reset = -period,
				       .long_reset = -period};
	struct perfmon_write first = {.index = index, .value = -period};
	int err;

	if (flags & ~(PERFMON_OVERFLOW_NOTIFY | PERFMON_OVERFLOW_SAMPLE))
		return pm_diag_set(
			&session->diag, -EINVAL,
			"a period has no flags 0x%x: perfmon_overflow_program() may have",
			flags);
	if (!overflows(-period))
		return pm_diag_set(&session->diag, -EINVAL,
				   "a period cannot be %" PRIu64
				   " events; pass 1 or more, and less than 2^63",
				   period);
	err = pm_session_must_stand(session, "the overflows");
	err = err ?: program(session, index, &how);
	if (err)
		return err;
	err = pm_session_collect(session, index);
	if (!err || err == -ENODATA)
		err = pm_session_write_one(session, &first);
	return err ? pm_session_explain(session, err) : 0;
}

PM_EXPORT int perfmon_overflow_period(struct perfmon_session *session, uint32_t index,
				      uint64_t period, uint32_t flags)
{
	int err = pm_session_enter(session);

	return err
		       ?: pm_session_leave(session,
					   set_period(session, index, period, flags));
}

PM_EXPORT int perfmon_overflow_last_reset(struct perfmon_session *session, uint32_t index,
					  uint64_t *value, uint64_t *count)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	pm_session_catch_up(session);
	if (index >= session->count)
		return pm_session_leave(session,
					pm_diag_set(&session->diag, -EINVAL,
						    "there is no counter %u", index));
	if (value)
		*value = session->registers[index].overflow.last_reset;
	if (count)
		*count = session->registers[index].overflow.count;
	return pm_session_leave(session, 0);
}

/* --- messages ----------------------------------------------------------------------- */

PM_EXPORT int perfmon_overflow_read(struct perfmon_session *session,
				    struct perfmon_message *messages, size_t count,
				    size_t element_size)
{
	uint32_t n;
	int err;

	/* A signal handler that interrupted a call on this very session. */
	if (pm_busy_with(session))
		return -EAGAIN;
	err = pm_session_enter(session);
	if (err)
		return err;
	pm_session_catch_up(session);
	if (!messages || !count ||
	    PM_VECTOR_CHECK(messages, 0, element_size, PM_VECTOR_OUT, perfmon_message,
			    56))
		return pm_session_leave(
			session,
			pm_diag_set(&session->diag, -EINVAL,
				    "%zu messages of %zu bytes: pass room for one or "
				    "more, and sizeof(messages[0]), or "
				    "PERFMON_VECTOR(messages) for all three arguments",
				    count, element_size));
	n = session->overflows->queue ? pm_queue_pop(session, messages, count) : 0;
	pm_vector_unpack(messages, n, element_size, sizeof(messages[0]));
	return pm_session_leave(session, n ? (int)n : -EAGAIN);
}

/* --- the descriptor ----------------------------------------------------------------- */

/* The session has a helper thread. A format's messages come as they happen from now on,
 * unless the session runs or has a log. */
static int open_descriptor(struct perfmon_session *session)
{
	const struct pm_sampling *sampling = session->sampling;
	int fd = pm_queue_open_descriptor(session), err = 0;

	if (fd < 0)
		return fd;
	if (sampling && sampling->use && !sampling->log &&
	    session->state != PERFMON_STATE_RUNNING &&
	    session->state != PERFMON_STATE_MASKED)
		err = pm_session_replan(session);
	if (err) {
		pm_overflow_close_descriptor(session);
		return err;
	}
	pm_queue_tell(session);
	return fd;
}

static int make_descriptor(struct perfmon_session *session)
{
	int err = pm_queue_need(session);

	if (err)
		return err;
	if (!pm_queue_has_listener(session)) {
		err = pm_helper_need(session);
		return err ?: open_descriptor(session);
	}
	return pm_queue_descriptor(session) >= 0
		       ? pm_queue_descriptor(session)
		       : pm_session_closed_by_program(session, -EBADF);
}

PM_EXPORT int perfmon_overflow_descriptor(struct perfmon_session *session)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	/* Nobody would be woken for what waits already. */
	pm_session_catch_up(session);
	return pm_session_leave_idle(session, make_descriptor(session));
}

/* --- the restart -------------------------------------------------------------------- */

PM_EXPORT int perfmon_overflow_restart(struct perfmon_session *session)
{
	bool *asked = pm_busy_with(session);
	int err;

	if (asked) {
		*asked = true;
		return 0;
	}
	err = pm_session_enter(session);
	if (err)
		return err;
	pm_session_catch_up(session);
	return pm_session_leave(session, pm_session_restart(session));
}
