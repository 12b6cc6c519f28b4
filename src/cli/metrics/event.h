/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PM_CLI_METRICS_EVENT_H
#define PM_CLI_METRICS_EVENT_H

#include <stdint.h>

#include "cli/metrics/definition.h"

/* An event of an expression as this project names it. */
struct metric_event {
	char *text; /* for PERFMON_EVENTS */
	char *name; /* for formulas: how reports name it, without modes of no meaning */
	uint32_t units; /* PMUs that count it: the boxes of an uncore */
};

/*
 * metric_event_find() - finds the event that perf calls NAME: by perf's encoding, or else
 * as any event. Returns 0, or a negative errno with a message. The caller frees both texts
 * of EVENT.
 */
int metric_event_find(const struct metric_definitions *all, const char *name,
		      struct metric_event *event, struct pm_diag *diag);

/* Tries to open EVENT on the calling thread, as pm_named_try(). Returns 0, or a negative
 * errno with a message. */
int metric_event_try(const struct metric_event *event, struct pm_diag *diag);

#endif
