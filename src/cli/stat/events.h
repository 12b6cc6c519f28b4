/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is counted. */
#ifndef PM_CLI_STAT_EVENTS_H
#define PM_CLI_STAT_EVENTS_H

#include "core/events/events.h"
#include "core/text/diag.h"

/* An event as the user wrote it. */
struct stat_event {
	const char *label;
	const struct pm_event *event; /* the first of those behind it */
	bool partly;		      /* refused on some of the targets */
	bool hidden;		      /* nobody asked for it, and it is not there */
	int error;		      /* negative errno that refused it, or 0 */
	char *why;		      /* ... in a sentence */
};

struct stat_events {
	const char *text;
	bool chosen;	/* by the user */
	bool user_only; /* the kernel's own doing may not be counted */
	struct pm_event_list *list;
	uint32_t count;
	struct stat_event *events;
};

/* What TEXT (NULL: what the machine has, of threads or CPUS) means in all modes, or in
 * user mode, where its modifiers say nothing. 0, or a negative errno with the sentence.
 */
int stat_events_learn(struct stat_events *events, const char *text, bool cpus,
		      bool user_only, struct pm_diag *diag);
void stat_events_forget(struct stat_events *events);

#endif
