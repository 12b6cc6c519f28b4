/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What overflows lead to: the session is masked, messages wait, and a restart goes on. */
#include "session/overflow/notice.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "topology/topology.h"
#include "samples/samples.h"
#include "session/sampling/sampling.h"

/* How often a ring that fills up meanwhile is emptied before its periods are settled. */
#define TRIES 4

/* --- the queue -------------------------------------------------------------------------
 */

static void push(struct perfmon_session *session, const struct perfmon_message *message)
{
	static const uint64_t one = 1;
	struct pm_overflow_queue *queue = session->queue;
	struct perfmon_message *place;

	if (queue->count == PM_QUEUE_MESSAGES) {
		queue->lost = true;
		return;
	}
	place = &queue->messages[(queue->first + queue->count) % PM_QUEUE_MESSAGES];
	*place = *message;
	if (queue->lost)
		place->flags |= PERFMON_MESSAGE_LOST;
	queue->lost = false;
	if (!queue->count++ && queue->descriptor >= 0)
		pm_kernel_write(queue->descriptor, &one, sizeof(one));
}

/* Takes up to ROOM messages, and lets the descriptor follow. */
static uint32_t pop(struct pm_overflow_queue *queue, struct perfmon_message *messages,
		    size_t room)
{
	uint32_t n = 0;
	uint64_t count;

	while (queue->count && n < room) {
		messages[n++] = queue->messages[queue->first];
		queue->first = (queue->first + 1) % PM_QUEUE_MESSAGES;
		queue->count--;
	}
	if (n && !queue->count && queue->descriptor >= 0)
		pm_kernel_read(queue->descriptor, &count, sizeof(count));
	return n;
}

PM_EXPORT int perfmon_overflow_read(struct perfmon_session *session,
				    struct perfmon_message *messages, size_t size)
{
	uint32_t n;
	int err;

	/* A signal handler that interrupted a call on this very session. */
	if (pm_busy_with(session))
		return -EAGAIN;
	err = pm_session_enter(session);
	if (err)
		return err;
	if (!messages || !size || size % sizeof(messages[0]))
		return pm_session_leave(
			session, pm_diag_set(&session->diag, -EINVAL,
					     "%zu bytes are no number of messages of %zu",
					     size, sizeof(messages[0])));
	n = session->queue ? pop(session->queue, messages, size / sizeof(messages[0]))
			   : 0;
	return pm_session_leave(session, n ? (int)n : -EAGAIN);
}

/* --- what records ask for --------------------------------------------------------------
 */

/* The event of TARGET with the kernel's ID: its set and place. */
static bool find_event(const struct pm_session_plan *plan, const struct pm_target *target,
		       uint64_t id, uint32_t *set, uint32_t *counter)
{
	uint32_t s, c;

	for (s = 0; s < plan->set_count; s++) {
		const struct pm_instance *instance = target->parts[s].instance;

		for (c = 0; c < instance->count && plan->sets[s].samples; c++) {
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

static struct pm_register *register_at(struct perfmon_session *session, uint32_t set,
				       uint32_t counter)
{
	uint32_t i;

	for (i = 0; i < session->count; i++) {
		struct pm_register *reg = &session->registers[i];

		if (reg->set == set && reg->planned == counter)
			return reg;
	}
	return NULL;
}

/* Whether counter C, which stops itself, stops all that is on of TARGET: its group has
 * everything. */
static bool stops_all(const struct perfmon_session *session,
		      const struct pm_target *target, uint32_t s, uint32_t c)
{
	const struct pm_instance *instance = target->parts[s].instance;

	return !(session->flags & PERFMON_SESSION_ROTATE) &&
	       !target->parts[s].arms[c].resumed && instance->counters[c].leader == c &&
	       instance->counters[c].members == instance->open;
}

/* After an overflow of counter C in set S of TARGET, which has stopped itself (NULL:
 * which has not), all stands still. */
static void mask(struct perfmon_session *session, const struct pm_target *target,
		 uint32_t s, uint32_t c)
{
	struct pm_session_plan *plan = session->plan;
	uint32_t t;

	for (t = 0; t < plan->target_count; t++) {
		if (&plan->targets[t] != target || !stops_all(session, target, s, c))
			pm_target_disable(session, &plan->targets[t]);
	}
	pm_session_time_stop(session);
	session->stamp++;
	session->state = PERFMON_MASKED;
}

/* Masks the session and queues a message; SELF: the counter has stopped itself. */
static void notify(struct perfmon_session *session, struct pm_target *target,
		   struct pm_register *reg, const struct perfmon_sample *sample,
		   bool self)
{
	struct pm_arm *arm = &target->parts[reg->set].arms[reg->planned];
	uint32_t index = (uint32_t)(reg - session->registers);
	struct perfmon_message message = {.type = PERFMON_MESSAGE_OVERFLOW,
					  .pid = sample->pid,
					  .tid = sample->tid,
					  .cpu = sample->cpu,
					  .set = session->sets[reg->set].id,
					  .index = index,
					  .event_id = reg->overflow.how.event_id,
					  .ip = sample->ip,
					  .time_ns = sample->time_ns};

	arm->limited = false;
	arm->stopped = self;
	arm->due = reg->overflow.due = true;
	if (session->state == PERFMON_MASKED)
		message.flags = PERFMON_MESSAGE_OVERRUN;
	else if (session->state == PERFMON_RUNNING)
		mask(session, self ? target : NULL, reg->set, reg->planned);
	message.counters[index / 64] = UINT64_C(1) << (index % 64);
	push(session, &message);
}

void pm_overflow_count(struct perfmon_session *session, struct pm_target *target,
		       struct pm_register *reg, uint64_t n)
{
	struct pm_arm *arm = &target->parts[reg->set].arms[reg->planned];

	reg->overflow.count += n;
	session->sets[reg->set].overflowed[(reg - session->registers) / 64] |=
		UINT64_C(1) << ((reg - session->registers) % 64);
	if (!(reg->overflow.how.flags & PERFMON_OVERFLOW_SWITCH) || !arm->until_switch)
		return;
	arm->until_switch -= n < arm->until_switch ? n : arm->until_switch;
	if (!arm->until_switch &&
	    session->sets[reg->set].flags & PERFMON_SET_OVERFLOW_SWITCH)
		pm_target_next_set(session, target, reg->set);
}

static void overflow(struct perfmon_session *session, struct pm_target *target,
		     struct pm_register *reg, const struct perfmon_sample *sample,
		     const struct pm_place *place)
{
	const struct perfmon_overflow *how = &reg->overflow.how;
	bool is_full;

	if (!pm_period_record(session, target, reg, place))
		return;
	is_full = pm_sampling_take(session, target, reg, sample);
	if (how->flags & PERFMON_OVERFLOW_NOTIFY || is_full) {
		notify(session, target, reg, sample,
		       how->flags & PERFMON_OVERFLOW_NOTIFY);
	} else if (!target->parts[reg->set].arms[reg->planned].due) {
		pm_overflow_reset(session, target, reg, how->short_reset);
		pm_overflow_reset_others(session, target, reg, sample, place);
		pm_period_pass(session, target, reg);
	}
	pm_overflow_count(session, target, reg, 1);
}

static void handle_sample(struct perfmon_session *session, struct pm_target *target,
			  const struct perf_event_header *record)
{
	const struct pm_session_plan *plan = session->plan;
	struct perfmon_sample sample;
	struct pm_register *reg;
	uint32_t set, counter;
	uint64_t id;

	if (pm_sample_identify(pm_overflow_attr(), record, &id) ||
	    !find_event(plan, target, id, &set, &counter) ||
	    pm_sample_decode(&plan->sets[set].events[counter].attr, record, &sample))
		return;
	if (counter == plan->sets[set].clock) {
		pm_target_next_set(session, target, set);
		return;
	}
	reg = register_at(session, set, counter);
	if (reg && reg->overflow.on)
		overflow(session, target, reg, &sample,
			 &(struct pm_place){target->ring.tail - record->size,
					    target->ring.tail, sample.ip});
}

/* The kernel holds a group back until its next tick, since it overflows too often: what
 * hardware would have counted is missing, what software counts goes on. */
static void handle_throttle(struct perfmon_session *session,
			    const struct pm_target *target,
			    const struct perf_event_header *record)
{
	const struct pm_counter *counters;
	uint32_t set, counter, i;
	uint64_t id;

	if (pm_sample_identify(pm_overflow_attr(), record, &id) ||
	    !find_event(session->plan, target, id, &set, &counter))
		return;
	counters = target->parts[set].instance->counters;
	for (i = 0; i < session->count; i++) {
		struct pm_register *reg = &session->registers[i];

		if (reg->set == set &&
		    counters[reg->planned].leader == counters[counter].leader &&
		    !pm_is_software(counters[reg->planned].event))
			reg->doubts |= PERFMON_VALUE_THROTTLED;
	}
}

/* A record and where it comes from. */
struct arrival {
	struct perfmon_session *session;
	struct pm_target *target;
};

static void visit(void *argument, const struct perf_event_header *record)
{
	const struct arrival *arrival = argument;

	if (record->type == PERF_RECORD_SAMPLE)
		handle_sample(arrival->session, arrival->target, record);
	else if (record->type == PERF_RECORD_LOST && arrival->session->queue)
		arrival->session->queue->lost = true;
	else if (record->type == PERF_RECORD_THROTTLE)
		handle_throttle(arrival->session, arrival->target, record);
	if (record->type == PERF_RECORD_LOST || record->type == PERF_RECORD_THROTTLE)
		arrival->target->unsure = true;
}

/* Whether more than samples comes from rings: what must not wait for a slow disk. */
static bool is_awaited(const struct pm_session_plan *plan)
{
	uint32_t s;

	for (s = 0; s < plan->set_count; s++) {
		if (plan->sets[s].notifies)
			return true;
	}
	return plan->turns;
}

/* Takes what the log has no room for, which says so, or what one that has failed leaves.
 */
static void drain_past_log(struct arrival *arrival)
{
	struct pm_sampling *sampling = arrival->session->sampling;
	struct pm_ring *ring = &arrival->target->ring;
	const struct perf_event_header *record;

	while (pm_ring_next(ring, &record) > 0) {
		visit(arrival, record);
		if (sampling && sampling->log &&
		    pm_log_append(sampling->log, record) == -ENOBUFS &&
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
	const struct pm_ring before = target->ring;
	uint64_t used = pm_ring_head(&target->ring) - before.tail;
	int err = -ENOENT;

	if (sampling && sampling->log)
		err = pm_log_drain(sampling->log, &target->ring, visit, &arrival);
	/* What stays is taken when the log has room again: log_has_room(). */
	if (err < 0 || all)
		drain_past_log(&arrival);
	/* What it had no more room for is told of with the next record that has. */
	if (pm_ring_was_full(&target->ring, used))
		target->unsure = true;
	if (!sampling)
		return;
	sampling->lost += target->ring.lost - before.lost;
	sampling->throttled += target->ring.throttled - before.throttled;
	target->told += target->ring.lost - before.lost;
}

/* ALL: nothing may stay in the ring. */
static void drain_target(struct perfmon_session *session, struct pm_target *target,
			 bool all)
{
	bool paused;
	int tries;

	drain_ring(session, target, all);
	if (!pm_period_is_stale(session, target))
		return;
	paused = (pm_session_is_own(session) || pm_period_needs_pause(session, target)) &&
		 pm_target_pause(session, target);
	/* What has come since belongs to the periods of old. */
	for (tries = 0; pm_ring_pending(&target->ring) && tries < TRIES; tries++)
		drain_ring(session, target, all);
	if (target->ring.tail == target->ring.head)
		pm_period_settle(session, target);
	if (paused)
		pm_target_resume(session, target);
}

static void drain(struct perfmon_session *session, bool all)
{
	struct pm_session_plan *plan = session->plan;
	uint32_t t;

	for (t = 0; t < plan->target_count; t++) {
		if (pm_ring_pending(&plan->targets[t].ring) || plan->targets[t].late)
			drain_target(session, &plan->targets[t], all);
	}
	if (session->sampling && session->sampling->log)
		pm_log_round(session->sampling->log);
}

void pm_overflow_drain(struct perfmon_session *session)
{
	drain(session, true);
}

void pm_overflow_drain_target(struct perfmon_session *session, struct pm_target *target)
{
	if (pm_ring_pending(&target->ring) || target->late)
		drain_target(session, target, true);
}

void pm_overflow_drain_pending(struct perfmon_session *session)
{
	struct pm_target *target = session->plan->targets;
	bool paused;

	if (!pm_overflow_pending(session))
		return;
	/* What the calling thread does here is not the program's work. */
	paused = pm_session_is_own(session) && pm_target_pause(session, target);
	drain(session, is_awaited(session->plan));
	if (paused)
		pm_target_resume(session, target);
}

/* Tells, once, that the log cannot be written. */
static void tell_of_log(struct perfmon_session *session)
{
	const struct perfmon_message message = {.type = PERFMON_MESSAGE_LOG};
	struct pm_sampling *sampling = session->sampling;

	if (!sampling || sampling->log_told ||
	    !__atomic_load_n(&sampling->log_failed, __ATOMIC_ACQUIRE))
		return;
	sampling->log_told = true;
	push(session, &message);
}

void pm_overflow_end(struct perfmon_session *session)
{
	const struct perfmon_message message = {.type = PERFMON_MESSAGE_END};

	if (session->queue)
		push(session, &message);
	pm_overflow_release(session);
}

/* --- the descriptor --------------------------------------------------------------------
 */

/* Has the helper thread, which calls this, run near the CPUs that it serves. */
static void stay_near(struct perfmon_session *session)
{
	const struct pm_session_plan *plan = session->plan;
	struct pm_cpus served = {0}, near = {0};
	struct pm_topology *topology = NULL;
	uint32_t t;
	int err = pm_topology_get(&topology, NULL);

	for (t = 0; t < plan->target_count && !err; t++)
		err = pm_cpus_add(&served, (unsigned int)plan->targets[t].cpu);
	if (!err)
		err = pm_placement_near(topology, &served, &near);
	/* It serves from afar as well. */
	if (!err)
		pm_placement_bind_helper(&near);
	pm_cpus_free(&near);
	pm_cpus_free(&served);
	pm_topology_put(topology);
	session->is_near = true;
}

/* Whether WATCH_KEY is a process's, whose descriptor says nothing but that it has ended.
 */
static bool is_process(const struct perfmon_session *session, uint64_t watch_key)
{
	uint32_t p;

	for (p = 0; p < session->process_count; p++) {
		if (watch_key && session->processes[p].watch_key == watch_key)
			return true;
	}
	return false;
}

/* The helper thread's work: the target with WATCH_KEY has something, or HAS_ENDED. It may
 * have gone since. */
static void serve(struct perfmon_session *session, uint64_t watch_key, bool has_ended)
{
	struct pm_session_plan *plan;
	uint32_t t;

	if (pm_session_enter(session))
		return;
	tell_of_log(session);
	if (session->scope == PERFMON_SCOPE_CPU && !session->is_near &&
	    session->plan->target_count)
		stay_near(session);
	plan = session->plan;
	for (t = 0; has_ended && t < plan->target_count; t++) {
		if (plan->targets[t].watch_key == watch_key)
			plan->targets[t].lost = true;
	}
	if (has_ended || is_process(session, watch_key))
		pm_session_notice_loss(session);
	pm_session_leave(session, 0);
}

int pm_session_need_helper(struct perfmon_session *session)
{
	struct pm_session_plan *plan = session->plan;
	struct pm_helper *helper = NULL;
	uint32_t t, p;
	int err;

	if (session->helper)
		return 0;
	err = pm_helper_create(&helper, serve, session);
	for (t = 0; t < plan->target_count && !err; t++) {
		struct pm_target *target = &plan->targets[t];

		err = target->ring.page ? pm_helper_watch(helper, target->ring_fd,
							  target->watch_key)
					: pm_target_watch(session, plan, target, helper);
	}
	for (p = 0; p < session->process_count && !err; p++)
		err = pm_process_watch(session, &session->processes[p], helper);
	err = err ?: pm_helper_start(helper);
	if (!err) {
		session->helper = helper;
		return 0;
	}
	pm_helper_forget(helper);
	return pm_diag_set(&session->diag, err,
			   "the session's helper thread cannot be made or watch its "
			   "events (error %d)",
			   -err);
}

struct pm_helper *pm_session_idle_helper(struct perfmon_session *session)
{
	struct pm_helper *helper = session->helper;

	if (session->state != PERFMON_DETACHED || session->sampling ||
	    (session->queue && session->queue->descriptor >= 0))
		return NULL;
	session->helper = NULL;
	return helper;
}

void pm_session_wake(struct perfmon_session *session)
{
	pm_helper_wake(session->helper);
}

int pm_session_need_queue(struct perfmon_session *session)
{
	if (session->queue)
		return 0;
	session->queue = calloc(1, sizeof(*session->queue));
	if (!session->queue)
		return pm_diag_set(&session->diag, -ENOMEM, "out of memory");
	session->queue->descriptor = -1;
	return 0;
}

static int make_descriptor(struct perfmon_session *session)
{
	static const uint64_t one = 1;
	struct pm_overflow_queue *queue;
	int fd, err = pm_session_need_queue(session);

	if (err)
		return err;
	queue = session->queue;
	if (queue->descriptor >= 0)
		return queue->descriptor;
	fd = pm_kernel_eventfd();
	if (fd < 0)
		return pm_diag_set(&session->diag, fd,
				   "no descriptor for messages can be made (error %d)",
				   -fd);
	err = pm_session_need_helper(session);
	if (err) {
		pm_kernel_close(fd);
		return err;
	}
	queue->descriptor = fd;
	err = pm_sampling_listen(session);
	if (err) {
		queue->descriptor = -1;
		pm_kernel_close(fd);
		return err;
	}
	if (queue->count)
		pm_kernel_write(fd, &one, sizeof(one));
	return fd;
}

PM_EXPORT int perfmon_overflow_descriptor(struct perfmon_session *session)
{
	int err = pm_session_enter(session);

	return err ?: pm_session_leave(session, make_descriptor(session));
}

void pm_overflow_free(struct perfmon_session *session)
{
	if (session->queue && session->queue->descriptor >= 0)
		pm_kernel_close(session->queue->descriptor);
	free(session->queue);
	session->queue = NULL;
}

/* --- restart ---------------------------------------------------------------------------
 */

void pm_overflow_reset_due(struct perfmon_session *session)
{
	struct pm_session_plan *plan = session->plan;
	uint32_t t, i;

	for (t = 0; t < plan->target_count; t++) {
		for (i = 0; i < session->count; i++) {
			struct pm_register *reg = &session->registers[i];
			struct pm_target *target = &plan->targets[t];

			if (!reg->overflow.on ||
			    !target->parts[reg->set].arms[reg->planned].due)
				continue;
			pm_overflow_reset(session, target, reg,
					  reg->overflow.how.long_reset);
			pm_overflow_reset_others(session, target, reg, NULL, NULL);
		}
		pm_period_settle(session, &plan->targets[t]);
	}
}

int pm_overflow_restart(struct perfmon_session *session)
{
	struct pm_session_plan *plan;
	uint32_t t;
	int err;

	if (session->state != PERFMON_MASKED)
		return pm_diag_set(&session->diag, -EBUSY,
				   "the session does not wait for a restart");
	err = pm_breakpoints_renew(session);
	if (err)
		return err;
	plan = session->plan;
	pm_overflow_reset_due(session);
	pm_sampling_restart(session);
	pm_session_time_start(session);
	session->state = PERFMON_RUNNING;
	session->stamp++;
	for (t = 0; t < plan->target_count && !err; t++)
		err = pm_target_enable(session, &plan->targets[t]);
	if (!err) {
		for (t = 0; t < plan->target_count; t++) {
			session->sets[plan->targets[t].active].runs +=
				plan->targets[t].chosen;
			plan->targets[t].chosen = false;
		}
		pm_overflow_release(session);
		return 0;
	}
	/* As a failed start. */
	pm_session_stop_all(session);
	return pm_session_closed_by_program(session, err);
}

PM_EXPORT int perfmon_overflow_restart(struct perfmon_session *session)
{
	struct pm_asked *asked = pm_busy_with(session);
	int err;

	if (asked) {
		asked->restart = true;
		return 0;
	}
	err = pm_session_enter(session);
	return err ?: pm_session_leave(session, pm_overflow_restart(session));
}
