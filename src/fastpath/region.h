/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The slow path of regions that the hot path calls, and the choice of the hot path's
 * forms. */
#ifndef PM_FASTPATH_REGION_H
#define PM_FASTPATH_REGION_H

#include "fastpath/thread.h"

struct pm_region_calls {
	void (*begin)(struct perfmon_region *region);
	void (*end)(struct perfmon_region *region);
};

/*
 * Returns the calls for COUNTERS counters. With PLAIN they are specialised for the
 * number. They assume the CPU's timestamp counter, no fence, and that regions were armed
 * once, at set-up. Otherwise one form serves every number and setting. Another form
 * serves all of them with a STRIDE, where only some visits are measured.
 */
struct pm_region_calls pm_region_calls_for(uint32_t counters, int plain, int stride);

/* Settings of the general form, written before the calls are published. */
struct pm_region_general {
	int fence;     /* complete earlier instructions before each read */
	int stride;    /* nodes have strides; it is never reset */
	int monotonic; /* take the time from CLOCK_MONOTONIC */
	/* counts arm and disarm; frames of an older generation are stale */
	uint64_t generation;
};
extern struct pm_region_general pm_region_general __attribute__((visibility("hidden")));

/* --- the slow path (core/regions/slow.c, core/regions/stale.c) ----------------------  */

/* The stack was closed. */
void pm_region_begin_closed(struct perfmon_region *region);
void pm_region_end_closed(struct perfmon_region *region);

/* The stack was open at FRAME and is closed now. Each of these opens it again. */
/* There is no child with this key: a new path, an unregistered region, or too deep. */
void pm_region_begin_missing(struct pm_thread_block *block, struct pm_frame *frame,
			     struct perfmon_region *region);
/* FRAME lacks only its start, its counters and its node NODE. Some view is stale. */
void pm_region_begin_stale(struct pm_thread_block *block, struct pm_frame *frame,
			   struct perfmon_profile_node *node);
/* FRAME is the innermost open visit. Some page has changed since its BEGIN. */
void pm_region_end_stale(struct pm_thread_block *block, struct pm_frame *frame);
/* FRAME is the innermost visit, and its key is not the key of REGION. This END is the
 * region's first call, or belongs to another visit. */
void pm_region_end_other(struct pm_thread_block *block, struct pm_frame *frame,
			 struct perfmon_region *region);
/* A visit of NODE was measured, and its stride is due for an adjustment. */
void pm_region_stride_look(struct pm_thread_block *block,
			   const struct perfmon_profile_node *node);
/* The generation of arming has changed since this thread's last call. Drops the stale
 * frames below FRAME and returns the new top of the stack. */
struct pm_frame *pm_region_resync(struct pm_thread_block *block, struct pm_frame *frame);

/* Counts down to the next adjustment of a stride, after each measured visit of NODE. */
static inline __attribute__((always_inline)) void
pm_region_stride_step(struct pm_thread_block *block,
		      const struct perfmon_profile_node *node)
{
	struct perfmon_profile_stride *stride = pm_node_stride(node, block->columns);

	PM_ADD(stride->until, UINT64_C(-1));
	if (__builtin_expect(!stride->until, 0))
		pm_region_stride_look(block, node);
}

#endif
