/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The fields of samples. */
#ifndef PM_SESSION_SAMPLING_FIELDS_H
#define PM_SESSION_SAMPLING_FIELDS_H

#include "core/session/sampling/sampling.h"

/* All that can be asked for. */
uint64_t pm_fields_known(void);

/* Leaves in SAMPLING what the sampled events grant here. An event that does not open at
 * all says nothing of its fields: attaching will tell. FLAGS: PERFMON_SAMPLING_. 0, or
 * -EOPNOTSUPP with a sentence. */
int pm_fields_grant(struct perfmon_session *session, struct pm_sampling *sampling,
		    unsigned int flags);

static inline bool pm_is_sampled(const struct pm_register *reg)
{
	return reg->overflow.on && reg->overflow.how.flags & PERFMON_OVERFLOW_SAMPLE;
}

#endif
