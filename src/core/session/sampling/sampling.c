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

/* --- samples ------------------------------------------------------------------------ */

bool pm_sampling_count_in(const struct pm_target *target, const struct pm_register *reg,
			  const struct perfmon_sample *sample, uint64_t *count)
{
	const struct pm_instance *instance = target->parts[reg->set].instance;
	struct perfmon_sample_value read = {.size = sizeof(read)};
	uint64_t i;

	for (i = 0; i < sample->read_count; i++) {
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
