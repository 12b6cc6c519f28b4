/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The report of a process at its exit. */
#ifndef PM_REGIONS_EXIT_H
#define PM_REGIONS_EXIT_H

/* Prepares the parts of the report that need other libraries, at the begin of exit(3).
 * The destructors of preloaded libraries may run before ours. */
void pm_exit_prepare(void);

/* Writes the report, or the reason why there is none. */
void pm_exit_report(void);

#endif
