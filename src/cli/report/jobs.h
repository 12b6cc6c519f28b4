/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Chooses the profiles of one job among those in a folder. */
#ifndef PM_CLI_REPORT_JOBS_H
#define PM_CLI_REPORT_JOBS_H

#include "cli/common/common.h"

/*
 * Leaves in SOURCES the profiles of the job WANTED ("slurm:12.0", or "12.0"; "none" for
 * those without a job). Without WANTED all must be of one job. Returns 0, CLI_FAILED, or,
 * after a message, CLI_USAGE if there are none or others. Files that cannot be opened
 * stay, and are reported when they are read.
 */
int cli_jobs_choose(struct cli_sources *sources, const char *wanted);

#endif
