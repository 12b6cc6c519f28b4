/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How a process comes to count regions: its first region, arming, and what a forked child
 * begins anew.
 */
#ifndef PM_REGIONS_SETUP_H
#define PM_REGIONS_SETUP_H

#include <stdbool.h>

/* The first region's work: options, plan, profile, and the armed calls. 0, or -EPERM if
 * the process is inert. Takes PM_LOCK_REGIONS. */
int pm_regions_init(void);

/* Publishes the calls that BEGIN and END make, by the plan and the options. */
void pm_regions_arm(bool on);

#endif
