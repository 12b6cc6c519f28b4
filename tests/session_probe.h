/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by tests of sessions: an event that counts the same on every machine (a hardware
 * breakpoint on a variable), and the values of counters. */
#ifndef TESTS_SESSION_PROBE_H
#define TESTS_SESSION_PROBE_H

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "perfmon/session.h"
#include "perfmon/set.h"
#include "helpers.h"
#include "messages.h"
#include "watched.h"

static inline struct perfmon_session *session_with(const char *events, uint32_t flags)
{
	struct perfmon_session_options options = {.size = sizeof(options),
						  .flags = flags};
	struct perfmon_session *session;

	cr_assert_eq(perfmon_session_create(&session, &options, NULL, 0), 0);
	if (events)
		cr_assert_geq(perfmon_session_add_events(session, events), 0, "%s: %s",
			      events, session_message_of(session));
	return session;
}

static inline struct perfmon_value value_of(struct perfmon_session *session,
					    uint32_t index)
{
	struct perfmon_value value = {.index = index};

	cr_assert_eq(perfmon_session_read(session, &value, 1, sizeof(value), 0), 1, "%s",
		     session_message_of(session));
	return value;
}

static inline uint64_t count_of(struct perfmon_session *session, uint32_t index)
{
	return value_of(session, index).value;
}

/* Waits until SESSION has noticed that its target has ended. A joined thread may still be
 * on its way out of the kernel. */
static inline void wait_for_loss(struct perfmon_session *session)
{
	WAIT_UNTIL(perfmon_session_state(session) == PERFMON_STATE_DETACHED);
}

/* Asserts that a call of perfmon succeeds; prints its message if not. */
#define OK(session, call)                                                                \
	do {                                                                             \
		int result_ = (call);                                                    \
		cr_assert_geq(result_, 0, "%s: %d: %s", #call, result_,                  \
			      session_message_of(session));                              \
	} while (0)

#endif
