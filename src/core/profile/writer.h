/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The records of the own profile. perfmon/profile.h has the layout, memory.h the memory.
 *
 * A record is reserved, filled in and published; all of that under PM_LOCK_REGIONS. What
 * threads write later into their own records needs no lock.
 */
#ifndef PM_PROFILE_WRITER_H
#define PM_PROFILE_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/profile/memory.h"
#include "core/profile/snapshot.h"
#include "perfmon/profile_layout.h"

/*
 * Creates the profile (a memfd, or OPTIONS->profile_path, or private memory where both
 * are refused) and writes its header. -ENOMEM if there is no address space for it.
 * Allocates and enters the kernel.
 */
int pm_profile_open(const struct pm_options *options, struct pm_diag *diag);

/* Forgets the profile in a forked child, where it is not mapped; what pm_profile_open()
 * finds next names the old one's process as the parent. */
void pm_profile_forget(void);
/* To be called before the fork, while the header can be read. */
void pm_profile_remember_parent(void);

/* Reserves SIZE bytes for a record of TYPE, zeroed but for its lead; NULL when the
 * profile is full or memory is refused. Not visible to readers until published. */
void *pm_profile_reserve(uint32_t type, size_t size);
void pm_profile_publish(void);

/* Adds a note, unless the same one stands there already. Calls from threads that are set
 * up later are bounded: beyond 64 notes nothing is added. */
void pm_profile_note(const char *text);

/* Adds the record of the machine's CPUs, if it tells them. Once per profile; the first time
 * reads files and allocates. */
void pm_profile_machine(void);

/* Writes the record of the process's arguments, as the kernel has them. Under the same
 * conditions. */
void pm_profile_arguments(void);

/* Adds the record of what the whole process counts, for PLAN, whose counters are exact;
 * pm_profile_totals_renew() fills it in. */
void pm_profile_totals(const struct perfmon_profile_plan *plan);
void pm_profile_totals_renew(void);

/* Reads both clocks again, for the conversion of ticks. */
void pm_profile_clock_renew(void);

/* The same if the time between the two readings has become longer by an eighth, and ticks
 * need them: for slow paths, so that a program that is killed has left a good rate. */
void pm_profile_clock_later(void);

/* A snapshot of the own profile, which there has to be. Any thread; takes no lock. */
int pm_profile_snapshot(struct pm_snapshot **out, struct pm_diag *diag);

#endif
