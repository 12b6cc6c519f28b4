/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tree of a thread's paths: its nodes, in records of the profile, and the table in
 * which the hot path finds a node's children. */
#ifndef PM_REGIONS_PATHS_H
#define PM_REGIONS_PATHS_H

#include "core/regions/threads/state.h"
#include "core/regions/threads/thread.h"
#include "fastpath/fastpath.h"

/* Returns the path of REGION (an id, with PM_REGION_BITS) below number PARENT, at DEPTH. If it is new, it
 * gets a node and is entered in the table of paths: NULL without memory. The stack is closed. */
struct pm_path_entry *pm_thread_add_path(struct pm_thread *thread, uint32_t parent,
					 uint32_t region, uint32_t depth);

/* Enters the path with KEY in the table as one whose visits are left out, since it is too deep. Returns
 * NULL without memory. The stack is closed. */
struct pm_path_entry *pm_thread_leave_out(struct pm_thread *thread, uint64_t key);

/* Frees the table of paths if it has grown. */
void pm_thread_free_entries(struct pm_thread *thread);

/* Returns how many entries of other paths a search for KEY, which is missing, visits. */
uint32_t pm_thread_steps(const struct pm_thread_block *block, uint64_t key);

/* Returns whether adding KEY needs more room. Then it needs PM_LOCK_REGIONS, too. */
bool pm_thread_grows(const struct pm_thread *thread, uint64_t key);

/* Returns the entry of the path with KEY; NULL if there is none. */
struct pm_path_entry *pm_thread_path(struct pm_thread_block *block, uint64_t key);

/* Returns node NUMBER (from 1) of a thread's record. */
struct perfmon_profile_node *pm_thread_node(const struct perfmon_profile_thread *record,
					    uint32_t number);

/* Sets the STRIDE of a new path to the region with ID, and the begin of its first run: its first visits
 * are measured, then one of as many visits as were requested. Without a request
 * pm_region_stride_look() chooses the stride. The caller holds PM_LOCK_REGIONS. */
void pm_stride_begin(struct perfmon_profile_stride *stride, uint32_t id);

/*
 * Paths have numbers from 1, the same in all threads of the process. 0 is the top. The caller holds
 * PM_LOCK_REGIONS.
 */
struct pm_shared_path {
	uint32_t parent, region; /* a region's id, below that path */
};

#define PM_SHARED_PATH_NONE UINT32_MAX

/* Returns the number of the path of NODE, a thread's; PM_SHARED_PATH_NONE without memory. */
uint32_t pm_shared_path_of(const struct perfmon_profile_thread *record,
			   const struct perfmon_profile_node *node);

/* Returns the path NUMBER, or NULL if there is none. */
const struct pm_shared_path *pm_shared_path(uint64_t number);

/* Returns the flags of a thread's record. */
static inline uint32_t pm_thread_flags(void)
{
	return pm_region_general.stride ? pm_options_stride_hash(&pm_regions.options) |
						  PERFMON_PROFILE_THREAD_STRIDE
					: 0;
}

#endif
