/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tree of a thread's paths: its nodes, in records of the profile, and the table in
 * which the hot path finds a node's children. */
#ifndef PM_REGIONS_PATHS_H
#define PM_REGIONS_PATHS_H

#include "regions/process.h"
#include "regions/thread.h"
#include "fastpath/fastpath.h"

/* pm_thread_add_path(), pm_thread_slot() and pm_thread_node() of thread.h are here. */

/* Zeroes what readers may look at, word by word. */
void pm_paths_wipe(void *from, void *to);

/* Bytes of one node with COUNTERS counters. */
static inline uint32_t pm_node_size(uint32_t counters)
{
	size_t size = sizeof(struct perfmon_profile_node) +
		      counters * sizeof(struct perfmon_profile_count);

	if (pm_region_general.stride)
		size += sizeof(struct perfmon_profile_stride) + counters * sizeof(double);
	return (uint32_t)size;
}

/* The flags of a thread's record. */
static inline uint32_t pm_thread_flags(void)
{
	return pm_region_general.stride ? pm_options_stride_hash(&pm_process.options) |
						  PERFMON_THREAD_STRIDE
					: 0;
}

#endif
