/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The events that are counted. */
#ifndef PM_CLI_STAT_EVENTS_H
#define PM_CLI_STAT_EVENTS_H

#include "core/events/events.h"
#include "core/text/diag.h"

/* An event as the user wrote it. */
struct stat_event {
	const char *label;
	const struct pm_event *event; /* the first of its kernel events */
	bool partly;		      /* could not be opened on some targets */
	bool hidden;		      /* not requested by the user, and not there */
	int error;		      /* the negative errno of opening it, or 0 */
	char *why;		      /* the message about the error */
};

struct stat_events {
	const char *text;
	bool chosen;	/* by the user */
	bool user_only; /* the kernel's activity may not be counted */
	struct pm_event_list *list;
	uint32_t count;
	struct stat_event *events;
};

/*
 * Resolves TEXT (NULL: the machine's defaults, for threads or CPUS). Events without
 * modifiers count in all modes, or in user mode with USER_ONLY. Returns 0, or a negative
 * errno with a message.
 */
int stat_events_learn(struct stat_events *events, const char *text, bool cpus,
		      bool user_only, struct pm_diag *diag);
void stat_events_forget(struct stat_events *events);

#endif
