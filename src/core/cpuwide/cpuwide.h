/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events cpuwide over a placement: each opened on the CPUs where it counts, an instance
 * for each CPU, with those events alone that count there (an uncore event on its agents,
 * a core event on the cores that have its PMU). What was counted is summed by any level
 * of the machine; CPUs for which an event is not counted are told, never taken for zero.
 *
 * One thread at a time; the placement and the list must outlive the cpuwide.
 */
#ifndef PM_CPUWIDE_CPUWIDE_H
#define PM_CPUWIDE_CPUWIDE_H

#include "core/counters/counters.h"
#include "core/text/diag.h"
#include "core/topology/topology.h"

/* The events of one kind of CPU, in one piece, as instances want them. */
struct pm_cpuwide_plan {
	uint32_t count;
	struct pm_event *events; /* borrow their strings from the list */
	uint32_t *original;	 /* their places in the list, rising */
};

struct pm_cpuwide_cpu {
	unsigned int cpu;
	uint32_t plan;
	struct pm_instance *instance;
	struct pm_reading *readings;
	int error; /* of the last read */
	bool gone; /* a read found it offline: its events count no more, ever */
};

struct pm_cpuwide {
	const struct pm_placement *placement;
	const struct pm_event_list *list;
	struct pm_targets *targets; /* of each event of the list */
	uint32_t plan_count;
	struct pm_cpuwide_plan *plans;
	uint32_t cpu_count;
	struct pm_cpuwide_cpu *cpus; /* in rising order */
};

/*
 * pm_cpuwide_open() - opens the events of LIST on PLACEMENT, stopped. FLAGS are those of
 * pm_instance_open() that go with CPUs: PM_OPEN_PARTIAL, PM_OPEN_SPLIT. On success the
 * caller owns *OUT (pm_cpuwide_close()).
 *
 * The number of kernel events that were refused (0 without PM_OPEN_PARTIAL). -ENODEV: no
 * CPU of the placement can count one of the logical events (with PM_OPEN_PARTIAL: any of
 * them), or a CPU has just gone offline; -ENOMEM; what pm_instance_open() gives.
 */
int pm_cpuwide_open(struct pm_cpuwide **out, const struct pm_placement *placement,
		    const struct pm_event_list *list, unsigned int flags,
		    struct pm_diag *diag);
void pm_cpuwide_close(struct pm_cpuwide *cpuwide); /* NULL is accepted */

/* One ioctl for each group of each CPU. 0 or the first negative errno; all are asked. */
int pm_cpuwide_start(struct pm_cpuwide *cpuwide);
int pm_cpuwide_stop(struct pm_cpuwide *cpuwide);

/* Reads all of it: one read(2) for each group of each CPU, and one file that tells which
 * CPUs are online. 0 or the first error; what could be read is there. */
int pm_cpuwide_read(struct pm_cpuwide *cpuwide);

/* A sum over the CPUs of a group, of the last pm_cpuwide_read(). */
struct pm_cpuwide_sum {
	struct pm_reading reading;
	uint32_t counted; /* kernel events in it */
	uint32_t
		refused; /* those that should be, and were refused or not read just now */
	uint32_t gone;	 /* those counted that stopped when their CPU went offline */
	uint32_t
		missing; /* CPUs of the placement in the group for which nothing counts */
};

/*
 * pm_cpuwide_sum() - what the LOGICAL event of the list counted in GROUP of LEVEL. 0;
 * -ERANGE: it cannot be told apart at that level (an uncore event by cores); -ENODATA:
 * nothing counts there, with the missing CPUs in SUM.
 */
int pm_cpuwide_sum(const struct pm_cpuwide *cpuwide, uint32_t logical,
		   enum pm_level level, uint32_t group, struct pm_cpuwide_sum *sum);

/* Adds the groups of LEVEL that the placement has a CPU in to GROUPS: 0 or -ENOMEM. */
int pm_cpuwide_groups(const struct pm_cpuwide *cpuwide, enum pm_level level,
		      struct pm_cpus *groups);

#endif
