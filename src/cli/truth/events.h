/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Verdicts of events of PMUs, by the counts of blocks. */
#ifndef PM_CLI_TRUTH_EVENTS_H
#define PM_CLI_TRUTH_EVENTS_H

#include "cli/truth/data.h"
#include "core/events/events.h"
#include "core/text/diag.h"

/* Judges the hardware events of LIST, or of the known names if LIST is NULL. Returns 0 or
 * -ENOMEM. */
int truth_events(struct truth_report *report, const struct pm_event_list *list);

#endif
