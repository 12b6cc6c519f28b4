/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The CPUs of a CPU-scoped session. perfmon/placement.h has the grammar of the text. A
 * placement keeps the picture of the machine from which it was made, so that its numbers
 * keep their meaning as long as it lives.
 */
#ifndef PM_TOPOLOGY_PLACEMENT_H
#define PM_TOPOLOGY_PLACEMENT_H

#include <stdbool.h>

#include "core/events/events.h"
#include "core/topology/cpus.h"
#include "core/topology/machine.h"

#define PM_PLACEMENT_TEXT_MAX 4096

/* A placement does not change after its creation: any thread may read it. */
struct perfmon_placement {
	char *text; /* the user's text */
	struct pm_topology *topology;
	struct pm_cpus cpus;	/* its CPUs: online and allowed; never empty */
	struct pm_cpus dropped; /* the others of the text: offline, absent, not allowed */
};

/*
 * pm_placement_parse() - finds the CPUs that TEXT names on this machine now. Allocates,
 * and reads the files of pm_topology_get(). On success the caller owns *OUT
 * (pm_placement_free()). On failure *OUT is untouched and DIAG quotes the wrong part.
 *
 *  - -EINVAL: a mistake in TEXT
 *  - -ERANGE: a number beyond all CPUs
 *  - -E2BIG: TEXT is too long
 *  - -ENODEV: a part of it selects no CPU that is online and allowed
 *  - -ENOMEM, and errors of pm_topology_get()
 */
int pm_placement_parse(const char *text, struct perfmon_placement **out,
		       struct pm_diag *diag);
void pm_placement_free(struct perfmon_placement *placement); /* NULL is accepted */

/* The CPUs on which one event is opened for a placement. */
struct pm_targets {
	struct pm_cpus open;	  /* on these CPUs, one event each */
	struct pm_cpus forbidden; /* the placement's CPUs that it cannot count */
	bool uncore; /* each event counts for a unit, and the CPU is the unit's agent */
	enum pm_level unit;  /* the unit: the group of this level that the CPU is in, */
	struct pm_cpus span; /* or if not empty, these CPUs */
};

/*
 * pm_placement_targets() - finds the CPUs to open EVENT on. An event of the CPUs
 * themselves is opened on those CPUs of the placement that its PMU has (all of them, if
 * the PMU lists none). An uncore event is opened on the agents (sysfs: cpumask) of the
 * packages, dies or nodes that have a CPU in the placement. An agent need not be in the
 * placement itself, nor be allowed to this process.
 *
 * Returns the number of CPUs. With 0 no CPU of the placement can count it, and the caller
 * reports that (a logical event may have other events that can). TARGETS must be zero or
 * from an earlier call; pm_targets_free() empties it. -ENOMEM; -EINVAL: the PMU's file of
 * CPUs in sysfs is not a list. Reads sysfs for uncore events.
 */
int pm_placement_targets(const struct perfmon_placement *placement,
			 const struct pm_event *event, struct pm_targets *targets,
			 struct pm_diag *diag);
void pm_targets_free(struct pm_targets *targets);

/*
 * pm_targets_group() - returns the group of LEVEL that the value counted on CPU belongs
 * to: a logical index, or PM_GROUP_NONE if the value cannot be split at that level (a
 * package's value by core) or the machine lacks the level. A value belongs to at most one
 * group of a level, so sums over a level count nothing twice.
 */
uint32_t pm_targets_group(const struct perfmon_placement *placement,
			  const struct pm_targets *targets, unsigned int cpu,
			  enum pm_level level);

/* Returns the CPUs for which an uncore event on CPU counts. */
const struct pm_cpus *pm_targets_served(const struct pm_topology *topology,
					const struct pm_targets *targets,
					unsigned int cpu);

/*
 * pm_placement_near() - stores in OUT the CPUs for a thread near CPUS: the allowed CPUs
 * of their NUMA nodes, or of their packages if there are no nodes, or all allowed CPUs if
 * there are none. Returns 0 or -ENOMEM.
 */
int pm_placement_near(const struct pm_topology *topology, const struct pm_cpus *cpus,
		      struct pm_cpus *out);

/* Binds the calling thread, which must be one of our helpers and never the user's, to
 * CPUS. Returns the result of sched_setaffinity(2). A failure does no harm. */
int pm_placement_bind_helper(const struct pm_cpus *cpus);

#endif
