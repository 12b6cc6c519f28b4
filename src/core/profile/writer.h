/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes the records of the own profile. perfmon/profile_layout.h has the layout,
 * memory.h the memory.
 *
 * A record is reserved, filled in and published, all under PM_LOCK_REGIONS. Threads later
 * write into their own records without a lock.
 */
#ifndef PM_PROFILE_WRITER_H
#define PM_PROFILE_WRITER_H

#include <stddef.h>

#include "core/profile/memory.h"
#include "core/profile/snapshot.h"
#include "perfmon/profile_layout.h"

/*
 * Creates the profile and writes its header. The profile is in the file
 * OPTIONS->profile_path or in a memfd, or in private memory where both fail. Returns
 * -ENOMEM if there is no address space for it. Allocates and enters the kernel.
 */
int pm_profile_open(const struct pm_options *options, struct pm_diag *diag);

/* Forgets the profile in a forked child, which does not have it mapped. The next
 * pm_profile_open() names the parent's process as the parent. */
void pm_profile_forget(void);
/* Keeps the parent's identity for its child. Call it before the fork. */
void pm_profile_remember_parent(void);

/* Reserves SIZE bytes, zeroed, for a record of TYPE. Returns NULL if the profile is full
 * or there is no memory. Readers do not see the record until it is published. */
void *pm_profile_reserve(uint32_t type, size_t size);
void pm_profile_publish(void);

/* Adds a note, unless the profile has the same one. A profile takes at most 64 notes,
 * since each new thread may add some. */
void pm_profile_note(const char *text);

/* Adds the record of the machine's CPUs, if they are known. Once per profile; the first
 * call reads files and allocates. */
void pm_profile_machine(void);

/* Writes the record of the process's arguments, as the kernel has them. Once per profile;
 * reads a file. */
void pm_profile_arguments(void);

/* Adds a note of the run, in place of the one with the same key. 0 or -ENOMEM. */
int pm_profile_run_note(const struct pm_run_note *note);

/* Adds the record of the whole process's counts by PLAN, whose counters are those of the
 * Valgrind tool. pm_profile_totals_renew() fills it in. */
void pm_profile_totals(const struct perfmon_profile_plan *plan);
void pm_profile_totals_renew(void);

/* Adds the record of the packages whose events are counted, at PLACE; the second call stores the
 * CPU time there. Once per profile. */
void pm_profile_packages(const char *place);
void pm_profile_packages_time(uint64_t own_ns, uint64_t busy_ns);

#define PM_AFFINITY_WORDS (PERFMON_PROFILE_CPUS_MAX / 64)

/*
 * Adds to CPUS the CPUs on which thread TID of this process (0: the calling thread) may
 * run now, word by word with relaxed atomic stores. Adds nothing if the kernel does not
 * give them, or has more CPUs than a record. Makes one system call; async-signal-safe.
 */
void pm_affinity_add(uint64_t cpus[PM_AFFINITY_WORDS], pid_t tid);

/* Reads both clocks again, for the conversion of ticks. */
void pm_profile_clock_renew(void);

/* Does the same if ticks need it and the time between the two readings would grow by an
 * eighth. Slow paths call it, so that a killed program leaves a good rate. */
void pm_profile_clock_later(void);

/* Takes a snapshot of the own profile, which must exist. Any thread; takes no lock. */
int pm_profile_snapshot(struct pm_snapshot **out, struct pm_diag *diag);

#endif
