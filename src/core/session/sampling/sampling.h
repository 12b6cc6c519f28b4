/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sampling of a session: what its samples hold, and who is given them. */
#ifndef PM_SESSION_SAMPLING_SAMPLING_H
#define PM_SESSION_SAMPLING_SAMPLING_H

#include "core/samples/samples.h"
#include "core/session/core/core.h"

struct pm_sampling {
	uint64_t fields;	   /* PERFMON_SAMPLE_ */
	uint32_t depth;		   /* of call chains; 0: the kernel's */
	uint32_t pages;		   /* of each ring */
	uint32_t entered;	   /* perfmon_sampling_enter() */
	uint64_t taken, lost;	   /* lost by the kernel, or never taken by it */
	uint64_t throttled;	   /* times that the kernel held an event back */
	uint64_t unlogged;	   /* taken, but the log took them not */
	uint64_t log_lost;	   /* the log took them, but could not write; atomic */
	struct pm_format_use *use; /* NULL: no format */
	bool side_records;	   /* targets have an event for mmap, comm... */
	struct pm_log *log;	   /* NULL: none */
	int log_error;		   /* of one that is closed, not reported yet */
	bool log_failed;	   /* atomic: set by the log's thread */
	bool log_reported;	   /* a message has said so */
};

/* Sets in ATTR what an event of REG has to record. IS_AWAITED: somebody waits for
 * messages. */
void pm_sampling_plan(const struct perfmon_session *session,
		      const struct pm_register *reg, struct perf_event_attr *attr,
		      bool is_awaited);

/* An event that records what goes on around samples. */
void pm_sampling_plan_side(struct perf_event_attr *attr);

/* -EBUSY with a sentence while there is a log: its events cannot change. */
int pm_sampling_may_change(struct perfmon_session *session);

/* TARGET has been opened: the log learns of its events and its process. */
int pm_sampling_opened(struct perfmon_session *session,
		       const struct pm_session_plan *plan,
		       const struct pm_target *target);

/* Gives SAMPLE of REG to the format: PERFMON_FORMAT_CONTINUE or _NOTIFY. */
int pm_sampling_take(struct perfmon_session *session, const struct pm_target *target,
		     const struct pm_register *reg, const struct perfmon_sample *sample);

/* Finds what REG's event had counted on TARGET at SAMPLE. False if SAMPLE does not
 * say. */
bool pm_sampling_count_in(const struct pm_target *target, const struct pm_register *reg,
			  const struct perfmon_sample *sample, uint64_t *count);

/* N overflows of REG have left no sample. Those of *REPORTED, which the kernel has reported, are
 * counted already. */
void pm_sampling_missed(struct perfmon_session *session, const struct pm_register *reg,
			uint64_t n, uint64_t *reported);

/* -EINVAL: a counter leaves samples, and sampling is set up for a log that is not there. */
int pm_sampling_check_start(struct perfmon_session *session);

void pm_sampling_restart(struct perfmon_session *session);
void pm_sampling_close(struct perfmon_session *session);  /* the session's end */
void pm_sampling_forget(struct perfmon_session *session); /* in a forked child */

/* Opens the log, at PATH or in FD, and adds what the session has open. */
int pm_sampling_log_begin(struct perfmon_session *session, const char *path, int fd);

/* The sentence for what a call on the log gave; returns ERR. */
int pm_sampling_log_said(struct perfmon_session *session, int err);

/* --- fields.c ----------------------------------------------------------------------- */

/* The fields that can be asked for. */
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
