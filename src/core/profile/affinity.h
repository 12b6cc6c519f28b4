/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where threads that use regions may run: what reports group them by. */
#ifndef PM_PROFILE_AFFINITY_H
#define PM_PROFILE_AFFINITY_H

#include <stdbool.h>
#include <sys/types.h>

#include "perfmon/profile_layout.h"

#define PM_AFFINITY_WORDS (PERFMON_PROFILE_CPUS_MAX / 64)

/*
 * Adds to CPUS (relaxed atomic stores, word by word) those that thread TID of this
 * process, 0 for the calling one, may run on now. Where the kernel does not tell, or has
 * more CPUs than a record, nothing is added. One system call; async-signal-safe.
 */
void pm_affinity_add(uint64_t cpus[PM_AFFINITY_WORDS], pid_t tid);

#endif
