/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How a process comes to count regions: its first region, arming, and what a forked child
 * begins anew.
 */
#ifndef PM_REGIONS_SETUP_H
#define PM_REGIONS_SETUP_H

/* The first region's work: options, plan, profile, and the armed calls. 0, or -EPERM if
 * the process is inert. Takes PM_LOCK_REGIONS. */
int pm_regions_init(void);

/* Counts a disarm (1), undoes one if there is one (-1), or asks (0): how many there are
 * now. Regions count while there is none. Under PM_LOCK_REGIONS, after pm_regions_init(). */
int pm_regions_disarmed(int more);

#endif
