/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rings: what their records ask for. At an overflow that notifies the session is masked,
 * and a message waits. */
#include <errno.h>

#include "core/session/overflow/notices.h"
#include "core/session/overflow/overflow.h"
#include "core/session/overflow/period.h"
#include "core/session/overflow/reset.h"
#include "core/session/sampling/sampling.h"
#include "core/session/sets/sets.h"

/* How often a ring that fills up meanwhile is emptied before its periods are settled. */
#define TRIES 4

/* The event of TARGET that RECORD is of: its set and place. */
static bool find_event(const struct pm_session_plan *plan, const struct pm_target *target,
		       const struct perf_event_header *record, uint32_t *set,
		       uint32_t *counter)
{
	uint64_t id;

	if (pm_sample_identify(pm_record_attr(), record, &id))
		return false;
	for (uint32_t s = 0; s < plan->set_count; s++) {
		const struct pm_instance *instance = target->parts[s].instance;

		for (uint32_t c = 0; c < instance->count && plan->sets[s].samples; c++) {
			if (instance->counters[c].fd >= 0 &&
			    instance->counters[c].id == id) {
				*set = s;
				*counter = c;
				return true;
			}
		}
	}
	return false;
}

/* Returns whether REG, which stops itself, stops all that is on of TARGET: its group has
 * everything. */
static bool stops_all(const struct perfmon_session *session,
		      const struct pm_target *target, const struct pm_register *reg)
{
	const struct pm_instance *instance = target->parts[reg->set].instance;
	uint32_t c = reg->planned;

	return !(session->flags & PERFMON_SESSION_ROTATE) &&
	       pm_arm_of(target, reg)->limit == PM_LIMIT_LIMITED &&
	       instance->counters[c].leader == c &&
	       instance->counters[c].members == instance->open;
}

/* All stands still, STOPPED (which may be NULL) by itself. */
static void mask(struct perfmon_session *session, const struct pm_target *stopped)
{
	struct pm_session_plan *plan = session->plan;

	for (uint32_t t = 0; t < plan->target_count; t++)
		if (&plan->targets[t] != stopped)
			pm_target_disable(session, &plan->targets[t]);
	pm_session_time_stop(session);
	session->stamp++;
	pm_session_move(session, PM_SESSION_OVERFLOW);
}

/* Masks the session and queues a message; SELF: the counter has stopped itself. */
static void notify(struct perfmon_session *session, struct pm_target *target,
		   struct pm_register *reg, const struct perfmon_sample *sample,
		   bool self)
{
	bool all = self && stops_all(session, target, reg);
	struct pm_arm *arm = pm_arm_of(target, reg);
	uint32_t index = (uint32_t)(reg - session->registers);
	struct perfmon_message message = {.type = PERFMON_MESSAGE_TYPE_OVERFLOW,
					  .pid = sample->pid,
					  .tid = sample->tid,
					  .cpu = sample->cpu,
					  .set = session->sets[reg->set].id,
					  .index = index,
					  .event_id = reg->overflow.how.event_id,
					  .ip = sample->ip,
					  .time_ns = sample->time_ns};

	if (self)
		pm_limit_move(&arm->limit, PM_LIMIT_OVERFLOW);
	pm_period_move(&arm->fit, PM_PERIOD_NOTIFIED);
	if (session->state == PERFMON_STATE_MASKED)
		message.flags = PERFMON_MESSAGE_OVERRUN;
	else if (session->state == PERFMON_STATE_RUNNING)
		mask(session, all ? target : NULL);
	pm_queue_push(session, &message);
}

/* Returns whether the record is an overflow. */
static bool overflow(struct perfmon_session *session, struct pm_target *target,
		     struct pm_register *reg, const struct perfmon_sample *sample,
		     const struct pm_place *place)
{
	const struct perfmon_overflow *how = &reg->overflow.how;
	bool is_full;

	if (!pm_period_record(session, target, reg, place))
		return false;
	is_full = pm_sampling_take(session, target, reg, sample);
	if (how->flags & PERFMON_OVERFLOW_NOTIFY || is_full) {
		notify(session, target, reg, sample,
		       how->flags & PERFMON_OVERFLOW_NOTIFY);
	} else if (!pm_period_is_due(pm_arm_of(target, reg)->fit)) {
		pm_overflow_reset(session, target, reg, how->short_reset);
		pm_overflow_reset_others(session, target, reg, sample, place);
		pm_period_pass(session, target, reg);
	}
	pm_overflow_count(session, target, reg, 1);
	return true;
}

/* Returns false if the record is one of the kernel's alone: its period was shorter than that of
 * the counter. */
static bool handle_sample(struct perfmon_session *session, struct pm_target *target,
			  const struct perf_event_header *record)
{
	const struct pm_session_plan *plan = session->plan;
	struct perfmon_sample sample;
	uint32_t set, counter, i;

	if (!find_event(plan, target, record, &set, &counter) ||
	    pm_sample_decode(&plan->sets[set].events[counter].attr, record, &sample))
		return true;
	if (counter == plan->sets[set].clock) {
		pm_target_next_set(session, target, set);
		return true;
	}
	for (i = 0; i < session->count; i++) {
		struct pm_register *reg = &session->registers[i];

		if (reg->set == set && reg->planned == counter && reg->overflow.on)
			return overflow(session, target, reg, &sample,
					&(struct pm_place){
						target->records->ring.tail - record->size,
						target->records->ring.tail, sample.ip});
	}
	return true;
}

/* A record and where it comes from. */
struct arrival {
	struct perfmon_session *session;
	struct pm_target *target;
};

/* Returns whether the record belongs into a log. */
static bool visit(void *argument, const struct perf_event_header *record)
{
	const struct arrival *arrival = argument;
	struct perfmon_session *session = arrival->session;
	struct pm_target *target = arrival->target;
	uint32_t set, counter;

	if (record->type == PERF_RECORD_SAMPLE)
		return handle_sample(session, target, record);
	if (record->type == PERF_RECORD_LOST && session->overflows->queue)
		session->overflows->queue->lost = true;
	else if (record->type == PERF_RECORD_THROTTLE &&
		 find_event(session->plan, target, record, &set, &counter))
		pm_period_throttled(session, target, set, counter);
	if (record->type == PERF_RECORD_LOST || record->type == PERF_RECORD_THROTTLE)
		target->records->unsure = true;
	return true;
}

/* Returns whether more than samples comes from rings: what must not wait for a slow
 * disk. */
static bool is_awaited(const struct pm_session_plan *plan)
{
	for (uint32_t s = 0; s < plan->set_count; s++)
		if (plan->sets[s].notifies)
			return true;
	return plan->has_slices;
}

/* Takes what the log has no room for, which says so, or what one that has failed
 * leaves. */
static void drain_past_log(struct arrival *arrival)
{
	struct pm_sampling *sampling = arrival->session->sampling;
	struct pm_ring *ring = &arrival->target->records->ring;
	const struct perf_event_header *record;

	while (pm_ring_next(ring, &record) > 0) {
		if (visit(arrival, record) && sampling && sampling->log &&
		    pm_log_append(sampling->log, record) &&
		    record->type == PERF_RECORD_SAMPLE)
			sampling->unlogged++;
	}
	pm_ring_release(ring);
}

static void drain_ring(struct perfmon_session *session, struct pm_target *target,
		       bool all)
{
	struct arrival arrival = {session, target};
	struct pm_sampling *sampling = session->sampling;
	const struct pm_ring before = target->records->ring;
	uint64_t used = pm_ring_head(&target->records->ring) - before.tail;
	int err = -ENOENT;

	if (sampling && sampling->log)
		err = pm_log_drain(sampling->log, &target->records->ring, visit,
				   &arrival);
	/* The rest is taken when the log has room again: log_has_room(). */
	if (err < 0 || all)
		drain_past_log(&arrival);
	/* The kernel tells of records that did not fit with the next one that does. */
	if (pm_ring_was_full(&target->records->ring, used))
		target->records->unsure = true;
	if (!sampling)
		return;
	sampling->lost += target->records->ring.lost - before.lost;
	sampling->throttled += target->records->ring.throttled - before.throttled;
	target->records->reported_lost += target->records->ring.lost - before.lost;
}

/* --- draining ----------------------------------------------------------------------- */

/* Has what is on of a running TARGET stand still for a while; false: it does so already.
 * To be resumed. What the calling thread does meanwhile is not the program's work, but
 * another thread works on, uncounted. */
static bool pause_target(struct perfmon_session *session, struct pm_target *target)
{
	if (session->state != PERFMON_STATE_RUNNING || target->lost ||
	    target->records->paused || target->awaits_exec)
		return false;
	target->records->paused_at =
		pm_session_is_own(session) ? 0 : pm_target_time(target);
	pm_target_disable(session, target);
	target->records->paused_set = target->active;
	target->records->paused = true;
	return true;
}

static void resume_target(struct perfmon_session *session, struct pm_target *target)
{
	const struct pm_session_plan *plan = session->plan;

	target->records->paused = false;
	if (session->state != PERFMON_STATE_RUNNING)
		return;
	/* The clock of the whole first: no set is on for longer. */
	for (uint32_t s = plan->part_count; s-- > 0;) {
		if (!pm_target_is_on(session, target, s))
			continue;
		if (s == target->active && s != target->records->paused_set) {
			pm_target_enable_set(session, target, s);
			continue;
		}
		for (uint32_t c = 0; c < plan->sets[s].count; c++)
			pm_limit_move(&target->parts[s].arms[c].limit, PM_LIMIT_RESUME);
		pm_instance_enable(target->parts[s].instance);
	}
	if (target->records->paused_at)
		pm_session_gap(session, target,
			       pm_target_time(target) - target->records->paused_at);
}

static bool is_pending(const struct pm_target *target)
{
	return pm_ring_pending(&target->records->ring) || target->records->late;
}

/* ALL: nothing may stay in the ring. */
static void drain_target(struct perfmon_session *session, struct pm_target *target,
			 bool all)
{
	bool paused;

	if (!is_pending(target))
		return;
	drain_ring(session, target, all);
	if (!pm_period_needs_care(session, target))
		return;
	paused = (pm_session_is_own(session) || pm_period_needs_pause(session, target)) &&
		 pause_target(session, target);
	/* Records that have come since belong to the old periods. */
	for (int tries = 0; pm_ring_pending(&target->records->ring) && tries < TRIES;
	     tries++)
		drain_ring(session, target, all);
	if (target->records->ring.tail == target->records->ring.head)
		pm_period_finish(session, target);
	if (paused)
		resume_target(session, target);
}

static void drain(struct perfmon_session *session, bool all)
{
	struct pm_session_plan *plan = session->plan;

	for (uint32_t t = 0; t < plan->target_count; t++)
		drain_target(session, &plan->targets[t], all);
	if (session->sampling && session->sampling->log)
		pm_log_round(session->sampling->log);
}

void pm_overflow_drain_target(struct perfmon_session *session, struct pm_target *target)
{
	drain_target(session, target, true);
}

void pm_overflow_catch_up(struct perfmon_session *session)
{
	struct pm_target *target = session->plan->targets;
	uint32_t t = 0, count = session->plan->target_count;
	bool paused;

	while (t < count && !is_pending(&target[t]))
		t++;
	if (t == count)
		return;
	/* The work of the calling thread here is not the program's. */
	paused = pm_session_is_own(session) && pause_target(session, target);
	drain(session, is_awaited(session->plan));
	if (paused)
		resume_target(session, target);
}

void pm_overflow_after_stop(struct perfmon_session *session)
{
	if (session->rings)
		drain(session, true);
	pm_overflow_release(session);
}

void pm_overflow_report_log(struct perfmon_session *session)
{
	const struct perfmon_message message = {.type = PERFMON_MESSAGE_TYPE_LOG};
	struct pm_sampling *sampling = session->sampling;

	/* Pairs with the release in log_failed(). */
	if (!sampling || sampling->log_reported ||
	    !__atomic_load_n(&sampling->log_failed, __ATOMIC_ACQUIRE))
		return;
	sampling->log_reported = true;
	pm_queue_push(session, &message);
}

void pm_overflow_reset_due(struct perfmon_session *session)
{
	struct pm_session_plan *plan = session->plan;

	for (uint32_t t = 0; t < plan->target_count; t++) {
		for (uint32_t i = 0; i < session->count; i++) {
			struct pm_register *reg = &session->registers[i];
			struct pm_target *target = &plan->targets[t];

			if (!reg->overflow.on ||
			    !pm_period_is_due(pm_arm_of(target, reg)->fit))
				continue;
			pm_overflow_reset(session, target, reg,
					  reg->overflow.how.long_reset);
			pm_overflow_reset_others(session, target, reg, NULL, NULL);
		}
		pm_period_finish(session, &plan->targets[t]);
	}
}
