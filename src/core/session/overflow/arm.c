/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counters that overflow: what their events record, and what is armed when they are
 * opened. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/session/overflow/notices.h"
#include "core/session/overflow/overflow.h"
#include "core/session/overflow/period.h"
#include "core/session/overflow/stopped.h"
#include "core/session/sampling/sampling.h"

/* The records of an overflow are short, and few wait: the event stops, or is drained. But what
 * the kernel says when it holds an event back, after max_sample_rate / HZ overflows in a tick,
 * should find room behind these, too. */
#define RING_PAGES     8
#define RING_PAGES_FEW 1
#define RINGS_WIDE     8 /* so many rings of a session are so large */

static int open_ring(struct perfmon_session *session, struct pm_target *target, int fd)
{
	uint32_t pages;
	int err;

	if (target->records->ring.page) {
		err = pm_kernel_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT,
				      (unsigned long)target->records->ring_fd);
		return err ? pm_diag_set(&session->diag, err,
					 "cannot redirect an event to the shared ring "
					 "(error %d)",
					 -err)
			   : 0;
	}
	pages = session->sampling	      ? session->sampling->pages
		: session->rings < RINGS_WIDE ? RING_PAGES
					      : RING_PAGES_FEW;
	err = pm_ring_map(&target->records->ring, fd, pages);
	if (err == -EPERM && !session->sampling)
		err = pm_ring_map(&target->records->ring, fd, RING_PAGES_FEW);
	if (err == -EINVAL && target->flags & PM_OPEN_INHERIT)
		err = -EOPNOTSUPP;
	if (err)
		return pm_diag_set(
			&session->diag, err,
			"cannot map the ring of an overflowing event: %s",
			err == -EPERM ? "locked memory is used up "
					"(kernel.perf_event_mlock_kb, RLIMIT_MEMLOCK)"
			: target->flags & PM_OPEN_INHERIT
				? "the kernel gives no ring to an inherited event"
				: "the kernel refused the mapping");
	target->records->ring_fd = fd;
	target->watch_key = ++session->watch_keys;
	session->rings++;
	return 0;
}

/* Resets that were due on earlier targets are so on TARGET, whatever the values are by
 * now: it takes over what they have left. */
static void take_over_due(struct perfmon_session *session,
			  const struct pm_session_plan *plan, struct pm_target *target)
{
	for (uint32_t i = 0; i < session->count; i++) {
		struct pm_register *reg = &session->registers[i];

		if (!reg->overflow.on ||
		    (!reg->overflow.reset_due && !pm_period_is_due_on(plan, reg)))
			continue;
		pm_period_move(&pm_arm_of(target, reg)->fit, PM_PERIOD_OPENED_DUE);
		reg->overflow.reset_due = false;
	}
}

/* Leaves the resets that are due on TARGET, which goes, to the next target. */
static void leave_due(struct perfmon_session *session, const struct pm_target *target)
{
	for (uint32_t i = 0; i < session->count; i++) {
		struct pm_register *reg = &session->registers[i];

		if (reg->overflow.on && pm_period_is_due(pm_arm_of(target, reg)->fit))
			reg->overflow.reset_due = true;
	}
}

int pm_overflow_arm(struct perfmon_session *session, struct pm_session_plan *plan,
		    struct pm_target *target)
{
	int signo = session->overflows->block_signal ?: session->overflows->signal,
	    err = 0;

	*target->records = (struct pm_target_records){.ring_fd = -1};
	for (uint32_t s = 0; s < plan->part_count; s++) {
		struct pm_instance *instance = target->parts[s].instance;

		memset(target->parts[s].arms, 0,
		       instance->count * sizeof(target->parts[s].arms[0]));
		if (!plan->sets[s].samples)
			continue;
		for (uint32_t c = 0; c < instance->count && !err; c++) {
			const struct perf_event_attr *attr =
				&plan->sets[s].events[c].attr;
			struct pm_arm *arm = &target->parts[s].arms[c];

			if ((!attr->sample_period && !attr->mmap) ||
			    instance->counters[c].fd < 0)
				continue;
			arm->period = arm->next = attr->sample_period;
			arm->late = c != plan->sets[s].clock && pm_attr_is_clock(attr);
			target->records->late |= arm->late;
			err = open_ring(session, target, instance->counters[c].fd);
		}
	}
	if (!target->records->ring.page || err)
		return err;
	take_over_due(session, plan, target);
	if (signo && target->tid && !pm_kernel_is_own_thread(target->tid))
		return pm_diag_set(&session->diag, -EOPNOTSUPP,
				   "thread %d belongs to another process: signals and "
				   "blocking work only for the program's own threads",
				   target->tid);
	err = signo ? pm_overflow_arm_signals(session, target) : 0;
	if (!err && session->helper)
		err = pm_helper_watch(session->helper, target->records->ring_fd,
				      target->watch_key);
	if (err)
		pm_diag_set(&session->diag, err,
			    "cannot arm an event for overflow (error %d)", -err);
	return err;
}

void pm_overflow_disarm(struct perfmon_session *session,
			const struct pm_session_plan *plan, struct pm_target *target)
{
	if (!target->records->ring.page)
		return;
	leave_due(session, target);
	session->rings--;
	if (session->helper)
		pm_helper_unwatch(session->helper, target->records->ring_fd);
	if (session->overflows->in_table)
		pm_stopped_unwatch(plan, target);
	pm_ring_unmap(&target->records->ring);
}

/* --- events that overflow -------------------------------------------------------- */

static bool names_any(const uint64_t *mask)
{
	for (uint32_t w = 0; w < PM_COUNTER_WORDS; w++)
		if (mask[w])
			return true;
	return false;
}

void pm_overflow_plan(const struct perfmon_session *session,
		      const struct pm_register *reg, struct pm_event *event)
{
	/* Its record says what these had counted then, however late it is taken. */
	pm_record_plan(event,
		       names_any(reg->overflow.resets) ||
			       (pm_is_sampled(reg) && names_any(reg->overflow.samples)));
	pm_sampling_plan(session, reg, &event->attr, pm_queue_has_listener(session));
}

int pm_overflow_check_period(struct perfmon_session *session,
			     const struct pm_register *reg, uint64_t value)
{
	uint64_t period = -value;

	if (!pm_is_sampled(reg) || !period || period >= reg->overflow.least)
		return 0;
	return pm_diag_set(&session->diag, -EINVAL,
			   "a period of %" PRIu64
			   " events is below PERFMON_MIN_PERIOD=%" PRIu64,
			   period, reg->overflow.least);
}
