/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The profiles of one job, among those of several in a folder. */
#ifndef PM_CLI_REPORT_JOBS_H
#define PM_CLI_REPORT_JOBS_H

#include "cli/common/common.h"

/*
 * Leaves in SOURCES the profiles of the job WANTED ("slurm:12.0", or "12.0"; "none" for those
 * without a job). Without WANTED all have to be of one. 0, CLI_USAGE if there are others or
 * none, and it has complained, or CLI_FAILED. What cannot be opened stays: it is told when it
 * is read.
 */
int cli_jobs_choose(struct cli_sources *sources, const char *wanted);

#endif
