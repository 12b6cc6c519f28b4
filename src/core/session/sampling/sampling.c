/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Samples of a session: given to a format. */
#include "core/session/sampling/sampling.h"

#include <errno.h>
#include <stdlib.h>

void pm_sampling_close(struct perfmon_session *session)
{
	struct pm_sampling *sampling = session->sampling;

	if (!sampling)
		return;
	pm_log_close(sampling->log);
	pm_format_end(sampling->use);
	free(sampling);
	session->sampling = NULL;
}

void pm_sampling_forget(struct perfmon_session *session)
{
	if (session->sampling && session->sampling->log) {
		pm_log_forget(session->sampling->log);
		session->sampling->log = NULL;
	}
	/* The format's state is memory of the child's own. */
	pm_sampling_close(session);
}

/* --- samples ------------------------------------------------------------------------ */

bool pm_sampling_count_in(const struct pm_target *target, const struct pm_register *reg,
			  const struct perfmon_sample *sample, uint64_t *count)
{
	const struct pm_instance *instance = target->parts[reg->set].instance;
	struct perfmon_sample_value read = {.size = sizeof(read)};

	for (uint64_t i = 0; i < sample->read_count; i++) {
		if (perfmon_sample_get_value(sample, i, &read))
			return false;
		if (read.id == instance->counters[reg->planned].id) {
			*count = read.value;
			return true;
		}
	}
	return false;
}

void pm_sampling_missed(struct perfmon_session *session, const struct pm_register *reg,
			uint64_t n, uint64_t *reported)
{
	uint64_t known = n < *reported ? n : *reported;

	if (!session->sampling || !pm_is_sampled(reg))
		return;
	/* The samples that the kernel has reported as lost are counted already. */
	*reported -= known;
	session->sampling->lost += n - known;
}

int pm_sampling_take(struct perfmon_session *session, const struct pm_target *target,
		     const struct pm_register *reg, const struct perfmon_sample *sample)
{
	struct pm_sampling *sampling = session->sampling;
	const uint64_t *mask = reg->overflow.samples;
	uint64_t values[PERFMON_SESSION_COUNTERS_MAX];
	struct perfmon_overflow_sample given = {
		.sample = sample,
		.index = (uint32_t)(reg - session->registers),
		.set = session->sets[reg->set].id,
		.event_id = reg->overflow.how.event_id,
		.last_reset = reg->overflow.last_reset,
		.values = values,
	};
	uint64_t count;

	if (!sampling || !pm_is_sampled(reg))
		return PERFMON_FORMAT_CONTINUE;
	sampling->taken++;
	if (!sampling->use)
		return PERFMON_FORMAT_CONTINUE;
	for (uint32_t i = 0; i < session->count; i++) {
		const struct pm_register *other = &session->registers[i];

		if (!pm_counter_in(mask, i))
			continue;
		/* A counter outside of the sample's group has no value at that moment.
		 * Its last known value stands in, so that places keep their meaning. */
		if (!pm_sampling_count_in(target, other, sample, &count))
			count = other->now.value;
		values[given.value_count++] = other->base.value + count;
	}
	return pm_format_sample(sampling->use, &given);
}

int pm_sampling_check_start(struct perfmon_session *session)
{
	const struct pm_sampling *sampling = session->sampling;

	if (!sampling || sampling->use || sampling->log)
		return 0;
	for (uint32_t i = 0; i < session->count; i++) {
		if (pm_is_sampled(&session->registers[i]))
			return pm_diag_set(&session->diag, -EINVAL,
					   "nothing takes the samples of counter %u: set "
					   "sampling up with a format, or open a log",
					   i);
	}
	return 0;
}

void pm_sampling_restart(struct perfmon_session *session)
{
	if (session->sampling && session->sampling->use)
		pm_format_restart(session->sampling->use);
}

/* --- the log --------------------------------------------------------------------- */

int pm_sampling_may_change(struct perfmon_session *session)
{
	if (!session->sampling || !session->sampling->log)
		return 0;
	return pm_diag_set(&session->diag, -EBUSY,
			   "the events of a session with a log cannot be changed; "
			   "close the log first");
}

/* The log's number of an event that writes records, counted over all of PLAN. */
static bool next_logged(const struct pm_session_plan *plan, uint32_t *s, uint32_t *c)
{
	for (; *s < plan->part_count; (*s)++, *c = 0) {
		for (; *c < plan->sets[*s].count; (*c)++) {
			const struct perf_event_attr *attr =
				&plan->sets[*s].events[*c].attr;

			if (attr->sample_period || attr->mmap)
				return true;
		}
	}
	return false;
}

int pm_sampling_log_said(struct perfmon_session *session, int err)
{
	if (err == -ETIMEDOUT)
		return pm_diag_set(&session->diag, err,
				   "nobody reads the log's pipe; start its reader before "
				   "the session");
	return err ? pm_diag_set(&session->diag, err, "cannot write the log (error %d)",
				 -err)
		   : 0;
}

int pm_sampling_opened(struct perfmon_session *session,
		       const struct pm_session_plan *plan, const struct pm_target *target)
{
	struct pm_log *log = session->sampling ? session->sampling->log : NULL;
	uint32_t s = 0, c = 0;
	int err = 0;

	for (size_t n = 0; log && !err && next_logged(plan, &s, &c); n++, c++) {
		const struct pm_counter *counter =
			&target->parts[s].instance->counters[c];

		if (counter->fd >= 0)
			err = pm_log_add_ids(log, n, &counter->id, 1);
	}
	if (log && !err && target->tid >= 0 && !target->follows)
		/* Whose process cannot be looked into is logged without its names. */
		pm_log_process(log, target->tid);
	/* A log that cannot be written says so by itself; counting goes on. */
	return err == -ENOMEM || err == -EINVAL ? pm_sampling_log_said(session, err) : 0;
}

/* In the log's own thread, which has no lock of the session's. */
static void log_failed(void *argument, int error)
{
	struct perfmon_session *session = argument;

	(void)error;
	/* Pairs with the acquire in pm_overflow_report_log(). */
	__atomic_store_n(&session->sampling->log_failed, true, __ATOMIC_RELEASE);
	pm_session_wake(session);
}

/* The same: what the log had no room for stands in the rings, which wake nobody when they
 * are full. */
static void log_has_room(void *argument)
{
	pm_session_wake(argument);
}

static void log_lost(void *argument, uint64_t samples)
{
	struct perfmon_session *session = argument;

	__atomic_fetch_add(&session->sampling->log_lost, samples, __ATOMIC_RELAXED);
}

/* The period of event C of set S as readers of a log should have it, who weight samples
 * by it: that of the resets, since the kernel's first one comes from the value written.
 */
static uint64_t logged_period(const struct perfmon_session *session, uint32_t s,
			      uint32_t c, uint64_t planned)
{
	for (uint32_t i = 0; i < session->count; i++) {
		const struct pm_register *reg = &session->registers[i];
		const struct perfmon_overflow *how = &reg->overflow.how;
		uint64_t reset = how->flags & PERFMON_OVERFLOW_NOTIFY ? how->long_reset
								      : how->short_reset;

		if (reg->set == s && reg->planned == c && pm_is_sampled(reg))
			return reset ? -reset : planned;
	}
	return planned;
}

/* The memory of a log whose rings have so many PAGES: it is written when half of it is
 * full, and meanwhile the rest takes a whole ring and a record. */
static size_t buffer_for(uint32_t pages)
{
	size_t size = 2 * ((size_t)pages * pm_kernel_page_size() + UINT16_MAX + 1);

	return size < PM_LOG_BUFFER_DEFAULT ? PM_LOG_BUFFER_DEFAULT
	       : size > PM_LOG_BUFFER_MAX   ? PM_LOG_BUFFER_MAX
					    : size;
}

int pm_sampling_log_begin(struct perfmon_session *session, const char *path, int fd)
{
	const struct pm_log_options options = {
		.buffer_size = buffer_for(session->sampling->pages),
		.failed = log_failed,
		.has_room = log_has_room,
		.lost = log_lost,
		.argument = session};
	const struct pm_session_plan *plan = session->plan;
	struct pm_log_event *events;
	struct perf_event_attr *attrs;
	uint32_t s, c, t;
	size_t n = 0;
	int err;

	for (s = c = 0; next_logged(plan, &s, &c); c++)
		n++;
	events = calloc(n + 1, sizeof(events[0]));
	attrs = calloc(n + 1, sizeof(attrs[0]));
	if (!events || !attrs) {
		free(events);
		free(attrs);
		return pm_diag_set(&session->diag, -ENOMEM, "out of memory");
	}
	for (s = c = 0, n = 0; next_logged(plan, &s, &c); n++, c++) {
		attrs[n] = plan->sets[s].events[c].attr;
		attrs[n].sample_period =
			logged_period(session, s, c, attrs[n].sample_period);
		events[n].attr = &attrs[n];
		events[n].name = plan->sets[s].events[c].name;
	}
	err = pm_log_create(&session->sampling->log, path, fd, events, n, &options,
			    &session->diag);
	free(events);
	free(attrs);
	for (t = 0; t < plan->target_count && !err; t++)
		err = pm_sampling_opened(session, plan, &plan->targets[t]);
	return err;
}
