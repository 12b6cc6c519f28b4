/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names of events as people write them, and which event each of them means. */
#ifndef PM_REPORT_EVENT_NAME_H
#define PM_REPORT_EVENT_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "core/profile/profile.h"

/* The generic event that an event counts, if it is one of a ratio. */
enum pm_generic {
	PM_GENERIC_NONE,
	PM_GENERIC_CYCLES,
	PM_GENERIC_INSTRUCTIONS,
	PM_GENERIC_BRANCHES,
	PM_GENERIC_BRANCH_MISSES,
	PM_GENERIC_CACHE_REFERENCES,
	PM_GENERIC_CACHE_MISSES,
	PM_GENERICS
};

/* Returns the generic event of COUNTER. *SUFFIX is where its name's modifiers begin, "" without any. */
enum pm_generic pm_generic_of(const struct perfmon_profile_counter *counter,
			      const char **suffix);

/* An event's name as somebody wrote it. */
struct pm_event_name {
	const char *bare; /* without PMU and modifiers */
	size_t length;
	size_t stem;	    /* bytes of all but the modifiers */
	const char *suffix; /* its modifiers, "" without any */
	bool pmu;	    /* it names a PMU */
	enum pm_generic generic;
};
struct pm_event_name pm_event_name_of(const char *text);

/* Returns NAME without the "exact::" of an event that is counted by translation. */
const char *pm_event_short_name(const char *name);

/* Returns true if TEXT is the event's NAME, with its modifiers or without: "instructions" also
 * means instructions:u and exact::instructions. */
bool pm_event_is_called(const char *name, const char *text);

#endif
