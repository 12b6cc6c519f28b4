/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The job that a process belongs to: what a launcher or a batch system started at once. */
#ifndef PM_SETTINGS_JOB_H
#define PM_SETTINGS_JOB_H

#include <stddef.h>

/*
 * pm_job_id() - "LAUNCHER:ID" of this process's job in BUFFER, "" if the environment tells
 * none. All ranks of one mpirun or srun have the same, and those of another run have
 * another.
 */
void pm_job_id(char *buffer, size_t size);

#endif
