/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events of packages beside those of threads: they are open once, and count what all processes do
 * there while the targets run. */
#ifndef PM_CLI_STAT_PACKAGES_H
#define PM_CLI_STAT_PACKAGES_H

#include "cli/stat/cell.h"
#include "core/packages/packages.h"

struct stat_packages {
	struct pm_packages *open;
	struct pm_event *events; /* they share their strings with the list */
	uint32_t count;
	int errors[PM_PACKAGES_MAX];
	uint32_t of[PM_PACKAGES_MAX]; /* the event of the user's text */
	struct pm_packages_reading begin, now;
	char place[48];
	uint64_t
		busy_ns; /* CPU time of all processes there, over the runs; 0: not known */
};

/* Opens and starts those of EVENTS, if there are any. Returns 0 or a negative errno, with a
 * message. */
int stat_packages_start(struct stat_packages *packages, const struct stat_events *events,
			struct pm_diag *diag);
/* Ends them, and adds up the CPU time. */
void stat_packages_end(struct stat_packages *packages);

/* Returns whether event I of the user's text is one of them. *ERROR gets the errno of opening it,
 * or 0. */
bool stat_packages_has(const struct stat_packages *packages, uint32_t i, int *error);

/* Stores in VALUES, by event of the user's text, what these have counted since the start. */
void stat_packages_read(struct stat_packages *packages, struct perfmon_value *values);

/* Writes a note that says whose the counts are to TEXT. OWN_NS is the CPU time of the targets; 0:
 * not known. Returns false if there is nothing to say. */
bool stat_packages_note(const struct stat_packages *packages,
			const struct stat_events *events, uint64_t own_ns, char *text,
			size_t size);

#endif
