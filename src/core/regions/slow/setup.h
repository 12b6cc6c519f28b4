/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Set-up of a process's regions: the first region, arming, and a forked child. The report at the exit. */
#ifndef PM_REGIONS_SETUP_H
#define PM_REGIONS_SETUP_H

/* Does the first region's work: options, plan, profile, and the calls. Returns 0, or
 * -EPERM if the process is inert. Takes PM_LOCK_REGIONS. */
int pm_regions_init(void);

/* Adds a disarm (1), undoes one if there is one (-1), or adds none (0), and returns their
 * number. Regions count while it is 0. The caller holds PM_LOCK_REGIONS, after
 * pm_regions_init(). */
int pm_regions_disarmed(int more);

/* Writes the report, or the reason why there is none. */
void pm_exit_report(void);

#endif
