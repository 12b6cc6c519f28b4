/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The event that checks of the hardware use. */
#ifndef PM_CLI_TRUTH_PICK_H
#define PM_CLI_TRUTH_PICK_H

#include "cli/truth/counter.h"

/*
 * Parses NAME, of one event on this machine, in user mode. Returns 0 with *LIST to free, or
 * a negative errno with a sentence.
 */
int truth_pick(const char *name, struct pm_event_list **list, struct pm_diag *diag);

/* Does the same with the first of instructions, cycles and branches that opens, whose name
 * *NAME gets (NULL: not wanted). */
int truth_pick_any(struct pm_event_list **list, const char **name, struct pm_diag *diag);

#endif
