/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A profile's threads by where they might run: a group for each object of one of the
 * machine's levels (NUMA nodes, packages, cores and so on) that has threads of its own.
 */
#ifndef PM_REPORT_GROUPS_H
#define PM_REPORT_GROUPS_H

#include "core/profile/profile.h"
#include "core/text/diag.h"
#include "core/topology/topology.h"

struct pm_report_group {
	char name[40];	   /* "numa:0", by its logical index; "several" and "unknown" */
	char cpus[128];	   /* a list; "" for the last two */
	uint32_t *threads; /* their places in the snapshot */
	uint32_t count;
	uint64_t weight; /* threads, those summed in a record counted one by one */
};

struct pm_report_groups {
	enum pm_level level;
	uint32_t count;
	struct pm_report_group *groups; /* by index; then "several", then "unknown" */
};

/*
 * pm_report_groups_make() - a thread belongs to the object that holds all online CPUs on
 * which it might run at its first region or at its end; to "several", if no object does;
 * to "unknown", if the profile does not tell where it might run.
 *
 * Reads files of sysfs and allocates. *GROUPS is untouched on failure. Returns 0, or with a
 * sentence in DIAG
 * -ENOMEM
 * -EINVAL: LEVEL's name is none
 * -ENOENT: this machine has no such level, or is not the one that the profile is of
 */
int pm_report_groups_make(struct pm_report_groups *groups,
			  const struct pm_snapshot *snapshot, const char *level,
			  struct pm_diag *diag);
void pm_report_groups_free(struct pm_report_groups *groups);

/* "0-3,8" for the CPUs of a thread's record, in BUFFER; "" if they are not known. */
char *pm_report_cpus(const struct perfmon_profile_thread *record, char *buffer,
		     size_t size);

#endif
