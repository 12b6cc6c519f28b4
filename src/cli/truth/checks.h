/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks of how events are read, shared and overflow, and of the kernel's own events. Each
 * adds findings, and returns 0 or -ENOMEM. */
#ifndef PM_CLI_TRUTH_CHECKS_H
#define PM_CLI_TRUTH_CHECKS_H

#include "cli/truth/data.h"
#include "core/events/events.h"

/* Software events: those of LIST, or those that can be judged if it is NULL. */
int truth_software(struct truth_report *report, const struct pm_event_list *list);

/* Reads in user space between two reads by system call, and the counter's width. */
int truth_reads(struct truth_report *report);
/* User mode and kernel mode apart, and together. */
int truth_modes(struct truth_report *report);
/* Time slices of one event against the same event counted all the time. */
int truth_multiplexing(struct truth_report *report);
/* Overflows against events and period, and where samples are found. */
int truth_overflows(struct truth_report *report);
/* Measures what reads and regions cost. */
int truth_costs(struct truth_report *report);

#endif
