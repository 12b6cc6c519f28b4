/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Virtual time: how long the targets of a session ran. */
#include "core/session/core/collect.h"

#include <errno.h>

/* The CPU time clock of a thread of this process (glibc's pthread_getcpuclockid() makes
 * the same number). */
static clockid_t thread_clock(pid_t tid)
{
	return (clockid_t)((~(unsigned int)tid << 3) | 6);
}

uint64_t pm_target_time(const struct pm_target *target)
{
	uint64_t ns;

	/* A thread of another process may have run all the time. */
	if (target->tid > 0 && !pm_kernel_clock_ns(thread_clock(target->tid), &ns))
		return ns;
	return pm_kernel_clock_ns(CLOCK_MONOTONIC, &ns) ? 0 : ns;
}

void pm_register_gap(struct pm_register *reg, const struct pm_target *target, uint64_t ns)
{
	if (target->role & PM_ROLE_ALL)
		reg->base.enabled_ns += ns;
	if (target->role & PM_ROLE_OWN)
		reg->own_base.enabled_ns += ns;
}

void pm_session_gap(struct perfmon_session *session, const struct pm_target *target,
		    uint64_t ns)
{
	for (uint32_t i = 0; i < session->count; i++)
		pm_register_gap(&session->registers[i], target, ns);
	if (session->time.source == PM_TIME_EVENT && target->role & PM_ROLE_ALL &&
	    !target->follows)
		session->time.base += ns;
}

void pm_session_time_attach(struct perfmon_session *session)
{
	const struct pm_session_plan *plan = session->plan;
	const struct pm_target *target = &plan->targets[0];
	uint32_t s;

	session->time.source = PM_TIME_NONE;
	session->time.counted = 0;
	if (pm_clock_of(plan, target, &s) != PM_NO_CLOCK) {
		session->time.source = PM_TIME_EVENT;
	} else if (plan->target_count == 1 && session->scope == PERFMON_SCOPE_THREAD) {
		session->time.clock = thread_clock(target->tid ?: pm_kernel_gettid());
		if (!pm_kernel_clock_ns(session->time.clock, &session->time.started))
			session->time.source = PM_TIME_CLOCK;
	}
}

void pm_session_time_start(struct perfmon_session *session)
{
	if (session->time.source == PM_TIME_CLOCK &&
	    pm_kernel_clock_ns(session->time.clock, &session->time.started))
		session->time.source = PM_TIME_NONE; /* the thread has ended */
}

void pm_session_time_stop(struct perfmon_session *session)
{
	uint64_t now;

	if (session->time.source == PM_TIME_CLOCK &&
	    !pm_kernel_clock_ns(session->time.clock, &now))
		session->time.counted += now - session->time.started;
}

/* How long all that is on of TARGET was so. */
static int time_of_events(struct perfmon_session *session, struct pm_target *target,
			  struct pm_span *span, bool *syscall)
{
	uint32_t s, c = pm_clock_of(session->plan, target, &s);
	const struct pm_reading *reading;
	int err;

	if (c == PM_NO_CLOCK)
		return 0;
	err = pm_part_refresh(session, target, s, c, syscall);
	reading = &target->parts[s].readings[c];
	if (!err)
		pm_span_add(span, target, reading->enabled_ns, reading->running_ns);
	return err;
}

/* The same from the page of the calling thread's own session. */
static bool time_of_page(const struct perfmon_session *session, uint64_t *ns)
{
	const struct pm_session_plan *plan = session->plan;
	const struct pm_counter *counter;
	uint32_t c, s;

	if (!pm_has_pages(session))
		return false;
	c = pm_clock_of(plan, &plan->targets[0], &s);
	if (c == PM_NO_CLOCK)
		return false;
	counter = &plan->targets[0].parts[0].instance->counters[c];
	return counter->page && !pm_view_page_enabled(counter->page, ns);
}

void pm_session_time_target(struct perfmon_session *session, struct pm_target *target)
{
	struct pm_span span = {0};
	bool syscall;

	/* The first of several CPUs brings what its enabled time has, the others nothing:
	 * they leave together. */
	if (session->time.source == PM_TIME_EVENT && target->role & PM_ROLE_ALL &&
	    !target->follows && !time_of_events(session, target, &span, &syscall))
		session->time.base += pm_span_end(&span);
}

int pm_session_time_of_targets(struct perfmon_session *session, uint64_t *ns,
			       bool *syscall)
{
	struct pm_session_plan *plan = session->plan;
	struct pm_span span = {0};
	uint64_t now;
	int err = 0;

	*syscall = false;
	*ns = 0;
	if (session->state == PERFMON_STATE_DETACHED)
		return 0;
	switch (session->time.source) {
	case PM_TIME_EVENT:
		if (time_of_page(session, ns))
			return 0;
		for (uint32_t t = 0; t < plan->target_count; t++) {
			if (!(plan->targets[t].role & PM_ROLE_ALL))
				continue;
			err = time_of_events(session, &plan->targets[t], &span, syscall);
			if (err)
				return err;
		}
		*ns = pm_span_end(&span);
		return 0;
	case PM_TIME_CLOCK:
		*ns = session->time.counted;
		if (session->state != PERFMON_STATE_RUNNING)
			return 0;
		*syscall = true;
		err = pm_kernel_clock_ns(session->time.clock, &now);
		if (!err)
			*ns += now - session->time.started;
		return err;
	default:
		return -ENODATA;
	}
}

int pm_session_time_now(struct perfmon_session *session, uint64_t *ns, bool *syscall)
{
	uint64_t target;
	int err = pm_session_time_of_targets(session, &target, syscall);

	if (err)
		return err;
	target += session->time.base;
	/* The page's clock and the kernel's round differently. */
	if ((int64_t)(target - session->time.floor) < 0)
		target = session->time.floor;
	session->time.floor = target;
	*ns = target;
	return 0;
}

void pm_session_time_detach(struct perfmon_session *session)
{
	uint64_t ns;
	bool syscall;

	/* If it is known, it is the new floor. */
	pm_session_time_now(session, &ns, &syscall);
	session->time.base = session->time.floor;
	session->time.source = PM_TIME_NONE;
}
