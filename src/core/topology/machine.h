/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the machine is called, and its shape as hwloc sees it. load.c alone includes hwloc. */
#ifndef PM_TOPOLOGY_MACHINE_H
#define PM_TOPOLOGY_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text/diag.h"
#include "core/topology/cpu_kind.h"
#include "core/topology/cpus.h"

struct pm_machine {
	char cpu_model[128];   /* "" if the machine does not tell */
	char architecture[32]; /* what this library was built for */
	char kernel[80];       /* release */
	uint32_t packages;     /* 0: not known */
	uint32_t cores;
	uint32_t cpus; /* that this process may see, online */
	struct pm_cpu_kinds kinds;
};

/*
 * pm_machine_describe() - fills MACHINE; what is not known stays empty. Reads a few files of
 * /proc and /sys, and one for each package and each core. Allocates; any thread.
 */
void pm_machine_describe(struct pm_machine *machine);

/* The levels of a machine, from the CPU upwards. A machine need not have each. */
enum pm_level {
	PM_LEVEL_PU,
	PM_LEVEL_CORE,
	PM_LEVEL_L1,
	PM_LEVEL_L2,
	PM_LEVEL_L3,
	PM_LEVEL_L4,
	PM_LEVEL_GROUP, /* what hwloc found between others: clusters, tiles */
	PM_LEVEL_NUMA,
	PM_LEVEL_DIE,
	PM_LEVEL_PACKAGE,
	PM_LEVEL_MACHINE,
	PM_LEVELS
};

/* As users write them. */
#define PM_LEVEL_NAMES "pu, core, l1, l2, l3, l4, group, numa, die, package, machine"

#define PM_GROUP_NONE UINT32_MAX

/* One object of a level; its place in the level is its logical index. */
struct pm_group {
	uint32_t os_index;   /* the kernel's or the hardware's number, or PM_GROUP_NONE */
	struct pm_cpus cpus; /* online ones, also those not allowed */
};

/* A picture of the machine at one time. It never changes: any thread may read one that
 * it holds. */
struct pm_topology {
	uint32_t references;
	bool plain; /* made without hwloc: CPUs and the machine are all it knows */
	const char *why_plain; /* a sentence; NULL: hwloc cannot tell */
	struct pm_cpus online;
	struct pm_cpus allowed; /* of those: what cgroups leave to this process */
	struct pm_cpus present; /* with the offline ones */
	uint32_t cpu_end;	/* above the highest of all of these */
	struct {
		uint32_t count; /* 0: this machine lacks the level */
		struct pm_group *groups;
		uint32_t *group_of; /* of each CPU below cpu_end, or PM_GROUP_NONE */
	} levels[PM_LEVELS];
	char online_text[512]; /* by which a change is noticed */
};

/*
 * pm_topology_get() - a reference to the current picture, which pm_topology_put() gives
 * back. The first call loads it (milliseconds, memory, files of /sys and /proc), later
 * ones read one file to see whether CPUs came or went since, and load again if so. Never
 * binds a thread. Any thread; not in a signal handler. A child may use it at once,
 * whatever its parent's threads were doing.
 *
 * 0; -ENOMEM; or why neither hwloc nor sysfs told the CPUs. *OUT is untouched then.
 */
int pm_topology_get(struct pm_topology **out, struct pm_diag *diag);
void pm_topology_put(struct pm_topology *topology); /* NULL is accepted */

/*
 * pm_topology_refresh() - loads anew, also for what pm_topology_get() does not notice (a
 * changed cgroup). Pictures that somebody holds stay as they are. 1 if the CPUs that are
 * online or allowed differ from before, 0 if not; errors as pm_topology_get().
 */
int pm_topology_refresh(struct pm_diag *diag);

uint64_t pm_topology_loads(void); /* how often that was, in this process */

/* Its short name ("numa", "l3"), and what one is called in a sentence ("NUMA node"). */
const char *pm_level_name(enum pm_level level);
const char *pm_level_noun(enum pm_level level);

/* NAME, or one of its other names ("socket", "numanode"), or -EINVAL. */
int pm_level_find(struct pm_slice name);

/* Writes the levels that this machine has, from the CPU upwards; how many. */
unsigned int pm_topology_levels(const struct pm_topology *topology,
				enum pm_level levels[PM_LEVELS]);

/* The logical index of CPU's group, or PM_GROUP_NONE (no such CPU, or level). */
uint32_t pm_topology_group_of(const struct pm_topology *topology, unsigned int cpu,
			      enum pm_level level);

/* The CPUs of that group; empty if there is none such. */
const struct pm_cpus *pm_topology_group_cpus(const struct pm_topology *topology,
					     enum pm_level level, uint32_t group);

#endif
