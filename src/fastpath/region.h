/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the hot path of regions leaves for the slow one, and how the armed calls are
 * chosen. */
#ifndef PM_FASTPATH_REGION_H
#define PM_FASTPATH_REGION_H

#include "fastpath/thread.h"

struct pm_region_calls {
	void (*begin)(struct perfmon_region *region);
	void (*end)(struct perfmon_region *region);
};

/*
 * The calls for COUNTERS counters. With PLAIN they are specialised for the number and
 * assume the CPU's timestamp counter, no fence and threads that armed at the first
 * opportunity; otherwise one form serves every number and setting, and another all
 * where only some visits are measured (STRIDE).
 */
struct pm_region_calls pm_region_calls_for(uint32_t counters, int plain, int stride);

/* Settings of the general form, written before the calls are published. */
struct pm_region_general {
	int fence;	     /* complete earlier instructions before each read */
	int stride;	     /* nodes have strides: once it is set it stays */
	int monotonic;	     /* take the time from CLOCK_MONOTONIC */
	uint64_t generation; /* of arming: frames of an older one are stale */
};
extern struct pm_region_general pm_region_general __attribute__((visibility("hidden")));

/* --- the slow path (core/regions/slow.c, core/regions/stale.c) ----------------------  */

/* The gate was closed. */
void pm_region_begin_closed(struct perfmon_region *region);
void pm_region_end_closed(struct perfmon_region *region);

/* The gate was open at FRAME and is closed now; each opens it again. */
/* No child of this key: a new path, an unregistered region, or too deep. */
void pm_region_begin_missing(struct pm_thread_block *block, struct pm_frame *frame,
			     struct perfmon_region *region);
/* FRAME is filled in except for its start, its counters and NODE, its node; some view is
 * stale. */
void pm_region_begin_stale(struct pm_thread_block *block, struct pm_frame *frame,
			   struct perfmon_profile_node *node);
/* FRAME is the innermost open visit; some page has changed since its BEGIN. */
void pm_region_end_stale(struct pm_thread_block *block, struct pm_frame *frame);
/* The visit at FRAME is the innermost, and has another key than REGION: this END is its
 * own first pass, or another visit's. */
void pm_region_end_other(struct pm_thread_block *block, struct pm_frame *frame,
			 struct perfmon_region *region);
/* A visit of NODE was measured, and it is time to look at its stride. */
void pm_region_stride_look(struct pm_thread_block *block,
			   const struct perfmon_profile_node *node);
/* The generation of arming is another than at this thread's last call: drops the frames
 * below FRAME, which are stale, and returns where the gate is now. */
struct pm_frame *pm_region_resync(struct pm_thread_block *block, struct pm_frame *frame);

/* After each measured visit of NODE, which has a stride: now and then that is looked at. */
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
