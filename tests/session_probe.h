/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What tests of sessions share: an event that counts exactly on every machine (a hardware
 * breakpoint on a variable), and the values of counters. */
#ifndef TESTS_SESSION_PROBE_H
#define TESTS_SESSION_PROBE_H

#include <criterion/criterion.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "perfmon/session.h"
#include "perfmon/set.h"
#include "messages.h"

/* Written by touch(), watched by the events that watch_event() names. */
static volatile uint64_t watched[4] __attribute__((aligned(64)));

static inline const char *watch_event(unsigned int i)
{
	static char text[4][64];

	snprintf(text[i], sizeof(text[i]), "mem:0x%" PRIxPTR "/8:w",
		 (uintptr_t)&watched[i]);
	return text[i];
}

static inline void touch(unsigned int i, unsigned int times)
{
	/* One store each, also where threads touch the same one. */
	while (times--)
		__atomic_store_n(&watched[i],
				 __atomic_load_n(&watched[i], __ATOMIC_RELAXED) + 1,
				 __ATOMIC_RELAXED);
}

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

static inline int open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Asserts that a call of perfmon succeeds, with its sentence if not. */
#define OK(session, call)                                                                \
	do {                                                                             \
		int result_ = (call);                                                    \
		cr_assert_geq(result_, 0, "%s: %d: %s", #call, result_,                  \
			      session_message_of(session));                              \
	} while (0)

#endif
