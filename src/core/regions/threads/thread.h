/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A thread that uses regions: its descriptors, the memory of its nodes, and its set-up
 * and end. struct pm_thread_block has the hot path's part.
 */
#ifndef PM_REGIONS_THREAD_H
#define PM_REGIONS_THREAD_H

#include <urcu/list.h>

#include "core/counters/counters.h"
#include "core/profile/profile.h"
#include "fastpath/fastpath.h"

struct pm_thread {
	struct cds_list_head list; /* of the threads that are set up, or unused */
	/* A mapping of its own, with all it points to. An unused thread may have one, all zero. */
	struct pm_thread_block *block;
	size_t block_size;
	void *entries_memory; /* the table's own mapping after it has grown, else NULL */
	size_t entries_size;
	struct perfmon_profile_thread *record;
	struct perfmon_profile_nodes *nodes; /* the newest */
	uint64_t *lost;			     /* the count of visits below an overflow */
	struct pm_instance *instance;
	struct pm_package_stack *packages; /* NULL: none is accounted */
	/* number of paths whose stride PERFMON_STRIDE=auto has raised */
	uint32_t strided;
};

/*
 * Sets the calling thread up: memory, counters, registry, and an open stack. Returns 0,
 * or a negative errno after which the thread is as before. Takes PM_LOCK_REGIONS. Makes
 * system calls. Allocates only from the kernel, not from malloc, since the interrupted
 * code may be inside malloc.
 */
int pm_thread_setup(void);

/* Returns whether the calling thread may be set up: never after an error, so that it
 * costs the thread time once, and at most once after its end. */
bool pm_thread_may_set_up(void);

/* Lets quantities find no path until each thread knows of the disarm. The caller holds
 * PM_LOCK_REGIONS. */
void pm_threads_drop_quantities(void);

/* Releases the parent's resources of all threads, and forgets what this room has of its profile, in a
 * forked child. */
void pm_threads_forget(void);

#endif
