/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The report of a process that ends. */
#ifndef PM_REGIONS_EXIT_H
#define PM_REGIONS_EXIT_H

/* Does of that report what needs other libraries, while they are there: when exit(3)
 * begins. The destructors of what is preloaded may run before ours. */
void pm_exit_prepare(void);

/* Writes the report, or why there is none. */
void pm_exit_report(void);

#endif
