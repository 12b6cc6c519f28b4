/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of perfmon truth judge, measure and check. Functions that return int return 0 or -ENOMEM. */
#ifndef PM_CLI_TRUTH_CHECKS_H
#define PM_CLI_TRUTH_CHECKS_H

#include "cli/truth/data.h"
#include "core/events/events.h"
#include "core/text/diag.h"

/* Judge the hardware events of LIST, and its software events. NULL: those of the known names, and
 * those that can be judged. */
int truth_events(struct truth_report *report, const struct pm_event_list *list);
int truth_software(struct truth_report *report, const struct pm_event_list *list);

/* Measures what reads and regions cost. */
int truth_costs(struct truth_report *report);

/*
 * Parses NAME, of one event on this machine, in user mode, and tries to open it. NULL: the first of
 * instructions, cycles and branches that opens. Returns 0 with *LIST to free, or a negative errno
 * with a sentence.
 */
int truth_pick(const char *name, struct pm_event_list **list, struct pm_diag *diag);

/* --- checks of the hardware by an event that truth_pick() has found ------------------------ */

/* Reads in user space between two reads by system call, and the counter's width. */
void truth_reads(struct truth_finding *finding, const struct pm_event *event);
/* User mode and kernel mode apart, and together. */
void truth_modes(struct truth_finding *finding, const struct pm_event *event);
/* Time slices of one event against the same event counted all the time: of event sets, and of more
 * events than counters, which the kernel multiplexes. */
void truth_slices(struct truth_finding *finding, const struct pm_event *event);
void truth_multiplexing(struct truth_finding *finding, const struct pm_event *event);
/* Overflows against events and period. */
void truth_overflows(struct truth_finding *finding, const struct pm_event *event);
/* Where samples are found. */
void truth_skid(struct truth_finding *finding, const struct pm_event *event);

#endif
