/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Overflows: which counters overflow, and to what they are set back.
 *
 * A value v arms a period of 2^64 - v. At the overflow the value is 0, and a reset to r
 * makes it r: base moves by r. If r asks for the period that the kernel has, the kernel
 * goes on by itself and its next overflow is the value's. Else the period is set anew,
 * which begins it where the event stands: then the value is set to r there.
 */
#include <errno.h>
#include <inttypes.h>

#include "os/os.h"
#include "session/overflow/overflow.h"
#include "session/overflow/period.h"
#include "session/overflow/queue.h"
#include "session/sampling/sampling.h"

#define KNOWN_FLAGS                                                                      \
	(PERFMON_OVERFLOW_NOTIFY | PERFMON_OVERFLOW_RANDOM | PERFMON_OVERFLOW_SWITCH |   \
	 PERFMON_OVERFLOW_SAMPLE)

static bool names_missing(const struct perfmon_session *session, const uint64_t *mask)
{
	uint32_t i;

	for (i = session->count; i < PERFMON_SESSION_COUNTERS_MAX; i++) {
		if (mask[i / 64] >> (i % 64) & 1)
			return true;
	}
	return false;
}

static int check_overflow(struct perfmon_session *session, uint32_t index,
			  const struct perfmon_overflow *how)
{
	int err = PM_STRUCT_CHECK(how, perfmon_overflow, 120);
	const char *wrong = NULL;

	if (err)
		return pm_session_explain_struct(session, err, "the overflow",
						 "perfmon_overflow");
	if (how->flags & ~KNOWN_FLAGS || how->reserved)
		wrong = "unknown flags, or a reserved field that is not 0";
	else if (!(how->flags & PERFMON_OVERFLOW_RANDOM) && how->random_mask)
		wrong = "a random mask without its flag";
	else if (!(how->flags & PERFMON_OVERFLOW_SWITCH) != !how->switch_count)
		wrong = "the switch flag and a count of overflows go together";
	if (wrong)
		return pm_diag_set(&session->diag, -EINVAL, "overflow of counter %u: %s",
				   index, wrong);
	return 0;
}

int pm_overflow_check_period(struct perfmon_session *session,
			     const struct pm_register *reg, uint64_t value)
{
	const struct pm_overflow *overflow = &reg->overflow;
	uint64_t period = -value;

	if (!overflow->on || !(overflow->how.flags & PERFMON_OVERFLOW_SAMPLE) ||
	    !period || period >= overflow->least)
		return 0;
	return pm_diag_set(&session->diag, -EINVAL,
			   "samples every %" PRIu64
			   " events are more than PERFMON_MIN_PERIOD=%" PRIu64 " allows",
			   period, overflow->least);
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
	bool syscall, written = reg->written;
	uint64_t value;
	int err = pm_session_collect(session, index, &syscall);

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
	if (how && (names_missing(session, how->reset_counters) ||
		    names_missing(session, how->sample_counters)))
		return pm_diag_set(&session->diag, -EINVAL,
				   "overflow of counter %u: a counter to reset or to "
				   "sample that the session does not have",
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
	overflow->owed = false;
	if (how) {
		pm_struct_take(&overflow->how, how, sizeof(overflow->how));
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
	pm_period_forget_due(session, index);
	return begin(session, index);
}

PM_EXPORT int perfmon_overflow_program(struct perfmon_session *session, uint32_t index,
				       const struct perfmon_overflow *overflow)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	if (overflow)
		err = check_overflow(session, index, overflow);
	err = err ?: pm_session_must_stand(session, "the overflows");
	return pm_session_leave(session, err ?: program(session, index, overflow));
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

/* --- what an event has to record -------------------------------------------------------
 */

static bool names_any(const uint64_t *mask)
{
	uint32_t w;

	for (w = 0; w < PERFMON_COUNTER_WORDS; w++) {
		if (mask[w])
			return true;
	}
	return false;
}

void pm_overflow_plan(const struct perfmon_session *session,
		      const struct pm_register *reg, struct pm_event *event)
{
	const struct perfmon_overflow *how = &reg->overflow.how;

	/* Its record says what these had counted then, however late it is taken. */
	pm_record_plan(event, names_any(how->reset_counters) ||
				      (how->flags & PERFMON_OVERFLOW_SAMPLE &&
				       names_any(how->sample_counters)));
	pm_sampling_plan(session, reg, &event->attr);
}
