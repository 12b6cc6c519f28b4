/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A thread that uses regions: what it opened, the memory its nodes are in, and how it
 * comes and goes. The hot path's part is in struct pm_thread_block.
 */
#ifndef PM_REGIONS_THREAD_H
#define PM_REGIONS_THREAD_H

#include "core/counters/counters.h"
#include "core/profile/profile.h"
#include "core/regions/registry.h"
#include "fastpath/fastpath.h"

struct pm_thread {
	struct pm_registry_thread registry; /* first: the registry hands it out */
	struct pm_thread_block *block; /* a mapping of its own, with all it points to */
	size_t memory_size;
	void *entries_memory; /* the child table's own mapping, once it has grown; else NULL */
	size_t entries_size;
	struct perfmon_profile_thread *record;
	struct perfmon_profile_nodes *nodes; /* the newest */
	uint64_t *lost; /* where visits below an overflow are counted */
	struct pm_instance *instance;
	uint32_t strided; /* paths whose stride PERFMON_STRIDE=auto has raised */
};

/*
 * Sets the calling thread up: memory, counters, registry, and an open top. 0, or a
 * negative errno after which the thread is as before. Takes PM_LOCK_REGIONS. Makes system
 * calls; allocates from the kernel only, not from malloc, so that what it interrupts may
 * be inside malloc.
 */
int pm_thread_setup(void);

/* Whether the calling thread may be set up: not after an error, so that it costs the
 * thread time once, and at most once after it was taken down. */
bool pm_thread_may_set_up(void);

/* In a forked child: drops what THREAD of the parent held. */
void pm_thread_forget(struct pm_thread *thread);

#endif
