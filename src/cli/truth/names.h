/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The events of which it is known what they count. */
#ifndef PM_CLI_TRUTH_NAMES_H
#define PM_CLI_TRUTH_NAMES_H

#include "cli/truth/blocks.h"
#include "core/events/events.h"

struct truth_name {
	const char *name;
	enum truth_work work;
	bool generic; /* perf's name: each machine should have it */
};

extern const struct truth_name truth_names[];
extern const size_t truth_name_count;

/* Returns what EVENT counts, by its name or by its encoding, or TRUTH_UNKNOWN_WORK. */
enum truth_work truth_work_of(const struct pm_event *event);

#endif
