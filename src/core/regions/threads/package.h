/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events of packages (core/packages/) in regions. The process has each open once, and BEGIN and
 * END read it around the forms that they would have without: these do not change. A path's value is
 * what was counted while any thread had a visit of it open. When one of these visits ends, its thread adds
 * to its own node what was counted since the last one ended: all nodes together have the value, and none
 * that of its thread.
 *
 * PM_LOCK_REGIONS guards which visits are open.
 */
#ifndef PM_REGIONS_PACKAGE_H
#define PM_REGIONS_PACKAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/regions/threads/thread.h"
#include "core/text/diag.h"

/* The open visits of a thread as they were accounted: a mapping of its own. */
struct pm_package_stack;

/*
 * pm_package_open() - opens the events that the plan has for packages, from its column LIVE on;
 * ERRORS gets the errno of each, DIAG a sentence about the first. Once, and again in a forked child.
 * The caller holds PM_LOCK_REGIONS. Allocates.
 */
void pm_package_open(int *errors, struct pm_diag *diag);

/* Returns whether the event of column I counts more than packages, or those are not known. */
bool pm_package_is_machine(uint32_t i);

/* Adds the record of the packages to the profile, and lets BEGIN and END read them. */
void pm_package_begin(void);

/* Forgets the open visits: regions were disarmed. The caller holds PM_LOCK_REGIONS. */
void pm_package_disarm(void);

/* Ends the visits of THREAD, the caller, which ends. */
void pm_package_leave(struct pm_thread *thread);

/* Returns whether a signal handler, which calls this, may have interrupted a BEGIN or END that reads. */
bool pm_package_is_read(void);

/* In a forked child: closes what is the parent's. */
void pm_package_forget(void);
void pm_package_forget_thread(struct pm_thread *thread);

#endif
