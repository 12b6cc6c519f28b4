/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CPUs on which threads that use regions may run; reports group threads by them. */
#ifndef PM_PROFILE_AFFINITY_H
#define PM_PROFILE_AFFINITY_H

#include <stdbool.h>
#include <sys/types.h>

#include "perfmon/profile_layout.h"

#define PM_AFFINITY_WORDS (PERFMON_PROFILE_CPUS_MAX / 64)

/*
 * Adds to CPUS the CPUs on which thread TID of this process (0: the calling thread) may
 * run now, word by word with relaxed atomic stores. Adds nothing if the kernel does not
 * give them, or has more CPUs than a record. Makes one system call; async-signal-safe.
 */
void pm_affinity_add(uint64_t cpus[PM_AFFINITY_WORDS], pid_t tid);

#endif
