/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which CPUs a CPU-scoped session covers. perfmon/placement.h has the grammar of the text
 * that says it. A placement holds the picture of the machine that it was made from, so
 * that its numbers mean the same for as long as it lives.
 */
#ifndef PM_TOPOLOGY_PLACEMENT_H
#define PM_TOPOLOGY_PLACEMENT_H

#include <stdbool.h>

#include "core/events/events.h"
#include "core/topology/cpus.h"
#include "core/topology/machine.h"

#define PM_PLACEMENT_TEXT_MAX 4096

/* Unchanging once made: any thread may read it. */
struct pm_placement {
	char *text; /* as it was written */
	struct pm_topology *topology;
	struct pm_cpus cpus;	/* what it covers: online and allowed; never empty */
	struct pm_cpus dropped; /* what it names besides: offline, absent, not allowed */
};

/*
 * pm_placement_parse() - what TEXT names on this machine now. Allocates, reads what
 * pm_topology_get() reads. On success the caller owns *OUT (pm_placement_free()).
 *
 * -EINVAL: a mistake in TEXT; -ERANGE: a number beyond all CPUs; -E2BIG: TEXT is too
 * long; -ENODEV: a part of it selects no CPU that is online and allowed; -ENOMEM; what
 * pm_topology_get() gives. *OUT is untouched then and DIAG quotes the part.
 */
int pm_placement_parse(const char *text, struct pm_placement **out, struct pm_diag *diag);
void pm_placement_free(struct pm_placement *placement); /* NULL is accepted */

/* Where one event is opened for a placement. */
struct pm_targets {
	struct pm_cpus open;	  /* on these CPUs, one event each */
	struct pm_cpus forbidden; /* the placement's CPUs that are not counted by it */
	bool uncore; /* each event counts for a unit, of which the CPU is the agent */
	enum pm_level unit;  /* of what: the group of this level that the CPU is in, */
	struct pm_cpus span; /* or if not empty, these CPUs */
};

/*
 * pm_placement_targets() - the CPUs to open EVENT on. An event of the CPUs themselves is
 * opened on those CPUs of the placement that its PMU has (all of them, if the PMU names
 * none). An uncore event is opened on the agents (sysfs: cpumask) of the packages, dies
 * or nodes that have a CPU in the placement; an agent need not be in the placement
 * itself, nor be allowed to this process. Returns how many CPUs: with 0, no CPU of the
 * placement can count it, and the caller must say so (a logical event may have other
 * events that can). TARGETS must be zero or from an earlier call; pm_targets_free()
 * empties it.
 *
 * -ENOMEM; -EINVAL: what sysfs says of the PMU's CPUs is no list. Reads sysfs for uncore
 * events.
 */
int pm_placement_targets(const struct pm_placement *placement,
			 const struct pm_event *event, struct pm_targets *targets,
			 struct pm_diag *diag);
void pm_targets_free(struct pm_targets *targets);

/*
 * pm_targets_group() - into which group of LEVEL the value counted on CPU belongs: a
 * logical index, or PM_GROUP_NONE if it cannot be told apart at that level (a package's
 * value by core; a level that the machine lacks). A value belongs to at most one group of
 * a level, so sums over a level count nothing twice.
 */
uint32_t pm_targets_group(const struct pm_placement *placement,
			  const struct pm_targets *targets, unsigned int cpu,
			  enum pm_level level);

/* Of an uncore event: the CPUs that the value counted on CPU stands for. */
const struct pm_cpus *pm_targets_served(const struct pm_topology *topology,
					const struct pm_targets *targets,
					unsigned int cpu);

/*
 * pm_placement_near() - into OUT: the CPUs where a thread that serves CPUS is near them:
 * those of their NUMA nodes, or packages where there are no nodes, that are allowed; all
 * that are allowed if that leaves none. 0 or -ENOMEM.
 */
int pm_placement_near(const struct pm_topology *topology, const struct pm_cpus *cpus,
		      struct pm_cpus *out);

/* Binds the calling thread, which must be one of our helpers and never the user's, to
 * CPUS. What sched_setaffinity(2) gives; a failure does no harm. */
int pm_placement_bind_helper(const struct pm_cpus *cpus);

#endif
