/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The name of the machine, and its levels as hwloc reports them. Only load.c includes
 * hwloc. */
#ifndef PM_TOPOLOGY_MACHINE_H
#define PM_TOPOLOGY_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text/diag.h"
#include "core/topology/cpu_kind.h"
#include "core/topology/cpus.h"

struct pm_machine {
	char cpu_model[128];   /* "" if it is not known */
	char architecture[32]; /* the architecture of this library's build */
	char kernel[80];       /* release */
	uint32_t packages;     /* 0: not known */
	uint32_t cores;
	uint32_t cpus; /* that this process may see, online */
	struct pm_cpu_kinds kinds;
};

/*
 * pm_machine_describe() - fills MACHINE; unknown fields stay empty. Reads a few files of
 * /proc and /sys, and one for each package and each core. Allocates; any thread.
 */
void pm_machine_describe(struct pm_machine *machine);

/* The levels of a machine, from the CPU upwards. A machine may lack some of them. */
enum pm_level {
	PM_LEVEL_PU,
	PM_LEVEL_CORE,
	PM_LEVEL_L1,
	PM_LEVEL_L2,
	PM_LEVEL_L3,
	PM_LEVEL_L4,
	PM_LEVEL_GROUP, /* hwloc's groups between other levels: clusters, tiles */
	PM_LEVEL_NUMA,
	PM_LEVEL_DIE,
	PM_LEVEL_PACKAGE,
	PM_LEVEL_MACHINE,
	PM_LEVELS
};

/* The names of levels that users write. */
#define PM_LEVEL_NAMES "pu, core, l1, l2, l3, l4, group, numa, die, package, machine"

#define PM_GROUP_NONE UINT32_MAX

/* One object of a level. Its place in the level is its logical index. */
struct pm_group {
	uint32_t os_index;   /* the kernel's or the hardware's number, or PM_GROUP_NONE */
	struct pm_cpus cpus; /* online ones, including those not allowed */
};

/* A picture of the machine at one time. It never changes: any thread with a reference may
 * read it. */
struct pm_topology {
	uint32_t references;
	bool plain;	       /* made without hwloc: has only the CPUs and the machine */
	const char *why_plain; /* a message; NULL: hwloc does not know the machine */
	struct pm_cpus online;
	struct pm_cpus allowed; /* of those: the CPUs that cgroups allow this process */
	struct pm_cpus present; /* including the offline ones */
	uint32_t cpu_end;	/* above the highest of all of these */
	struct {
		uint32_t count; /* 0: this machine lacks the level */
		struct pm_group *groups;
		uint32_t *group_of; /* of each CPU below cpu_end, or PM_GROUP_NONE */
	} levels[PM_LEVELS];
	char online_text[512]; /* detects a change */
};

/*
 * pm_topology_get() - takes a reference to the current picture, which pm_topology_put()
 * drops. The first call loads it (milliseconds, memory, files of /sys and /proc). Later
 * calls read one file to find whether CPUs came or went, and load again if so. Never
 * binds a thread. Any thread; not in a signal handler. A forked child may use it at once.
 *
 * Returns 0, -ENOMEM, or the error of finding the CPUs by hwloc and sysfs. *OUT is
 * untouched then.
 */
int pm_topology_get(struct pm_topology **out, struct pm_diag *diag);
void pm_topology_put(struct pm_topology *topology); /* NULL is accepted */

/*
 * pm_topology_refresh() - loads again, also for changes that pm_topology_get() does not
 * detect (a changed cgroup). Pictures with references stay as they are. Returns 1 if the
 * online or allowed CPUs have changed, 0 if not; errors as pm_topology_get().
 */
int pm_topology_refresh(struct pm_diag *diag);

uint64_t pm_topology_loads(void); /* number of loads in this process */

/* Return its short name ("numa", "l3"), and its noun for a sentence ("NUMA node"). */
const char *pm_level_name(enum pm_level level);
const char *pm_level_noun(enum pm_level level);

/* Finds the level NAME or one of its other names ("socket", "numanode"), or -EINVAL. */
int pm_level_find(struct pm_slice name);

/* Stores the levels that this machine has, from the CPU upwards, and returns their
 * number. */
unsigned int pm_topology_levels(const struct pm_topology *topology,
				enum pm_level levels[PM_LEVELS]);

/* Returns the logical index of CPU's group, or PM_GROUP_NONE (no such CPU, or level). */
uint32_t pm_topology_group_of(const struct pm_topology *topology, unsigned int cpu,
			      enum pm_level level);

/* Returns the CPUs of that group, an empty set if there is no such group. */
const struct pm_cpus *pm_topology_group_cpus(const struct pm_topology *topology,
					     enum pm_level level, uint32_t group);

#endif
