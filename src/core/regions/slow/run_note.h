/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Notes of the run, in the process that runs. */
#ifndef PM_REGIONS_RUN_NOTE_H
#define PM_REGIONS_RUN_NOTE_H

/* Writes the notes of ENVIRONMENT (PERFMON_NOTE, or NULL), which the program cannot change, and those
 * that the program has given so far, to the profile. Under PM_LOCK_REGIONS. */
void pm_regions_run_notes(const char *environment);

#endif
