/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events on the CPUs of a placement. Each CPU has an instance with the events that count
 * there: an uncore event on its agents, a core event on the cores that have its PMU.
 * Counts are summed by any level of the machine. CPUs on which an event is not counted
 * are reported as missing, not taken for zero.
 *
 * One thread at a time. The placement and the list must outlive the struct pm_cpuwide.
 */
#ifndef PM_CPUWIDE_CPUWIDE_H
#define PM_CPUWIDE_CPUWIDE_H

#include "core/counters/counters.h"
#include "core/text/diag.h"
#include "core/topology/topology.h"

struct pm_cpuwide_cpu {
	unsigned int cpu;
	struct pm_event
		*events; /* those that count there; they share the list's strings */
	struct pm_instance *instance;
	struct pm_reading *readings;
	int error; /* of the last read */
	bool gone; /* found offline by a read: its events never count again */
};

struct pm_cpuwide {
	const struct perfmon_placement *placement;
	const struct pm_event_list *list;
	struct pm_targets *targets; /* one for each event of the list */
	uint32_t cpu_count;
	struct pm_cpuwide_cpu *cpus; /* in rising order */
};

/*
 * pm_cpuwide_open() - opens the events of LIST on PLACEMENT, stopped. FLAGS are
 * PM_OPEN_PARTIAL and PM_OPEN_SPLIT of pm_instance_open(). The caller frees *OUT with
 * pm_cpuwide_close(). Returns the number of kernel events that could not be opened (0
 * without PM_OPEN_PARTIAL), or
 *
 * - -ENODEV: no CPU of the placement can count one of the logical events (with
 *   PM_OPEN_PARTIAL: any of them), or a CPU has just gone offline
 * - -ENOMEM
 * - an error of pm_instance_open()
 */
int pm_cpuwide_open(struct pm_cpuwide **out, const struct perfmon_placement *placement,
		    const struct pm_event_list *list, unsigned int flags,
		    struct pm_diag *diag);
void pm_cpuwide_close(struct pm_cpuwide *cpuwide); /* NULL is accepted */

/* Starts all groups with one ioctl for each group of each CPU. Returns 0 or the first
 * error, after all groups. */
int pm_cpuwide_start(struct pm_cpuwide *cpuwide);
int pm_cpuwide_stop(struct pm_cpuwide *cpuwide);

/* Reads all counts: one read(2) for each group of each CPU, and the list of online CPUs.
 * Returns 0 or the first error, after everything that can be read. */
int pm_cpuwide_read(struct pm_cpuwide *cpuwide);

/* A sum over the CPUs of a group, from the last pm_cpuwide_read(). */
struct pm_cpuwide_sum {
	struct pm_reading reading;
	uint32_t counted; /* kernel events in the sum */
	uint32_t refused; /* kernel events that could not be opened or read */
	uint32_t gone;	  /* counted events that stopped when their CPU went offline */
	uint32_t missing; /* CPUs of the placement in the group on which nothing counts */
};

/*
 * pm_cpuwide_sum() - sums the LOGICAL event of the list in GROUP of LEVEL. Returns 0,
 * -ERANGE if the event cannot be divided at that level (an uncore event by cores), or
 * -ENODATA if nothing counts there; SUM then has the missing CPUs.
 */
int pm_cpuwide_sum(const struct pm_cpuwide *cpuwide, uint32_t logical,
		   enum pm_level level, uint32_t group, struct pm_cpuwide_sum *sum);

/* Adds to GROUPS the groups of LEVEL that have a CPU of the placement. Returns 0 or
 * -ENOMEM. */
int pm_cpuwide_groups(const struct pm_cpuwide *cpuwide, enum pm_level level,
		      struct pm_cpus *groups);

#endif
