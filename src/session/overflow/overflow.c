/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Overflows: how a counter's value and reset values become periods of the kernel's
 * events. What happens at one is in session_notice.c.
 *
 * A value v arms a period of 2^64 - v. At the overflow the value is 0, and a reset to r
 * makes it r: base moves by r. If r asks for the period that the kernel has, the kernel
 * goes on by itself and its next overflow is the value's. Else the period is set anew,
 * which begins it where the event stands: then the value is set to r there.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "session/overflow/notice.h"
#include "session/sampling/sampling.h"

#define KNOWN_FLAGS                                                                      \
	(PERFMON_OVERFLOW_NOTIFY | PERFMON_OVERFLOW_RANDOM | PERFMON_OVERFLOW_SWITCH |   \
	 PERFMON_OVERFLOW_SAMPLE)

/* The records of an overflow are short, and few wait: the event stops, or is drained. */
#define RING_PAGES 1

/* Not PERF_SAMPLE_PERIOD: with it a software event overflows at every single event
 * (perf_swevent_event() in the kernel's events/core.c). */
#define RECORDED                                                                         \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |  \
	 PERF_SAMPLE_CPU)

/* --- programming -----------------------------------------------------------------------
 */

static bool names_missing(const struct perfmon_session *session, const uint64_t *mask)
{
	uint32_t i;

	for (i = session->count; i < PERFMON_SESSION_COUNTERS; i++) {
		if (mask[i / 64] >> (i % 64) & 1)
			return true;
	}
	return false;
}

static int check_overflow(struct perfmon_session *session, uint32_t index,
			  const struct perfmon_overflow *how)
{
	int err = PM_STRUCT_CHECK(how, perfmon_overflow, sample_counters);
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
		err = pm_session_need_queue(session);
		if (err)
			return err;
	}
	registers = pm_registers_copy(session, 0);
	if (!registers)
		return pm_diag_set(&session->diag, -ENOMEM, "out of memory");
	overflow = &registers[index].overflow;
	overflow->on = how != NULL;
	overflow->due = false;
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
	return err || !how ? err : begin(session, index);
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

/* --- periods ---------------------------------------------------------------------------
 */

bool pm_is_software(const struct pm_event *event)
{
	return event->attr.type == PERF_TYPE_SOFTWARE ||
	       event->attr.type == PERF_TYPE_TRACEPOINT ||
	       event->attr.type == PERF_TYPE_BREAKPOINT;
}

/*
 * The kernel begins the period of a software event that is on with its end
 * (perf_swevent_start() leaves period_left at 0, so that the next event overflows): with
 * PAUSE its group is off meanwhile. Not the event alone: Linux 6.12 and later do not put
 * a member on that is enabled while its leader of another software PMU is on
 * (ctx_resched() looks at the member's PMU only).
 */
int pm_overflow_begin_period(struct pm_part *part, uint32_t c, bool pause,
			     uint64_t period)
{
	const struct pm_counter *counters = part->instance->counters;
	uint32_t leader = counters[c].leader;
	int err = 0;

	if (pause)
		err = pm_kernel_ioctl(counters[leader].fd, PERF_EVENT_IOC_DISABLE, 0);
	err = err ?: pm_kernel_ioctl_ptr(counters[c].fd, PERF_EVENT_IOC_PERIOD, &period);
	if (!pause || err)
		return err;
	part->arms[leader].resumed = true;
	return pm_kernel_ioctl(counters[leader].fd, PERF_EVENT_IOC_ENABLE, 0);
}

/*
 * Linux 6.17 and later stop a breakpoint at its overflow by a mark that enabling it does
 * not take away. A new period does, while it is on, as on the calling thread (for others
 * see session_breakpoint.c); it begins properly when the breakpoint is enabled once more.
 */
static int revive(struct pm_part *part)
{
	const struct pm_instance *instance = part->instance;
	uint32_t c;
	int err = 0;

	for (c = 0; c < instance->count && !err; c++) {
		struct pm_arm *arm = &part->arms[c];

		if (!arm->stopped)
			continue;
		if (instance->counters[c].event->attr.type == PERF_TYPE_BREAKPOINT)
			err = pm_overflow_begin_period(part, c, false, arm->period)
				      ?: pm_overflow_begin_period(part, c, true,
								  arm->period);
		part->arms[instance->counters[c].leader].resumed = false;
		if (!err)
			arm->stopped = false;
	}
	return err;
}

/* --- opening ---------------------------------------------------------------------------
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

void pm_overflow_plan(struct pm_event *event, const struct perfmon_overflow *how)
{
	event->attr.sample_period = PM_LONGEST_PERIOD;
	event->attr.sample_type = RECORDED;
	event->attr.sample_id_all = 1;
	event->attr.wakeup_events = 1;
	/* Its record says what these had counted then, however late it is taken. */
	if (how &&
	    (names_any(how->reset_counters) ||
	     (how->flags & PERFMON_OVERFLOW_SAMPLE && names_any(how->sample_counters)))) {
		event->attr.sample_type |= PERF_SAMPLE_READ;
		/* As instances read their groups. */
		event->attr.read_format =
			PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
			PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_GROUP;
	}
}

const struct perf_event_attr *pm_overflow_attr(void)
{
	static const struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = RECORDED, .sample_id_all = 1};

	return &attr;
}

/* Has the kernel send the session's signal to the thread of TARGET for counter C. */
static int arm_signal(const struct pm_target *target, const struct pm_counter *counter,
		      int signo)
{
	struct f_owner_ex owner = {.type = F_OWNER_TID,
				   .pid = target->tid ?: pm_kernel_gettid()};
	int flags = pm_kernel_fcntl(counter->fd, F_GETFL, 0), err;

	if (flags < 0)
		return flags;
	if (!signo)
		return pm_kernel_fcntl(counter->fd, F_SETFL, flags & ~O_ASYNC);
	err = pm_kernel_fcntl(counter->fd, F_SETOWN_EX, (long)&owner);
	err = err ?: pm_kernel_fcntl(counter->fd, F_SETSIG, signo);
	return err ?: pm_kernel_fcntl(counter->fd, F_SETFL, flags | O_ASYNC);
}

static bool is_foreign(const struct pm_target *target)
{
	return target->tid && !pm_kernel_is_own_thread(target->tid);
}

int pm_overflow_arm_signals(struct perfmon_session *session, struct pm_target *target)
{
	int signo = session->block_signal ?: session->signal, err = 0;
	uint32_t i;

	for (i = 0; i < session->count && !err; i++) {
		const struct pm_register *reg = &session->registers[i];
		const struct pm_counter *counter =
			&target->parts[reg->set].instance->counters[reg->planned];

		if (!reg->overflow.on || counter->fd < 0 ||
		    !(reg->overflow.how.flags & PERFMON_OVERFLOW_NOTIFY))
			continue;
		err = arm_signal(target, counter, signo);
		if (!err && (session->block_signal || session->handler))
			err = pm_notice_watch(session, counter->fd, i);
	}
	return err;
}

static int open_ring(struct perfmon_session *session, struct pm_target *target, int fd)
{
	int err;

	if (target->ring.page) {
		err = pm_kernel_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT,
				      (unsigned long)target->ring_fd);
		return err ? pm_diag_set(&session->diag, err,
					 "an event cannot share the ring of the others "
					 "(error %d)",
					 -err)
			   : 0;
	}
	err = pm_ring_map(&target->ring, fd,
			  session->sampling ? session->sampling->pages : RING_PAGES);
	if (err == -EINVAL && target->flags & PM_OPEN_INHERIT)
		err = -EOPNOTSUPP;
	if (err)
		return pm_diag_set(
			&session->diag, err,
			"the ring of an event that overflows cannot be mapped: %s",
			err == -EPERM ? "locked memory is used up "
					"(kernel.perf_event_mlock_kb, RLIMIT_MEMLOCK)"
			: target->flags & PM_OPEN_INHERIT
				? "the kernel gives none to an event that children "
				  "inherit"
				: "the kernel refused it");
	target->ring_fd = fd;
	target->watch_key = ++session->watch_keys;
	session->rings++;
	return 0;
}

/* Resets that were due on earlier targets are so on TARGET, whatever the values are by
 * now. */
static void arm_due(const struct perfmon_session *session, struct pm_target *target)
{
	uint32_t i;

	for (i = 0; i < session->count; i++) {
		const struct pm_register *reg = &session->registers[i];
		struct pm_arm *arm = &target->parts[reg->set].arms[reg->planned];

		if (reg->overflow.on)
			arm->moved = arm->due = reg->overflow.due;
	}
}

int pm_overflow_arm(struct perfmon_session *session, struct pm_session_plan *plan,
		    struct pm_target *target)
{
	int signo = session->block_signal ?: session->signal, err = 0;
	uint32_t s, c;

	for (s = 0; s < plan->part_count; s++) {
		struct pm_instance *instance = target->parts[s].instance;

		memset(target->parts[s].arms, 0,
		       instance->count * sizeof(target->parts[s].arms[0]));
		if (!plan->sets[s].samples)
			continue;
		for (c = 0; c < instance->count && !err; c++) {
			const struct perf_event_attr *attr =
				&plan->sets[s].events[c].attr;

			if ((!attr->sample_period && !attr->mmap) ||
			    instance->counters[c].fd < 0)
				continue;
			target->parts[s].arms[c].period = target->parts[s].arms[c].next =
				attr->sample_period;
			target->parts[s].arms[c].late =
				c != plan->sets[s].clock &&
				pm_is_clock(&plan->sets[s].events[c]);
			target->late |= target->parts[s].arms[c].late;
			err = open_ring(session, target, instance->counters[c].fd);
		}
	}
	if (!target->ring.page || err)
		return err;
	arm_due(session, target);
	if (signo && is_foreign(target))
		return pm_diag_set(
			&session->diag, -EOPNOTSUPP,
			"thread %d is of another process: signals and blocking "
			"are for the program's own threads",
			target->tid);
	err = signo ? pm_overflow_arm_signals(session, target) : 0;
	if (!err && session->helper)
		err = pm_helper_watch(session->helper, target->ring_fd,
				      target->watch_key);
	if (err)
		pm_diag_set(&session->diag, err,
			    "an event cannot be armed for its overflow (error %d)", -err);
	return err;
}

void pm_overflow_disarm(struct perfmon_session *session,
			const struct pm_session_plan *plan, struct pm_target *target)
{
	if (!target->ring.page)
		return;
	session->rings--;
	if (session->helper)
		pm_helper_unwatch(session->helper, target->ring_fd);
	if (session->has_slots)
		pm_notice_unwatch(plan, target);
	pm_ring_unmap(&target->ring);
}

/* Counts overflows until the next set's turn anew. */
static void count_to_switch(struct perfmon_session *session, struct pm_part *part,
			    uint32_t s)
{
	uint32_t i;

	for (i = 0; i < session->count; i++) {
		const struct pm_register *reg = &session->registers[i];

		if (reg->set == s && reg->overflow.on)
			part->arms[reg->planned].until_switch =
				reg->overflow.how.switch_count;
	}
}

int pm_overflow_enable(struct perfmon_session *session, struct pm_target *target,
		       uint32_t s)
{
	struct pm_part *part = &target->parts[s];
	struct pm_instance *instance = part->instance;
	uint32_t i, c;
	int err = 0;

	/* Members before their leader: enabling that starts them all. */
	for (i = session->count; i-- > 0 && !err;) {
		const struct pm_register *reg = &session->registers[i];
		struct pm_arm *arm = &part->arms[reg->planned];

		c = reg->planned;
		if (reg->set != s || !reg->overflow.on || instance->counters[c].fd < 0 ||
		    !(reg->overflow.how.flags & PERFMON_OVERFLOW_NOTIFY) ||
		    (arm->limited && !arm->stopped))
			continue;
		/* One that failed half way has its limit already. */
		err = pm_kernel_ioctl(instance->counters[c].fd,
				      arm->limited ? PERF_EVENT_IOC_ENABLE
						   : PERF_EVENT_IOC_REFRESH,
				      !arm->limited);
		arm->limited |= !err;
		if (!err && instance->counters[c].leader == c)
			arm->started = true;
	}
	count_to_switch(session, part, s);
	for (c = 0; c < instance->count; c++) {
		int failed = 0;

		if (instance->counters[c].fd >= 0 && instance->counters[c].leader == c &&
		    !part->arms[c].started)
			failed = pm_kernel_ioctl(instance->counters[c].fd,
						 PERF_EVENT_IOC_ENABLE, 0);
		part->arms[c].started = part->arms[c].resumed = false;
		err = err ?: failed;
	}
	return err ?: revive(part);
}
