/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sampling of a session: set up and torn down; samples for a format. */
#include "core/session/sampling/sampling.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/api/export.h"
#include "core/session/sampling/fields.h"
#include "core/settings/options.h"

#define RING_PAGES_MAX 4096

/* --- set-up and tear-down ----------------------------------------------------------- */

static int check(struct perfmon_session *session, const struct perfmon_sampling *asked)
{
	int err = PM_STRUCT_CHECK(asked, perfmon_sampling, 56);
	uint64_t known = pm_fields_known();

	if (err)
		return pm_session_explain_struct(session, err, "the sampling",
						 "perfmon_sampling");
	if (asked->flags & ~PERFMON_SAMPLING_BEST || asked->reserved ||
	    asked->fields & ~known)
		return pm_diag_set(&session->diag, -EINVAL,
				   "sampling has unknown flags 0x%x or fields 0x%" PRIx64
				   ", or a reserved field that is not 0",
				   asked->flags, asked->fields & ~known);
	if (asked->ring_pages & (asked->ring_pages - 1) ||
	    asked->ring_pages > RING_PAGES_MAX)
		return pm_diag_set(&session->diag, -EINVAL,
				   "%u ring pages: expects a power of two up to %d",
				   asked->ring_pages, RING_PAGES_MAX);
	return 0;
}

int pm_sampling_replan(struct perfmon_session *session)
{
	struct pm_register *registers = pm_registers_copy(session, 0);

	if (!registers)
		return pm_diag_set(&session->diag, -ENOMEM, "out of memory");
	return pm_session_reinstall(session, registers);
}

static void settings(struct pm_sampling *sampling, const struct perfmon_sampling *asked)
{
	struct pm_options options;

	pm_options_read(&options, NULL);
	sampling->pages = asked->ring_pages ?: options.sample_pages;
	sampling->depth = asked->call_depth ?: options.call_depth;
	pm_options_free(&options);
}

static int set_up(struct perfmon_session *session, const struct perfmon_sampling *asked)
{
	struct pm_sampling *sampling = calloc(1, sizeof(*sampling));
	int err;

	if (!sampling)
		return pm_diag_set(&session->diag, -ENOMEM, "out of memory");
	sampling->fields = asked->fields;
	settings(sampling, asked);
	err = pm_fields_grant(session, sampling, asked->flags);
	if (!err && asked->format)
		err = pm_format_begin(&sampling->use, asked->format, asked->data,
				      asked->data_size, &session->diag);
	err = err ?: session->hooks->need_queue(session);
	err = err ?: session->hooks->need_helper(session);
	if (!err) {
		session->sampling = sampling;
		err = pm_sampling_replan(session);
	}
	if (err) {
		session->sampling = NULL;
		pm_format_end(sampling->use);
		free(sampling);
	}
	return err;
}

PM_EXPORT int perfmon_sampling_set_up(struct perfmon_session *session,
				      const struct perfmon_sampling *sampling)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	err = check(session, sampling);
	err = err ?: pm_session_must_stand(session, "the sampling");
	if (!err && session->sampling)
		err = pm_diag_set(&session->diag, -EEXIST,
				  "sampling is already set up; tear sampling down first");
	return pm_session_leave_idle(session, err ?: set_up(session, sampling));
}

static int tear_down(struct perfmon_session *session)
{
	struct pm_sampling *sampling = session->sampling;
	int saved, err;

	if (!sampling)
		return 0;
	saved = pm_log_close(sampling->log);
	sampling->log_error = sampling->log_error ?: saved;
	sampling->log = NULL;
	sampling->side_records = false;
	session->sampling = NULL;
	err = pm_sampling_replan(session);
	if (err) {
		session->sampling = sampling;
		return err;
	}
	saved = sampling->log_error;
	pm_format_end(sampling->use);
	free(sampling);
	return saved ? pm_diag_set(&session->diag, saved,
				   "the log could not be written in full (error %d)",
				   -saved)
		     : 0;
}

PM_EXPORT int perfmon_sampling_tear_down(struct perfmon_session *session)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	err = pm_session_must_stand(session, "the sampling");
	return pm_session_leave_idle(session, err ?: tear_down(session));
}

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
	struct pm_sampling *sampling = session->sampling;

	if (!sampling)
		return;
	if (sampling->log)
		pm_log_forget(sampling->log);
	/* The format's state is memory of the child's own. */
	pm_format_end(sampling->use);
	free(sampling);
	session->sampling = NULL;
}

/* --- information -------------------------------------------------------------------- */

int pm_sampling_not_set_up(struct perfmon_session *session)
{
	return pm_diag_set(&session->diag, -EINVAL, "sampling is not set up");
}

PM_EXPORT int perfmon_sampling_fields(struct perfmon_session *session, uint64_t *granted)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	if (!session->sampling || !granted)
		return pm_session_leave(session, pm_sampling_not_set_up(session));
	*granted = session->sampling->fields;
	return pm_session_leave(session, 0);
}

PM_EXPORT const void *perfmon_sampling_buffer(struct perfmon_session *session,
					      size_t *size)
{
	const void *buffer = NULL;
	size_t found = 0;

	if (pm_session_enter(session))
		return NULL;
	pm_session_catch_up(session);
	if (session->sampling && session->sampling->use)
		buffer = pm_format_buffer(session->sampling->use, &found);
	if (buffer && size)
		*size = found;
	if (!buffer)
		pm_diag_set(&session->diag, -EINVAL,
			    "no format keeps a buffer of samples");
	pm_session_leave(session, 0);
	return buffer;
}

PM_EXPORT int perfmon_sampling_counts(struct perfmon_session *session, uint64_t *taken,
				      uint64_t *lost)
{
	const struct pm_sampling *sampling;
	uint64_t given = 0, dropped = 0, unlogged;
	int err = pm_session_enter(session);

	if (err)
		return err;
	pm_session_catch_up(session);
	if (!session->sampling)
		return pm_session_leave(session, pm_sampling_not_set_up(session));
	sampling = session->sampling;
	if (sampling->use)
		pm_format_counts(sampling->use, &given, &dropped);
	unlogged = sampling->unlogged +
		   __atomic_load_n(&sampling->log_lost, __ATOMIC_RELAXED);
	if (taken)
		*taken = sampling->taken - (sampling->use ? dropped : unlogged);
	if (lost)
		*lost = sampling->lost + dropped + unlogged;
	return pm_session_leave(session, 0);
}

PM_EXPORT int perfmon_sampling_throttled(struct perfmon_session *session, uint64_t *times)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	pm_session_catch_up(session);
	if (!session->sampling || !times)
		return pm_session_leave(session, pm_sampling_not_set_up(session));
	*times = session->sampling->throttled;
	return pm_session_leave(session, 0);
}

PM_EXPORT int perfmon_sampling_enter(struct perfmon_session *session)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	pm_session_catch_up(session);
	if (!session->sampling)
		return pm_session_leave(session, pm_sampling_not_set_up(session));
	err = session->sampling->entered++ ? 0 : pm_session_start(session);
	if (err)
		session->sampling->entered--;
	return pm_session_leave(session, err);
}

PM_EXPORT int perfmon_sampling_leave(struct perfmon_session *session)
{
	int err = pm_session_enter(session);

	if (err)
		return err;
	if (!session->sampling || !session->sampling->entered)
		return pm_session_leave(session,
					pm_diag_set(&session->diag, -EINVAL,
						    "sampling has not been entered"));
	err = --session->sampling->entered ? 0 : pm_session_stop(session);
	return pm_session_leave(session, err);
}

/* --- samples ------------------------------------------------------------------------ */

bool pm_sampling_count_in(const struct pm_target *target, const struct pm_register *reg,
			  const struct perfmon_sample *sample, uint64_t *count)
{
	const struct pm_instance *instance = target->parts[reg->set].instance;
	struct perfmon_sample_value read = {.size = sizeof(read)};
	uint64_t i;

	for (i = 0; i < sample->read_count; i++) {
		if (perfmon_sample_read_value(sample, i, &read))
			return false;
		if (read.id == instance->counters[reg->planned].id) {
			*count = read.value;
			return true;
		}
	}
	return false;
}

void pm_sampling_missed(struct perfmon_session *session, const struct pm_register *reg,
			uint64_t n, uint64_t *told)
{
	uint64_t known = n < *told ? n : *told;

	if (!session->sampling || !pm_is_sampled(reg))
		return;
	/* Those of which the kernel has told are counted. */
	*told -= known;
	session->sampling->lost += n - known;
}

int pm_sampling_listen(struct perfmon_session *session)
{
	const struct pm_sampling *sampling = session->sampling;

	if (!sampling || !sampling->use || sampling->log ||
	    session->state == PERFMON_STATE_RUNNING ||
	    session->state == PERFMON_STATE_MASKED)
		return 0;
	return pm_sampling_replan(session);
}

int pm_sampling_take(struct perfmon_session *session, const struct pm_target *target,
		     const struct pm_register *reg, const struct perfmon_sample *sample)
{
	struct pm_sampling *sampling = session->sampling;
	const uint64_t *mask = reg->overflow.how.sample_counters;
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
	uint32_t i;

	if (!sampling || !pm_is_sampled(reg))
		return PERFMON_FORMAT_CONTINUE;
	sampling->taken++;
	if (!sampling->use)
		return PERFMON_FORMAT_CONTINUE;
	for (i = 0; i < session->count; i++) {
		const struct pm_register *other = &session->registers[i];

		if (!(mask[i / 64] >> (i % 64) & 1))
			continue;
		/* What is not of the sample's group has no value at its moment; its last
		 * known one stands in, so that places keep their meaning. */
		if (!pm_sampling_count_in(target, other, sample, &count))
			count = other->now.value;
		values[given.value_count++] = other->base.value + count;
	}
	return pm_format_sample(sampling->use, &given);
}

int pm_sampling_check_start(struct perfmon_session *session)
{
	const struct pm_sampling *sampling = session->sampling;
	uint32_t i;

	if (!sampling || sampling->use || sampling->log)
		return 0;
	for (i = 0; i < session->count; i++) {
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
